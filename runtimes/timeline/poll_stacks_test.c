/* Tests of poll_stacks.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/timeline/poll_stacks.h"
#include "runtimes/timeline/timeline.h"

enum { TID = 7, OTHER = 8, MAX_TAKEN = 16 };

struct test {
	struct poll_stacks *stacks;
	struct timeline *timeline; /* of the thread TID */
	uint32_t taken[MAX_TAKEN]; /* indices of the last poll that has ended */
	size_t n;
};

static void take(const struct task_span *span, uint32_t index, void *arg)
{
	struct test *t = arg;

	(void)span;
	assert_true(t->n < MAX_TAKEN);
	t->taken[t->n++] = index;
}

static void sample(struct test *t, pid_t tid, uint64_t time, uint64_t code, bool in_kernel)
{
	const uint64_t addresses[] = { code, 1 };

	poll_stacks_add(t->stacks, tid, time, &(struct poll_stack){ addresses, 2, in_kernel });
}

static void end_poll(struct test *t, pid_t tid, uint64_t from, uint64_t to)
{
	t->n = 0;
	poll_stacks_end(
		t->stacks,
		&(struct task_span){
			.doing = DOING_POLLING, .tid = tid, .from = { from }, .to = { to } },
		take, t);
}

/* An item of a thread, as profile takes it. */
static void event(struct test *t, enum trace_event event, uint64_t time)
{
	bool polled = timeline_is_polling(t->timeline, TID);

	timeline_add(t->timeline, &(struct trace_item){ .event = event, .tid = TID, .time = time });
	if (!polled)
		poll_stacks_drop(t->stacks, TID, time);
}

static int set_up(void **state)
{
	static struct test t;

	t = (struct test){ .stacks = poll_stacks_new(),
		           .timeline = timeline_new(TIMELINE_CALLS, NULL, NULL) };
	*state = &t;
	return 0;
}

static int tear_down(void **state)
{
	struct test *t = *state;

	poll_stacks_free(t->stacks);
	timeline_free(t->timeline);
	return 0;
}

/* Each sample belongs to the poll of its thread at its time. */
static void test_times(void **state)
{
	struct test *t = *state;

	sample(t, TID, 10, 100, false);
	sample(t, OTHER, 12, 100, false);
	sample(t, TID, 20, 200, false);
	sample(t, TID, 30, 100, true);
	end_poll(t, TID, 5, 25);
	assert_int_equal(t->n, 2);
	assert_int_equal(poll_stacks_at(t->stacks, t->taken[0])->code[0], 100);
	assert_int_equal(poll_stacks_at(t->stacks, t->taken[1])->code[0], 200);
	end_poll(t, TID, 5, 25);
	assert_int_equal(t->n, 0);
	end_poll(t, OTHER, 5, 25);
	assert_int_equal(t->n, 1);
	assert_int_equal(t->taken[0], 0);
	end_poll(t, TID, 25, 40);
	assert_int_equal(t->n, 1);
	assert_true(poll_stacks_at(t->stacks, t->taken[0])->in_kernel);
	assert_int_equal(poll_stacks_in_polls(t->stacks), 4);
}

/* Of polls that nest the inner one ends first; the outer one has what is left. */
static void test_nested(void **state)
{
	struct test *t = *state;

	event(t, TRACE_POLL_START, 1);
	sample(t, TID, 2, 100, false);
	event(t, TRACE_POLL_START, 3);
	sample(t, TID, 4, 200, false);
	end_poll(t, TID, 3, 5);
	assert_int_equal(t->n, 1);
	event(t, TRACE_POLL_END, 5);
	sample(t, TID, 6, 300, false);
	end_poll(t, TID, 1, 7);
	assert_int_equal(t->n, 2);
	assert_int_equal(poll_stacks_at(t->stacks, t->taken[0])->code[0], 100);
	assert_int_equal(poll_stacks_at(t->stacks, t->taken[1])->code[0], 300);
}

/* What a thread did before a poll is of no interest, unless it was in one. */
static void test_outside(void **state)
{
	struct test *t = *state;

	sample(t, TID, 1, 100, false);
	event(t, TRACE_WAKE, 2);
	sample(t, TID, 3, 200, false);
	event(t, TRACE_POLL_START, 4);
	end_poll(t, TID, 0, 4);
	assert_int_equal(t->n, 0);
	sample(t, TID, 5, 200, false);
	event(t, TRACE_WAKE, 6);
	end_poll(t, TID, 4, 7);
	assert_int_equal(t->n, 1);
	event(t, TRACE_POLL_END, 7);
	assert_int_equal(poll_stacks_in_polls(t->stacks), 1);
}

/* Those of two processors may be read in another order. */
static void test_order(void **state)
{
	struct test *t = *state;

	sample(t, TID, 9, 100, false);
	sample(t, TID, 4, 200, false);
	end_poll(t, TID, 3, 5);
	assert_int_equal(t->n, 1);
	assert_int_equal(poll_stacks_at(t->stacks, t->taken[0])->code[0], 200);
	end_poll(t, TID, 8, 10);
	assert_int_equal(t->n, 1);
}

/* A thread of which nothing was sampled. */
/* Samples that were dropped make room for others. */
static void test_room(void **state)
{
	struct test *t = *state;

	for (uint64_t time = 1; time <= 8; time++)
		sample(t, TID, time, 100 + time, false);
	poll_stacks_drop(t->stacks, TID, 6);
	sample(t, TID, 9, 109, false);
	end_poll(t, TID, 1, 10);
	assert_int_equal(t->n, 3);
	for (size_t i = 0; i < t->n; i++)
		assert_int_equal(poll_stacks_at(t->stacks, t->taken[i])->code[0], 107 + i);
}

static void test_none(void **state)
{
	struct test *t = *state;

	event(t, TRACE_POLL_START, 10);
	end_poll(t, TID, 10, 20);
	assert_int_equal(t->n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_times, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nested, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_outside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
