#include "dwarf/values/unwrap_newtype.h"

#include <string.h>

#include "dwarf/names/qualified.h"

/*
 * type: last component of the type's path without generics; within: a namespace that must precede
 * it, so that a user's Mutex is not mistaken for std's.
 */
static const struct {
	const char *type, *within;
	const char *member; /* or the name of a variant */
} table[] = {
	{ "RefCell", "core::cell", "value" },
	{ "Mutex", "std::sync", "data" },
	{ "Mutex", "lock_api::mutex", "data" },
	{ "RwLock", "std::sync", "data" },
	{ "RwLock", "lock_api::rwlock", "data" },
	{ "ArcInner", "alloc::sync", "data" },
	{ "RcBox", "alloc::rc", "value" },
	{ "RcInner", "alloc::rc", "value" },
	{ "Storage", "std::sys", "val" },
	{ "Storage", "std::sys", "value" },
	{ "Key", "std::", "inner" },
	{ "Option", "core::option", "Some" },
	{ "State", "std::sys", "Alive" }, /* lazy thread-locals, rustc 1.80 to 1.92 */
	{ "MaybeUninit", "core::mem", "value" },
};

struct unwrapped_newtype unwrap_newtype(const struct type *t)
{
	const char *name = type_name(t), *last = NULL;
	size_t len = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strncmp(name, table[i].within, strlen(table[i].within)) != 0)
			continue;
		/* Only then: names with generics have hundreds of characters. */
		if (!last) {
			last = qualified_last(name);
			len = qualified_base_len(last);
		}
		if (strlen(table[i].type) != len || memcmp(table[i].type, last, len) != 0)
			continue;
		const struct member *m = type_member(t, table[i].member);
		if (m)
			return (struct unwrapped_newtype){ .member = m };
		const struct variant *v = type_variant(t, table[i].member);
		if (v)
			return (struct unwrapped_newtype){ .variant = v };
	}
	return (struct unwrapped_newtype){ .member = type_single_member(t) };
}
