#include "dwarf/records/records.h"
#include "dwarf/records/records_copy.h"
#include "dwarf/test/module.h"

static struct global *ask(struct fixture *f, const char *name, size_t wanted)
{
	struct global *ret;
	size_t n, total;

	fail_on(lookup_globals(f->dm, name, &f->arena, &ret, &n, &total));
	assert_int_equal(n, wanted);
	assert_int_equal(total, wanted);
	return ret;
}

static void expect(const struct global *g, const char *name, const char *type)
{
	assert_string_equal(g->name, name);
	assert_non_null(g->type);
	assert_string_equal(type_name(g->type), type);
	assert_false(g->thread_local);
	assert_in_range(g->addr, 0x400000 + BIAS, 0x500000 + BIAS);
}

static void expect_all(struct fixture *f)
{
	struct global *g = ask(f, "LIMIT", 3);

	assert_string_equal(g[0].name, "statics::LIMIT");
	assert_true(g[0].thread_local);
	assert_int_equal(g[0].addr, 0);
	expect(&g[1], "statics::config::LIMIT", "u32");
	expect(&g[2], "statics::other::LIMIT", "u64");
	assert_int_not_equal(g[1].addr, g[2].addr);
	expect(ask(f, "CONFIG", 1), "statics::config::CONFIG", "statics::config::Config");
	expect(ask(f, "NEXT", 1), "statics::{impl#0}::next::NEXT", "core::sync::atomic::AtomicU64");
	g = ask(f, "OWN", 1);
	assert_string_equal(g->name, "statics::OWN");
	assert_true(g->thread_local);
}

static void test_by_name_alone(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/statics.elf");
	size_t scanned;

	(void)state;
	expect_all(&f);
	/* All statics are cached now. */
	scanned = f.dm->nscanned;
	for (size_t i = 0; i < f.dm->nunits; i++)
		scan_forget(&f.dm->units[i]);
	struct global *g = ask(&f, "LIMIT", 3);
	assert_string_equal(g[1].name, "statics::config::LIMIT");
	ask(&f, "CONFIG", 1);
	ask(&f, "MISSING", 0);
	assert_int_equal(f.dm->nscanned, scanned);
	fixture_close(&f);
}

static void test_names_of_none(void **state)
{
	/*
	 * Dropped by the linker; a vtable; a name inside thread_local!; a function; a path; not
	 * names.
	 */
	static const char *const names[] = { "UNUSED",  "{vtable}",      "__RUST_STD_INTERNAL_VAL",
		                             "statics", "config::LIMIT", "",
		                             "*",       "LIMI",          "LIMITS" };
	struct fixture f = fixture_open_file("testdata/unit/statics.elf");

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		ask(&f, names[i], 0);
	fixture_close(&f);
}

static void test_by_path(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/statics.elf");
	const struct type *type;
	uint64_t addr;

	(void)state;
	assert_true(lookup_static(f.dm, "statics::config::LIMIT", &type, &addr));
	assert_string_equal(type_name(type), "u32");
	assert_int_equal(addr, ask(&f, "LIMIT", 3)[1].addr);
	assert_true(lookup_static(f.dm, "statics::{impl#0}::next::NEXT", &type, &addr));
	assert_false(lookup_static(f.dm, "statics::LIMIT", &type, &addr));
	assert_false(lookup_static(f.dm, "statics::config::UNUSED", &type, &addr));
	assert_false(lookup_static(f.dm, "config::LIMIT", &type, &addr));
	fixture_close(&f);
}

static void test_copied_records(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/statics.elf");
	struct records *copy;
	struct record record;

	(void)state;
	ask(&f, "LIMIT", 3);
	copy = records_merged(debuginfo_records(f.dm), NULL);
	assert_true(record_find(copy, RECORD_GLOBALS, 0, "LIMIT", &record));
	assert_int_equal(record_number(&record), 3);
	assert_int_equal(record_count(&record), 3);
	assert_string_equal(record_text(&record), "statics::LIMIT");
	for (int i = 0; i < 3; i++)
		record_number(&record);
	assert_string_equal(record_text(&record), "statics::config::LIMIT");
	assert_true(record_find(copy, RECORD_GLOBALS, 0, "*", &record));
	records_free(copy);
	fixture_close(&f);
}

static void count_scopes(struct dwarf_module *dm, struct unit *u, void *arg)
{
	(void)dm;
	*(size_t *)arg += u->found.nscopes;
}

static size_t pass(struct fixture *f, struct scanner *passing)
{
	size_t n = 0;

	for (size_t i = 0; i < f->dm->nunits; i++)
		debuginfo_pass(f->dm, &f->dm->units[i], passing, count_scopes, &n);
	return n;
}

/* A pass sees the notes of each unit, and keeps those that were there before it. */
static void test_pass(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/statics.elf");
	struct scanner *passing = scanner_new();
	size_t n = pass(&f, passing);

	(void)state;
	assert_true(n > 100);
	for (size_t i = 0; i < f.dm->nunits; i++)
		assert_false(f.dm->units[i].scanned || f.dm->units[i].found.nscopes);
	assert_int_equal(pass(&f, NULL), n);
	assert_int_equal(pass(&f, passing), n);
	for (size_t i = 0; i < f.dm->nunits; i++)
		assert_true(f.dm->units[i].scanned && f.dm->units[i].found.nscopes);
	scanner_free(passing);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_name_alone), cmocka_unit_test(test_names_of_none),
		cmocka_unit_test(test_by_path),       cmocka_unit_test(test_copied_records),
		cmocka_unit_test(test_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
