#include "dwarf/frame/wide_scope.h"

#include <dwarf.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/frame/await_states.h"
#include "dwarf/frame/generator_type.h"
#include "dwarf/lookup/argument_place.h"

static const char *wide_scope_name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static int wide_scope_line_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word line;

	return dwarf_attr_integrate(die, DW_AT_decl_line, &attr) &&
	                       dwarf_formudata(&attr, &line) == 0 && line <= INT32_MAX
	               ? (int)line
	               : 0;
}

/* Whether a struct has the member; a reference to what was captured is "_ref__name". */
static bool has_member(const struct type *t, const char *name)
{
	static const char reference[] = "_ref__";
	size_t n;
	const struct member *m = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		const char *own = m[i].name ? m[i].name : "";

		if (str_begins(own, reference))
			own += sizeof(reference) - 1;
		if (strcmp(own, name) == 0)
			return true;
	}
	return false;
}

/* The type of the first one; an inlined call lacks arguments that it does not use. */
static const struct type *wide_scope_first_argument(struct dwarf_module *dm, Dwarf_Die *function)
{
	Dwarf_Die argument, abstract;
	Dwarf_Attribute origin;
	bool is_copy = dwarf_attr(function, DW_AT_abstract_origin, &origin) &&
	               dwarf_formref_die(&origin, &abstract);
	bool found = argument_place_first_die(is_copy ? &abstract : function, &argument);

	return found ? await_states_type_of(dm, &argument)
	             : generator_type_of(dm, is_copy ? &abstract : function);
}

/*
 * Whether a closure or a coroutine captured a variable: it is in the function, too. What captured
 * it is the first argument, or behind a pointer that it is.
 */
static bool is_captured(struct dwarf_module *dm, Dwarf_Die *function, const char *name)
{
	const struct type *t = wide_scope_first_argument(dm, function);
	const struct type *pinned = t ? await_states_pinned(t) : NULL;

	if (pinned)
		t = pinned;
	else if (t && type_kind(t) == TYPE_POINTER)
		t = type_target(t);
	if (!t)
		return false;
	if (!type_is_coroutine(t))
		return has_member(t, name);
	const struct variant *first = type_variant(t, "Unresumed");
	return first && first->payload && has_member(first->payload, name);
}

static bool is_temporary(const char *name)
{
	return !name || str_begins(name, "__") || strcmp(name, "_task_context") == 0;
}

bool wide_scope_has(struct dwarf_module *dm, Dwarf_Die *function, Dwarf_Die *block,
                    Dwarf_Die *variable)
{
	const char *name = wide_scope_name_of(variable);
	Dwarf_Die child;

	if (dwarf_tag(variable) != DW_TAG_variable || is_temporary(name))
		return false;
	if (dwarf_tag(block) != DW_TAG_lexical_block)
		return !is_captured(dm, function, name);
	if (dwarf_child(block, &child) != 0)
		return false;
	/* A pattern of one `let` may have several variables, on one line as a rule. */
	do {
		if (dwarf_tag(&child) == DW_TAG_variable &&
		    !is_temporary(wide_scope_name_of(&child)) &&
		    wide_scope_line_of(&child) < wide_scope_line_of(variable))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}
