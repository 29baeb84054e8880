#include "dwarf/lookup/pin_refs.h"

#include <string.h>

#include "dwarf/module/residency.h"

enum { MANY_NAMES = 16 << 20 /* bytes of names: below, dropping pages does not pay */ };

/* Offset of a name in .debug_str, of several when the linker did not merge equal strings. */
struct pin_refs_name {
	uint32_t offset;
	struct pin_refs_name *next;
};

static void pin_refs_add_name(struct dwarf_module *dm, const char *head, const char *type,
                              size_t len)
{
	struct pin_refs_name *name = NEW(&dm->di->arena, struct pin_refs_name);
	uint64_t key = map_key_of(type, len);

	name->offset = (uint32_t)(head - (const char *)dm->sections.str.data);
	name->next = map_get(&dm->polls.pinned, key);
	map_put(&dm->polls.pinned, key, name);
}

/* Records the offsets of all names "Pin<&mut T>" by T; a linker may make one the end of another. */
static void read_names(struct dwarf_module *dm)
{
	static const char head[] = "Pin<&mut ";
	const struct section str = dm->sections.str;
	const char *at = (const char *)str.data, *end = at + str.size;

	if (dm->polls.pinned_read)
		return;
	dm->polls.pinned_read = true;
	while (at < end && (at = memmem(at, (size_t)(end - at), head, sizeof(head) - 1))) {
		const char *type = at + sizeof(head) - 1;
		size_t len = strnlen(type, (size_t)(end - type));

		if (len > 1 && type[len - 1] == '>' && at - (const char *)str.data <= UINT32_MAX)
			pin_refs_add_name(dm, at, type, len - 1);
		at = type;
	}
	if (str.size > MANY_NAMES)
		residency_drop(dm, str.data, str.size);
}

/* Do the bytes have the 4-byte number, little-endian and at any alignment? */
static bool has_number(const uint8_t *data, size_t size, uint32_t number)
{
	uint8_t bytes[4];
	size_t rare = 0;

	/* Great bytes are rarer than small ones. The topmost is the same in most offsets. */
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)(number >> 8 * i);
		if (i < 3 && bytes[i] > bytes[rare])
			rare = i;
	}
	while (size >= sizeof(bytes)) {
		const uint8_t *at = memchr(data + rare, bytes[rare], size - sizeof(bytes) + 1);

		if (!at)
			return false;
		at -= rare;
		if (memcmp(at, bytes, sizeof(bytes)) == 0)
			return true;
		size -= (size_t)(at + 1 - data);
		data = at + 1;
	}
	return false;
}

/*
 * The bytes that have the offsets of a unit's names: its DIEs, and since DWARF 5 its part of
 * .debug_str_offsets, whose length precedes it (DWARF 5, 7.26).
 */
static struct section names_of(const struct dwarf_module *dm, const struct unit *u)
{
	const struct section info = dm->sections.info, offsets = dm->sections.str_offsets;
	uint64_t base = u->str_offsets_base;
	uint32_t length;

	if (u->version < 5 || base < 8 || base > offsets.size)
		return (struct section){ .data = info.data + u->start, .size = u->end - u->start };
	memcpy(&length, offsets.data + base - 8, sizeof(length));
	if (length < 4 || length - 4 > offsets.size - base)
		length = (uint32_t)(offsets.size - base) + 4;
	return (struct section){ .data = offsets.data + base, .size = length - 4 };
}

void pin_refs_each_unit(struct dwarf_module *dm, const char *type_name, pin_refs_fn *visit,
                        void *arg)
{
	read_names(dm);
	const struct pin_refs_name *first = map_get(&dm->polls.pinned, map_key_of_text(type_name));

	for (size_t i = 0; first && i < dm->nunits; i++) {
		struct unit *u = &dm->units[i];
		const struct section names = names_of(dm, u);
		bool found = false;

		if (u->polled_noted)
			continue;
		for (const struct pin_refs_name *n = first; n && !found; n = n->next)
			found = has_number(names.data, names.size, n->offset);
		residency_read(dm, names.size);
		if (found)
			visit(u, arg);
	}
}
