/* How far outward on a stack the future of a block_on may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtimes/thread/stack.h"

/* Marks of the kinds, the outermost first, each in a frame of its own: the last is in frame 10. */
static struct marks make(const enum mark_kind *kinds, size_t n)
{
	struct marks marks = { .n = n };

	for (size_t i = 0; i < n; i++)
		marks.data[i] = (struct mark){ .kind = kinds[i], .frame = 10 + 2 * (n - 1 - i) };
	return marks;
}

static size_t reach(const enum mark_kind *kinds, size_t n)
{
	struct marks marks = make(kinds, n);

	return stack_reach(&marks, &marks.data[n - 1]);
}

#define REACH(...)                                                                                 \
	reach((const enum mark_kind[]){ __VA_ARGS__ },                                             \
	      sizeof((const enum mark_kind[]){ __VA_ARGS__ }) / sizeof(enum mark_kind))

/* The callers of a block_on that nothing polls may pass its future along, up to main(). */
static void test_plain_thread(void **state)
{
	(void)state;
	assert_true(REACH(MARK_BLOCK_ON) == SIZE_MAX);
	assert_true(REACH(MARK_BLOCK_ON, MARK_BLOCK_ON) == SIZE_MAX);
}

/* What the pool's loop has in its own frame is not the job's. */
static void test_job(void **state)
{
	(void)state;
	assert_int_equal(REACH(MARK_BLOCKING_RUN, MARK_TASK_POLL, MARK_BLOCK_ON), 12);
	assert_int_equal(REACH(MARK_BLOCKING_RUN, MARK_BLOCK_ON), 12);
	assert_int_equal(REACH(MARK_BLOCKING_RUN, MARK_TASK_POLL, MARK_TASK_POLL, MARK_BLOCK_ON),
	                 12);
}

/* A block_on that was called in a task, by the outer one of two loops. */
static void test_task(void **state)
{
	(void)state;
	assert_int_equal(REACH(MARK_WORKER_RUN, MARK_TASK_POLL, MARK_BLOCK_ON, MARK_BLOCK_ON), 14);
}

/* What the frames inward do is no matter. */
static void test_inner_marks(void **state)
{
	static const enum mark_kind kinds[] = { MARK_TASK_POLL, MARK_BLOCK_ON, MARK_WORKER_RUN,
		                                MARK_TASK_POLL };
	struct marks marks = make(kinds, sizeof(kinds) / sizeof(*kinds));

	(void)state;
	assert_int_equal(stack_reach(&marks, &marks.data[1]), 16);
	assert_true(stack_reach(&marks, &marks.data[0]) == SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_thread),
		cmocka_unit_test(test_job),
		cmocka_unit_test(test_task),
		cmocka_unit_test(test_inner_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
