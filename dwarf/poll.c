/* From a future's type to its poll function. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/enumerate.h"
#include "dwarf/line.h"
#include "dwarf/lookup.h"
#include "dwarf/polled.h"
#include "dwarf/qualified.h"
#include "dwarf/search.h"
#include "dwarf/symtab.h"
#include "dwarf/type.h"

/* A crate with fewer bytes of debug info is searched whole, else where symbols lead. */
enum { SMALL_CRATE = 4 << 20, LARGE_OBJECT = 32 << 20 };

/* "{async_fn_env#0}<T>" is polled by "{async_fn#0}" or "{async_fn#0}<T>". */
static bool polls(const char *function, const char *env)
{
	const char *cut = strstr(env, "_env#");
	size_t head = cut ? (size_t)(cut - env) : 0;
	size_t tail;

	if (!cut || strncmp(function, env, head) != 0)
		return false;
	tail = strcspn(cut + 4, "}") + 1; /* "#0}" */
	const char *rest = function + head;
	return strncmp(rest, cut + 4, tail) == 0 && (rest[tail] == '\0' || rest[tail] == '<');
}

/* The DIE of a poll function of env, a child of a scope called path, in one unit; 0 none. */
static uint64_t poll_in_unit(struct dwarf_module *dm, struct unit *u, const char *path,
                             const char *env)
{
	size_t path_len = strlen(path);

	debuginfo_scan(dm, u);
	for (size_t i = 0; i < u->nscopes; i++) {
		const struct scope_note *note = &u->scopes[i];
		const char *own, *name;

		/* The one with a linkage name has the body; a declaration may stand elsewhere. */
		if (note->tag != DW_TAG_subprogram || !(note->flags & SCOPE_LINKAGE))
			continue;
		own = scan_scope_name(&dm->sections, u, (uint32_t)i);
		if (!own || !polls(own, env))
			continue;
		name = lookup_die_name(dm, u->start + note->die);
		if (name && strncmp(name, path, path_len) == 0 && strcmp(name + path_len, own) == 0)
			return u->start + note->die;
	}
	return 0;
}

/* Do two units come from one crate: is what stands before "/@/" the same? */
static bool same_crate(const struct unit *a, const struct unit *b)
{
	return a->crate_key && a->crate_key == b->crate_key;
}

/* Units of that crate that no scan has looked through yet, in bytes. */
static uint64_t unscanned_bytes(const struct dwarf_module *dm, const struct unit *here)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < dm->nunits; i++) {
		if (!dm->units[i].scanned && same_crate(here, &dm->units[i]))
			bytes += dm->units[i].end - dm->units[i].start;
	}
	return bytes;
}

/*
 * Units of one object file share their abbreviations. With ThinLTO an object has units of all
 * crates and modules that it took functions from to inline them: what is inlined into one unit is
 * described in its neighbours. Those around u, u itself included, as [*first, *end); u alone where
 * the whole program became one object.
 */
static void object_of(const struct dwarf_module *dm, const struct unit *u, size_t *first,
                      size_t *end)
{
	size_t self = (size_t)(u - dm->units);

	for (*first = self; *first > 0; --*first) {
		if (dm->units[*first - 1].abbrev_offset != u->abbrev_offset)
			break;
	}
	for (*end = self + 1; *end < dm->nunits; ++*end) {
		if (dm->units[*end].abbrev_offset != u->abbrev_offset)
			break;
	}
	if (dm->units[*end - 1].end - dm->units[*first].start > LARGE_OBJECT) {
		*first = self;
		*end = self + 1;
	}
}

/* A search for the poll function of a coroutine, in units of its crate and of the type's. */
struct poll_search {
	struct dwarf_module *dm;
	const struct unit *here;
	const char *full, *path, *env;
	uint64_t found;
};

static bool may_have_poll(const struct poll_search *search, const struct unit *u)
{
	const char *crate;
	size_t len;

	return same_crate(search->here, u) ||
	       (unit_crate(u, &crate, &len) && strncmp(search->full, crate, len) == 0 &&
	        strncmp(search->full + len, "::", 2) == 0);
}

/* In the units of u's object that were not searched before: those that no scan had seen. */
static void search_object(struct poll_search *search, const struct unit *u)
{
	size_t i, end;

	for (object_of(search->dm, u, &i, &end); i < end && !search->found; i++) {
		struct unit *other = &search->dm->units[i];

		if (!other->scanned && may_have_poll(search, other))
			search->found = poll_in_unit(search->dm, other, search->path, search->env);
	}
}

static bool search_unit_at(uint64_t pc, void *arg)
{
	struct poll_search *search = arg;
	struct unit *u = debuginfo_unit_at(search->dm, pc);

	if (u && may_have_poll(search, u))
		search_object(search, u);
	return search->found == 0;
}

static void search_units(struct poll_search *search, bool scanned)
{
	struct dwarf_module *dm = search->dm;

	for (size_t i = 0; i < dm->nunits && !search->found; i++) {
		struct unit *u = &dm->units[i];

		if (u != search->here && u->scanned == scanned && may_have_poll(search, u))
			search->found = poll_in_unit(dm, u, search->path, search->env);
	}
}

