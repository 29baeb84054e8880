/* Tests of the filter of units by a name: it never misses a unit that has it. */
#include "dwarf/names/qualified.h"
#include "dwarf/scan/name_filter.h"
#include "dwarf/test/module.h"

/* Whether a name of the unit has that base. */
static bool has_name(struct dwarf_module *dm, struct unit *u, const char *base)
{
	size_t len = strlen(base);

	debuginfo_scan(dm, u);
	for (uint32_t i = 0; i < u->found.nscopes; i++) {
		const char *name = scan_scope_name(&dm->sections, u, i);

		if (name && qualified_base_len(name) == len && memcmp(name, base, len) == 0)
			return true;
	}
	return false;
}

/* Returns how many units have no such name and pass all the same. */
static size_t expect_all(struct fixture *f, const char *base)
{
	struct name_filter filter;
	size_t more = 0;

	name_filter_open(&filter, &f->dm->sections, base, NULL);
	for (size_t i = 0; i < f->dm->nunits; i++) {
		struct unit *u = &f->dm->units[i];
		bool may = name_filter_may_have(&filter, u), has = has_name(f->dm, u, base);

		if (has && !may)
			fail_msg("unit %zu has %s", i, base);
		more += may && !has;
	}
	return more;
}

static void test_programs(void **state)
{
	static const char *const files[] = { "shapes", "spread", "inlined", "values" };
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "testdata/unit/%s.elf", files[i]);
		struct fixture f = fixture_open_file(path);
		size_t n;
		const struct scope *scopes = read_scopes(&f, &n);

		for (size_t j = 0; j < n; j += 7) {
			const char *name = scopes[j].name ? scopes[j].name : "";

			expect_all(&f, arena_strndup(&f.arena, name, qualified_base_len(name)));
		}
		assert_int_equal(expect_all(&f, "no_such_name_anywhere"), 0);
		fixture_close(&f);
	}
}

/* ---- made by hand ---- */

/* A module with a unit for each form, each of which has one namespace. */
static struct fixture open_units(const char *strings, size_t size, const uint32_t *offsets,
                                 size_t n)
{
	struct hand_made h = { 0 };

	put_abbrev(&h.abbrev, 1, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_strp, 0);
	put_abbrev(&h.abbrev, 2, DW_TAG_namespace, 0, DW_AT_name, DW_FORM_strp, 0);
	put_fixed(&h.abbrev, 0, 1);
	put(&h.str, strings, size);
	for (size_t i = 0; i < n; i++) {
		size_t at = begin_unit(&h.info, 4, 0);

		put_uleb(&h.info, 1);
		put_fixed(&h.info, 0, 4);
		put_uleb(&h.info, 2);
		put_fixed(&h.info, offsets[i], 4);
		put_fixed(&h.info, 0, 1 + i); /* ends at any distance from a block's end */
		end_unit(&h.info, at);
	}
	return hand_made_open(&h);
}

static bool may_have(struct fixture *f, size_t unit, const char *base)
{
	struct name_filter filter;

	name_filter_open(&filter, &f->dm->sections, base, NULL);
	return name_filter_may_have(&filter, &f->dm->units[unit]);
}

static void test_offsets(void **state)
{
	/* "serve" is also the end of "observe_serve", as linkers merge strings. */
	static const char strings[] = "unit\0observe_serve\0serve<T>\0server\0other";
	static const uint32_t offsets[] = { 5 + 8, 19, 28, 35, 5 };
	struct fixture f = open_units(strings, sizeof(strings), offsets, 5);

	(void)state;
	assert_true(may_have(&f, 0, "serve"));
	assert_true(may_have(&f, 1, "serve"));
	assert_false(may_have(&f, 2, "serve"));
	assert_false(may_have(&f, 3, "serve"));
	assert_false(may_have(&f, 4, "serve"));
	assert_true(may_have(&f, 2, "server"));
	assert_true(may_have(&f, 4, "observe_serve"));
	/* The name of the unit itself is in each. */
	assert_true(may_have(&f, 3, "unit"));
	assert_false(may_have(&f, 3, "absent"));
	assert_true(may_have(&f, 3, ""));
	fixture_close(&f);
}

/* More strings than are looked for: each unit may have the name. */
static void test_many(void **state)
{
	static const uint32_t offsets[] = { 0 };
	struct bytes strings = { 0 };
	char text[32];

	(void)state;
	put_text(&strings, "other");
	for (int i = 0; i < NAME_FILTER_MAX; i++) {
		snprintf(text, sizeof(text), "new<T%d>", i);
		put_text(&strings, text);
	}
	struct fixture f = open_units((const char *)strings.data, strings.n, offsets, 1);
	assert_false(may_have(&f, 0, "new"));
	fixture_close(&f);
	put_text(&strings, "new");
	f = open_units((const char *)strings.data, strings.n, offsets, 1);
	assert_true(may_have(&f, 0, "new"));
	fixture_close(&f);
	free_bytes(&strings);
}

/* Names in the unit itself, and those whose form is not looked at. */
static void test_forms(void **state)
{
	static const unsigned forms[] = { DW_FORM_string, DW_FORM_GNU_str_index };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct hand_made h = { 0 };
		size_t at = begin_unit(&h.info, 4, 0);

		put_abbrev(&h.abbrev, 1, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_string, 0);
		put_abbrev(&h.abbrev, 2, DW_TAG_namespace, 0, DW_AT_name, forms[i], 0);
		put_fixed(&h.abbrev, 0, 1);
		put_uleb(&h.info, 1);
		put_text(&h.info, "unit");
		put_uleb(&h.info, 2);
		put_text(&h.info, i ? "" : "serve");
		put_fixed(&h.info, 0, 1);
		end_unit(&h.info, at);
		struct fixture f = hand_made_open(&h);
		assert_true(may_have(&f, 0, "serve"));
		assert_int_equal(may_have(&f, 0, "absent"), i == 1);
		fixture_close(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
