/* Tests of decisions about the end of a step. */
#include "runtimes/step_rules/exit_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_reason(void **state)
{
	const struct {
		struct exit_code code;
		bool inlined_poll;
		enum step_reason reason;
	} cases[] = {
		{ { 0 }, false, STEP_RETURNED },
		/* The function polls the coroutine alone, or it is a coroutine that it polls. */
		{ { .is_coroutine = true, .is_instances = true, .polls = true },
		  false,
		  STEP_RETURNED },
		{ { .is_instances = true, .polls = true }, false, STEP_RETURNED },
		{ { .polls = true }, false, STEP_RETURNED },
		{ { .is_coroutine = true, .polls = true }, true, STEP_LEFT },
		{ { .is_coroutine = true, .is_instances = true }, true, STEP_LEFT },
		{ { .is_coroutine = true }, true, STEP_LEFT },
		/* The state of an instance that is inlined tells. */
		{ { .is_coroutine = true,
		    .is_instances = true,
		    .polls = true,
		    .is_inlined_poll = true },
		  false,
		  STEP_LEFT },
		{ { .is_coroutine = true,
		    .polls = true,
		    .is_inlined_poll = true,
		    .instance_returned = true },
		  true,
		  STEP_RETURNED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(exit_rules_is_inlined_poll(&cases[i].code), cases[i].inlined_poll);
		assert_int_equal(exit_rules_reason(&cases[i].code), cases[i].reason);
	}
}

static void test_at_return(void **state)
{
	struct exit_poll poll = { .has_address = true };

	(void)state;
	assert_int_equal(exit_rules_at_return(&poll), EXIT_RETURNED);
	poll.has_address = false;
	poll.is_inlined = true;
	assert_int_equal(exit_rules_at_return(&poll), EXIT_RETURNED);
	poll = (struct exit_poll){ .pending = true, .has_address = true };
	assert_int_equal(exit_rules_at_return(&poll), EXIT_SUSPENDED);
	poll.has_address = false;
	assert_int_equal(exit_rules_at_return(&poll), EXIT_LOST);
	poll.has_entries = true;
	assert_int_equal(exit_rules_at_return(&poll), EXIT_LOST);
	/* An inlined function is known by where it is resumed, or will be. */
	poll.has_address = poll.is_inlined = true;
	assert_int_equal(exit_rules_at_return(&poll), EXIT_SUSPENDED);
	poll.has_entries = false;
	assert_int_equal(exit_rules_at_return(&poll), EXIT_LOST);
	poll.later_entries = true;
	assert_int_equal(exit_rules_at_return(&poll), EXIT_SUSPENDED);
}

static void test_return_notes(void **state)
{
	(void)state;
	assert_null(exit_rules_return_note(STEP_RETURNED, false));
	assert_ptr_equal(exit_rules_return_note(STEP_LEFT, false), exit_rules_inlined_note);
	assert_string_equal(exit_rules_return_note(STEP_RETURNED, true), "its task has finished");
	assert_string_equal(exit_rules_return_note(STEP_LEFT, true), "its task has finished");
	assert_string_equal(exit_rules_library_note(true), "no user async function awaits it");
	assert_string_equal(exit_rules_library_note(false), "no user code called it");
}

/* ---- callers ---- */

/* A frame is 'l' of a library, 'u' the user's, 'f' a future of the user's, 'c' a coroutine. */
static bool frame_has_users(void *arg, size_t frame)
{
	const char *frames = arg;

	assert_true(frame < strlen(frames));
	return frames[frame] != 'l';
}

static bool frame_polls_users(void *arg, size_t frame, bool coroutine)
{
	const char *frames = arg;

	assert_true(frame < strlen(frames));
	return frames[frame] == 'c' || (frames[frame] == 'f' && !coroutine);
}

static size_t caller(const char *frames, bool in_task, bool polling)
{
	char copy[16];

	snprintf(copy, sizeof(copy), "%s", frames);
	return exit_rules_find_caller(&(struct exit_frames){ .n = strlen(frames),
	                                                     .in_task = in_task,
	                                                     .has_users = frame_has_users,
	                                                     .polls_users = frame_polls_users,
	                                                     .arg = copy },
	                              polling);
}

static void test_callers(void **state)
{
	(void)state;
	assert_int_equal(caller("ul", false, false), 0);
	assert_int_equal(caller("u", false, false), 0);
	assert_int_equal(caller("", false, false), 0);
	assert_int_equal(caller("uu", false, false), 1);
	assert_int_equal(caller("llluu", false, false), 3);
	/* main() runs all tasks of its thread. */
	assert_int_equal(caller("llu", true, false), 0);
	assert_int_equal(caller("lluf", true, false), 2);
	assert_int_equal(caller("llulcl", true, false), 2);
	assert_int_equal(caller("llf", true, false), 2);
	assert_int_equal(caller("cclu", true, false), 1);
	assert_int_equal(caller("cllu", true, false), 0);
	/* To the poll of a coroutine alone. */
	assert_int_equal(caller("luc", false, true), 0);
	assert_int_equal(caller("lfc", false, true), 0);
	assert_int_equal(caller("lcu", false, true), 1);
	assert_int_equal(caller("lcu", true, true), 1);
}

/* ---- polled again ---- */

static void test_polled_again(void **state)
{
	struct exit_progress e = { .active = true, .tid = 5, .cfa = 0x1000 };

	(void)state;
	assert_false(exit_rules_was_polled(&e));
	e.polls = 1;
	assert_true(exit_rules_was_polled(&e));
	e.polls = 0;
	e.was_suspended = true;
	assert_true(exit_rules_was_polled(&e));
	e.was_suspended = e.active = false;
	assert_true(exit_rules_was_polled(&e));
	assert_false(exit_rules_is_same_poll(&e, 5, 0x1000));
	e.active = true;
	assert_true(exit_rules_is_same_poll(&e, 5, 0x1000));
	assert_false(exit_rules_is_same_poll(&e, 6, 0x1000));
	assert_false(exit_rules_is_same_poll(&e, 5, 0x1008));
	assert_true(exit_rules_is_replaced(INSTANCE_UNRESUMED));
	assert_false(exit_rules_is_replaced(INSTANCE_SUSPENDED));
	assert_false(exit_rules_is_replaced(INSTANCE_UNKNOWN));
}

/* ---- its thread ends ---- */

enum { MAPPING = 64 << 20 };

static void test_stack(void **state)
{
	const uint64_t cfa = UINT64_C(0x7f0000000000), far = cfa + MAPPING;
	struct exit_stack s = { cfa + 0x100, cfa, cfa + 0x1000, cfa + 0x2000 };

	(void)state;
	assert_true(exit_rules_is_on_stack(&s));
	s.addr = cfa;
	assert_true(exit_rules_is_on_stack(&s));
	s.addr = cfa - 8; /* farther in, or on the heap below */
	assert_false(exit_rules_is_on_stack(&s));
	/* The thread's own data */
	s.addr = cfa + 0xff8;
	assert_true(exit_rules_is_on_stack(&s));
	s.addr = cfa + 0x1000;
	assert_false(exit_rules_is_on_stack(&s));
	/* The main thread has its own somewhere else. */
	s.thread_pointer = cfa - 0x1000;
	assert_true(exit_rules_is_on_stack(&s));
	s.thread_pointer = far;
	assert_true(exit_rules_is_on_stack(&s));
	s.addr = cfa + 0x2000;
	assert_false(exit_rules_is_on_stack(&s));
	s.addr = cfa + 0x1ff8;
	assert_true(exit_rules_is_on_stack(&s));
	s.end = 0;
	assert_false(exit_rules_is_on_stack(&s));
	assert_true(exit_rules_is_near(far - 1, cfa));
	assert_false(exit_rules_is_near(far, cfa));
	s = (struct exit_stack){ far, cfa, 0, far + 0x1000 };
	assert_false(exit_rules_is_on_stack(&s));
}

static void test_thread_is_needed(void **state)
{
	(void)state;
	assert_false(exit_rules_needs_thread(&(struct exit_thread){ 0 }));
	assert_true(exit_rules_needs_thread(&(struct exit_thread){ .active = true }));
	assert_true(exit_rules_needs_thread(&(struct exit_thread){ .leaving = true }));
	assert_true(exit_rules_needs_thread(&(struct exit_thread){ .on_stack = true }));
	assert_false(exit_rules_needs_thread(
		&(struct exit_thread){ .active = true, .leaving = true, .on_any = true }));
}

static void test_thread_notes(void **state)
{
	struct exit_thread t = {
		.tid = 7, .kind = STEP_NEXT, .active = true, .line = 41, .suspended = 43
	};
	SCRATCH(a);

	(void)state;
	assert_string_equal(exit_rules_thread_note(&t, &a),
	                    "thread 7 has ended in the middle of line 41");
	t.kind = STEP_FINISH;
	assert_string_equal(exit_rules_thread_note(&t, &a),
	                    "thread 7 has ended in the middle of a step from line 41");
	t.kind = STEP_UNTIL;
	assert_string_equal(exit_rules_thread_note(&t, &a),
	                    "thread 7 has ended in the middle of a step from line 41");
	t.active = false;
	assert_string_equal(exit_rules_thread_note(&t, &a),
	                    "thread 7 has ended, on whose stack it was suspended at line 43");
	t.suspended = 0;
	assert_string_equal(exit_rules_thread_note(&t, &a),
	                    "thread 7 has ended, on whose stack it was suspended, in a step from "
	                    "line 41");
	t.kind = STEP_NEXT;
	assert_string_equal(exit_rules_thread_note(&t, &a),
	                    "thread 7 has ended, on whose stack it was suspended, in a step from "
	                    "line 41");
}

/* ---- a panic ---- */

struct panic_frame {
	uint64_t sp;
	bool catches;
};

static uint64_t panic_frame_sp(void *arg, size_t frame)
{
	return ((struct panic_frame *)arg)[frame].sp;
}

static bool panic_frame_catches(void *arg, size_t frame)
{
	return ((struct panic_frame *)arg)[frame].catches;
}

static bool unwinds(struct panic_frame *frames, size_t n, uint64_t cfa)
{
	return exit_rules_is_unwound(&(struct exit_panic){ .n = n,
	                                                   .cfa = cfa,
	                                                   .sp = panic_frame_sp,
	                                                   .catches = panic_frame_catches,
	                                                   .arg = frames });
}

static void test_unwound(void **state)
{
	struct panic_frame frames[] = {
		{ 0x100, false }, { 0x200, false }, { 0x300, true }, { 0x400, false }
	};

	(void)state;
	assert_true(unwinds(frames, 4, 0x200));
	/* The caller itself may catch it: by then the call was unwound. */
	assert_true(unwinds(frames, 4, 0x300));
	assert_false(unwinds(frames, 4, 0x400));
	assert_false(unwinds(frames, 4, 0x280));
	/* The innermost frame is of rust_panic(). */
	assert_false(unwinds(frames, 1, 0x100));
	assert_false(unwinds(frames, 4, 0x80));
	assert_false(unwinds(frames, 0, 0x100));
	frames[1].sp = 0x100;
	assert_true(unwinds(frames, 2, 0x100));
	frames[0].catches = true;
	assert_false(unwinds(frames, 4, 0x200));
}

static void test_catches(void **state)
{
	(void)state;
	assert_true(exit_rules_is_catch("std::panicking::catch_unwind::do_call<F>"));
	assert_true(exit_rules_is_catch("std::panicking::try<(), F>"));
	assert_true(exit_rules_is_catch("__rust_try"));
	assert_false(exit_rules_is_catch("__rust_try_more"));
	assert_false(exit_rules_is_catch("app::main"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reason),           cmocka_unit_test(test_at_return),
		cmocka_unit_test(test_return_notes),     cmocka_unit_test(test_callers),
		cmocka_unit_test(test_polled_again),     cmocka_unit_test(test_stack),
		cmocka_unit_test(test_thread_is_needed), cmocka_unit_test(test_thread_notes),
		cmocka_unit_test(test_unwound),          cmocka_unit_test(test_catches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
