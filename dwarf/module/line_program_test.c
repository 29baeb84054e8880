/* Tests of decoded line tables: they must have the rows that libdw has. */
#include <dwarf.h>
#include <elfutils/libdw.h>

#include "dwarf/module/line.h"
#include "dwarf/module/line_program.h"
#include "dwarf/test/module.h"

/* ---- beside libdw ---- */

/* The path of a row as libdw has it, with the directory of the unit. */
static const char *path_of(struct fixture *f, const struct unit *u, Dwarf_Line *line)
{
	const char *name = dwarf_linesrc(line, NULL, NULL);

	if (name && name[0] != '/' && u->comp_dir && *u->comp_dir)
		name = arena_printf(&f->arena, "%s/%s", u->comp_dir, name);
	return name;
}

static void expect_row(struct fixture *f, struct unit *u, const struct line_entry *row,
                       Dwarf_Line *line)
{
	bool is_statement, ends_sequence, ends_prologue;
	int number, column;
	Dwarf_Addr addr;

	assert_int_equal(dwarf_lineaddr(line, &addr), 0);
	assert_int_equal(dwarf_lineno(line, &number), 0);
	assert_int_equal(dwarf_linecol(line, &column), 0);
	assert_int_equal(dwarf_linebeginstatement(line, &is_statement), 0);
	assert_int_equal(dwarf_lineendsequence(line, &ends_sequence), 0);
	assert_int_equal(dwarf_lineprologueend(line, &ends_prologue), 0);
	assert_int_equal(row->addr, addr);
	assert_int_equal(row->line, number);
	assert_int_equal(row->column, column);
	assert_int_equal(row->is_statement, is_statement);
	assert_int_equal(row->ends_sequence, ends_sequence);
	assert_int_equal(row->ends_prologue, ends_prologue);
	assert_string_equal(line_file(f->dm, u, row->file), path_of(f, u, line));
}

/* The rows between two addresses are the same as among all. */
static void expect_rows_within(struct fixture *f, const struct unit *u, const line_entry_vec *rows)
{
	uint64_t low = rows->data[rows->n / 3].addr, high = rows->data[rows->n / 2].addr;
	line_entry_vec some = { 0 };
	size_t n = 0;

	line_program_read_within(f->dm, u, low, high, &some);
	for (size_t i = 0; i < rows->n; i++) {
		const struct line_entry *row = &rows->data[i];

		if (row->addr < low || row->addr > high)
			continue;
		assert_true(n < some.n);
		assert_int_equal(some.data[n].addr, row->addr);
		assert_int_equal(some.data[n].line, row->line);
		assert_int_equal(some.data[n].is_statement, row->is_statement);
		n++;
	}
	assert_int_equal(n, some.n);
	vec_free(&some);
}

/* Of the unit; libdw has also those of dropped code, which are below low. Returns their number. */
static size_t expect_rows(struct fixture *f, struct unit *u, uint64_t low)
{
	line_entry_vec rows = { 0 };
	size_t n, at = 0;
	Dwarf_Lines *lines;
	Dwarf_Addr addr;
	Dwarf_Die cu;

	assert_non_null(dwarf_offdie(f->dm->dwarf, u->first_die, &cu));
	assert_int_equal(dwarf_getsrclines(&cu, &lines, &n), 0);
	line_program_read(f->dm, u, &rows);
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);

		assert_int_equal(dwarf_lineaddr(line, &addr), 0);
		if (addr < low)
			continue;
		assert_true(at < rows.n);
		expect_row(f, u, &rows.data[at++], line);
	}
	assert_int_equal(at, rows.n);
	if (rows.n)
		expect_rows_within(f, u, &rows);
	vec_free(&rows);
	return at;
}

static void test_files(void **state)
{
	static const char *const files[] = { "shapes", "inlined", "values", "spread", "endless",
		                             "http",   "once",    "moved",  "statics" };
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		size_t n = 0;

		snprintf(path, sizeof(path), "testdata/unit/%s.elf", files[i]);
		struct fixture f = fixture_open_file(path);
		for (size_t j = 0; j < f.dm->nunits; j++) {
			if (f.dm->units[j].stmt_list != UINT64_MAX)
				n += expect_rows(&f, &f.dm->units[j], 0x1000);
		}
		assert_true(n > 0);
		fixture_close(&f);
	}
}

