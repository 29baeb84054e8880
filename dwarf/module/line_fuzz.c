/*
 * Fuzzes line programs: rows, and tables of files. An input is .debug_line; its first byte also
 * says which size offsets have in the unit.
 */
#include "debugger/test/fuzz.h"
#include "dwarf/module/line.h"
#include "dwarf/module/line_program.h"

/* The order that callers rely on. */
static void check_rows(const line_entry_vec *rows)
{
	for (size_t i = 1; i < rows->n; i++) {
		if (rows->data[i - 1].addr > rows->data[i].addr)
			fuzz_fail("rows that do not ascend", "");
	}
	if (rows->n && !rows->data[rows->n - 1].ends_sequence)
		fuzz_fail("a last row that ends no sequence", "");
}

static void visit_file(const char *full, const struct unit *u, void *arg)
{
	size_t *n = arg;

	(void)u;
	*n += strlen(full);
}

static bool is_same(const char *full, const char *typed)
{
	return strcmp(full, typed) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t strings[] = "\0src/main.rs\0/rustc";
	struct debuginfo di = { 0 };
	struct dwarf_module dm = { .di = &di,
		                   .sections = { .line = { data, size },
		                                 .str = { strings, sizeof(strings) },
		                                 .line_str = { strings, sizeof(strings) } } };
	struct unit u = { .comp_dir = "/build", .offset_size = size && *data & 1 ? 8 : 4 };
	line_entry_vec rows = { 0 };
	size_t n = 0;

	line_program_read(&dm, &u, &rows);
	check_rows(&rows);
	if (rows.n)
		line_program_read_within(&dm, &u, rows.data[rows.n / 2].addr, UINT64_MAX, &rows);
	vec_free(&rows);
	for (size_t i = 0; i <= line_nfiles(&dm, &u) && i < 64; i++)
		line_file(&dm, &u, (unsigned)i);
	line_each_file(&dm, &u, "main", visit_file, &n);
	line_has_file(&dm, &u, "main.rs", is_same);
	arena_free(&di.arena);
	return 0;
}
