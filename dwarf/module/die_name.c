#include "dwarf/module/die_name.h"

#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/scan/reader.h"

enum { MAX_HOPS = 8 };

struct scope_place die_named_place(struct dwarf_module *dm, struct scope_place at)
{
	for (int hops = 0; hops < MAX_HOPS; hops++) {
		if (!(at.u->found.scopes[at.index].flags & SCOPE_ORIGIN))
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
	VEC(struct die_name_part {
		const char *name;
		size_t len;
	})
	parts;
	size_t len; /* of the qualified name */
};

/* False when a part of it has no name, or too many have one. ret->parts: for vec_free(). */
static bool read_path(struct dwarf_module *dm, struct unit *u, uint32_t index,
                      struct scope_path *ret)
{
	struct scope_place at = { u, index };

	*ret = (struct scope_path){ 0 };
	while (at.index != SCOPE_NONE) {
		at = die_named_place(dm, at);
		const char *name = scan_scope_name(&dm->sections, at.u, at.index);
		if (!name || ret->parts.n > DIE_MAX_NESTING)
			return false;
		read_ahead(name, 0);
		vec_push(&ret->parts)->name = name;
		at.index = at.u->found.scopes[at.index].parent;
	}
	for (size_t i = 0; i < ret->parts.n; i++) {
		struct die_name_part *part = &ret->parts.data[i];

		part->len = strlen(part->name);
		ret->len += part->len + (i ? 2 : 0);
	}
	return true;
}

const char *die_scope_name(struct dwarf_module *dm, struct unit *u, uint32_t index)
{
	char *name = NULL, *end;
	struct scope_path path;

	if (read_path(dm, u, index, &path)) {
		name = end = arena_alloc(&dm->di->arena, path.len + 1);
		for (size_t i = path.parts.n; i--;) {
			end = mempcpy(end, path.parts.data[i].name, path.parts.data[i].len);
			if (i)
				end = mempcpy(end, "::", 2);
		}
		*end = '\0';
	}
	vec_free(&path.parts);
	return name;
}

bool die_append_name(struct dwarf_module *dm, uint64_t die, struct str *out)
{
	struct unit *u = debuginfo_scanned_unit_of(dm, die);
	uint32_t index = u ? scan_scope_at(u, die) : SCOPE_NONE;
	struct scope_path path;

	if (index == SCOPE_NONE)
		return false;
	bool known = read_path(dm, u, index, &path);
	for (size_t i = known ? path.parts.n : 0; i--;) {
		str_append_len(out, path.parts.data[i].name, path.parts.data[i].len);
		if (i)
			str_append(out, "::");
	}
	vec_free(&path.parts);
	return known;
}

const char *die_name(struct dwarf_module *dm, uint64_t die)
{
	struct unit *u = debuginfo_scanned_unit_of(dm, die);
	uint32_t index = u ? scan_scope_at(u, die) : SCOPE_NONE;

	return index != SCOPE_NONE ? die_scope_name(dm, u, index) : NULL;
}
