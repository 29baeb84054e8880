/* Reads which types the poll functions of a unit poll. */
#include "dwarf/lookup/poll_fn_index.h"

#include <dwarf.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/module/die_name.h"
#include "dwarf/names/qualified.h"
#include "dwarf/scan/die.h"

enum { MAX_DIES = 4096, MAX_HOPS = 4, MAX_INLINED = 1 << 16 /* calls in one function */ };

/* A reference attribute of the DIE; 0: none. */
static uint64_t poll_fn_reference(struct dwarf_module *dm, uint64_t die, unsigned name)
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

static const char *poll_fn_name_of(struct dwarf_module *dm, uint64_t die)
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

/* The type of a parameter, or of its abstract origin. */
static uint64_t poll_fn_type_of(struct dwarf_module *dm, uint64_t die)
{
	for (int hop = 0; die && hop < MAX_HOPS; hop++) {
		uint64_t type = poll_fn_reference(dm, die, DW_AT_type);

		if (type)
			return type;
		die = poll_fn_reference(dm, die, DW_AT_abstract_origin);
	}
	return 0;
}

/* The type of the first formal parameter among the children of a function's DIE; 0: none. */
static uint64_t poll_fn_first_argument(struct dwarf_module *dm, struct unit *u, uint64_t function)
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
			return poll_fn_type_of(dm, at);
		depth += d.has_children;
	}
	return 0;
}

/*
 * Records how T of the core::pin::Pin<&mut T> at that DIE is polled. A declaration suffices,
 * because only its name is read.
 */
static void note_pinned(struct dwarf_module *dm, uint64_t die, unsigned how)
{
	static const char head[] = "Pin<&mut ", whole[] = "core::pin::Pin<&mut ";
	const char *name = poll_fn_name_of(dm, die);

	/* Check the cheap part first. */
	if (!name || strncmp(name, head, sizeof(head) - 1) != 0)
		return;
	STR(text);
	if (!die_append_name(dm, die, &text) || text.len <= sizeof(whole) ||
	    strncmp(text.data, whole, sizeof(whole) - 1) != 0 || text.data[text.len - 1] != '>')
		return;
	str_truncate(&text, text.len - 1);
	uint64_t key = map_key_of_text(text.data + sizeof(whole) - 1);
	map_put(&dm->polls.polled, key, (void *)((uintptr_t)map_get(&dm->polls.polled, key) | how));
}

unsigned poll_fn_kind(const char *name)
{
	if (strncmp(name, "poll", 4) != 0)
		return 0;
	unsigned how = POLLED_AS_FUTURE;
	name += 4;
	if (strncmp(name, "_next", 5) == 0) {
		how = POLLED_AS_STREAM;
		name += 5;
	}
	return *name == '\0' || *name == '<' ? how : 0;
}

bool poll_fn_is_coroutine(const char *name)
{
	return name[0] == '{' && strncmp(name, "{closure#", 9) != 0;
}

bool poll_fn_is_result(const char *name)
{
	static const char *const heads[] = { "Poll<", "GeneratorState<", "CoroutineState<" };

	return str_begins_with_any(name, heads);
}

/* Does the function at that DIE return the result type of a poll function? */
static bool returns_poll(struct dwarf_module *dm, uint64_t function)
{
	uint64_t type = poll_fn_reference(dm, function, DW_AT_type);
	const char *name = type ? poll_fn_name_of(dm, type) : NULL;

	return name && poll_fn_is_result(name);
}

/*
 * Records a coroutine by its function's qualified name without its own generics:
 * "app::run::{async_fn#0}".
 */
static void note_coroutine(struct dwarf_module *dm, uint64_t die)
{
	STR(text);

	if (!die_append_name(dm, die, &text))
		return;
	const char *last = qualified_last(text.data);
	str_truncate(&text, (size_t)(last - text.data) + qualified_base_len(last));
	uint64_t key = map_key_of_text(text.data);
	struct static_place *known = map_get(&dm->polls.coroutines, key);
	for (const struct static_place *p = known; p; p = p->next) {
		if (p->die == die)
			return;
	}
	struct static_place *place = NEW(&dm->di->arena, struct static_place);

	*place = (struct static_place){ die, known };
	map_put(&dm->polls.coroutines, key, place);
}

