/*
 * Fuzzes the reference to an alternate debug file. The first two bytes of an input are the size of
 * .gnu_debugaltlink, which follows; the rest is .debug_abbrev, which may refer to that file.
 */
#include "debugger/test/fuzz.h"
#include "dwarf/test/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A unit of DWARF 4 whose root has the abbreviation 1, then the end of its children. */
	static const uint8_t info[] = { 9, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 0 };
	size_t nlink;

	if (!fuzz_split(&data, &size, &nlink))
		return 0;
	const struct hand_section sections[] = {
		{ ".debug_info", { info, sizeof(info) }, 0 },
		{ ".debug_abbrev", { data + nlink, size - nlink }, 0 },
		{ ".gnu_debugaltlink", { data, nlink }, 0 },
	};
	struct fixture f =
		fixture_open(hand_file(sections, 3, HAND_LOW, HAND_HIGH), HAND_LOW, HAND_HIGH);

	debuginfo_need(f.dm);
	fuzz_check_line(f.target->modules.main->debug_note);
	fuzz_check_line(f.dm->tier_reason);
	fixture_close(&f);
	return 0;
}
