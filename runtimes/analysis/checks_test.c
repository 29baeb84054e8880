/* Tests of checks that compare two looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/analysis/checks.h"

enum { HEADER = 0x1000 };

/* The finding long-poll of a worker that polled task 5 at one place before and does so now. */
static const struct finding *long_poll(struct arena *a, struct look before, struct thread_info now)
{
	struct task five = { .id = "5", .number = 5, .addr = HEADER };
	struct task *tasks[] = { &five };
	struct wait sleep = { .kind = "syscall", .phrase = "clock_nanosleep" };
	struct snapshot s = { .tasks = tasks, .ntasks = 1, .threads = &now, .nthreads = 1 };
	struct checks c = { .a = a, .s = &s, .two_looks = true, .before = &before, .nbefore = 1 };
	const struct check check = { .name = "long-poll" };

	five.thread = now.number = 1;
	now.tid = before.tid = 77;
	now.role = THREAD_WORKER;
	now.task = before.task = "5";
	before.addr = HEADER;
	now.wait = before.wait ? &sleep : NULL;
	checks_long_poll(&c, &check);
	assert_true(c.found.n <= 1);
	if (c.found.n == 0)
		return NULL;
	struct finding *f = arena_alloc(a, sizeof(*f));
	*f = c.found.data[0];
	vec_free(&c.found);
	return f;
}

/* A task at one line of code at two looks may be in its millionth poll by now. */
static void a_long_poll_is_certain_where_it_is_proved(void **state)
{
	static const struct {
		struct look before;
		struct thread_info now;
		bool found, possible;
	} rows[] = {
		{ { 0 }, { 0 }, true, true },
		{ { .wait = "syscall" }, { 0 }, true, true },
		{ { .wait = "syscall", .slept_on = true }, { 0 }, true, false },
		/* The thread slept on, but not in the poll of the first look, which ran. */
		{ { .slept_on = true }, { 0 }, true, true },
		/* The scheduler has counted no poll in between, or another one. */
		{ { .has_poll = true, .poll = 9 }, { .has_poll = true, .poll = 9 }, true, false },
		{ { .has_poll = true, .poll = 9 }, { .has_poll = true, .poll = 10 }, false, false },
		{ { .has_poll = true, .poll = 9 }, { .poll = 9 }, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		SCRATCH(a);
		const struct finding *f = long_poll(&a, rows[i].before, rows[i].now);

		assert_int_equal(f != NULL, rows[i].found);
		if (!f)
			continue;
		assert_int_equal(f->possible, rows[i].possible);
		assert_int_equal(strstr(f->text, "may have been polled anew") != NULL,
		                 rows[i].possible);
		assert_int_equal(strstr(f->text, "one and the same poll") != NULL,
		                 !rows[i].possible);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_poll_is_certain_where_it_is_proved),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
