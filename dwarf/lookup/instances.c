/* Finds all instances of a generic function or type, impls of Drop, or coroutines, in one crate. */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/lookup/poll_units.h"
#include "dwarf/module/die_name.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/qualified.h"
#include "dwarf/records/records.h"
#include "dwarf/types/type.h"

/* If fewer bytes of a crate's units are left to scan, their scan records are kept. */
enum { MUCH_TO_SCAN = 8 << 20 };

struct instances_instance_search {
	struct dwarf_module *dm;
	const char *path, *base; /* base: last component of path */
	const char *other_base;  /* a newer name of base; NULL: none */
	const char *outer;       /* component before base; NULL: not used */
	size_t outer_len;
	unit_fn *visit_unit;
	instance_fn *visit;
	void *arg;
};

struct instance_searches {
	struct instances_instance_search *data;
	size_t n;
};

/*
 * Finds the component before the last one: "ptr" in "core::ptr::drop_in_place". Skipped where the
 * path has components that are not plain names.
 */
static void find_outer(struct instances_instance_search *s)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:";

	if (s->base == s->path || strspn(s->path, plain) < (size_t)(s->base - s->path))
		return;
	const char *end = s->outer = s->base - 2;
	while (s->outer > s->path && s->outer[-1] != ':')
		s->outer--;
	s->outer_len = (size_t)(end - s->outer);
}

/* Cache of the last parent scope: scopes of one parent are adjacent. */
struct parent {
	uint32_t index;
	bool fits;
};

/* Filters scopes by their parent, because reading every name touches all of .debug_str. */
static bool may_be_there(const struct instances_instance_search *s, struct unit *u, uint32_t index,
                         struct parent *last)
{
	uint32_t parent = u->found.scopes[index].parent;

	/* A DIE with an origin has its real parent there. */
	if (!s->outer || parent == SCOPE_NONE || (u->found.scopes[index].flags & SCOPE_ORIGIN))
		return true;
	if (parent != last->index) {
		const char *name = scan_scope_name(&s->dm->sections, u, parent);

		last->index = parent;
		last->fits =
			(u->found.scopes[parent].flags & SCOPE_ORIGIN) ||
			(name && strncmp(name, s->outer, s->outer_len) == 0 && !name[s->outer_len]);
	}
	return last->fits;
}

static bool instances_is_generic(const char *name, const char *base)
{
	size_t len = strlen(base);

	return strncmp(name, base, len) == 0 && name[len] == '<';
}

static bool is_instance(const struct instances_instance_search *s, const char *last)
{
	return instances_is_generic(last, s->base) ||
	       (s->other_base && instances_is_generic(last, s->other_base));
}

/* Does the whole name match the path? */
static bool is_instance_of_path(const struct instances_instance_search *s, const char *name)
{
	size_t scope = (size_t)(s->base - s->path);

	return strncmp(name, s->path, scope) == 0 && is_instance(s, name + scope);
}

static void visit_instances(struct dwarf_module *dm, struct unit *u, void *arg)
{
	const struct instances_instance_search *s = arg;
	struct parent last = { .index = SCOPE_NONE };

	for (uint32_t i = 0; i < u->found.nscopes; i++) {
		const struct scope_note *note = &u->found.scopes[i];
		const char *own = NULL;

		if (may_be_there(s, u, i, &last))
			own = scan_scope_name(&dm->sections, u, i);
		if (!own || !is_instance(s, own))
			continue;
		STR(name);
		if (die_append_name(dm, u->start + note->die, &name) &&
		    is_instance_of_path(s, str_text(&name)))
			s->visit(str_text(&name),
			         note->tag == DW_TAG_subprogram && (note->flags & SCOPE_ADDRESS),
			         s->arg);
	}
}

/* The T of a function drop(&mut T); NULL: it is none. */
static const char *dropped_type(struct dwarf_module *dm, uint64_t die)
{
	static const char reference[] = "&mut ";
	const struct function f = { .dm = dm, .die = die };
	const struct type *argument = function_read_first_argument(&f);
	const char *name = argument ? type_name(argument) : "";

	return str_begins(name, reference) ? name + strlen(reference) : NULL;
}