/* Records a function whose return type is that of a poll function. */
static void poll_fn_note_function(struct dwarf_module *dm, struct unit *u, uint64_t die,
                                  const char *name, bool has_linkage)
{
	/* The DIE with a linkage name has the body; a declaration may be elsewhere. */
	if (poll_fn_is_coroutine(name) && has_linkage) {
		note_coroutine(dm, die);
	} else if (poll_fn_kind(name)) {
		uint64_t type = poll_fn_first_argument(dm, u, die);

		if (type)
			note_pinned(dm, type, poll_fn_kind(name));
	}
}

static void poll_fn_scan_record_scope(struct dwarf_module *dm, struct unit *u, uint32_t scope)
{
	const struct scope_note *note = &u->found.scopes[scope];
	const char *name = scan_scope_name(&dm->sections, u, scope);

	if (name)
		poll_fn_note_function(dm, u, u->start + note->die, name,
		                      note->flags & SCOPE_LINKAGE);
}

/* Records a function if its return type is that of a poll function. */
static void poll_fn_index_read_function(struct dwarf_module *dm, struct unit *u, uint32_t scope)
{
	const struct scope_note *note = &u->found.scopes[scope];

	/* Poll<!> and other types without a size count as no return value. */
	if (scan_returns_nothing(note) ||
	    ((note->flags & SCOPE_TYPE) && returns_poll(dm, u->start + note->die)))
		poll_fn_scan_record_scope(dm, u, scope);
}

/* Has the function the name of a poll function? */
static bool may_poll(const struct dwarf_module *dm, const struct scope_note *note)
{
	if (note->tag != DW_TAG_subprogram)
		return false;
	if (!(note->flags & SCOPE_NAME_AT))
		return note->flags & SCOPE_NAMED;
	const char *name = section_string(dm->sections.str, note->name);
	if (!name)
		return false;
	/* Nobody polls a stream by a function that the linker dropped, which has no symbol. */
	if ((note->flags & SCOPE_DROPPED) && poll_fn_kind(name) == POLLED_AS_STREAM)
		return false;
	return poll_fn_is_coroutine(name) || poll_fn_kind(name);
}

void poll_fn_read(struct dwarf_module *dm, struct unit *u)
{
	if (u->polled_noted)
		return;
	u->polled_noted = true;
	debuginfo_scan(dm, u);
	for (uint32_t i = 0; i < u->found.nscopes; i++) {
		if (may_poll(dm, &u->found.scopes[i]))
			poll_fn_index_read_function(dm, u, i);
		if (i % 256 == 0)
			residency_touched(dm);
	}
	residency_read(dm, u->end - u->start);
}

void poll_fn_read_function(struct dwarf_module *dm, struct unit *u, uint64_t pc)
{
	debuginfo_scan(dm, u);
	for (const struct unit_function *f = NULL; (f = scan_function_from(u, pc, f));) {
		uint32_t scope = f->scope;
		struct unit *at = u;

		/*
		 * A function that is also inlined elsewhere has its attributes in its abstract
		 * origin: read that too.
		 */
		for (int hop = 0; scope != SCOPE_NONE && hop < MAX_HOPS; hop++) {
			struct scope s = scan_scope(&dm->sections, at, scope);

			poll_fn_index_read_function(dm, at, scope);
			at = s.origin ? debuginfo_scanned_unit_of(dm, s.origin) : NULL;
			scope = at ? scan_scope_at(at, s.origin) : SCOPE_NONE;
		}
	}
}

/* ---- inlined functions ---- */

/*
 * False when the origin was seen recently. The cache is small: the same few hundred functions are
 * inlined everywhere, and reading one again costs less than memory for all of them.
 */
