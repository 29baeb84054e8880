/* The index of types by their qualified names (type_names.h). */
#include "dwarf/lookup/type_names.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/lookup/lookup.h"

/* The units of one crate in their order; those before next are indexed. */
struct crate_units {
	struct unit **units;
	size_t n, next;
};

struct type_names {
	struct map places; /* hash of a qualified name -> type_names_place_of() the first type */
	struct map crates; /* hash of a crate's name -> struct crate_units */
	size_t next;       /* units before this one are indexed */
	struct arena arena;
};

bool type_names_tag(unsigned tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type || tag == DW_TAG_base_type;
}

/* ---- a place: a DIE, and whether its unit is of the crate that the name begins with ---- */

static uint64_t type_names_place_of(uint64_t die, bool own_crate)
{
	return die << 1 | own_crate;
}

static uint64_t type_names_die_of(uint64_t place)
{
	return place >> 1;
}

static bool type_names_is_of_own_crate(uint64_t place)
{
	return place & 1;
}

static bool is_nearer(uint64_t a, uint64_t b)
{
	if (type_names_is_of_own_crate(a) != type_names_is_of_own_crate(b))
		return type_names_is_of_own_crate(a);
	return type_names_die_of(a) < type_names_die_of(b);
}

static uint64_t type_names_known_place(const struct type_names *names, uint64_t key)
{
	return (uintptr_t)map_get(&names->places, key);
}

static void note_place(struct type_names *names, uint64_t key, uint64_t place)
{
	uint64_t known = type_names_known_place(names, key);

	if (!known || is_nearer(place, known))
		map_put(&names->places, key, (void *)(uintptr_t)place);
}

/* ---- the types of a unit ---- */

/* The scopes before a name: "app::run::". */
struct prefix {
	uint64_t hash;  /* of the prefix's text */
	unsigned depth; /* number of its scopes; 0: one of them has no name */
	bool own_crate; /* the unit belongs to the crate that the prefix begins with */
};

struct type_names_pass {
	struct dwarf_module *dm;
	struct unit *u;
	struct map prefixes; /* index of a scope + 1 -> struct prefix */
	struct arena arena;
};

/* FNV-1a, continued from the hash of the previous text. */
static const uint64_t empty_hash = UINT64_C(0xcbf29ce484222325);

static uint64_t type_names_hash_on(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* Does the unit belong to the crate that a name begins with? root is the first component. */
static bool begins_with_crate(const struct unit *u, const char *root, bool is_whole)
{
	const char *colons = strstr(root, "::");
	size_t len = is_whole ? 0 : strlen(root);

	return unit_is_of_crate(u, root, colons ? (size_t)(colons - root) : len);
}

static const struct prefix *prefix_of(struct type_names_pass *p, uint32_t scope, unsigned depth)
{
	static const struct prefix nameless;
	struct prefix *ret = map_get(&p->prefixes, (uint64_t)scope + 1);

	if (ret || depth == DIE_MAX_NESTING)
		return ret ? ret : &nameless;
	const char *own = scan_scope_name(&p->dm->sections, p->u, scope);
	uint32_t parent = p->u->found.scopes[scope].parent;
	ret = NEW(&p->arena, struct prefix);
	if (own && *own && parent == SCOPE_NONE) {
		*ret = (struct prefix){ type_names_hash_on(type_names_hash_on(empty_hash, own),
			                                   "::"),
			                1, begins_with_crate(p->u, own, false) };
	} else if (own && *own) {
		const struct prefix *outer = prefix_of(p, parent, depth + 1);

		if (outer->depth && outer->depth < DIE_MAX_NESTING - 1)
			*ret = (struct prefix){ type_names_hash_on(
							type_names_hash_on(outer->hash, own), "::"),
				                outer->depth + 1, outer->own_crate };
	}
	map_put(&p->prefixes, (uint64_t)scope + 1, ret);
	return ret;
}

static void note_type(struct type_names_pass *p, struct type_names *names,
                      const struct scope_note *note, const char *own)
{
	struct prefix outer = { empty_hash, 1, false };

	if (note->parent == SCOPE_NONE)
		outer.own_crate = begins_with_crate(p->u, own, true);
	else
		outer = *prefix_of(p, note->parent, 1);
	if (outer.depth == 0)
		return;
	uint64_t key = type_names_hash_on(outer.hash, own);
	note_place(names, key ? key : 1,
	           type_names_place_of(p->u->start + note->die, outer.own_crate));
}

static void note_unit(struct dwarf_module *dm, struct type_names *names, struct unit *u)
{
	struct type_names_pass p = { .dm = dm, .u = u };

	if (u->types_noted)
		return;
	u->types_noted = true;
	debuginfo_scan(dm, u);
	for (size_t i = 0; i < u->found.nscopes; i++) {
		const struct scope_note *note = &u->found.scopes[i];

		if (!type_names_tag(note->tag) || (note->flags & SCOPE_DECLARATION))
			continue;
		const char *own = scan_scope_name(&dm->sections, u, (uint32_t)i);
		if (own && *own)
			note_type(&p, names, note, own);
	}
	map_free(&p.prefixes);
	arena_free(&p.arena);
	residency_trim(dm);
}

/* ---- the search ---- */

static struct crate_units *type_names_crate_of(struct dwarf_module *dm, struct type_names *names,
                                               const char *crate, size_t len)
{
	uint64_t key = map_key_of(crate, len);
	struct crate_units *ret = map_get(&names->crates, key);
	VEC(struct unit *) units = { 0 };

	if (ret)
		return ret;
	for (size_t i = 0; i < dm->nunits; i++) {
		if (unit_is_of_crate(&dm->units[i], crate, len))
			*vec_push(&units) = &dm->units[i];
	}
	ret = NEW(&names->arena, struct crate_units);
	ret->n = units.n;
	ret->units = vec_to_arena(&units, &names->arena);
	map_put(&names->crates, key, ret);
	return ret;
}

uint64_t type_names_find(struct dwarf_module *dm, const char *name, size_t crate_len)
{
	uint64_t key = type_names_hash_on(empty_hash, name), place;

	if (!dm->types.names && !(dm->types.names = calloc(1, sizeof(*dm->types.names))))
		out_of_memory();
	struct type_names *names = dm->types.names;
	struct crate_units *crate = type_names_crate_of(dm, names, name, crate_len);
	for (; crate->next < crate->n; crate->next++) {
		place = type_names_known_place(names, key);
		if (type_names_is_of_own_crate(place) &&
		    type_names_die_of(place) < crate->units[crate->next]->start)
			return type_names_die_of(place);
		note_unit(dm, names, crate->units[crate->next]);
	}
	for (; names->next < dm->nunits; names->next++) {
		place = type_names_known_place(names, key);
		if (place && (type_names_is_of_own_crate(place) ||
		              type_names_die_of(place) < dm->units[names->next].start))
			return type_names_die_of(place);
		note_unit(dm, names, &dm->units[names->next]);
	}
	return type_names_die_of(type_names_known_place(names, key));
}

void type_names_forget(struct dwarf_module *dm)
{
	struct type_names *names = dm->types.names;

	if (!names)
		return;
	for (size_t i = 0; i < dm->nunits; i++)
		dm->units[i].types_noted = false;
	map_free(&names->places);
	map_free(&names->crates);
	arena_free(&names->arena);
	free(names);
	dm->types.names = NULL;
}
