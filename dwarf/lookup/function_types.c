/* Reads the types in a function's DIE, and whether one of them is a Context. */
#include <dwarf.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/lookup/function_die.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/type.h"

enum {
	MAX_CONTAINED = 4, /* members in members that may be a Context */
	MAX_REFERENCES = 4,
};

static const char closure[] = "{closure#", closure_env[] = "{closure_env#";

struct type_visit {
	function_type_fn *visit;
	void *arg;
	int depth;
};

static bool part_of(unsigned tag, enum function_part *ret)
{
	switch (tag) {
	case DW_TAG_template_type_parameter:
		*ret = FUNCTION_GENERIC;
		return true;
	case DW_TAG_formal_parameter:
		*ret = FUNCTION_PARAMETER;
		return true;
	case DW_TAG_variable:
		*ret = FUNCTION_VARIABLE;
		return true;
	default:
		return false;
	}
}

static bool visit_types(struct dwarf_module *dm, struct die *scope, void *arg)
{
	struct type_visit *v = arg;
	enum function_part part;
	struct die_attrs attrs;
	struct die d;
	bool over = false;

	if (v->depth > DIE_MAX_NESTING)
		return false;
	for (bool any = die_child(scope, &d); any && !over; any = die_sibling(&d, &d)) {
		struct die at = d;

		if (d.tag == DW_TAG_lexical_block) {
			v->depth++;
			over = visit_types(dm, &at, v);
			v->depth--;
		} else if (part_of(d.tag, &part)) {
			die_attrs_read(&at, &attrs);
			die_attrs_complete(dm, &attrs);
			const struct type *t = attrs.type ? type_at(dm, attrs.type) : NULL;
			over = t && v->visit(part, t, v->arg);
		}
	}
	return over;
}

void function_read_types(const struct function *f, function_type_fn *visit, void *arg)
{
	struct type_visit v = { .visit = visit, .arg = arg };

	function_each_origin(f->dm, f->die, visit_types, &v);
}

static bool find_result(struct dwarf_module *dm, struct die *function, void *arg)
{
	const struct type **ret = arg;
	struct die_attrs attrs;

	die_attrs_read(function, &attrs);
	if (attrs.type)
		*ret = type_at(dm, attrs.type);
	return *ret != NULL;
}

const struct type *function_read_result(const struct function *f)
{
	const struct type *ret = NULL;

	function_each_origin(f->dm, f->die, find_result, &ret);
	return ret;
}

/* ---- Contexts ---- */

static bool is_context(const struct type *t)
{
	static const char *const names[] = { "core::task::wake::Context",
		                             "&mut core::task::wake::Context" };
	const char *name = type_name(t);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		/* Some compilers add a lifetime after the name. */
		if (strncmp(name, names[i], strlen(names[i])) == 0 &&
		    (name[strlen(names[i])] == '\0' || name[strlen(names[i])] == '<'))
			return true;
	}
	return false;
}

/* Whether a value of this type is a Context, or contains one or a reference to one. */
static bool function_types_contains_context(const struct type *t, int depth)
{
	const struct variant *variants;
	const struct member *members;
	size_t n;

	if (is_context(t))
		return true;
	if (depth == MAX_CONTAINED)
		return false;
	members = type_members(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (members[i].type && function_types_contains_context(members[i].type, depth + 1))
			return true;
	}
	variants = type_variants(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (variants[i].payload &&
		    function_types_contains_context(variants[i].payload, depth + 1))
			return true;
	}
	return false;
}

/* Parts of a function that are a Context. */
struct contexts {
	bool parameter; /* a parameter */
	bool variable;  /* a variable */
	bool reference; /* a variable refers to one: created here, or captured by a closure */
};

/* Stops at the first parameter that is a Context: no caller needs more. */
static bool note_context(enum function_part part, const struct type *t, void *arg)
{
	struct contexts *has = arg;

	if (part == FUNCTION_GENERIC || !is_context(t))
		return false;
	if (part == FUNCTION_PARAMETER)
		has->parameter = true;
	else if (type_kind(t) == TYPE_POINTER)
		has->reference = true;
	else
		has->variable = true;
	return has->parameter;
}

static bool note_received(enum function_part part, const struct type *t, void *arg)
{
	bool *received = arg;

	*received |= part == FUNCTION_PARAMETER && function_types_contains_context(t, 0);
	return *received;
}

bool function_read_has_context(const struct function *f)
{
	struct contexts has = { 0 };

	function_read_types(f, note_context, &has);
	return has.parameter || has.variable || has.reference;
}

/*
 * Whether the function is a closure that has captured a Context: DWARF describes it as a variable
 * of the closure, of the type that was captured, even where it is a reference.
 */
static bool captures_context(const struct function *f)
{
	const char *last = qualified_last(f->name);
	const struct member *members;
	const struct type *t;
	size_t n = 0;
	SCRATCH(tmp);

	if (!str_begins(last, closure))
		return false;
	t = lookup_dwarf_type(f->dm,
	                      arena_printf(&tmp, "%.*s%s%s", (int)(last - f->name), f->name,
	                                   closure_env, last + sizeof(closure) - 1),
	                      f->die);
	members = t ? type_members(t, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		t = members[i].type;
		for (int hops = 0; t && type_kind(t) == TYPE_POINTER && hops < MAX_REFERENCES;
		     hops++)
			t = type_target(t);
		if (t && function_types_contains_context(t, 0))
			return true;
	}
	return false;
}

bool function_read_creates_context(const struct function *f)
{
	const char *last = qualified_last(f->name);
	bool is_closure = str_begins(last, "{closure"), received = false;
	struct contexts has = { 0 };

	/* The Context of a coroutine is a variable of its poll function. */
	if (str_begins(last, "{async_") || str_begins(last, "{gen"))
		return false;
	function_read_types(f, note_context, &has);
	if (has.parameter || !(has.variable || (has.reference && !is_closure)))
		return false;
	function_read_types(f, note_received, &received);
	return !received && !captures_context(f);
}
