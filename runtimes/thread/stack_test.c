/* Marks on a stack: how far outward the future of a block_on may be, and what is between two. */
#include "runtimes/thread/stack.h"

#include "runtimes/test/futures.h"

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

static void test_innermost(void **state)
{
	static const enum mark_kind kinds[] = { MARK_WORKER_RUN, MARK_TASK_POLL, MARK_TASK_POLL };
	static const struct runtime one, other;
	struct marks marks = make(kinds, sizeof(kinds) / sizeof(*kinds));

	(void)state;
	marks.data[1].of = &one;
	marks.data[2].of = &other;
	assert_ptr_equal(stack_innermost(&marks, MARK_WORKER_RUN, NULL), &marks.data[0]);
	assert_ptr_equal(stack_innermost(&marks, MARK_TASK_POLL, NULL), &marks.data[2]);
	assert_ptr_equal(stack_innermost(&marks, MARK_TASK_POLL, &one), &marks.data[1]);
	assert_null(stack_innermost(&marks, MARK_WORKER_RUN, &one));
	assert_null(stack_innermost(&marks, MARK_BLOCK_ON, NULL));
}

enum { FRAMES = 5 };

/* A stack of one function in each frame, the innermost first. */
struct named_stack {
	struct frame frames[FRAMES];
	struct location functions[FRAMES], *lists[FRAMES];
	size_t counts[FRAMES];
	struct thread_stack stack;
};

static void name_frames(struct named_stack *s, const char *const *names)
{
	*s = (struct named_stack){ .stack = { .stack = { .frames = s->frames, .nframes = FRAMES },
		                              .functions = s->lists,
		                              .nfunctions = s->counts } };
	for (size_t i = 0; i < FRAMES; i++) {
		s->functions[i].name = names[i];
		s->lists[i] = &s->functions[i];
		s->counts[i] = 1;
	}
}

/* Variables of a frame are searched up to the stack pointer of its caller. */
static void test_frame_ends(void **state)
{
	static const char *const names[FRAMES] = { "a", "b", "c", "d", "e" };
	struct named_stack s;

	(void)state;
	name_frames(&s, names);
	for (size_t i = 0; i < FRAMES; i++)
		s.frames[i].sp = 0x100 * (i + 1);
	assert_int_equal(stack_frame_end(&s.stack, 0), 0x200);
	assert_int_equal(stack_frame_end(&s.stack, 3), 0x500);
	/* The outermost one has no caller. */
	assert_int_equal(stack_frame_end(&s.stack, 4), 0);
	s.stack.stack.nframes = 4;
	assert_int_equal(stack_frame_end(&s.stack, 2), 0x400);
	assert_int_equal(stack_frame_end(&s.stack, 3), 0);
}

static void test_shared_frames(void **state)
{
	static const struct location calls[] = { { .name = "a::inner::{async_fn#0}" },
		                                 { .name = "core::poll" },
		                                 { .name = "a::outer::{async_block#1}" } };

	(void)state;
	assert_false(stack_is_shared(calls, 0));
	assert_false(stack_is_shared(calls, 2));
	assert_true(stack_is_shared(calls, 3));
	assert_false(stack_is_shared(calls + 1, 2));
}

static void test_between_marks(void **state)
{
	static const char *const parks[] = { "park", NULL };
	static const struct runtime runtime = { .threads.loop = "rt::", .threads.parks = parks };
	static const char *const names[] = { "a::inner::{async_fn#0}", "rt::park_timeout",
		                             "rt::poll", "a::call", "rt::run" };
	struct marks marks = {
		.n = 2, .data = { { .frame = 4, .of = &runtime }, { .frame = 2, .of = &runtime } }
	};
	struct named_stack s;

	(void)state;
	name_frames(&s, names);
	assert_false(stack_is_polling(&s.stack, &marks, 0));
	assert_true(stack_is_polling(&s.stack, &marks, 1));
	assert_true(stack_is_parked(&s.stack, &marks.data[1]));
	assert_true(stack_is_runtime_frame(&s.stack, &marks.data[0], 4));
	assert_false(stack_is_runtime_frame(&s.stack, &marks.data[0], 3));
	s.functions[1].name = "rt::unpark";
	assert_false(stack_is_parked(&s.stack, &marks.data[0]));
	s.functions[3].name = "a::outer::{async_fn#0}";
	assert_true(stack_is_polling(&s.stack, &marks, 0));
}

/* Functions of tokio's loops, and others that only begin as these do. */
static void test_names_of_marks(void **state)
{
	static const char *const names[] = {
		"tokio::runtime::task::raw::poll<app::f::{async_fn_env#0}>",
		"tokio::runtime::task::raw::polls",
		"tokio::runtime::task::raw::pol",
		"app::tokio::runtime::task::raw::poll",
		"tokio::runtime::scheduler::multi_thread::worker::run",
	};
	struct futures f = futures_open();
	struct named_stack s;
	struct marks marks;

	(void)state;
	name_frames(&s, names);
	stack_find_marks(f.c, &s.stack, &marks);
	assert_int_equal(marks.n, 2);
	assert_int_equal(marks.data[0].kind, MARK_WORKER_RUN);
	assert_int_equal(marks.data[0].frame, 4);
	assert_int_equal(marks.data[1].kind, MARK_TASK_POLL);
	assert_int_equal(marks.data[1].frame, 0);
	futures_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_thread),   cmocka_unit_test(test_job),
		cmocka_unit_test(test_task),           cmocka_unit_test(test_inner_marks),
		cmocka_unit_test(test_innermost),      cmocka_unit_test(test_between_marks),
		cmocka_unit_test(test_names_of_marks), cmocka_unit_test(test_frame_ends),
		cmocka_unit_test(test_shared_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
