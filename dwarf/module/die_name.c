#include "dwarf/module/die_name.h"

#include <string.h>

#include "dwarf/scan/reader.h"

enum { MAX_SCOPE_DEPTH = 128, MAX_HOPS = 8 };

struct scope_place die_named_place(struct dwarf_module *dm, struct scope_place at)
{
	for (int hops = 0; hops < MAX_HOPS; hops++) {
		if (!(at.u->scopes[at.index].flags & SCOPE_ORIGIN))
			break;
		uint64_t origin = scan_scope(&dm->sections, at.u, at.index).origin;
		struct unit *other = origin ? debuginfo_scanned_unit_of(dm, origin) : NULL;
		uint32_t index = other ? scan_scope_at(other, origin) : SCOPE_NONE;

		if (index == SCOPE_NONE)
			break;
		at = (struct scope_place){ other, index };
	}
	return at;
}

/* The names from a scope up to the unit. */
struct scope_path {
	const char *names[MAX_SCOPE_DEPTH];
	size_t lens[MAX_SCOPE_DEPTH];
	size_t n;
	size_t len; /* of the qualified name */
};

/* False when a part of it has no name. */
static bool read_path(struct dwarf_module *dm, struct unit *u, uint32_t index,
                      struct scope_path *ret)
{
	struct scope_place at = { u, index };

	ret->n = ret->len = 0;
	while (at.index != SCOPE_NONE && ret->n < MAX_SCOPE_DEPTH) {
		at = die_named_place(dm, at);
		const char *name = scan_scope_name(&dm->sections, at.u, at.index);
		if (!name)
			return false;
		read_ahead(name, 0);
		ret->names[ret->n++] = name;
		at.index = at.u->scopes[at.index].parent;
	}
	for (size_t i = 0; i < ret->n; i++) {
		ret->lens[i] = strlen(ret->names[i]);
		ret->len += ret->lens[i] + (i ? 2 : 0);
	}
	return true;
}

const char *die_scope_name(struct dwarf_module *dm, struct unit *u, uint32_t index)
{
	struct scope_path path;

	if (!read_path(dm, u, index, &path))
		return NULL;
	char *name = arena_alloc(&dm->di->arena, path.len + 1), *end = name;
	for (size_t i = path.n; i--;) {
		end = mempcpy(end, path.names[i], path.lens[i]);
		if (i)
			end = mempcpy(end, "::", 2);
	}
	*end = '\0';
	return name;
}

bool die_append_name(struct dwarf_module *dm, uint64_t die, struct str *out)
{
	struct unit *u = debuginfo_scanned_unit_of(dm, die);
	uint32_t index = u ? scan_scope_at(u, die) : SCOPE_NONE;
	struct scope_path path;

	if (index == SCOPE_NONE || !read_path(dm, u, index, &path))
		return false;
	for (size_t i = path.n; i--;) {
		str_append_len(out, path.names[i], path.lens[i]);
		if (i)
			str_append(out, "::");
	}
	return true;
}

const char *die_name(struct dwarf_module *dm, uint64_t die)
{
	struct unit *u = debuginfo_scanned_unit_of(dm, die);
	uint32_t index = u ? scan_scope_at(u, die) : SCOPE_NONE;

	return index != SCOPE_NONE ? die_scope_name(dm, u, index) : NULL;
}
