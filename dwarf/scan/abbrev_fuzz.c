/*
 * Fuzzes abbreviations and the DIEs that use them, without a file around them. The first two bytes
 * of an input are the size of .debug_abbrev, which follows; the rest is .debug_info.
 */
#include "dwarf/scan/abbrev.h"

#include "debugger/test/fuzz.h"
#include "dwarf/scan/die.h"
#include "dwarf/scan/name_filter.h"

enum { MAX_UNITS = 16, MAX_SCOPES = 256, MAX_DIES = 1 << 12 };

/* Every attribute of every DIE below the root. */
static void walk(const struct dwarf_sections *s, struct unit *u)
{
	static const uint16_t tags[] = { DW_TAG_subprogram, DW_TAG_structure_type,
		                         DW_TAG_variable };
	struct die root, d;

	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
		if (!die_read(s, u, u->first_die, &root))
			return;
		struct die_walk w = die_walk(&root);

		for (size_t n = 0; n < MAX_DIES && die_walk_next(&w, tags[i], &d); n++) {
			struct attribute_value value;
			struct attribute at;

			while (die_next(&d, &at, &value))
				;
			die_end(&d);
		}
	}
}

static void ask_unit(const struct dwarf_sections *s, struct unit *u, struct scanner *scanner)
{
	struct name_filter filter;
	struct die d;

	scan_has_tag(s, u, DW_TAG_inlined_subroutine);
	scan_unit(s, u, scanner);
	for (size_t i = 0; i < u->found.nscopes && i < MAX_SCOPES; i++) {
		struct scope scope = scan_scope(s, u, (uint32_t)i);

		if (scope.parent != SCOPE_NONE && scope.parent >= i)
			fuzz_fail("a parent that follows its child", "");
		if (scan_scope_at(u, u->found.scopes[i].die) != i)
			fuzz_fail("a scope that is not found", "");
		scan_scope_name(s, u, (uint32_t)i);
		if (die_read(s, u, scope.die, &d))
			die_end(&d);
	}
	scan_function_at(u, 0x1000);
	scan_function_from(u, 0x1000, NULL);
	name_filter_open(&filter, s, "new", NULL);
	name_filter_may_have(&filter, u);
	walk(s, u);
	scan_forget(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t strings[] = "\0new\0core\0u8";
	static const uint64_t words[] = { 0, 0x1000, 0x2000, UINT64_MAX };
	SCRATCH(a);
	size_t n, nabbrev;

	if (!fuzz_split(&data, &size, &nabbrev))
		return 0;
	const struct dwarf_sections s = {
		.abbrev = { data, nabbrev },
		.info = { data + nabbrev, size - nabbrev },
		.str = { strings, sizeof(strings) },
		.line_str = { strings, sizeof(strings) },
		.str_offsets = { (const uint8_t *)words, sizeof(words) },
		.addr = { (const uint8_t *)words, sizeof(words) },
	};
	struct unit *units = scan_units(&s, &a, &n, NULL);
	struct scanner *scanner = scanner_new();

	for (size_t i = 0; i < n && i < MAX_UNITS; i++)
		ask_unit(&s, &units[i], scanner);
	scanner_free(scanner);
	return 0;
}
