#include "dwarf/polled.h"

#include <dwarf.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "dwarf/die.h"
#include "dwarf/lookup.h"
#include "dwarf/qualified.h"

enum { MAX_DIES = 4096, MAX_HOPS = 4 };

/* A reference attribute of the DIE within its unit, 0 when there is none. */
static uint64_t reference(const struct dwarf_sections *s, struct unit *u, uint64_t die,
                          unsigned name)
{
	struct attribute_value v;
	struct attribute at;
	struct die d;

	if (!die_read(s, u, die, &d))
		return 0;
	while (die_next(&d, &at, &v)) {
		if (at.name == name)
			return v.number >= u->start && v.number < u->end ? v.number : 0;
	}
	return 0;
}

/* The type of a parameter, or of the one it is a copy of. */
static uint64_t type_of(const struct dwarf_sections *s, struct unit *u, uint64_t die)
{
	for (int hop = 0; die && hop < MAX_HOPS; hop++) {
		uint64_t type = reference(s, u, die, DW_AT_type);

		if (type)
			return type;
		die = reference(s, u, die, DW_AT_abstract_origin);
	}
	return 0;
}

/* The type of the first formal parameter among the children of a function's DIE; 0 none. */
static uint64_t first_argument(const struct dwarf_sections *s, struct unit *u, uint64_t function)
{
	struct die d;
	size_t depth = 0;

	if (!die_read(s, u, function, &d) || !d.has_children)
		return 0;
	for (int i = 0; i < MAX_DIES; i++) {
		uint64_t at = die_end(&d);

		if (!at || !die_read(s, u, at, &d))
			return 0;
		if (d.tag == 0 && depth-- == 0)
			return 0;
		if (d.tag == DW_TAG_formal_parameter && depth == 0)
			return type_of(s, u, at);
		depth += d.has_children;
	}
	return 0;
}

/* T of the core::pin::Pin<&mut T> at that DIE, as a hash of its name; 0 when it is another type. */
static uint64_t pinned(const struct dwarf_sections *s, struct unit *u, uint64_t die)
{
	static const char head[] = "Pin<&mut ";
	size_t head_len = sizeof(head) - 1;
	uint32_t index = scan_scope_at(u, die);
	const char *name = index == SCOPE_NONE ? NULL : scan_scope_name(s, u, index);
	size_t len = name ? strlen(name) : 0;
	const char *const within[] = { "pin", "core" };

	if (len <= head_len + 1 || strncmp(name, head, head_len) != 0 || name[len - 1] != '>')
		return 0;
	for (size_t i = 0; i < 2; i++) {
		index = u->scopes[index].parent;
		const char *outer = index == SCOPE_NONE ? NULL : scan_scope_name(s, u, index);

		if (!outer || strcmp(outer, within[i]) != 0)
			return 0;
	}
	SCRATCH(tmp);
	return lookup_name_key(arena_strndup(&tmp, name + head_len, len - head_len - 1));
}

static bool is_poll(const char *name)
{
	return name && strncmp(name, "poll", 4) == 0 && (name[4] == '\0' || name[4] == '<');
}

/*
 * Names lie all over .debug_str, and those of functions are long and many; the types that
 * functions return are few: so a function is first asked whether it returns a Poll.
 */
static bool returns_poll(const struct dwarf_sections *s, struct unit *u, uint64_t function,
                         struct map *known)
{
	static char yes;
	uint64_t type = reference(s, u, function, DW_AT_type);

	if (!type)
		return false;
	if (!map_has(known, type)) {
		uint32_t index = scan_scope_at(u, type);
		const char *name = index == SCOPE_NONE ? NULL : scan_scope_name(s, u, index);

		map_put(known, type, name && strncmp(name, "Poll<", 5) == 0 ? &yes : NULL);
	}
	return map_get(known, type) != NULL;
}

void polled_read(const struct dwarf_sections *s, struct unit *u)
{
	VEC(uint64_t) found = { 0 };
	struct map known = { 0 };

	if (u->polled_read)
		return;
	u->polled_read = true;
	for (uint32_t i = 0; i < u->nscopes; i++) {
		uint64_t die = u->start + u->scopes[i].die;

		if (u->scopes[i].tag != DW_TAG_subprogram || !(u->scopes[i].flags & SCOPE_TYPE) ||
		    !returns_poll(s, u, die, &known) || !is_poll(scan_scope_name(s, u, i)))
			continue;
		uint64_t type = first_argument(s, u, die), key = type ? pinned(s, u, type) : 0;

		if (key)
			*vec_push(&found) = key;
	}
	map_free(&known);
	u->polled = found.data;
	u->npolled = found.n;
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

	if (type_name[0] == '(' || type_name[0] == '[' || strncmp(last, "{closure_env#", 13) == 0)
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