static void visit_drops(struct dwarf_module *dm, struct unit *u, void *arg)
{
	const struct instances_instance_search *s = arg;

	for (uint32_t i = 0; i < u->found.nscopes; i++) {
		const struct scope_note *note = &u->found.scopes[i];
		const char *own = NULL, *type = NULL;

		if (note->tag == DW_TAG_subprogram && note->parent != SCOPE_NONE &&
		    !(note->flags & SCOPE_ORIGIN))
			own = scan_scope_name(&dm->sections, u, i);
		if (own && (strcmp(own, s->base) == 0 || instances_is_generic(own, s->base)))
			type = dropped_type(dm, u->start + note->die);
		if (!type)
			continue;
		STR(name);
		str_printf(&name, "%s<%s>", s->path, type);
		s->visit(str_text(&name), (note->flags & SCOPE_ADDRESS) != 0, s->arg);
	}
}

/*
 * Is the text the last component of a coroutine's type, such as {async_fn_env#0}<T>, but no
 * closure?
 */
static bool is_coroutine_type(const char *own)
{
	return own && own[0] == '{' && strstr(own, "_env#") && !str_begins(own, "{closure_env#");
}

static void visit_coroutines(struct dwarf_module *dm, struct unit *u, void *arg)
{
	const struct instances_instance_search *s = arg;

	for (uint32_t i = 0; i < u->found.nscopes; i++) {
		const struct scope_note *note = &u->found.scopes[i];
		STR(name);

		if (note->tag == DW_TAG_structure_type &&
		    is_coroutine_type(scan_scope_name(&dm->sections, u, i)) &&
		    die_append_name(dm, u->start + note->die, &name))
			s->visit(str_text(&name), false, s->arg);
	}
}

static unit_fn *visitor_for(const char *path)
{
	if (strcmp(path, OWN_DROP) == 0)
		return visit_drops;
	return strcmp(path, COROUTINE_TYPES) == 0 ? visit_coroutines : visit_instances;
}

static bool instances_is_much_to_scan(const struct dwarf_module *dm, const struct unit *here)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < dm->nunits; i++) {
		const struct unit *u = &dm->units[i];

		if (!u->scanned && poll_units_same_crate(here, u))
			bytes += u->end - u->start;
	}
	return bytes > MUCH_TO_SCAN;
}

static void visit_searched(struct dwarf_module *dm, struct unit *u, void *arg)
{
	const struct instance_searches *searches = arg;

	for (size_t i = 0; i < searches->n; i++)
		searches->data[i].visit_unit(dm, u, &searches->data[i]);
}

static struct instances_instance_search instances_search_of(struct dwarf_module *dm,
                                                            const struct instance_query *query)
{
	struct instances_instance_search s = {
		.dm = dm,
		.path = query->path,
		.base = qualified_last(query->path),
		.other_base = strcmp(query->path, DROP_GLUE) == 0 ? "drop_glue" : NULL,
		.visit_unit = visitor_for(query->path),
		.visit = query->visit,
		.arg = query->arg,
	};

	find_outer(&s);
	return s;
}

void lookup_dwarf_each_instance(struct dwarf_module *dm, uint64_t near,
                                const struct instance_query *queries, size_t n)
{
	SCRATCH(tmp);
	struct instance_searches searches = { .data = NEW_ARRAY(
						      &tmp, struct instances_instance_search, n) };
	struct unit *here = debuginfo_unit_of(dm, near);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(queries[i].path, UNMERGED_CODE) != 0)
			searches.data[searches.n++] = instances_search_of(dm, &queries[i]);
		else if (here && poll_symbols_is_unoptimised(dm, here) &&
		         !poll_symbols_is_folded(dm, here))
			queries[i].visit(queries[i].path, false, queries[i].arg);
	}
	if (!here || !searches.n)
		return;
	struct scanner *passing = instances_is_much_to_scan(dm, here) ? scanner_new() : NULL;

	for (size_t i = 0; i < dm->nunits; i++) {
		if (poll_units_same_crate(here, &dm->units[i]))
			debuginfo_pass(dm, &dm->units[i], passing, visit_searched, &searches);
	}
	scanner_free(passing);
}
