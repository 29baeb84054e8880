/* Tests of the lines of a function and the place of its argument, on shapes.rs and inlined.rs. */
#include "dwarf/lookup/function_lines.h"

#include "dwarf/lookup/argument_place.h"
#include "dwarf/lookup/code_places.h"
#include "dwarf/test/module.h"
#include "dwarf/unwind/cfa_rule.h"

/* The function at the place where a breakpoint on a function of that name belongs. */
static const struct function *function_of(struct fixture *f, const char *path)
{
	struct code_places places;

	fail_on(lookup_function_places(f->di, path, &f->arena, &places));
	assert_true(places.n > 0);
	const struct function *function = lookup_function(f->di, places.data[0].addr);
	assert_non_null(function);
	return function;
}

static void check_order(const struct function_lines *l)
{
	assert_true(l->nrows > 0 && l->ncalls > 0);
	for (size_t i = 0; i < l->nrows; i++) {
		assert_true(l->rows[i].call < l->ncalls);
		assert_true(!i || l->rows[i - 1].addr <= l->rows[i].addr);
	}
	for (size_t i = 1; i < l->ncalls; i++)
		assert_true(l->calls[i].parent < i);
}

static void test_coroutine(void **state)
{
	struct fixture *f = *state;
	const struct function *middle = function_of(f, "shapes::middle");
	struct function_lines l;
	size_t in_await = 0, outside = 0;

	function_lines_read(middle, &f->arena, &l);
	check_order(&l);
	assert_true(l.calls[0].is_coroutine);
	assert_int_equal(l.calls[0].site, 0);
	assert_int_equal(l.calls[0].call_line, 0);
	assert_null(l.calls[0].call_file);
	/* The first row is the declaration's, where it is also resumed. */
	const struct function_row *first = function_lines_at(&l, middle->low);
	assert_non_null(first);
	assert_int_equal(first->line, l.calls[0].line);
	assert_null(function_lines_at(&l, middle->low - 1));
	for (size_t i = 0; i < l.nrows; i++) {
		in_await += l.rows[i].in_await;
		outside += !l.rows[i].in_await && l.rows[i].line > l.calls[0].line;
	}
	assert_true(in_await > 0 && outside > 0);
}

static void test_plain(void **state)
{
	struct fixture *f = *state;
	const struct function *boxed = function_of(f, "boxed");
	struct function_lines l;

	function_lines_read(boxed, &f->arena, &l);
	check_order(&l);
	assert_false(l.calls[0].is_coroutine);
	for (size_t i = 0; i < l.nrows; i++)
		assert_false(l.rows[i].in_await);
}

static void test_inlined(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/inlined.elf");
	struct function_lines l;
	size_t coroutines = 0;

	(void)state;
	function_lines_read(function_of(&f, "inner"), &f.arena, &l);
	check_order(&l);
	for (size_t i = 1; i < l.ncalls; i++) {
		assert_true(l.calls[i].site != 0);
		coroutines += l.calls[i].is_coroutine;
		assert_true(l.calls[i].call_line != 0);
		assert_non_null(l.calls[i].call_file);
	}
	assert_true(coroutines > 0);
	fixture_close(&f);
}

static void test_argument(void **state)
{
	struct fixture *f = *state;
	const struct function *middle = function_of(f, "shapes::middle");
	struct argument_place place;
	struct cfa_rule cfa;

	/* In unoptimised code the argument is in the frame. */
	assert_true(argument_place_at(middle, middle->high - 1, &place));
	assert_true(place.in_memory);
	assert_true(place.reg == f->target->arch->sp || place.reg == f->target->arch->fp);
	assert_false(cfa_rule_at(f->target, 1, &cfa));
}

/* An optimised coroutine that is inlined has its own argument: how many of its rows have a place.
 */
static size_t count_places(const struct function *f, const struct function_lines *l, size_t call)
{
	struct argument_place place;
	size_t n = 0;

	for (size_t i = 0; i < l->nrows; i++) {
		if (l->rows[i].call == call &&
		    argument_place_inlined_at(f, l->calls[call].site, l->rows[i].addr, &place)) {
			assert_true(place.reg < f->dm->di->target->arch->nregs);
			n++;
		}
	}
	return n;
}

static void test_inlined_argument(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/inlined.elf");
	const struct function *inner = function_of(&f, "inner");
	struct function_lines l;
	struct argument_place place;
	size_t found = 0;

	(void)state;
	function_lines_read(inner, &f.arena, &l);
	for (size_t i = 1; i < l.ncalls; i++) {
		if (l.calls[i].is_coroutine)
			found += count_places(inner, &l, i);
		assert_false(
			argument_place_inlined_at(inner, l.calls[i].site, inner->high, &place));
	}
	assert_true(found > 0);
	assert_false(argument_place_inlined_at(inner, UINT64_MAX, inner->low, &place));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coroutine),        cmocka_unit_test(test_plain),
		cmocka_unit_test(test_inlined),          cmocka_unit_test(test_argument),
		cmocka_unit_test(test_inlined_argument),
	};

	return cmocka_run_group_tests(tests, shapes_setup, shapes_teardown);
}