/* Returns how many DIEs in one of the other file have a file, which is the same for this one. */
static size_t expect_files(struct fixture *f, struct fixture *other, Dwarf_Die *parent)
{
	Dwarf_Die die;
	size_t n = 0;

	for (int end = dwarf_child(parent, &die); !end; end = dwarf_siblingof(&die, &die)) {
		const char *file = line_file_of(other->dm, &die);

		n += expect_files(f, other, &die);
		if (!file)
			continue;
		const char *same = line_file_of(f->dm, &die);
		assert_non_null(same);
		assert_string_equal(same, file);
		n++;
	}
	return n;
}

/* An origin that lies in the alternate file (dwz) has one of that file's. */
static void test_file_of_another(void **state)
{
	struct fixture f = shapes_open(), other = fixture_open_file("testdata/unit/inlined.elf");
	Dwarf_Die unit;

	(void)state;
	assert_non_null(dwarf_offdie(other.dm->dwarf, other.dm->units[0].first_die, &unit));
	assert_true(expect_files(&f, &other, &unit) > 0);
	fixture_close(&other);
	fixture_close(&f);
}

/* ---- made by hand ---- */

enum { BASE = -3, RANGE = 12, OPCODE_BASE = 14 /* one opcode more than DWARF 5 has */ };

static void put_header(struct bytes *b, unsigned version, unsigned operations)
{
	static const uint8_t operands[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2 };

	put_fixed(b, 0, 4); /* length, see finish() */
	put_fixed(b, version, 2);
	put_fixed(b, 0, 4); /* length of the header */
	put_fixed(b, 1, 1);
	if (version >= 4)
		put_fixed(b, operations, 1);
	put_fixed(b, 1, 1);
	put_fixed(b, (uint8_t)BASE, 1);
	put_fixed(b, RANGE, 1);
	put_fixed(b, OPCODE_BASE, 1);
	put(b, operands, sizeof(operands));
	put_text(b, "include");
	put_fixed(b, 0, 1);
	for (unsigned dir = 0; dir < 2; dir++) {
		put_text(b, dir ? "deep.rs" : "main.rs");
		put_uleb(b, dir);
		put_uleb(b, 0);
		put_uleb(b, 0);
	}
	put_fixed(b, 0, 1);
	uint32_t length = (uint32_t)b->n - 10;
	memcpy(b->data + 6, &length, sizeof(length));
}

static void put_address(struct bytes *b, uint64_t addr)
{
	put_fixed(b, 0, 1);
	put_uleb(b, 9);
	put_fixed(b, DW_LNE_set_address, 1);
	put_fixed(b, addr, 8);
}

static void put_end(struct bytes *b)
{
	put_fixed(b, 0, 1);
	put_uleb(b, 1);
	put_fixed(b, DW_LNE_end_sequence, 1);
}

static void put_special(struct bytes *b, unsigned advance, int lines)
{
	put_fixed(b, OPCODE_BASE + RANGE * advance + (unsigned)(lines - BASE), 1);
}

static void put_operation(struct bytes *b, unsigned opcode, unsigned operand)
{
	put_fixed(b, opcode, 1);
	put_uleb(b, operand);
}

/* Every opcode once, one that is unknown among them. */
static void put_all_opcodes(struct bytes *b, uint64_t addr)
{
	put_address(b, addr);
	put_fixed(b, DW_LNS_copy, 1);
	put_operation(b, DW_LNS_advance_line, 40);
	put_special(b, 3, 2);
	put_operation(b, DW_LNS_advance_pc, 300);
	put_operation(b, DW_LNS_advance_line, 0x7e); /* -2 */
	put_operation(b, DW_LNS_set_column, 17);
	put_fixed(b, DW_LNS_set_prologue_end, 1);
	put_special(b, 1, -3);
	put_operation(b, DW_LNS_set_file, 2);
	put_fixed(b, DW_LNS_negate_stmt, 1);
	put_fixed(b, DW_LNS_set_basic_block, 1);
	put_fixed(b, DW_LNS_const_add_pc, 1);
	put_fixed(b, DW_LNS_set_epilogue_begin, 1);
	put_operation(b, DW_LNS_set_isa, 4);
	put_fixed(b, 13, 1);
	put_uleb(b, 1000);
	put_uleb(b, 2000);
	put_special(b, 0, 8);
	put_fixed(b, DW_LNS_fixed_advance_pc, 1);
	put_fixed(b, 0x101, 2);
	put_fixed(b, 0, 1); /* DW_LNE_set_discriminator */
	put_uleb(b, 2);
	put_fixed(b, DW_LNE_set_discriminator, 1);
	put_uleb(b, 1);
	put_special(b, 2, 0);
	put_operation(b, DW_LNS_advance_pc, 5);
	put_end(b);
}

