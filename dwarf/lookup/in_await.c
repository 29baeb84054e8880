#include "dwarf/lookup/in_await.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/module/ranges.h"
#include "dwarf/types/die_attrs.h"

static bool in_await_has_awaitee(struct dwarf_module *dm, uint64_t block)
{
	struct die_attrs attrs;
	struct die d;

	if (!die_attrs_open(dm, block, &d))
		return false;
	for (bool any = die_child(&d, &d); any; any = die_sibling(&d, &d)) {
		struct die variable = d;

		if (d.tag != DW_TAG_variable)
			continue;
		die_attrs_read(&variable, &attrs);
		die_attrs_complete(dm, &attrs);
		if (attrs.name && strcmp(attrs.name, "__awaitee") == 0)
			return true;
	}
	return false;
}

/* The lexical block directly below a DIE that covers pc; 0: none. */
static uint64_t block_at(struct dwarf_module *dm, struct unit *u, uint64_t die, uint64_t pc)
{
	struct die d;

	if (!die_attrs_open(dm, die, &d))
		return 0;
	for (bool any = die_child(&d, &d); any; any = die_sibling(&d, &d)) {
		if (d.tag == DW_TAG_lexical_block && ranges_have(dm, u, d.offset, pc))
			return d.offset;
	}
	return 0;
}

bool in_await_has(struct dwarf_module *dm, uint64_t die, uint64_t pc)
{
	struct unit *u = debuginfo_unit_of(dm, die);

	for (int i = 0; u && i < DIE_MAX_NESTING; i++) {
		die = block_at(dm, u, die, pc);
		if (!die || in_await_has_awaitee(dm, die))
			return die != 0;
	}
	return false;
}
