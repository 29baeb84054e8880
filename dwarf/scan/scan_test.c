/* Tests of the scanner: hand-made and corrupt sections, and a unit that rustc made. */
#include "dwarf/test/module.h"

/* Hand-made sections of a unit, passed to the scanner without an ELF file. */
struct sample {
	struct bytes info, abbrev, str, str_offsets, addr;
	struct arena arena;
	struct dwarf_sections sections;
	struct scanner *scanner;
	struct unit *units;
	size_t nunits;
};

static void scan(struct sample *s)
{
	s->sections = (struct dwarf_sections){
		.info = section_of_bytes(&s->info),
		.abbrev = section_of_bytes(&s->abbrev),
		.str = section_of_bytes(&s->str),
		.str_offsets = section_of_bytes(&s->str_offsets),
		.addr = section_of_bytes(&s->addr),
	};
	s->scanner = scanner_new();
	s->units = scan_units(&s->sections, &s->arena, &s->nunits, NULL);
	for (size_t i = 0; i < s->nunits; i++) {
		scan_unit(&s->sections, &s->units[i], s->scanner);
	}
}

/* Reads a scope's DIE. */
static struct scope at(const struct sample *s, size_t unit, size_t index)
{
	assert_true(index < s->units[unit].found.nscopes);
	return scan_scope(&s->sections, &s->units[unit], (uint32_t)index);
}

static void drop(struct sample *s)
{
	for (size_t i = 0; i < s->nunits; i++)
		scan_forget(&s->units[i]);
	scanner_free(s->scanner);
	free_bytes(&s->info);
	free_bytes(&s->abbrev);
	free_bytes(&s->str);
	free_bytes(&s->str_offsets);
	free_bytes(&s->addr);
	arena_free(&s->arena);
	*s = (struct sample){ 0 };
}

enum { CODE_UNIT = 1, CODE_NAMESPACE, CODE_STRUCT, CODE_FUNCTION, CODE_VARIABLE, CODE_MEMBER };

static void put_usual_abbrevs(struct bytes *b)
{
	put_abbrev(b, CODE_UNIT, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, CODE_NAMESPACE, DW_TAG_namespace, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, CODE_STRUCT, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, CODE_FUNCTION, DW_TAG_subprogram, 1, DW_AT_low_pc, DW_FORM_addr,
	           DW_AT_high_pc, DW_FORM_data4, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, CODE_VARIABLE, DW_TAG_variable, 0, DW_AT_name, DW_FORM_string, DW_AT_location,
	           DW_FORM_exprloc, 0);
	put_abbrev(b, CODE_MEMBER, DW_TAG_member, 0, DW_AT_name, DW_FORM_string,
	           DW_AT_data_member_location, DW_FORM_udata, 0);
	put_fixed(b, 0, 1);
}

static void put_named(struct bytes *b, unsigned code, const char *name)
{
	put_uleb(b, code);
	put_text(b, name);
}

static void put_function(struct bytes *b, uint64_t low, uint32_t size, const char *name)
{
	put_uleb(b, CODE_FUNCTION);
	put_fixed(b, low, 8);
	put_fixed(b, size, 4);
	put_text(b, name);
}

static void put_variable(struct bytes *b, const char *name, const char *expression, size_t len)
{
	put_named(b, CODE_VARIABLE, name);
	put_uleb(b, len);
	put(b, expression, len);
}

/* namespace a { struct S; fn f { variable; fn g {} } } */
static void put_usual_unit(struct bytes *b, unsigned version, unsigned abbrev_offset)
{
	size_t unit = begin_unit(b, version, abbrev_offset);

	put_named(b, CODE_UNIT, "unit");
	put_named(b, CODE_NAMESPACE, "a");
	put_named(b, CODE_STRUCT, "S");
	put_function(b, 0x2000, 16, "f");
	put_variable(b, "local", "\x91\x00", 2);
	put_function(b, 0x1000, 8, "g");
	put_fixed(b, 0, 4); /* ends g, f, a and the unit */
	end_unit(b, unit);
}

static void check_usual_unit(const struct sample *s, size_t unit)
{
	struct unit *u = &s->units[unit];

	assert_string_equal(u->name, "unit");
	assert_int_equal(u->found.nscopes, 4);
	struct scope a = at(s, unit, 0), type = at(s, unit, 1), f = at(s, unit, 2);
	assert_string_equal(a.name, "a");
	assert_int_equal(a.parent, SCOPE_NONE);
	assert_string_equal(type.name, "S");
	assert_int_equal(type.parent, 0);
	assert_int_equal(type.tag, DW_TAG_structure_type);
	assert_string_equal(f.name, "f");
	assert_true(f.has_address);
	assert_int_equal(f.low, 0x2000);
	assert_int_equal(f.high, 0x2010);
	assert_int_equal(u->found.scopes[3].parent, 2);
	assert_int_equal(u->found.nfunctions, 2);
	assert_int_equal(scan_function_at(u, 0x1000), 3);
	assert_int_equal(scan_function_at(u, 0x1007), 3);
	assert_int_equal(scan_function_at(u, 0x1008), SCOPE_NONE);
	assert_int_equal(scan_function_at(u, 0x200f), 2);
	assert_int_equal(scan_function_at(u, 0xfff), SCOPE_NONE);
	for (uint32_t i = 0; i < u->found.nscopes; i++) {
		uint64_t die = u->start + u->found.scopes[i].die;

		assert_string_equal(scan_scope_name(&s->sections, &s->units[unit], i),
		                    at(s, unit, i).name);
		assert_int_equal(at(s, unit, i).die, die);
		assert_int_equal(scan_scope_at(u, die), i);
		assert_int_equal(scan_scope_at(u, die + 1), SCOPE_NONE);
	}
	assert_int_equal(scan_scope_at(u, 0), SCOPE_NONE);
	assert_int_equal(scan_scope_at(u, UINT64_MAX), SCOPE_NONE);
	assert_true(u->end <= s->info.n);
}

