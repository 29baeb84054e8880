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
		assert_int_equal(strstr(f->text, "may have been polled again") != NULL,
		                 rows[i].possible);
		assert_int_equal(strstr(f->text, "in the same poll") != NULL, !rows[i].possible);
	}
}

/* The findings about a runtime with a job and no thread, which had the same at the first look. */
static size_t starved(struct arena *a, bool two_looks, bool before, uint64_t threads)
{
	struct runtime_info r = { .addr = HEADER,
		                  .has_blocking = true,
		                  .blocking_queued = 1,
		                  .blocking_threads = threads,
		                  .has_limit = true,
		                  .blocking_limit = 512 };
	struct snapshot s = { .runtimes = &r, .nruntimes = 1 };
	struct checks c = { .a = a, .s = &s, .two_looks = two_looks };
	const struct check check = { .name = "starved-queue" };
	struct runtime_info then = r;

	then.blocking_threads = before ? 0 : 1;
	s.runtimes = &then;
	c.threadless = checks_threadless(a, &s, &c.nthreadless);
	s.runtimes = &r;
	checks_starved_queue(&c, &check);
	size_t n = c.found.n;
	vec_free(&c.found);
	return n;
}

/* At a single look the first thread of a pool may be being made. */
static void a_pool_lacks_threads_at_two_looks(void **state)
{
	SCRATCH(tmp);

	(void)state;
	assert_int_equal(starved(&tmp, true, true, 0), 1);
	assert_int_equal(starved(&tmp, true, false, 0), 0);
	assert_int_equal(starved(&tmp, true, true, 1), 0);
	assert_int_equal(starved(&tmp, false, true, 0), 0);
}

/* Two looks at it are due only where it has something that a single one does not show. */
static void a_runtime_is_late_where_it_lacks_a_thread(void **state)
{
	struct runtime_info runtimes[] = {
		{ .addr = HEADER },
		{ .addr = HEADER + 1,
		  .has_blocking = true,
		  .blocking_queued = 1,
		  .has_limit = true,
		  .blocking_limit = 512 },
	};
	struct snapshot s = { .runtimes = runtimes, .nruntimes = 1 };
	SCRATCH(tmp);

	(void)state;
	const struct seen_runtimes one = checks_seen_runtimes(&tmp, &s);
	assert_int_equal(one.n, 1);
	s.nruntimes = 2;
	const struct seen_runtimes both = checks_seen_runtimes(&tmp, &s);
	assert_true(checks_met_late(&one, &s));
	assert_false(checks_met_late(&both, &s));
	runtimes[1].blocking_threads = 1;
	assert_false(checks_met_late(&one, &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_poll_is_certain_where_it_is_proved),
		cmocka_unit_test(a_pool_lacks_threads_at_two_looks),
		cmocka_unit_test(a_runtime_is_late_where_it_lacks_a_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
