#include "dwarf/peel.h"

#include <string.h>

/*
 * type: last component of the type's path, generics cut; within: a namespace that must come
 * before it, so that a user's Mutex is not taken for std's.
 */
static const struct {
	const char *type, *within;
	const char *member; /* or variant */
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

static const char *last_component(const char *name, size_t *len)
{
	const char *end = strpbrk(name, "<({");
	const char *at = name, *next;

	if (!end)
		end = name + strlen(name);
	while ((next = strstr(at, "::")) && next < end)
		at = next + 2;
	*len = (size_t)(end - at);
	return at;
}

struct peeled peel(const struct type *t)
{
	const char *name = type_name(t);
	size_t len;
	const char *last = last_component(name, &len);

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strlen(table[i].type) != len || memcmp(table[i].type, last, len) != 0 ||
		    strncmp(name, table[i].within, strlen(table[i].within)) != 0)
			continue;
		const struct member *m = type_member(t, table[i].member);
		if (m)
			return (struct peeled){ .member = m };
		const struct variant *v = type_variant(t, table[i].member);
		if (v)
			return (struct peeled){ .variant = v };
	}
	return (struct peeled){ .member = type_single_member(t) };
}