/* Of four rows; the last one is its end. */
static void put_sequence(struct bytes *b, uint64_t addr)
{
	put_address(b, addr);
	put_special(b, 0, 1);
	put_special(b, 4, 1);
	put_special(b, 4, 1);
	put_operation(b, DW_LNS_advance_pc, 4);
	put_end(b);
}

/* The module with one unit, whose line program has those bytes. */
static struct fixture open_program(struct bytes *line)
{
	struct hand_made h = { .line = *line };
	uint32_t length = (uint32_t)line->n - 4;

	memcpy(h.line.data, &length, sizeof(length));
	put_abbrev(&h.abbrev, 1, DW_TAG_compile_unit, 0, DW_AT_name, DW_FORM_string, DW_AT_comp_dir,
	           DW_FORM_string, DW_AT_stmt_list, DW_FORM_sec_offset, 0);
	put_fixed(&h.abbrev, 0, 1);
	size_t unit = begin_unit(&h.info, 4, 0);
	put_uleb(&h.info, 1);
	put_text(&h.info, "main.rs");
	put_text(&h.info, "/src");
	put_fixed(&h.info, 0, 4);
	end_unit(&h.info, unit);
	return hand_made_open(&h);
}

static size_t expect_program(struct bytes *line)
{
	struct fixture f = open_program(line);

	assert_int_equal(f.dm->nunits, 1);
	size_t n = expect_rows(&f, &f.dm->units[0], HAND_LOW);
	fixture_close(&f);
	return n;
}

static void test_opcodes(void **state)
{
	(void)state;
	for (unsigned version = 2; version <= 4; version++) {
		for (unsigned operations = 1; operations <= (version < 4 ? 1 : 3); operations++) {
			struct bytes line = { 0 };

			put_header(&line, version, operations);
			put_all_opcodes(&line, 0x2000);
			assert_int_equal(expect_program(&line), 6);
		}
	}
}

/* In any order, one within another, one right behind another, one that was dropped. */
static void test_order(void **state)
{
	static const uint64_t places[][5] = {
		{ 0x2000, 0x3000, 0x4000, 0x5000 }, { 0x4000, 0x2000, 0x5000, 0x3000 },
		{ 0x2000, 0, 0x3000, 0, 0x200c },   { 0x3000, 0x2000, 0x200c, 0x2018 },
		{ 0x3000, 0x2000, 0x2004, 0x2004 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct bytes line = { 0 };
		size_t n = 0;

		put_header(&line, 4, 1);
		for (size_t j = 0; j < 5; j++) {
			put_sequence(&line, places[i][j]);
			n += places[i][j] ? 4 : 0;
		}
		assert_int_equal(expect_program(&line), n);
	}
}

/* The last sequence has no end: its last row is one. */
static void test_open_end(void **state)
{
	struct bytes line = { 0 };

	(void)state;
	put_header(&line, 4, 1);
	put_sequence(&line, 0x3000);
	put_address(&line, 0x4000);
	put_special(&line, 0, 1);
	put_special(&line, 4, 1);
	assert_int_equal(expect_program(&line), 6);
}

/* Cut anywhere or with any byte changed, it ends, and rows ascend. */
static void test_damage(void **state)
{
	struct bytes whole = { 0 };

	(void)state;
	put_header(&whole, 4, 1);
	put_all_opcodes(&whole, 0x3000);
	put_sequence(&whole, 0x2000);
	for (size_t i = 4; i < 2 * whole.n; i++) {
		struct bytes line = { 0 };
		line_entry_vec rows = { 0 };
		bool cut = i < whole.n;

		put(&line, whole.data, cut ? i : whole.n);
		if (!cut)
			line.data[i - whole.n] ^= 0x81;
		struct fixture f = open_program(&line);
		line_program_read(f.dm, &f.dm->units[0], &rows);
		for (size_t j = 1; j < rows.n; j++)
			assert_true(rows.data[j - 1].addr <= rows.data[j].addr);
		vec_free(&rows);
		fixture_close(&f);
	}
	free_bytes(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),    cmocka_unit_test(test_file_of_another),
		cmocka_unit_test(test_opcodes),  cmocka_unit_test(test_order),
		cmocka_unit_test(test_open_end), cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
