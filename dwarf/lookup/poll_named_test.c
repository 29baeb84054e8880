#include "dwarf/lookup/poll_named.h"

#include "dwarf/lookup/lookup.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/test/module.h"

static void note_place(const struct poll_place *at, void *arg)
{
	*(struct poll_place *)arg = *at;
}

static struct poll_place place_of(struct fixture *f, const char *function)
{
	struct poll_place at = { 0 };

	assert_true(poll_symbols_each_closure(f->dm, function, note_place, &at));
	assert_non_null(at.u);
	return at;
}

static uint64_t poll_of(struct fixture *f, const char *coroutine)
{
	uint64_t die = lookup_dwarf_poll(must_find(f, coroutine));

	assert_int_not_equal(die, 0);
	return die;
}

/* The search for the bytes finds the same DIE as a scan. */
static void test_find(void **state)
{
	struct fixture *f = *state;
	struct poll_place leaf = place_of(f, "leaf"), middle = place_of(f, "middle");

	assert_int_equal(poll_named_find(f->dm, &leaf, "{async_fn#0}"),
	                 poll_of(f, "shapes::leaf::{async_fn_env#0}"));
	assert_int_equal(poll_named_find(f->dm, &middle, "{async_fn#0}"),
	                 poll_of(f, "shapes::middle::{async_fn_env#0}"));
}

static void test_find_in_optimised_code(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/inlined.elf");
	struct poll_place outer = place_of(&f, "outer");

	(void)state;
	assert_int_equal(poll_named_find(f.dm, &outer, "{async_fn#0}"),
	                 poll_of(&f, "inlined::outer::{async_fn_env#0}"));
	assert_int_equal(poll_named_find(f.dm, &outer, "{async_fn#"), 0);
	fixture_close(&f);
}

/* A mismatch of the name, the address or the symbol finds nothing. */
static void test_find_nothing(void **state)
{
	struct fixture *f = *state;
	const struct poll_place leaf = place_of(f, "leaf"), middle = place_of(f, "middle");
	struct poll_place wrong = leaf;

	assert_int_equal(poll_named_find(f->dm, &leaf, "{async_fn#1}"), 0);
	assert_int_equal(poll_named_find(f->dm, &leaf, "{async_fn#0"), 0);
	wrong.pc = leaf.pc + 1;
	assert_int_equal(poll_named_find(f->dm, &wrong, "{async_fn#0}"), 0);
	wrong.pc = 0;
	assert_int_equal(poll_named_find(f->dm, &wrong, "{async_fn#0}"), 0);
	wrong = leaf;
	wrong.symbol = middle.symbol;
	assert_int_equal(poll_named_find(f->dm, &wrong, "{async_fn#0}"), 0);
	wrong.symbol = (1 << 28) - 1;
	assert_int_equal(poll_named_find(f->dm, &wrong, "{async_fn#0}"), 0);
}

/* A scanned unit is not searched for bytes. */
static void test_die_of_a_scanned_unit(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(poll_named_die(must_find(f, "shapes::leaf::{async_fn_env#0}")), 0);
	assert_false(f->dm->units[0].searched);
}

static void check_line(struct fixture *f, unsigned nth, unsigned of_own_name, unsigned expected)
{
	static const char leaf[] = "shapes::leaf::{async_fn_env#0}";
	const struct awaitee awaitee = { leaf, nth, of_own_name };
	const char *file;
	unsigned line;
	bool found = function_read_awaitee_place(
		f->dm, poll_of(f, "shapes::middle::{async_fn_env#0}"), &awaitee, &file, &line);

	assert_int_equal(found, expected != 0);
	if (found) {
		assert_int_equal(line, expected);
		assert_non_null(strstr(file, "shapes.rs"));
	}
}

/* Last name components are compared only if the function has as many matches as the coroutine. */
static void test_awaitees(void **state)
{
	struct fixture *f = *state;

	check_line(f, 0, 0, 163);
	check_line(f, 1, 0, 164);
	check_line(f, 2, 0, 0);
	check_line(f, 0, 2, 163);
	check_line(f, 1, 2, 164);
	check_line(f, 0, 1, 0);
	check_line(f, 1, 3, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),         cmocka_unit_test(test_find_in_optimised_code),
		cmocka_unit_test(test_find_nothing), cmocka_unit_test(test_die_of_a_scanned_unit),
		cmocka_unit_test(test_awaitees),
	};

	return cmocka_run_group_tests(tests, shapes_setup, shapes_teardown);
}
