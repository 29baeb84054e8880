#include <dwarf.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/names/qualified.h"
#include "dwarf/records/records.h"
#include "dwarf/test/module.h"

static const char glue[] = DROP_GLUE;

struct counter {
	struct fixture *f;
	uint64_t near;
	unsigned n;
};

static void check_instance(const char *name, bool has_code, void *arg)
{
	struct counter *c = arg;
	SCRATCH(tmp);
	const char *argument = qualified_first_generic(&tmp, name);

	(void)has_code;
	assert_non_null(argument);
	assert_true(lookup_has_instance(c->f->dm, c->near, glue, argument));
	assert_false(
		lookup_has_instance(c->f->dm, c->near, glue, arena_printf(&tmp, "%s ", argument)));
	c->n++;
}

static void test_each_that_is_visited_is_known(void **state)
{
	struct fixture *f = *state;
	struct counter c = { f, type_die(must_find(f, "shapes::Root")), 0 };

	lookup_each_instance(f->dm, c.near, glue, check_instance, &c);
	assert_true(c.n > 5);
}

static void test_paths_are_distinguished(void **state)
{
	static const char coroutine[] = "shapes::middle::{async_fn_env#0}";
	struct fixture *f = *state;
	uint64_t near = type_die(must_find(f, "shapes::Root"));

	for (int i = 0; i < 2; i++) {
		assert_true(lookup_has_instance(f->dm, near, "shapes::poll_task", coroutine));
		/* Only the first argument is compared. */
		assert_false(lookup_has_instance(f->dm, near, "shapes::poll_task", "u64"));
		assert_false(lookup_has_instance(f->dm, near, glue, "shapes::Nothing"));
		assert_false(lookup_has_instance(f->dm, near, glue, ""));
		assert_false(lookup_has_instance(f->dm, near, "nowhere::f", coroutine));
		assert_false(
			lookup_has_instance(f->dm, UINT64_MAX, "shapes::poll_task", coroutine));
		lookup_cached_instances_forget(f->dm);
	}
}

static void append_instance(const char *name, bool has_code, void *arg)
{
	str_printf(arg, "%s %d\n", name, has_code);
}

/* The instances of two paths, in the order of the search. */
static void list_instances(struct fixture *f, const char *const *paths, struct str *ret)
{
	uint64_t near = type_die(must_find(f, "shapes::Root"));

	for (size_t i = 0; i < 2; i++)
		lookup_each_instance(f->dm, near, paths[i], append_instance, ret);
}

/* The instances of two paths that one pass records are those of a pass for each path. */
static void test_two_paths_in_one_pass(void **state)
{
	static const char *const paths[] = { "shapes::poll_task", glue };
	struct fixture f = fixture_open_file("testdata/unit/shapes.elf");
	STR(one);
	STR(each);

	(void)state;
	list_instances(&f, paths, &each);
	fixture_close(&f);
	f = fixture_open_file("testdata/unit/shapes.elf");
	lookup_find_instances(f.dm, type_die(must_find(&f, "shapes::Root")), paths, 2);
	list_instances(&f, paths, &one);
	assert_non_null(strstr(str_text(&one), "shapes::poll_task<"));
	assert_non_null(strstr(str_text(&one), "core::ptr::drop"));
	assert_string_equal(str_text(&one), str_text(&each));
	fixture_close(&f);
}

static void count_instance(const char *name, bool has_code, void *arg)
{
	(void)has_code;
	assert_string_equal(name, UNMERGED_CODE);
	++*(unsigned *)arg;
}

static unsigned unmerged(const char *file, const char *type)
{
	struct fixture f = fixture_open_file(file);
	unsigned n = 0;

	/* The second answer is that of the record. */
	for (unsigned i = 0; i < 2; i++) {
		lookup_each_instance(f.dm, type_die(must_find(&f, type)), UNMERGED_CODE,
		                     count_instance, &n);
		assert_int_equal(n, n ? i + 1 : 0);
	}
	fixture_close(&f);
	return n;
}

/* Only symbols of functions that any inliner removes show that no code was merged. */
static void test_code_that_was_not_merged(void **state)
{
	(void)state;
	assert_int_equal(unmerged("testdata/unit/endless.elf", "endless::Forever"), 2);
	assert_int_equal(unmerged("testdata/unit/spread.elf", "spread::Keeps"), 0);
}

enum { U = 1, NAMESPACE, FUNCTION };