/* The function around a coroutine: "recv" of "recv::{async_fn_env#0}", NULL none. */
static const char *enclosing_function(struct dwarf_module *dm, struct unit *u, uint32_t index,
                                      struct arena *a)
{
	while ((index = u->scopes[index].parent) != SCOPE_NONE) {
		const char *name = scan_scope_name(&dm->sections, u, index);

		if (name && name[0] != '{')
			return arena_strndup(a, name, qualified_base_len(name));
	}
	return NULL;
}

void lookup_context(const struct type *future)
{
	struct dwarf_module *dm = type_module(future);
	size_t n = dm->ncontexts;

	if (n && dm->contexts[(n - 1) % MAX_CONTEXTS] == future)
		return;
	dm->contexts[n % MAX_CONTEXTS] = future;
	dm->ncontexts++;
}

/* Visits where the poll functions of the last contexts lie, until visit returns false. */
static void visit_contexts(struct dwarf_module *dm, symtab_poll_fn *visit, void *arg,
                           const struct type *except)
{
	for (size_t i = 1; i <= MAX_CONTEXTS && i <= dm->ncontexts; i++) {
		const struct type *t = dm->contexts[(dm->ncontexts - i) % MAX_CONTEXTS];
		struct unit *u = debuginfo_scanned_unit_of(dm, type_die(t));
		uint32_t index = u ? scan_scope_at(u, type_die(t)) : SCOPE_NONE;
		SCRATCH(tmp);

		if (index == SCOPE_NONE || t == except)
			continue;
		if (!type_is_coroutine(t)) {
			symtab_each_poll(dm, type_name(t), visit, arg);
			continue;
		}
		const char *function = enclosing_function(dm, u, index, &tmp);
		if (function)
			symtab_each_closure(dm, function, visit, arg);
	}
}

static uint64_t find_poll(const struct type *coroutine)
{
	struct dwarf_module *dm = type_module(coroutine);

	if (dm->poll_dies_known)
		return enumerated_poll(dm, type_name(coroutine));
	struct unit *here = debuginfo_scanned_unit_of(dm, type_die(coroutine));
	uint32_t self = here ? scan_scope_at(here, type_die(coroutine)) : SCOPE_NONE;
	SCRATCH(tmp);
	struct poll_search search = { .dm = dm, .here = here, .full = type_name(coroutine) };

	search.env = self == SCOPE_NONE ? NULL : scan_scope_name(&dm->sections, here, self);
	if (!search.env)
		return 0;
	size_t env_len = strlen(search.env), full_len = strlen(search.full);
	if (full_len < env_len)
		return 0;
	search.path = arena_strndup(&tmp, search.full, full_len - env_len);
	search.found = poll_in_unit(dm, here, search.path, search.env);
	/* The type may stand in many units of the crate, its function in one. */
	search_units(&search, true);
	search_object(&search, here);
	if (search.found)
		return search.found;
	const char *function = enclosing_function(dm, here, self, &tmp);
	if (unscanned_bytes(dm, here) > SMALL_CRATE) {
		if (function)
			symtab_each_closure(dm, function, search_unit_at, &search);
		if (!search.found)
			visit_contexts(dm, search_unit_at, &search, coroutine);
	}
	search_units(&search, false);
	return search.found;
}

const char *search_poll_linkage(const struct type *coroutine)
{
	uint64_t die = find_poll(coroutine);
	const struct function *f = die ? lookup_function_die(type_module(coroutine), die) : NULL;

	return f ? f->linkage : NULL;
}

/* The nth variable `__awaitee` of a type of that name, depth first as in the source. */
struct awaitee_search {
	struct dwarf_module *dm;
	const char *type;
	unsigned skip;
	uint64_t file, line;
};

static bool is_awaitee(const struct awaitee_search *search, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	Dwarf_Attribute attr;
	Dwarf_Die type_die;

	if (!name || strcmp(name, "__awaitee") != 0 || !dwarf_attr(die, DW_AT_type, &attr) ||
	    !dwarf_formref_die(&attr, &type_die))
		return false;
	const struct type *t = type_at(search->dm, dwarf_dieoffset(&type_die));
	return t && strcmp(type_name(t), search->type) == 0;
}

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attr) && dwarf_formudata(&attr, &value) == 0 ? value : 0;
}

