/* From a future's type to its poll function. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/enumerate.h"
#include "dwarf/facts.h"
#include "dwarf/line.h"
#include "dwarf/lookup.h"
#include "dwarf/qualified.h"
#include "dwarf/search.h"
#include "dwarf/type.h"

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
		const struct scope *s = &u->scopes[i];
		const char *name;

		/* The one with a linkage name has the body; a declaration may stand elsewhere. */
		if (s->tag != DW_TAG_subprogram || !s->name || !s->linkage || !polls(s->name, env))
			continue;
		name = lookup_die_name(dm, s->die);
		if (name && strncmp(name, path, path_len) == 0 &&
		    strcmp(name + path_len, s->name) == 0)
			return s->die;
	}
	return 0;
}

/* Do two units come from one crate: is what stands before "/@/" the same? */
static bool same_crate(const struct unit *a, const struct unit *b)
{
	const char *at = a->name ? strstr(a->name, "/@/") : NULL;

	return at && b->name && strncmp(a->name, b->name, (size_t)(at - a->name) + 3) == 0;
}

static uint64_t find_poll(const struct type *coroutine)
{
	struct dwarf_module *dm = type_module(coroutine);

	if (dm->poll_dies_known)
		return enumerated_poll(dm, type_name(coroutine));
	struct unit *here = debuginfo_scanned_unit_of(dm, type_die(coroutine));
	uint32_t self = here ? scan_scope_at(here, type_die(coroutine)) : SCOPE_NONE;
	const char *full = type_name(coroutine), *env;
	SCRATCH(tmp);

	if (self == SCOPE_NONE || !here->scopes[self].name)
		return 0;
	env = here->scopes[self].name;
	size_t env_len = strlen(env), full_len = strlen(full);
	if (full_len < env_len)
		return 0;
	const char *path = arena_strndup(&tmp, full, full_len - env_len);
	uint64_t found = poll_in_unit(dm, here, path, env);
	/* The type may stand in many units of the crate, its function in one. */
	for (size_t i = 0; !found && i < dm->nunits; i++) {
		struct unit *u = &dm->units[i];
		const char *crate;
		size_t len;
		bool named = unit_crate(u, &crate, &len) && strncmp(full, crate, len) == 0 &&
		             strncmp(full + len, "::", 2) == 0;

		if (u != here && (named || same_crate(here, u)))
			found = poll_in_unit(dm, u, path, env);
	}
	return found;
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

/* T of a first argument Pin<&mut T>. */
static const struct type *polled_type(struct dwarf_module *dm, uint64_t die)
{
	const struct function *f = lookup_function_die(dm, die);
	const struct type *t = f ? function_first_argument(f) : NULL;

	if (!t || !type_is(t, "core::pin::Pin"))
		return NULL;
	const struct member *m = type_single_member(t);
	return m && type_kind(m->type) == TYPE_POINTER ? type_target(m->type) : NULL;
}

/* The types that functions of this unit poll, by name: each unit has its own DIE for a type. */
static void read_polled(struct dwarf_module *dm, struct unit *u)
{
	if (u->polled_read)
		return;
	u->polled_read = true;
	debuginfo_scan(dm, u);
	facts_pause(debuginfo_facts(dm)); /* each of them is one of thousands */
	for (size_t i = 0; i < u->nscopes; i++) {
		const struct scope *s = &u->scopes[i];

		if (s->tag != DW_TAG_subprogram || !s->name || strncmp(s->name, "poll", 4) != 0 ||
		    (s->name[4] != '\0' && s->name[4] != '<'))
			continue;
		const struct type *t = polled_type(dm, s->die);
		if (t)
			map_put(&dm->polled, lookup_name_key(type_name(t)), NULL);
	}
	facts_resume(debuginfo_facts(dm));
}

const char *search_home(struct dwarf_module *dm, uint64_t die)
{
	const struct unit *u = debuginfo_unit_of(dm, die);
	const char *at = u && u->name ? strstr(u->name, "/@/") : NULL;

	return at ? arena_strndup(&dm->di->arena, u->name, (size_t)(at - u->name) + 3) : NULL;
}

bool search_has_poll(const struct type *t)
{
	struct dwarf_module *dm = type_module(t);
	struct unit *here = debuginfo_unit_of(dm, type_die(t));
	uint64_t key = lookup_name_key(type_name(t));

	if (!here)
		return false;
	read_polled(dm, here);
	/* A generic's poll function stands in one unit of the crate that made use of it. */
	for (size_t i = 0; i < dm->nunits && !map_has(&dm->polled, key); i++) {
		if (same_crate(here, &dm->units[i]))
			read_polled(dm, &dm->units[i]);
	}
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
			const struct scope *s = &u->scopes[j];
			const char *name;

			if (!s->name || strncmp(s->name, base, base_len) != 0 ||
			    s->name[base_len] != '<')
				continue;
			name = lookup_die_name(dm, s->die);
			if (name && strncmp(name, path, path_len) == 0)
				visit(name, s->tag == DW_TAG_subprogram && s->has_address, arg);
		}
	}
}
