/*
 * Finds the unit of a link-time address, by .debug_aranges, or by unit ranges if that is missing.
 */
#include <elfutils/libdw.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/vec.h"
#include "dwarf/module/debuginfo.h"

/*
 * The largest gap between two functions of a unit that counts as padding within the unit's range.
 */
enum { MAX_PADDING = 64 };

enum { AHEAD = 2048 /* bytes to prefetch with read_ahead() */ };

typedef VEC(struct unit_range) range_vec;

static int by_low(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static void aranges_add_range(range_vec *ranges, uint64_t low, uint64_t high, uint32_t u)
{
	struct unit_range *last = ranges->n ? &ranges->data[ranges->n - 1] : NULL;

	if (low == 0 || high <= low) /* 0: the linker dropped it */
		return;
	/*
	 * A linker places the functions of a unit in sequence: merging them leaves fewer ranges to
	 * sort.
	 */
	if (last && last->unit == u && low >= last->high && low - last->high < MAX_PADDING) {
		last->high = high;
		return;
	}
	*vec_push(ranges) = (struct unit_range){ low, high, u };
}

/* Adds pairs of addresses and lengths, of 8 bytes each: a large program has a million of them. */
static void add_pairs(const uint8_t *p, const uint8_t *end, uint32_t u, range_vec *ranges)
{
	struct unit_range open = { 0 };

	for (; end - p >= 16; p += 16) {
		uint64_t pair[2];

		read_ahead(p, AHEAD);
		memcpy(pair, p, sizeof(pair));
		if (pair[0] == 0 && pair[1] == 0)
			break;
		uint64_t low = pair[0], high = low + pair[1];
		if (low == 0 || high <= low)
			continue;
		/* Merges as aranges_add_range() does, inlined for speed. */
		if (open.high && low >= open.high && low - open.high < MAX_PADDING) {
			open.high = high;
			continue;
		}
		aranges_add_range(ranges, open.low, open.high, u);
		open = (struct unit_range){ low, high, u };
	}
	aranges_add_range(ranges, open.low, open.high, u);
}

/* Reads a set of .debug_aranges (DWARF 5, 6.1.2). */
static bool read_set(struct dwarf_module *dm, struct reader *r, range_vec *ranges)
{
	const uint8_t *start = r->p;
	uint64_t length = read_fixed(r, 4);
	unsigned offset_size = length == 0xffffffff ? 8 : 4;

	if (offset_size == 8)
		length = read_fixed(r, 8);
	if (r->bad || length > (uint64_t)(r->end - r->p))
		return false;
	struct reader set = { r->p, r->p + length, false };
	read_skip(r, length);
	read_skip(&set, 2); /* version */
	uint64_t unit_offset = read_fixed(&set, offset_size);
	unsigned address_size = (unsigned)read_fixed(&set, 1);
	read_skip(&set, 1); /* segment selector size */
	struct unit *u = debuginfo_unit_of(dm, unit_offset);
	if (!u || u->start != unit_offset || (address_size != 4 && address_size != 8))
		return true;
	size_t tuple = 2u * address_size, misaligned = (size_t)(set.p - start) % tuple;
	read_skip(&set, misaligned ? tuple - misaligned : 0);
	u->in_aranges = true;
	if (address_size == 8) {
		add_pairs(set.p, set.end, (uint32_t)(u - dm->units), ranges);
		return true;
	}
	while (!set.bad && set.p < set.end) {
		uint64_t low = read_fixed(&set, address_size);
		uint64_t len = read_fixed(&set, address_size);

		if (low == 0 && len == 0)
			break;
		aranges_add_range(ranges, low, low + len, (uint32_t)(u - dm->units));
	}
	return true;
}

static void add_unit_ranges(struct dwarf_module *dm, struct unit *u, range_vec *ranges)
{
	Dwarf_Die die;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	/*
	 * Units without code, most of them with ThinLTO, are skipped: libdw would read the headers
	 * of all units before this one.
	 */
	if (!u->has_code || !dwarf_offdie(dm->dwarf, u->first_die, &die))
		return;
	while ((at = dwarf_ranges(&die, at, &base, &low, &high)) > 0)
		aranges_add_range(ranges, low, high, (uint32_t)(u - dm->units));
}

static void read_aranges(struct dwarf_module *dm)
{
	range_vec ranges = { 0 };
	struct reader r = reader_at(dm->sections.aranges, 0, dm->sections.aranges.size);

	while (r.p < r.end && read_set(dm, &r, &ranges))
		;
	for (size_t i = 0; i < dm->nunits; i++) {
		if (!dm->units[i].in_aranges)
			add_unit_ranges(dm, &dm->units[i], &ranges);
	}
	if (ranges.n)
		qsort(ranges.data, ranges.n, sizeof(*ranges.data), by_low);
	/* The section is not read again: its pages can be dropped. */
	residency_drop(dm, dm->sections.aranges.data, dm->sections.aranges.size);
	dm->ranges.n = ranges.n;
	LOG("dwarf", "%zu ranges of code in %zu bytes of .debug_aranges", ranges.n,
	    dm->sections.aranges.size);
	dm->ranges.data = vec_to_arena(&ranges, &dm->di->arena);
}

struct unit *debuginfo_unit_at(struct dwarf_module *dm, uint64_t pc)
{
	if (!dm->ranges.read) {
		dm->ranges.read = true;
		read_aranges(dm);
	}
	size_t lo = 0, hi = dm->ranges.n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (dm->ranges.data[mid].low <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && pc < dm->ranges.data[lo - 1].high ? &dm->units[dm->ranges.data[lo - 1].unit]
	                                               : NULL;
}
