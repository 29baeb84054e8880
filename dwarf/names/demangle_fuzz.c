/*
 * Fuzzes the demangling of symbols (legacy, v0 with punycode, C++) and the shortening of the
 * results.
 */
#include "debugger/test/fuzz.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The second line is the DWARF name that belongs to the symbol. */
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t first = end ? (size_t)(end - data) : size;
	SCRATCH(a);
	const char *symbol = arena_strndup(&a, (const char *)data, first);
	const char *path =
		end ? arena_strndup(&a, (const char *)end + 1, size - first - 1) : symbol;
	const char *name = demangle(&a, symbol);

	fuzz_check_line(name);
	fuzz_check_line(name_short(&a, name));
	fuzz_check_line(name_short(&a, path));
	fuzz_check_line(name_without_generics(&a, path));
	fuzz_check_line(name_function(&a, path));
	fuzz_check_line(name_impl_from_linkage(&a, path, symbol));
	fuzz_check_line(source_of(&a, symbol, path, NULL, NULL).text);
	fuzz_check_line(source_of(&a, path, NULL, symbol, NULL).text);
	return 0;
}
