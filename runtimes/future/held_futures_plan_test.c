/* The variables of a state are cached, and only the same build of asyncdbg uses the record. */
#include "dwarf/records/records.h"
#include "dwarf/test/module.h"

#include "runtimes/common/type_class.h"
#include "runtimes/future/held_futures.h"

static const uint64_t build = 0x1122334455667788;

/* The second await of shapes::middle: `a` and `name` are its variables. */
enum { STATE = 4 };

static const struct type *coroutine(struct fixture *f)
{
	return must_find(f, "shapes::middle::{async_fn_env#0}");
}

static struct coroutine_state plan_as(struct inspector *in, const struct type *t)
{
	size_t n;
	const struct variant *variants = type_variants(t, &n);
	struct coroutine_state s = { .variant = &variants[STATE], .state = FUTURE_SUSPENDED };

	assert_true(n > STATE);
	held_futures_plan(in, t, &s);
	return s;
}

static struct coroutine_state plan(const struct type *t, uint64_t own_build)
{
	static struct inspector in;

	in.own_build = own_build;
	return plan_as(&in, t);
}

static uint64_t key(const struct type *t)
{
	return record_nth_key(type_die(t), STATE);
}

/* Writes a record of these numbers; numbers[0] identifies the build. */
static void add_plan(const struct type *t, const uint64_t *numbers, size_t n)
{
	struct record_writer d;

	record_begin(&d, debuginfo_records(type_module(t)), RECORD_HELD, key(t), NULL);
	for (size_t i = 0; i < n; i++)
		record_add_number(&d, numbers[i]);
	record_end(&d);
}

static bool is_recorded(const struct type *t, struct record *record)
{
	return record_find(debuginfo_records(type_module(t)), RECORD_HELD, key(t), NULL, record);
}

static void a_build_without_id_keeps_nothing(void **state)
{
	const struct type *t = coroutine(*state);
	struct record record;

	plan(t, 0);
	assert_false(is_recorded(t, &record));
}

static void a_plan_is_recorded(void **state)
{
	const struct type *t = coroutine(*state);
	struct coroutine_state s = plan(t, build);
	struct record record;

	assert_true(is_recorded(t, &record));
	assert_int_equal(record_number(&record), build);
	assert_int_equal(record_number(&record), s.nvariables);
	assert_int_equal(record_count(&record), s.nheld);
}

static void a_record_is_used(void **state)
{
	const struct type *t = coroutine(*state);
	const uint64_t numbers[] = { build, 1, 2, 0, 1, 1, 0 };
	size_t n;
	const struct member *members;

	add_plan(t, numbers, sizeof(numbers) / sizeof(*numbers));
	struct coroutine_state s = plan(t, build);
	members = type_members(s.variant->payload, &n);
	assert_int_equal(s.nvariables, 1);
	assert_int_equal(s.nheld, 2);
	assert_ptr_equal(s.held[0], &members[0]);
	assert_ptr_equal(s.held[1], &members[1]);
	assert_int_equal(s.nflags, 1);
	assert_ptr_equal(s.flags[0], &members[0]);
}

static void a_record_of_another_build_is_not_used(void **state)
{
	const struct type *t = coroutine(*state);
	const uint64_t numbers[] = { build + 1, 1, 2, 0, 1, 0 };
	struct coroutine_state before = plan(t, 0);

	add_plan(t, numbers, sizeof(numbers) / sizeof(*numbers));
	struct coroutine_state s = plan(t, build);
	assert_int_equal(s.nvariables, before.nvariables);
	assert_int_equal(s.nheld, before.nheld);
	assert_int_not_equal(s.nheld, 2);
}

static void numbers_of_no_member_are_not(void **state)
{
	static const uint64_t lists[][7] = {
		{ build, 1, 1, 1000, 0 },   /* index out of range */
		{ build, 1, 2, 1, 0, 0 },   /* not ascending */
		{ build, 1, 2, 0, 0, 0 },   /* a duplicate */
		{ build, 1, 0, 1, 1000 },   /* index of a flag out of range */
		{ build, 1000, 1, 0, 0 },   /* more variables than there are */
		{ build, 1, UINT64_MAX, 0 } /* more than the record has */
	};
	const struct type *t = coroutine(*state);
	struct coroutine_state before = plan(t, 0);

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		add_plan(t, lists[i], sizeof(lists[i]) / sizeof(*lists[i]));
		struct coroutine_state s = plan(t, build);
		assert_int_equal(s.nvariables, before.nvariables);
		assert_int_equal(s.nheld, before.nheld);
		assert_int_equal(s.nflags, before.nflags);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_build_without_id_keeps_nothing),
		cmocka_unit_test(a_plan_is_recorded),
		cmocka_unit_test(a_record_is_used),
		cmocka_unit_test(a_record_of_another_build_is_not_used),
		cmocka_unit_test(numbers_of_no_member_are_not),
	};

	return cmocka_run_group_tests(tests, shapes_setup, shapes_teardown);
}
