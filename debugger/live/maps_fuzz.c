/* Fuzzes /proc/PID/maps: the names of mappings are those of files that anybody may have made. */
#include "debugger/live/proc.h"
#include "debugger/test/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCRATCH(a);
	struct region r;
	size_t n;

	struct mapping *maps = proc_maps_parse(&a, arena_strndup(&a, (const char *)data, size), &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t addr = maps[i].start;
		char *text = arena_strndup(&a, (const char *)data, size);

		if (maps[i].path[0] != '/')
			fuzz_fail("a mapping that is none of a file", maps[i].path);
		if (!proc_region_parse(&a, text, addr, &r))
			continue;
		if (addr < r.start || addr >= r.end)
			fuzz_fail("a region that does not cover its address", maps[i].path);
		fuzz_check_line(r.name);
	}
	return 0;
}
