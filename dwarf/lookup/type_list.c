/* Visits the types of a module by their qualified names (lookup.h). */
#include <dwarf.h>
#include <string.h>

#include "debugger/base/progress.h"
#include "debugger/base/str.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/lookup/type_names.h"

enum {
	MUCH_TO_SCAN = 16 << 20, /* bytes of debug info: below, the notes of scans are kept */
};

struct type_list_visit {
	type_fn *visit;
	void *arg;
	struct error *err;
	struct map prefixes; /* of the unit: index of a scope + 1 -> its qualified name */
	struct arena arena;
};

static bool is_type(unsigned tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type;
}

/* The qualified name of a scope; NULL when one of the scopes around it has no name. */
static const char *scope_name(struct type_list_visit *v, struct dwarf_module *dm, struct unit *u,
                              uint32_t scope, unsigned depth)
{
	const char *ret = map_get(&v->prefixes, (uint64_t)scope + 1), *own, *outer;
	uint32_t parent = u->found.scopes[scope].parent;

	if (ret)
		return ret;
	own = scan_scope_name(&dm->sections, u, scope);
	if (!own || !*own || depth == DIE_MAX_NESTING)
		return NULL;
	if (parent == SCOPE_NONE) {
		ret = own;
	} else {
		outer = scope_name(v, dm, u, parent, depth + 1);
		ret = outer ? arena_printf(&v->arena, "%s::%s", outer, own) : NULL;
	}
	if (ret && depth)
		map_put(&v->prefixes, (uint64_t)scope + 1, (void *)(uintptr_t)ret);
	return ret;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && strcmp(text + len - n, end) == 0;
}

static void type_list_visit_unit(struct dwarf_module *dm, struct unit *u, void *arg)
{
	struct type_list_visit *v = arg;

	for (size_t i = 0; i < u->found.nscopes && !v->err; i++) {
		const struct scope_note *note = &u->found.scopes[i];
		const char *name;

		/* A type in a type is the content of a variant. */
		if (!is_type(note->tag) || (note->flags & SCOPE_DECLARATION) ||
		    (note->parent != SCOPE_NONE && is_type(u->found.scopes[note->parent].tag)))
			continue;
		name = scope_name(v, dm, u, (uint32_t)i, 0);
		if (name && !ends_with(name, "{vtable_type}"))
			v->err = v->visit(dm, name, u->start + note->die, v->arg);
	}
	map_free(&v->prefixes);
	arena_reset(&v->arena);
}

struct error *lookup_each_type(struct dwarf_module *dm, type_fn *visit, void *arg)
{
	struct type_list_visit v = { .visit = visit, .arg = arg };
	struct scanner *passing = NULL;
	uint64_t bytes = 0;

	if (!debuginfo_need(dm))
		return NULL;
	for (size_t i = 0; i < dm->nunits; i++)
		bytes += dm->units[i].scanned ? 0 : dm->units[i].end - dm->units[i].start;
	if (bytes > MUCH_TO_SCAN)
		passing = scanner_new();
	for (size_t i = 0; i < dm->nunits && !v.err; i++) {
		progress("looking for types, unit", i + 1, dm->nunits);
		debuginfo_pass(dm, &dm->units[i], passing, type_list_visit_unit, &v);
		if (!v.err)
			v.err = interrupt_check();
	}
	scanner_free(passing);
	arena_free(&v.arena);
	return v.err;
}