static bool is_new_origin(struct dwarf_module *dm, uint64_t origin)
{
	enum { BITS = 12 };

	if (!dm->polls.origins)
		dm->polls.origins = NEW_ARRAY(&dm->di->arena, uint64_t, 1 << BITS);
	uint64_t *known = &dm->polls.origins[origin * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BITS)];
	bool is_new = *known != origin;
	*known = origin;
	return is_new;
}

/* Reads the abstract function of an inlined call. Scans its unit only if it is recorded. */
static void read_origin(struct dwarf_module *dm, uint64_t origin)
{
	struct unit *u = debuginfo_unit_of(dm, origin);
	bool has_linkage = false, is_declaration = false;
	const char *name = NULL;
	struct attribute_value v;
	struct attribute at;
	uint64_t type = 0;
	struct die d;

	if (!u || u->polled_noted || !is_new_origin(dm, origin) ||
	    !die_read(&dm->sections, u, origin, &d) || d.tag != DW_TAG_subprogram)
		return;
	while (die_next(&d, &at, &v)) {
		if (at.name == DW_AT_name)
			name = v.string;
		else if (at.name == DW_AT_type)
			type = v.number;
		has_linkage |= at.name == DW_AT_linkage_name;
		is_declaration |= at.name == DW_AT_declaration;
	}
	if (!name || is_declaration || !(poll_fn_is_coroutine(name) || poll_fn_kind(name)))
		return;
	const char *result = type ? poll_fn_name_of(dm, type) : NULL;
	if (!type || (result && poll_fn_is_result(result)))
		poll_fn_note_function(dm, u, origin, name, has_linkage);
}

/* Reads the calls inlined into a function, at any depth. */
static void poll_fn_index_read_inlined(struct dwarf_module *dm, struct unit *u, uint64_t function)
{
	struct attribute_value v;
	struct attribute at;
	struct die d;

	if (!die_read(&dm->sections, u, function, &d))
		return;
	struct die_walk below = die_walk(&d);
	for (int i = 0; i < MAX_INLINED && die_walk_next(&below, DW_TAG_inlined_subroutine, &d);
	     i++) {
		while (die_next(&d, &at, &v)) {
			if (at.name == DW_AT_abstract_origin) {
				read_origin(dm, v.number);
				break;
			}
		}
	}
}

void poll_fn_read_inlined(struct dwarf_module *dm, struct unit *u, uint64_t pc)
{
	debuginfo_scan(dm, u);
	for (const struct unit_function *f = NULL; (f = scan_function_from(u, pc, f));)
		poll_fn_index_read_inlined(dm, u, u->start + u->found.scopes[f->scope].die);
}

static const char *const std[] = { "core::", "alloc::", "std::" };

/*
 * Is it a type of core, alloc or std, a tuple, an array or a raw pointer, by the prefix of its
 * name?
 */
static bool begins_as_never(const char *type_name)
{
	/* Modules with futures, or with wrappers that are futures when their content is one. */
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

	return (type_name[0] && strchr("([*", type_name[0])) ||
	       (str_begins_with_any(type_name, std) && !str_begins_with_any(type_name, futures));
}

bool poll_fn_never_takes(const char *type_name)
{
	static const char closure[] = "{closure_env#";

	/* Names are long: find the last component only if the name contains a closure. */
	return begins_as_never(type_name) ||
	       (strstr(type_name, closure) &&
	        strncmp(qualified_last(type_name), closure, sizeof(closure) - 1) == 0);
}

bool poll_fn_never_takes_pointer_to(const char *type_name)
{
	static const char *const pointers[] = { "core::pin::Pin<", "alloc::boxed::Box<", "&mut " };
	const char *name = type_name;

	for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		if (str_begins(name, pointers[i]))
			name += strlen(pointers[i]);
	}
	if (name == type_name)
		return false;
	const char *object = name + (name[0] == '(');
	if (str_begins(object, "dyn ")) {
		const char *trait = object + strlen("dyn ");

		return str_begins_with_any(trait, std) && !str_begins(trait, "core::future::");
	}
	return begins_as_never(name);
}
