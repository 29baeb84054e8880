#include "dwarf/polled.h"

#include <dwarf.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "dwarf/die.h"
#include "dwarf/lookup.h"
#include "dwarf/qualified.h"

enum { MAX_DIES = 4096, MAX_HOPS = 4 };

/* A reference attribute of the DIE, 0 when there is none. */
static uint64_t reference(struct dwarf_module *dm, uint64_t die, unsigned name)
{
	struct unit *u = debuginfo_unit_of(dm, die);
	struct attribute_value v;
	struct attribute at;
	struct die d;

	if (!u || !die_read(&dm->sections, u, die, &d))
		return 0;
	while (die_next(&d, &at, &v)) {
		if (at.name == name)
			return v.number;
	}
	return 0;
}

static const char *name_of(struct dwarf_module *dm, uint64_t die)
{
	struct unit *u = debuginfo_unit_of(dm, die);
	struct attribute_value v;
	struct attribute at;
	struct die d;

	if (!u || !die_read(&dm->sections, u, die, &d))
		return NULL;
	while (die_next(&d, &at, &v)) {
		if (at.name == DW_AT_name)
			return v.string;
	}
	return NULL;
}

/* The type of a parameter, or of the one it is a copy of. */
static uint64_t type_of(struct dwarf_module *dm, uint64_t die)
{
	for (int hop = 0; die && hop < MAX_HOPS; hop++) {
		uint64_t type = reference(dm, die, DW_AT_type);

		if (type)
			return type;
		die = reference(dm, die, DW_AT_abstract_origin);
	}
	return 0;
}

/* The type of the first formal parameter among the children of a function's DIE; 0 none. */
static uint64_t first_argument(struct dwarf_module *dm, struct unit *u, uint64_t function)
{
	struct die d;
	size_t depth = 0;

	if (!die_read(&dm->sections, u, function, &d) || !d.has_children)
		return 0;
	for (int i = 0; i < MAX_DIES; i++) {
		uint64_t at = die_end(&d);

		if (!at || !die_read(&dm->sections, u, at, &d))
			return 0;
		if (d.tag == 0 && depth-- == 0)
			return 0;
		if (d.tag == DW_TAG_formal_parameter && depth == 0)
			return type_of(dm, at);
		depth += d.has_children;
	}
	return 0;
}

/*
 * Notes T of the core::pin::Pin<&mut T> at that DIE. A declaration will do: its name is all that is
 * asked for.
 */
static void note_pinned(struct dwarf_module *dm, uint64_t die)
{
	static const char head[] = "Pin<&mut ", whole[] = "core::pin::Pin<&mut ";
	const char *name = name_of(dm, die);

	/* The cheap half of the question first. */
	if (!name || strncmp(name, head, sizeof(head) - 1) != 0)
		return;
	STR(text);
	if (!lookup_append_die_name(dm, die, &text) || text.len <= sizeof(whole) ||
	    strncmp(text.data, whole, sizeof(whole) - 1) != 0 || text.data[text.len - 1] != '>')
		return;
	str_truncate(&text, text.len - 1);
	map_put(&dm->polled, lookup_name_key(text.data + sizeof(whole) - 1), NULL);
}

static bool is_poll(const char *name)
{
	return strncmp(name, "poll", 4) == 0 && (name[4] == '\0' || name[4] == '<');
}

static bool is_result(const char *name)
{
	static const char *const heads[] = { "Poll<", "GeneratorState<", "CoroutineState<" };

	for (size_t i = 0; name && i < sizeof(heads) / sizeof(heads[0]); i++) {
		if (strncmp(name, heads[i], strlen(heads[i])) == 0)
			return true;
	}
	return false;
}

static char yes, no; /* values of the maps below */

/* Asked once for each string: the linker made equal ones one. */
static char *ask_result(struct dwarf_module *dm, uint64_t type)
{
	struct unit *u = debuginfo_unit_of(dm, type);
	uint32_t index = u && u->scanned ? scan_scope_at(u, type) : SCOPE_NONE;

	if (index == SCOPE_NONE || !(u->scopes[index].flags & SCOPE_NAME_AT))
		return is_result(name_of(dm, type)) ? &yes : &no;
	uint64_t key = (uint64_t)u->scopes[index].name + 1;
	char *answer = map_get(&dm->result_names, key);
	if (!answer) {
		answer = is_result(scan_scope_name(&dm->sections, u, index)) ? &yes : &no;
		map_put(&dm->result_names, key, answer);
	}
	return answer;
}

/*
 * Names lie all over .debug_str, and those of functions are long and many; the types that
 * functions return are few: so a function is first asked whether it returns what a poll function
 * does, the resume function of a coroutine of older compilers included.
 */
static bool returns_poll(struct dwarf_module *dm, struct unit *u, const struct unit_result *r,
                         struct map *known)
{
	uint64_t function = u->start + u->scopes[r->scope].die;
	uint64_t type = r->type ? u->start + r->type : reference(dm, function, DW_AT_type);
	char *answer = type ? map_get(known, type) : &no;

	if (!answer) {
		answer = ask_result(dm, type);
		map_put(known, type, answer);
	}
	return answer == &yes;
}

/* By the function's qualified name without its own generics: "app::run::{async_fn#0}". */
static void note_coroutine(struct dwarf_module *dm, uint64_t die)
{
	STR(text);

	if (!lookup_append_die_name(dm, die, &text))
		return;
	const char *last = qualified_last(text.data);
	str_truncate(&text, (size_t)(last - text.data) + qualified_base_len(last));
	uint64_t key = lookup_name_key(text.data);
	struct static_place *place = NEW(&dm->di->arena, struct static_place);

	*place = (struct static_place){ die, map_get(&dm->coroutine_polls, key) };
	map_put(&dm->coroutine_polls, key, place);
}

