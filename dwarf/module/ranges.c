#include "dwarf/module/ranges.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "dwarf/scan/die.h"

enum { MAX_RANGES = 1 << 16 };

/*
 * Searches a list in .debug_ranges: pairs of addresses, relative to the unit's low_pc until an
 * entry selects another base.
 */
static bool list_has(const struct dwarf_sections *s, const struct unit *u, uint64_t at, uint64_t pc)
{
	struct reader r = reader_at(s->ranges, at, s->ranges.size);
	uint64_t base = u->low_pc, max = u->address_size == 8 ? UINT64_MAX : UINT32_MAX;

	for (int i = 0; i < MAX_RANGES; i++) {
		uint64_t low = read_fixed(&r, u->address_size);
		uint64_t high = read_fixed(&r, u->address_size);

		if (r.bad || (low == 0 && high == 0))
			return false;
		if (low == max)
			base = high;
		else if (pc - base >= low && pc - base < high)
			return true;
	}
	return false;
}

static bool ask_libdw(struct dwarf_module *dm, uint64_t at, uint64_t pc)
{
	Dwarf_Die die;

	return dwarf_offdie(dm->dwarf, at, &die) && dwarf_haspc(&die, pc) == 1;
}

bool ranges_have(struct dwarf_module *dm, struct unit *u, uint64_t die, uint64_t pc)
{
	bool has_low = false, has_high = false, has_ranges = false, high_is_size = false;
	uint64_t low = 0, high = 0, ranges = 0;
	struct attribute_value v;
	struct attribute at;
	struct die d;

	if (!die_read(&dm->sections, u, die, &d))
		return false;
	while (die_next(&d, &at, &v)) {
		if (at.name == DW_AT_low_pc) {
			low = v.number;
			has_low = true;
		} else if (at.name == DW_AT_high_pc) {
			high = v.number;
			has_high = true;
			high_is_size = !form_is_address(at.form);
		} else if (at.name == DW_AT_ranges) {
			ranges = v.number;
			has_ranges = true;
		}
	}
	if (has_low && has_high)
		return pc >= low && pc < (high_is_size ? low + high : high);
	if (!has_ranges)
		return false;
	return u->version < 5 ? list_has(&dm->sections, u, ranges, pc) : ask_libdw(dm, die, pc);
}