static bool find_awaitee(struct awaitee_search *search, Dwarf_Die *die, int depth)
{
	enum { MAX_DEPTH = 256 };
	Dwarf_Die child;

	if (depth > MAX_DEPTH || dwarf_child(die, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_variable && is_awaitee(search, &child)) {
			if (search->skip-- == 0) {
				search->file = number_of(&child, DW_AT_decl_file);
				search->line = number_of(&child, DW_AT_decl_line);
				return true;
			}
		} else if (tag == DW_TAG_lexical_block && find_awaitee(search, &child, depth + 1)) {
			return true;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

bool search_awaitee_line(const struct type *coroutine, const char *awaitee_type, unsigned nth,
                         const char **file, unsigned *line)
{
	struct dwarf_module *dm = type_module(coroutine);
	struct awaitee_search search = { .dm = dm, .type = awaitee_type, .skip = nth };
	uint64_t at = find_poll(coroutine);

	/* The lines stand in the abstract function where the body was inlined or copied. */
	for (int hops = 0; at && hops < 4; hops++) {
		Dwarf_Attribute attr;
		Dwarf_Die die, origin;

		if (!dwarf_offdie(dm->dwarf, at, &die))
			return false;
		search.skip = nth;
		if (find_awaitee(&search, &die, 0) && search.line) {
			struct unit *u = debuginfo_unit_of(dm, at);

			*line = (unsigned)search.line;
			*file = u ? line_file(dm, u, (unsigned)search.file) : NULL;
			return *file != NULL;
		}
		at = (dwarf_attr(&die, DW_AT_abstract_origin, &attr) ||
		      dwarf_attr(&die, DW_AT_specification, &attr)) &&
		                     dwarf_formref_die(&attr, &origin)
		             ? dwarf_dieoffset(&origin)
		             : 0;
	}
	return false;
}

/* The types that functions of this unit poll, by name: each unit has its own DIE for a type. */
static void note_polled(struct dwarf_module *dm, struct unit *u)
{
	if (u->polled_noted)
		return;
	u->polled_noted = true;
	polled_read(dm, u);
}

struct crate_search {
	struct dwarf_module *dm;
	const struct unit *here;
	VEC(struct unit *) units; /* not looked through yet */
};

static void add_object(struct crate_search *search, const struct unit *u)
{
	size_t i, end;

	for (object_of(search->dm, u, &i, &end); i < end; i++) {
		struct unit *other = &search->dm->units[i];

		if (same_crate(search->here, other) && !other->polled_noted)
			*vec_push(&search->units) = other;
	}
}

const char *search_home(struct dwarf_module *dm, uint64_t die)
{
	const struct unit *u = debuginfo_unit_of(dm, die);
	const char *at = u && u->name ? strstr(u->name, "/@/") : NULL;

	return at ? arena_strndup(&dm->di->arena, u->name, (size_t)(at - u->name) + 3) : NULL;
}

static bool add_unit_at(uint64_t pc, void *arg)
{
	struct crate_search *search = arg;
	struct unit *u = debuginfo_unit_at(search->dm, pc);

	if (u && same_crate(search->here, u))
		add_object(search, u);
	return true;
}

static void note_found(struct crate_search *search)
{
	debuginfo_scan_all(search->dm, search->units.data, search->units.n);
	for (size_t i = 0; i < search->units.n; i++)
		note_polled(search->dm, search->units.data[i]);
	search->units.n = 0;
}

bool search_has_poll(const struct type *t)
{
	struct dwarf_module *dm = type_module(t);
	struct unit *here = debuginfo_unit_of(dm, type_die(t));
	uint64_t key = lookup_name_key(type_name(t));

	if (!here || polled_never(type_name(t)))
		return false;
	note_polled(dm, here);
	for (size_t i = 0; i < dm->nunits && !map_has(&dm->polled, key); i++) {
		if (dm->units[i].scanned && same_crate(here, &dm->units[i]))
			note_polled(dm, &dm->units[i]);
	}
	if (map_has(&dm->polled, key))
		return true;
	/* A generic's poll function stands in one unit of the crate that made use of it. */
	struct crate_search search = { .dm = dm, .here = here };
	if (unscanned_bytes(dm, here) > SMALL_CRATE) {
		add_object(&search, here);
		symtab_each_poll(dm, type_name(t), add_unit_at, &search);
		note_found(&search);
		if (!map_has(&dm->polled, key))
			visit_contexts(dm, add_unit_at, &search, NULL);
	} else {
		for (size_t i = 0; i < dm->nunits; i++) {
			if (same_crate(here, &dm->units[i]) && !dm->units[i].polled_noted)
				*vec_push(&search.units) = &dm->units[i];
		}
	}
	note_found(&search);
	vec_free(&search.units);
	return map_has(&dm->polled, key);
}

void search_each_instance(struct dwarf_module *dm, uint64_t near, const char *path,
                          instance_fn *visit, void *arg)
{
	struct unit *here = debuginfo_unit_of(dm, near);
	const char *base = qualified_last(path);
	size_t base_len = strlen(base), path_len = strlen(path);

	for (size_t i = 0; here && i < dm->nunits; i++) {
		struct unit *u = &dm->units[i];

		if (!same_crate(here, u))
			continue;
		debuginfo_scan(dm, u);
		for (size_t j = 0; j < u->nscopes; j++) {
			const struct scope_note *note = &u->scopes[j];
			const char *own = scan_scope_name(&dm->sections, u, (uint32_t)j), *name;

			if (!own || strncmp(own, base, base_len) != 0 || own[base_len] != '<')
				continue;
			name = lookup_die_name(dm, u->start + note->die);
			if (name && strncmp(name, path, path_len) == 0)
				visit(name,
				      note->tag == DW_TAG_subprogram &&
				              (note->flags & SCOPE_ADDRESS),
				      arg);
		}
	}
}