static void test_both_versions(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_usual_abbrevs(&s.abbrev);
	put_usual_unit(&s.info, 4, 0);
	put_usual_unit(&s.info, 5, 0);
	scan(&s);
	assert_int_equal(s.nunits, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(s.units[i].version, 4 + i);
		check_usual_unit(&s, i);
	}
	assert_int_equal(s.units[1].start, s.units[0].end);
	assert_int_equal(s.units[1].end, s.info.n);
	drop(&s);
}

static void test_64_bit_dwarf(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_abbrev(&s.abbrev, 1, DW_TAG_compile_unit, 0, DW_AT_name, DW_FORM_strp, DW_AT_stmt_list,
	           DW_FORM_sec_offset, 0);
	put_text(&s.str, "");
	put_text(&s.str, "wide");
	put_fixed(&s.info, 0xffffffff, 4);
	put_fixed(&s.info, 2 + 8 + 1 + 1 + 8 + 8, 8);
	put_fixed(&s.info, 4, 2);
	put_fixed(&s.info, 0, 8);
	put_fixed(&s.info, 8, 1);
	put_fixed(&s.info, 1, 1);
	put_fixed(&s.info, 1, 8);
	put_fixed(&s.info, 0x123456789, 8);
	scan(&s);
	assert_int_equal(s.nunits, 1);
	assert_int_equal(s.units[0].offset_size, 8);
	assert_string_equal(s.units[0].name, "wide");
	assert_true(s.units[0].stmt_list == 0x123456789);
	assert_int_equal(s.units[0].end, s.info.n);
	drop(&s);
}

/* Every prefix of two units: complete units are read, the rest is not touched. */
static void test_cut_at_every_byte(void **state)
{
	(void)state;
	struct sample whole = { 0 };

	put_usual_abbrevs(&whole.abbrev);
	put_usual_unit(&whole.info, 4, 0);
	size_t first = whole.info.n;
	put_usual_unit(&whole.info, 5, 0);
	for (size_t n = 0; n < whole.info.n; n++) {
		struct sample s = { 0 };

		put(&s.info, whole.info.data, n);
		put(&s.abbrev, whole.abbrev.data, whole.abbrev.n);
		scan(&s);
		assert_int_equal(s.nunits, n < first ? 0 : 1);
		drop(&s);
	}
	for (size_t n = 0; n < whole.abbrev.n; n++) {
		struct sample s = { 0 };

		put(&s.info, whole.info.data, whole.info.n);
		put(&s.abbrev, whole.abbrev.data, n);
		scan(&s);
		assert_int_equal(s.nunits, 2);
		drop(&s);
	}
	drop(&whole);
}

static void test_length_beyond_the_section(void **state)
{
	static const uint64_t lengths[] = { 0x7fffffff, 0xfffffffe, 0xfffffff0 };
	(void)state;

	for (size_t i = 0; i < 3; i++) {
		struct sample s = { 0 };

		put_usual_abbrevs(&s.abbrev);
		put_usual_unit(&s.info, 4, 0);
		size_t second = s.info.n;
		put_usual_unit(&s.info, 4, 0);
		memcpy(s.info.data + second, &lengths[i], 4);
		scan(&s);
		assert_int_equal(s.nunits, 1);
		check_usual_unit(&s, 0);
		drop(&s);
	}
}

static void test_64_bit_length_that_wraps(void **state)
{
	static const uint64_t lengths[] = { UINT64_MAX, UINT64_MAX - 11, INT64_MAX };
	(void)state;

	for (size_t i = 0; i < 3; i++) {
		struct sample s = { 0 };

		put_fixed(&s.info, 0xffffffff, 4);
		put_fixed(&s.info, lengths[i], 8);
		put(&s.info, "\4\0\0\0\0\0\0\0\0\0\x08\1\0\0\0", 15);
		scan(&s);
		assert_int_equal(s.nunits, 0);
		drop(&s);
	}
}

/* A unit too short for its own header, a version from the future, addresses of 3 bytes. */
static void test_headers_that_make_no_sense(void **state)
{
	static const char *const headers[] = {
		"\x02\0\0\0\x04\0\0\0\0\0\x08", "\x07\0\0\0\x09\0\0\0\0\0\x08",
		"\x07\0\0\0\x01\0\0\0\0\0\x08", "\x07\0\0\0\x04\0\0\0\0\0\x03",
		"\x07\0\0\0\x04\0\0\0\0\0\0",
	};
	(void)state;

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		struct sample s = { 0 };

		put(&s.info, headers[i], 11);
		put_usual_abbrevs(&s.abbrev);
		scan(&s);
		assert_int_equal(s.nunits, 0);
		drop(&s);
	}
}