/*
 * Poll<!> and what else has no size is returned as nothing. Those that only declare a function, or
 * complete another, do not say what it returns.
 */
static bool returns_nothing(const struct scope_note *note)
{
	return note->tag == DW_TAG_subprogram &&
	       !(note->flags & (SCOPE_TYPE | SCOPE_ORIGIN | SCOPE_DECLARATION));
}

/* A function that may be a poll function by what it returns. */
static void note_function(struct dwarf_module *dm, struct unit *u, uint32_t scope)
{
	uint64_t die = u->start + u->scopes[scope].die;
	const char *name = scan_scope_name(&dm->sections, u, scope);

	/* The one with a linkage name has the body; a declaration may stand elsewhere. */
	if (name && name[0] == '{' && (u->scopes[scope].flags & SCOPE_LINKAGE)) {
		note_coroutine(dm, die);
	} else if (name && is_poll(name)) {
		uint64_t type = first_argument(dm, u, die);

		if (type)
			note_pinned(dm, type);
	}
}

static bool is_named(struct dwarf_module *dm, struct unit *u, uint32_t scope, const char *name)
{
	const char *own = scan_scope_name(&dm->sections, u, scope);

	return own && strcmp(own, name) == 0;
}

/* core::ptr, the home of drop glue: most that returns nothing in optimised code, and no poll(). */
static bool is_home_of_glue(struct dwarf_module *dm, struct unit *u, uint32_t scope)
{
	uint32_t parent = u->scopes[scope].parent;

	return u->scopes[scope].tag == DW_TAG_namespace && parent != SCOPE_NONE &&
	       u->scopes[parent].parent == SCOPE_NONE && is_named(dm, u, scope, "ptr") &&
	       is_named(dm, u, parent, "core");
}

void polled_read(struct dwarf_module *dm, struct unit *u)
{
	struct map known = { 0 };
	const struct scope_note *glue = NULL;

	if (u->polled_noted)
		return;
	u->polled_noted = true;
	debuginfo_scan(dm, u);
	for (size_t i = 0; i < u->nresults; i++) {
		if (returns_poll(dm, u, &u->results[i], &known))
			note_function(dm, u, u->results[i].scope);
	}
	for (size_t i = 0; i < u->nscopes; i++) {
		uint32_t parent = u->scopes[i].parent;

		if (is_home_of_glue(dm, u, (uint32_t)i))
			glue = &u->scopes[i];
		else if (returns_nothing(&u->scopes[i]) &&
		         (parent == SCOPE_NONE || &u->scopes[parent] != glue))
			note_function(dm, u, (uint32_t)i);
	}
	map_free(&known);
	mapped_read(dm, u->end - u->start);
}

/* What the function returns, as a scan noted it; NULL when it is nothing. */
static const struct unit_result *result_of(const struct unit *u, uint32_t scope)
{
	size_t lo = 0, hi = u->nresults;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (u->results[mid].scope < scope)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < u->nresults && u->results[lo].scope == scope ? &u->results[lo] : NULL;
}

static void read_function(struct dwarf_module *dm, struct unit *u, uint32_t scope)
{
	const struct unit_result *r = result_of(u, scope);
	struct map known = { 0 };

	if (r ? returns_poll(dm, u, r, &known) : returns_nothing(&u->scopes[scope]))
		note_function(dm, u, scope);
	map_free(&known);
}

void polled_read_function(struct dwarf_module *dm, struct unit *u, uint64_t pc)
{
	debuginfo_scan(dm, u);
	for (const struct unit_function *f = NULL; (f = scan_function_from(u, pc, f));) {
		uint32_t scope = f->scope;
		struct unit *at = u;

		/* What is inlined elsewhere too says it all in one place. */
		for (int hop = 0; scope != SCOPE_NONE && hop < MAX_HOPS; hop++) {
			struct scope s = scan_scope(&dm->sections, at, scope);

			read_function(dm, at, scope);
			at = s.origin ? debuginfo_scanned_unit_of(dm, s.origin) : NULL;
			scope = at ? scan_scope_at(at, s.origin) : SCOPE_NONE;
		}
	}
}

bool polled_never(const char *type_name)
{
	static const char *const std[] = { "core::", "alloc::", "std::" };
	/* Where they have futures, or wrappers that are futures when what they hold is one. */
	static const char *const futures[] = {
		"core::future::",
		"core::pin::Pin<",
		"alloc::boxed::Box<",
		"core::panic::",
		"core::task::",
		"core::sync::exclusive::",
		"core::sync::sync_view::",
		"core::async_iter::",
		"std::future::",
		"std::panic",
		"std::async_iter::",
	};
	const char *last = qualified_last(type_name);

	if ((type_name[0] && strchr("([*", type_name[0])) ||
	    strncmp(last, "{closure_env#", 13) == 0)
		return true;
	for (size_t i = 0; i < sizeof(futures) / sizeof(futures[0]); i++) {
		if (strncmp(type_name, futures[i], strlen(futures[i])) == 0)
			return false;
	}
	for (size_t i = 0; i < sizeof(std) / sizeof(std[0]); i++) {
		if (strncmp(type_name, std[i], strlen(std[i])) == 0)
			return true;
	}
	return false;
}