/* Writes a unit with drop glue for one type. Returns its first DIE. */
static uint64_t put_unit(struct hand_made *h, const char *name, const char *function)
{
	size_t unit = begin_unit(&h->info, 4, 0);
	uint64_t die = h->info.n;

	put_uleb(&h->info, U);
	put_text(&h->info, name);
	put_uleb(&h->info, NAMESPACE);
	put_text(&h->info, "core");
	put_uleb(&h->info, NAMESPACE);
	put_text(&h->info, "ptr");
	put_uleb(&h->info, FUNCTION);
	put_text(&h->info, function);
	put_fixed(&h->info, 0, 3);
	end_unit(&h->info, unit);
	return die;
}

/* The instances of a crate are those of all its units, and of no other crate. */
static void test_crates_are_distinguished(void **state)
{
	struct hand_made h = { 0 };

	(void)state;
	put_abbrev(&h.abbrev, U, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(&h.abbrev, NAMESPACE, DW_TAG_namespace, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(&h.abbrev, FUNCTION, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, 0);
	put_fixed(&h.abbrev, 0, 1);
	uint64_t a = put_unit(&h, "a/src/lib.rs/@/a.1-cgu.0", "drop_in_place<a::T>");
	uint64_t b = put_unit(&h, "b/src/lib.rs/@/b.1-cgu.0", "drop_in_place<b::T>");
	put_unit(&h, "a/src/lib.rs/@/a.1-cgu.1", "drop_in_place<alloc::vec::Vec<a::U, G>>");
	uint64_t c = put_unit(&h, "c/src/lib.rs/@/c.1-cgu.0", "drop_glue<c::T>");
	put_unit(&h, "c/src/lib.rs/@/c.1-cgu.1", "drop_glues<c::U>");
	struct fixture f = hand_made_open(&h);

	for (int i = 0; i < 2; i++) {
		assert_true(lookup_has_instance(f.dm, a, glue, "a::T"));
		assert_true(lookup_has_instance(f.dm, a, glue, "alloc::vec::Vec<a::U, G>"));
		assert_false(lookup_has_instance(f.dm, a, glue, "b::T"));
		assert_true(lookup_has_instance(f.dm, b, glue, "b::T"));
		assert_false(lookup_has_instance(f.dm, b, glue, "a::T"));
		/* The name of drop glue since rustc 1.97. */
		assert_true(lookup_has_instance(f.dm, c, glue, "c::T"));
		assert_false(lookup_has_instance(f.dm, c, glue, "c::U"));
	}
	fixture_close(&f);
}

/* An impl of Drop is found by the type of its self; drop glue alone is none. */
static void test_impls_of_drop(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/moved.elf");
	const struct type *guard = must_find(&f, "moved::Guard");
	const struct type *parts = must_find(&f, "moved::Parts");

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_true(lookup_has_instance(f.dm, type_die(guard), OWN_DROP, "moved::Guard"));
		assert_false(lookup_has_instance(f.dm, type_die(parts), OWN_DROP, "moved::Parts"));
		lookup_cached_instances_forget(f.dm);
	}
	assert_true(lookup_has_instance(f.dm, type_die(parts), glue, "moved::Parts"));
	fixture_close(&f);
}

struct coroutine_names {
	unsigned middle, n; /* middle: visits of the coroutine of shapes::middle */
};

static void check_coroutine(const char *name, bool has_code, void *arg)
{
	struct coroutine_names *c = arg;

	assert_false(has_code);
	assert_non_null(strstr(name, "_env#"));
	assert_null(strstr(qualified_last(name), "{closure_env#"));
	c->middle += strcmp(name, "shapes::middle::{async_fn_env#0}") == 0;
	c->n++;
}

/* The types of coroutines are listed by their whole names, without closures. */
static void test_coroutines_are_listed(void **state)
{
	struct fixture *f = *state;
	uint64_t near = type_die(must_find(f, "shapes::Root"));

	for (int i = 0; i < 2; i++) {
		struct coroutine_names c = { 0 };

		lookup_each_instance(f->dm, near, COROUTINE_TYPES, check_coroutine, &c);
		assert_true(c.middle > 0);
		assert_true(c.n > c.middle);
		lookup_cached_instances_forget(f->dm);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_that_is_visited_is_known),
		cmocka_unit_test(test_paths_are_distinguished),
		cmocka_unit_test(test_two_paths_in_one_pass),
		cmocka_unit_test(test_coroutines_are_listed),
		cmocka_unit_test(test_crates_are_distinguished),
		cmocka_unit_test(test_impls_of_drop),
		cmocka_unit_test(test_code_that_was_not_merged),
	};

	return cmocka_run_group_tests(tests, shapes_setup, shapes_teardown);
}