/* Only DWARF's forms have a known size: after another one no value can be found. */
static void test_unknown_form_ends_the_unit(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_abbrev(&s.abbrev, 1, DW_TAG_compile_unit, 1, 0);
	put_abbrev(&s.abbrev, 2, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(&s.abbrev, 3, DW_TAG_structure_type, 0, DW_AT_name, 0x7777, 0);
	put_abbrev(&s.abbrev, 4, DW_TAG_member, 0, DW_AT_name, 0x7777, 0);
	for (unsigned odd = 3; odd <= 4; odd++) {
		size_t unit = begin_unit(&s.info, 4, 0);

		put_uleb(&s.info, 1);
		put_named(&s.info, 2, "before");
		put_uleb(&s.info, odd);
		put_named(&s.info, 2, "after");
		put_fixed(&s.info, 0, 1);
		end_unit(&s.info, unit);
	}
	scan(&s);
	assert_int_equal(s.nunits, 2);
	assert_string_equal(at(&s, 0, 0).name, "before");
	assert_int_equal(s.units[0].found.nscopes, 2);
	assert_null(at(&s, 0, 1).name);
	assert_int_equal(s.units[1].found.nscopes, 1);
	drop(&s);
}

/* Indirect forms that refer to indirect forms. */
static void test_indirect_forms(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_abbrev(&s.abbrev, 1, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_indirect, 0);
	put_abbrev(&s.abbrev, 2, DW_TAG_base_type, 0, DW_AT_name, DW_FORM_indirect, 0);
	size_t unit = begin_unit(&s.info, 4, 0);
	put_uleb(&s.info, 1);
	put_uleb(&s.info, DW_FORM_string);
	put_text(&s.info, "unit");
	put_uleb(&s.info, 2);
	put_uleb(&s.info, DW_FORM_string);
	put_text(&s.info, "direct");
	put_uleb(&s.info, 2);
	for (int i = 0; i < 100; i++)
		put_uleb(&s.info, DW_FORM_indirect);
	end_unit(&s.info, unit);
	scan(&s);
	assert_string_equal(s.units[0].name, "unit");
	assert_string_equal(at(&s, 0, 0).name, "direct");
	assert_int_equal(s.units[0].found.nscopes, 2);
	drop(&s);
}

/* Blocks with a wrong length. */
static void test_blocks_beyond_the_unit(void **state)
{
	static const unsigned forms[] = { DW_FORM_block1, DW_FORM_block2, DW_FORM_block4,
		                          DW_FORM_block, DW_FORM_exprloc };
	(void)state;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct sample s = { 0 };

		put_abbrev(&s.abbrev, 1, DW_TAG_compile_unit, 1, 0);
		put_abbrev(&s.abbrev, 2, DW_TAG_variable, 0, DW_AT_location, forms[i], 0);
		size_t unit = begin_unit(&s.info, 4, 0);
		put_uleb(&s.info, 1);
		put_uleb(&s.info, 2);
		put(&s.info, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
		end_unit(&s.info, unit);
		scan(&s);
		assert_int_equal(s.units[0].found.nscopes, 1);
		assert_false(at(&s, 0, 0).has_address);
		drop(&s);
	}
}

static void test_gap_in_the_abbreviations(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_abbrev(&s.abbrev, 1, DW_TAG_compile_unit, 1, 0);
	put_abbrev(&s.abbrev, 2, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(&s.abbrev, 7, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string, 0);
	put_fixed(&s.abbrev, 0, 1);
	size_t unit = begin_unit(&s.info, 4, 0);
	put_uleb(&s.info, 1);
	put_named(&s.info, 2, "dense");
	put_named(&s.info, 7, "behind the gap");
	put_named(&s.info, 2, "dense again");
	put_fixed(&s.info, 0, 1);
	end_unit(&s.info, unit);
	scan(&s);
	assert_int_equal(s.units[0].found.nscopes, 3);
	assert_string_equal(at(&s, 0, 1).name, "behind the gap");
	drop(&s);
}

/* Codes that no table has: the largest there is, one that was never declared. */
static void test_unknown_codes(void **state)
{
	static const uint64_t codes[] = { 9, 0xfffe, 0x10000, UINT64_MAX };
	(void)state;

	for (size_t i = 0; i < 4; i++) {
		struct sample s = { 0 };

		/* Leaves a gap of two undeclared codes. */
		put_usual_abbrevs(&s.abbrev);
		s.abbrev.n--;
		put_abbrev(&s.abbrev, 12, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string, 0);
		put_fixed(&s.abbrev, 0, 1);
		size_t unit = begin_unit(&s.info, 4, 0);
		put_named(&s.info, CODE_UNIT, "unit");
		put_named(&s.info, CODE_STRUCT, "S");
		put_uleb(&s.info, codes[i]);
		put_named(&s.info, CODE_STRUCT, "T");
		end_unit(&s.info, unit);
		scan(&s);
		assert_int_equal(s.units[0].found.nscopes, 1);
		drop(&s);
	}
}

/* Fat LTO: all units share one table, and the root DIE may have any code. */
static void test_shared_table(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_abbrev(&s.abbrev, 1, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(&s.abbrev, 2, DW_TAG_compile_unit, 1, DW_AT_producer, DW_FORM_string, DW_AT_name,
	           DW_FORM_string, 0);
	put_abbrev(&s.abbrev, 3, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_string, 0);
	put_fixed(&s.abbrev, 0, 1);
	for (unsigned code = 2; code <= 3; code++) {
		size_t unit = begin_unit(&s.info, 4, 0);

		put_uleb(&s.info, code);
		if (code == 2)
			put_text(&s.info, "rustc");
		put_text(&s.info, code == 2 ? "two" : "three");
		put_named(&s.info, 1, "S");
		put_fixed(&s.info, 0, 1);
		end_unit(&s.info, unit);
	}
	scan(&s);
	assert_int_equal(s.nunits, 2);
	assert_string_equal(s.units[0].producer, "rustc");
	assert_string_equal(s.units[0].name, "two");
	assert_null(s.units[1].producer);
	assert_string_equal(s.units[1].name, "three");
	assert_string_equal(at(&s, 1, 0).name, "S");
	drop(&s);
}

static void test_abbreviations_outside_the_section(void **state)
{
	static const unsigned offsets[] = { 1000, 0xffffffff };
	(void)state;

	for (size_t i = 0; i < 2; i++) {
		struct sample s = { 0 };

		put_usual_abbrevs(&s.abbrev);
		put_usual_unit(&s.info, 4, offsets[i]);
		scan(&s);
		assert_int_equal(s.nunits, 1);
		assert_null(s.units[0].name);
		assert_int_equal(s.units[0].found.nscopes, 0);
		drop(&s);
	}
}

/* More attributes than an abbreviation may have here. */
static void test_endless_abbreviation(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_uleb(&s.abbrev, 1);
	put_uleb(&s.abbrev, DW_TAG_compile_unit);
	put_fixed(&s.abbrev, 1, 1);
	for (int i = 0; i < 5000; i++) {
		put_uleb(&s.abbrev, DW_AT_name);
		put_uleb(&s.abbrev, DW_FORM_string);
	}
	put_usual_unit(&s.info, 4, 0);
	scan(&s);
	assert_int_equal(s.nunits, 1);
	drop(&s);
}

/* Scans that many scopes, one in another, and returns how many were found. */
static size_t scan_nested(int depth)
{
	struct sample s = { 0 };

	put_usual_abbrevs(&s.abbrev);
	size_t unit = begin_unit(&s.info, 4, 0);
	put_named(&s.info, CODE_UNIT, "unit");
	for (int i = 0; i < depth; i++)
		put_named(&s.info, CODE_NAMESPACE, "n");
	end_unit(&s.info, unit);
	scan(&s);
	const struct unit *u = &s.units[0];
	for (uint32_t i = 0; i < u->found.nscopes; i++)
		assert_int_equal(u->found.scopes[i].parent, i ? i - 1 : SCOPE_NONE);
	size_t n = u->found.nscopes;
	drop(&s);
	return n;
}

/* A function of 5,000 `let` is as deep, and what follows it in its unit is not lost. */
static void test_nesting_has_a_limit(void **state)
{
	(void)state;
	assert_int_equal(scan_nested(5000), 5000);
	assert_in_range(scan_nested(1 << 15), 1 << 13, 1 << 14);
}

static void test_more_ends_than_beginnings(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_usual_abbrevs(&s.abbrev);
	size_t unit = begin_unit(&s.info, 4, 0);
	put_named(&s.info, CODE_UNIT, "unit");
	put_named(&s.info, CODE_STRUCT, "S");
	put_fixed(&s.info, 0, 8);
	put_named(&s.info, CODE_STRUCT, "T");
	end_unit(&s.info, unit);
	scan(&s);
	assert_int_equal(s.units[0].found.nscopes, 1);
	drop(&s);
}

static void test_overlong_code(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_usual_abbrevs(&s.abbrev);
	size_t unit = begin_unit(&s.info, 4, 0);
	put_named(&s.info, CODE_UNIT, "unit");
	put(&s.info, "\x83\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00S", 14); /* 3, in 12 bytes */
	put_fixed(&s.info, 0, 1);
	end_unit(&s.info, unit);
	scan(&s);
	assert_int_equal(s.units[0].found.nscopes, 1);
	assert_string_equal(at(&s, 0, 0).name, "S");
	drop(&s);
}

/* Statics have an address, thread-locals an offset; other expressions have neither. */
static void test_locations(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_usual_abbrevs(&s.abbrev);
	size_t unit = begin_unit(&s.info, 4, 0);
	put_named(&s.info, CODE_UNIT, "unit");
	put_variable(&s.info, "static", "\x03\x00\x10\0\0\0\0\0\0", 9);
	put_variable(&s.info, "local", "\x0e\x18\0\0\0\0\0\0\0\xe0", 10);
	put_variable(&s.info, "form_tls", "\x0c\x20\0\0\0\x9b", 6);
	put_variable(&s.info, "cut", "\x03\x00\x10", 3);
	put_variable(&s.info, "empty", "", 0);
	put_variable(&s.info, "computed", "\x91\x08", 2);
	put_variable(&s.info, "more", "\x03\x00\x10\0\0\0\0\0\0\x06", 10);
	put_fixed(&s.info, 0, 1);
	end_unit(&s.info, unit);
	scan(&s);
	struct scope v[7];
	assert_int_equal(s.units[0].found.nscopes, 7);
	for (size_t i = 0; i < 7; i++)
		v[i] = at(&s, 0, i);
	assert_true(v[0].has_address && !v[0].is_tls);
	assert_int_equal(v[0].low, 0x1000);
	assert_true(v[1].is_tls && !v[1].has_address);
	assert_int_equal(v[1].low, 0x18);
	assert_true(v[2].is_tls && v[2].low == 0x20);
	for (int i = 3; i < 7; i++)
		assert_true(!v[i].has_address && !v[i].is_tls);
	drop(&s);
}

/* What the linker dropped has address 0. */
static void test_dropped_functions(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_usual_abbrevs(&s.abbrev);
	size_t unit = begin_unit(&s.info, 4, 0);
	put_named(&s.info, CODE_UNIT, "unit");
	put_function(&s.info, 0, 16, "dropped");
	put_fixed(&s.info, 0, 1);
	put_function(&s.info, 0x1000, 16, "kept");
	put_fixed(&s.info, 0, 2);
	end_unit(&s.info, unit);
	scan(&s);
	assert_int_equal(s.units[0].found.nfunctions, 1);
	assert_int_equal(s.units[0].found.functions[0].low, 0x1000);
	assert_false(at(&s, 0, 0).has_address);
	drop(&s);
}

/* DWARF 5: names and addresses by index, their bases at the end of the same DIE. */
static void test_indexed_forms(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_abbrev(&s.abbrev, 1, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_strx1, DW_AT_low_pc,
	           DW_FORM_addrx, DW_AT_str_offsets_base, DW_FORM_sec_offset, DW_AT_addr_base,
	           DW_FORM_sec_offset, 0);
	put_abbrev(&s.abbrev, 2, DW_TAG_subprogram, 0, DW_AT_low_pc, DW_FORM_addrx, DW_AT_high_pc,
	           DW_FORM_data4, DW_AT_name, DW_FORM_strx, 0);
	put_fixed(&s.abbrev, 0, 1);
	put_text(&s.str, "unit");
	put_text(&s.str, "f");
	put_fixed(&s.str_offsets, 0, 8);
	put_fixed(&s.str_offsets, 0, 4);
	put_fixed(&s.str_offsets, 5, 4);
	put_fixed(&s.addr, 0, 8);
	put_fixed(&s.addr, 0x4000, 8);
	size_t unit = begin_unit(&s.info, 5, 0);
	put(&s.info, "\1\0\0", 3);
	put_fixed(&s.info, 8, 4);
	put_fixed(&s.info, 8, 4);
	put(&s.info, "\2\0\x10\0\0\0\1", 7);     /* addrx 0, size 16, strx 1 */
	put(&s.info, "\2\x7f\x10\0\0\0\x7f", 7); /* indexes that do not exist */
	put(&s.info, "\2\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\x10\0\0\0", 15);
	put(&s.info, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0", 11);
	end_unit(&s.info, unit);
	scan(&s);
	const struct unit *u = &s.units[0];
	assert_string_equal(u->name, "unit");
	assert_int_equal(u->low_pc, 0x4000);
	assert_int_equal(u->found.nscopes, 3);
	assert_string_equal(at(&s, 0, 0).name, "f");
	assert_int_equal(at(&s, 0, 0).low, 0x4000);
	assert_int_equal(at(&s, 0, 0).high, 0x4010);
	assert_null(at(&s, 0, 1).name);
	assert_false(at(&s, 0, 1).has_address);
	drop(&s);
}

/* Arbitrary bytes: the scan must terminate and stay in bounds. */
static void test_noise(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 3000; round++) {
		struct sample s = { 0 };

		put_usual_abbrevs(&s.abbrev);
		for (int i = 0; i < 3; i++)
			put_usual_unit(&s.info, round & 1 ? 4 : 5, 0);
		for (int i = 0; i < 1 + round % 8; i++) {
			struct bytes *b = rand() & 1 ? &s.info : &s.abbrev;

			b->data[(size_t)rand() % b->n] = (uint8_t)rand();
		}
		scan(&s);
		assert_true(s.nunits <= 4);
		drop(&s);
	}
}

/* Skips values of every form, also merged ones: what follows is found. */
static void test_steps(void **state)
{
	(void)state;
	static const struct {
		unsigned form;
		const char *bytes;
		size_t n;
	} rows[] = {
		{ DW_FORM_data1, "\xff", 1 },
		{ DW_FORM_data8, "\1\2\3\4\5\6\7\x08", 8 },
		{ DW_FORM_udata, "\xff\x01", 2 },
		{ DW_FORM_sdata, "\x80\x7f", 2 },
		{ DW_FORM_string, "text", 5 },
		{ DW_FORM_exprloc, "\2\1\1", 3 },
		{ DW_FORM_block1, "\3\1\1\1", 4 },
		{ DW_FORM_block2, "\1\0\1", 3 },
		{ DW_FORM_block4, "\0\0\0\0", 4 },
		{ DW_FORM_flag_present, "", 0 },
		{ DW_FORM_ref_addr, "\0\0\0\0", 4 },
		{ DW_FORM_indirect, "\x0b\xff", 2 }, /* as data1 */
	};
	enum { N = sizeof(rows) / sizeof(rows[0]) };

	/* All pairs of forms, in wanted DIEs and in others. */
	for (size_t i = 0; i < N * N; i++) {
		struct sample s = { 0 };

		put_usual_abbrevs(&s.abbrev);
		s.abbrev.n--; /* the end of the table */
		put_abbrev(&s.abbrev, 10, DW_TAG_member, 0, DW_AT_byte_size, rows[i / N].form,
		           DW_AT_alignment, rows[i % N].form, 0);
		put_abbrev(&s.abbrev, 11, DW_TAG_structure_type, 0, DW_AT_byte_size,
		           rows[i / N].form, DW_AT_alignment, rows[i % N].form, DW_AT_name,
		           DW_FORM_strp, 0);
		put_fixed(&s.abbrev, 0, 1);
		put_text(&s.str, "wrong");
		put_text(&s.str, "S");
		size_t unit = begin_unit(&s.info, 4, 0);
		put_named(&s.info, CODE_UNIT, "unit");
		for (unsigned code = 10; code < 12; code++) {
			put_uleb(&s.info, code);
			put(&s.info, rows[i / N].bytes, rows[i / N].n);
			put(&s.info, rows[i % N].bytes, rows[i % N].n);
		}
		put_fixed(&s.info, 6, 4);
		put_named(&s.info, CODE_STRUCT, "behind");
		put_fixed(&s.info, 0, 1);
		end_unit(&s.info, unit);
		scan(&s);
		assert_int_equal(s.units[0].found.nscopes, 2);
		assert_string_equal(scan_scope_name(&s.sections, &s.units[0], 0), "S");
		assert_string_equal(at(&s, 0, 0).name, "S");
		assert_string_equal(at(&s, 0, 1).name, "behind");
		drop(&s);
	}
}

static void test_has_tag(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_usual_abbrevs(&s.abbrev);
	put_usual_unit(&s.info, 4, 0);
	scan(&s);
	assert_true(scan_has_tag(&s.sections, &s.units[0], DW_TAG_structure_type));
	assert_true(scan_has_tag(&s.sections, &s.units[0], DW_TAG_variable));
	/* The abbreviation exists, but no DIE has it. */
	assert_false(scan_has_tag(&s.sections, &s.units[0], DW_TAG_member));
	/* Earlier notes are unchanged, and the unit can be scanned again. */
	assert_int_equal(s.units[0].found.nscopes, 4);
	scan_forget(&s.units[0]);
	assert_int_equal(s.units[0].found.nscopes, 0);
	scan_unit(&s.sections, &s.units[0], s.scanner);
	check_usual_unit(&s, 0);
	drop(&s);
}

/* Return types: a DIE of the unit, or of another one. */
static void test_results(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_usual_abbrevs(&s.abbrev);
	s.abbrev.n--; /* the end of the table */
	put_abbrev(&s.abbrev, 10, DW_TAG_subprogram, 0, DW_AT_type, DW_FORM_ref4, 0);
	put_abbrev(&s.abbrev, 11, DW_TAG_subprogram, 0, DW_AT_type, DW_FORM_ref_addr, 0);
	put_abbrev(&s.abbrev, 12, DW_TAG_variable, 0, DW_AT_type, DW_FORM_ref4, 0);
	put_fixed(&s.abbrev, 0, 1);
	put_usual_unit(&s.info, 4, 0);
	size_t unit = begin_unit(&s.info, 4, 0);
	put_named(&s.info, CODE_UNIT, "unit");
	put_function(&s.info, 0x1000, 16, "returns nothing");
	put_fixed(&s.info, 0, 1);
	for (unsigned code = 10; code < 13; code++) {
		put_uleb(&s.info, code);
		put_fixed(&s.info, 0x42, 4);
	}
	put_fixed(&s.info, 0, 1);
	end_unit(&s.info, unit);
	scan(&s);
	assert_int_equal(s.units[1].found.nscopes, 4);
	assert_true(scan_returns_nothing(&s.units[1].found.scopes[0]));
	for (unsigned i = 1; i < 4; i++) {
		assert_true(s.units[1].found.scopes[i].flags & SCOPE_TYPE);
		assert_false(scan_returns_nothing(&s.units[1].found.scopes[i]));
	}
	drop(&s);
}

/* Declarations and concrete copies have no type because another DIE has it. */
static void test_returns_nothing(void **state)
{
	static const struct {
		uint16_t flags;
		bool nothing;
	} rows[] = {
		{ 0, true },
		{ SCOPE_ADDRESS | SCOPE_RANGES | SCOPE_LINKAGE, true },
		{ SCOPE_TYPE, false },
		{ SCOPE_ORIGIN, false },
		{ SCOPE_DECLARATION, false },
		{ SCOPE_ORIGIN | SCOPE_DECLARATION | SCOPE_LINKAGE, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scope_note note = { .tag = DW_TAG_subprogram, .flags = rows[i].flags };

		assert_int_equal(scan_returns_nothing(&note), rows[i].nothing);
		note.tag = DW_TAG_variable;
		assert_false(scan_returns_nothing(&note));
	}
}

enum { CODE_PLAIN = 10, CODE_STATIC, CODE_NUMBERS, CODE_TEXT, CODE_FILLER };

static void put_shape_abbrevs(struct bytes *b)
{
	put_abbrev(b, CODE_UNIT, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, CODE_PLAIN, DW_TAG_subprogram, 0, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
	           DW_FORM_data4, DW_AT_frame_base, DW_FORM_exprloc, DW_AT_name, DW_FORM_strp,
	           DW_AT_alignment, DW_FORM_udata, DW_AT_type, DW_FORM_ref4, 0);
	put_abbrev(b, CODE_STATIC, DW_TAG_variable, 0, DW_AT_name, DW_FORM_strp, DW_AT_location,
	           DW_FORM_exprloc, DW_AT_alignment, DW_FORM_udata, DW_AT_decl_line, DW_FORM_udata,
	           0);
	put_abbrev(b, CODE_NUMBERS, DW_TAG_member, 0, DW_AT_alignment, DW_FORM_udata,
	           DW_AT_const_value, DW_FORM_sdata, DW_AT_decl_line, DW_FORM_udata, 0);
	put_abbrev(b, CODE_TEXT, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, CODE_FILLER, DW_TAG_member, 0, DW_AT_decl_line, DW_FORM_data8, 0);
	put_fixed(b, 0, 1);
}

static void put_plain(struct bytes *b, size_t block, uint64_t number)
{
	put_uleb(b, CODE_PLAIN);
	put_fixed(b, 0x1000 + number, 8);
	put_fixed(b, 16, 4);
	put_uleb(b, block);
	for (size_t i = 0; i < block; i++)
		put_fixed(b, 0xff, 1);
	put_fixed(b, 1, 4);
	put_uleb(b, number);
	put_fixed(b, 0x42, 4);
}

/* Appends so many unwanted DIEs, so that the DIEs before them are far from the unit's end. */
static void end_behind_fillers(struct bytes *b, size_t unit, size_t fillers)
{
	for (size_t i = 0; i < fillers; i++) {
		put_uleb(b, CODE_FILLER);
		put_fixed(b, 0, 8);
	}
	put_fixed(b, 0, 1);
	end_unit(b, unit);
}

/* Numbers of one byte and of several, blocks short and long. */
static void put_shapes(struct bytes *b, size_t fillers)
{
	size_t unit = begin_unit(b, 4, 0);

	put_named(b, CODE_UNIT, "unit");
	put_plain(b, 1, 8);
	put_plain(b, 0, 1000000);
	put_plain(b, 130, 9);
	put_uleb(b, CODE_STATIC);
	put_fixed(b, 1, 4);
	put(b, "\x09\x03\x00\x20\0\0\0\0\0\0\x08\x81\x01", 13); /* at 0x2000; 8; 129 */
	put(b, (const char[]){ CODE_NUMBERS, 1, 2, 3, CODE_NUMBERS, '\x81', 1, 2, '\x83', 1 }, 10);
	put_named(b, CODE_TEXT, "text");
	put_plain(b, 127, 10);
	end_behind_fillers(b, unit, fillers);
}

/* The same notes result far from a unit's end, where DIEs are read by their shapes, and near it. */
static void test_shapes(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_shape_abbrevs(&s.abbrev);
	put_fixed(&s.str, 0, 1);
	put_text(&s.str, "name");
	put_shapes(&s.info, 0);
	put_shapes(&s.info, 100);
	assert_true(s.info.n < 2 * 510 + 900);
	scan(&s);
	const struct unit *a = &s.units[0], *b = &s.units[1];
	assert_int_equal(a->found.nscopes, 6);
	assert_int_equal(b->found.nscopes, 6);
	assert_memory_equal(a->found.scopes, b->found.scopes, 6 * sizeof(*a->found.scopes));
	assert_int_equal(a->found.nfunctions, 4);
	assert_int_equal(b->found.nfunctions, 4);
	assert_memory_equal(a->found.functions, b->found.functions,
	                    4 * sizeof(*a->found.functions));
	assert_int_equal(b->found.functions[1].low, 0x1000 + 1000000);
	assert_int_equal(b->found.functions[1].size, 16);
	assert_int_equal(a->found.nvariables, 1);
	assert_int_equal(b->found.nvariables, 1);
	assert_int_equal(a->found.variables[0], 3);
	assert_int_equal(b->found.variables[0], 3);
	assert_string_equal(at(&s, 1, 2).name, "name");
	assert_true(b->found.scopes[3].flags & SCOPE_ADDRESS);
	assert_int_equal(at(&s, 1, 3).low, 0x2000);
	drop(&s);
}

/* A unit without DIEs after its root DIE. */
static void test_behind_the_root(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_shape_abbrevs(&s.abbrev);
	put_text(&s.str, "name");
	size_t unit = begin_unit(&s.info, 4, 0);
	put_named(&s.info, CODE_UNIT, "unit");
	put_plain(&s.info, 1, 1);
	put_fixed(&s.info, 0, 1);
	for (unsigned i = 0; i < 100; i++)
		put_plain(&s.info, 1, 1);
	end_unit(&s.info, unit);
	scan(&s);
	assert_int_equal(s.units[0].found.nscopes, 1);
	drop(&s);
}

/* Adds an abbreviation with size bytes of values after a name, or without a name. */
static void put_sized_abbrev(struct bytes *b, unsigned code, unsigned tag, size_t size)
{
	put_uleb(b, code);
	put_uleb(b, tag);
	put_fixed(b, code % 2, 1); /* every other one has children */
	if (tag == DW_TAG_structure_type) {
		put_uleb(b, DW_AT_name);
		put_uleb(b, DW_FORM_strp);
	}
	for (size_t i = 0; i < size; i++) {
		put_uleb(b, DW_AT_decl_line);
		put_uleb(b, DW_FORM_data1);
	}
	put_fixed(b, 0, 2);
}

enum { MAX_SIZE = 80, CODE_MEMBERS = 20, CODE_STRUCTS = CODE_MEMBERS + MAX_SIZE };

/* DIEs of all sizes, a third of them with a code of two bytes. */
static void put_sizes(struct bytes *b)
{
	static const char values[MAX_SIZE] = "\1\2\3";
	size_t unit = begin_unit(b, 4, 0);

	put_named(b, CODE_UNIT, "unit");
	for (unsigned size = 0; size < MAX_SIZE; size++) {
		put_uleb(b, CODE_STRUCTS + size);
		put_fixed(b, size, 4);
		put(b, values, size);
		put_uleb(b, CODE_MEMBERS + size);
		put(b, values, size);
		put_fixed(b, 0, (CODE_STRUCTS + size) % 2 + (CODE_MEMBERS + size) % 2);
	}
	end_behind_fillers(b, unit, 100);
}

static void test_sizes(void **state)
{
	(void)state;
	struct sample s = { 0 };

	put_shape_abbrevs(&s.abbrev);
	s.abbrev.n--; /* the end of the table */
	for (unsigned size = 0; size < MAX_SIZE; size++) {
		put_sized_abbrev(&s.abbrev, CODE_MEMBERS + size, DW_TAG_member, size);
		put_sized_abbrev(&s.abbrev, CODE_STRUCTS + size, DW_TAG_structure_type, size);
	}
	put_fixed(&s.abbrev, 0, 1);
	put_sizes(&s.info);
	scan(&s);
	const struct unit *u = &s.units[0];
	assert_int_equal(u->found.nscopes, MAX_SIZE);
	for (unsigned size = 0; size < MAX_SIZE; size++) {
		assert_int_equal(u->found.scopes[size].name, size);
		assert_int_equal(u->found.scopes[size].parent, SCOPE_NONE);
		assert_int_equal(u->found.scopes[size].tag, DW_TAG_structure_type);
	}
	drop(&s);
}

/* ---- the unit that rustc made ---- */

static const struct scope *find_scope(const struct scope *scopes, size_t n, const char *name,
                                      unsigned tag)
{
	for (size_t i = 0; i < n; i++) {
		const char *own = scopes[i].name;

		if (own && strcmp(own, name) == 0 && scopes[i].tag == tag)
			return &scopes[i];
	}
	fail_msg("no scope %s", name);
	return NULL;
}

static void test_rust_unit(void **state)
{
	struct fixture *f = *state;
	struct unit *u = &f->dm->units[0];

	size_t n;

	assert_int_equal(f->dm->nunits, 1);
	const struct scope *scopes = read_scopes(f, &n);
	assert_non_null(strstr(u->name, "shapes.rs/@/shapes."));
	assert_non_null(strstr(u->producer, "rustc version 1."));
	assert_string_equal(u->comp_dir, "/src");
	assert_int_equal(u->stmt_list, 0);

	/* shapes::context::CONTEXT: each scope lies in the one before it. */
	const struct scope *context = find_scope(scopes, n, "context", DW_TAG_namespace);
	assert_string_equal(scopes[context->parent].name, "shapes");
	assert_int_equal(scopes[context->parent].parent, SCOPE_NONE);
	const struct scope *blue = find_scope(scopes, n, "Blue", DW_TAG_structure_type);
	assert_string_equal(scopes[blue->parent].name, "Niche");
	/* A function in the table, without its local variables. */
	const struct scope *boxed = find_scope(scopes, n, "boxed", DW_TAG_subprogram);
	assert_true(boxed->has_address && boxed->low >= 0x400000 && boxed->high > boxed->low);
	for (size_t i = 0; i < n; i++) {
		const struct scope *s = &scopes[i];

		assert_true(s->parent == SCOPE_NONE || s->parent < i);
		assert_true(i == 0 || scopes[i - 1].die < s->die);
		assert_false(s->tag == DW_TAG_variable && s->name && !strcmp(s->name, "harness"));
	}
	size_t vtables = 0;
	for (size_t i = 0; i < n; i++) {
		const struct scope *s = &scopes[i];

		if (s->tag != DW_TAG_variable || !s->has_address || !s->low || !s->name ||
		    !strstr(s->name, "::{vtable}"))
			continue;
		assert_int_equal(debuginfo_vtable(f->dm, s->low), s->die);
		vtables++;
	}
	assert_true(vtables >= 2);
	assert_int_equal(debuginfo_vtable(f->dm, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_versions),
		cmocka_unit_test(test_64_bit_dwarf),
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_length_beyond_the_section),
		cmocka_unit_test(test_64_bit_length_that_wraps),
		cmocka_unit_test(test_headers_that_make_no_sense),
		cmocka_unit_test(test_unknown_form_ends_the_unit),
		cmocka_unit_test(test_indirect_forms),
		cmocka_unit_test(test_blocks_beyond_the_unit),
		cmocka_unit_test(test_gap_in_the_abbreviations),
		cmocka_unit_test(test_unknown_codes),
		cmocka_unit_test(test_shared_table),
		cmocka_unit_test(test_abbreviations_outside_the_section),
		cmocka_unit_test(test_endless_abbreviation),
		cmocka_unit_test(test_nesting_has_a_limit),
		cmocka_unit_test(test_more_ends_than_beginnings),
		cmocka_unit_test(test_behind_the_root),
		cmocka_unit_test(test_overlong_code),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_dropped_functions),
		cmocka_unit_test(test_indexed_forms),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_has_tag),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_returns_nothing),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_rust_unit),
	};

	return cmocka_run_group_tests(tests, shapes_setup, shapes_teardown);
}
