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

/* Whether blocked-worker finds a worker in a call without an object, or in that of a lock. */
static bool is_blocked(struct arena *a, struct look before, struct thread_info now, uint64_t lock)
{
	struct wait wait = { .kind = lock ? "std_mutex" : "syscall", .object = lock };
	struct wait_detail call = { .key = "syscall",
		                    .kind = DETAIL_STRING,
		                    .string = "nanosleep" };
	struct snapshot s = { .threads = &now, .nthreads = 1 };
	struct checks c = { .a = a, .s = &s, .two_looks = true, .before = &before, .nbefore = 1 };
	const struct check check = { .name = "blocked-worker" };

	wait.details = &call;
	wait.ndetails = lock ? 0 : 1;
	now.tid = before.tid = 77;
	now.role = THREAD_WORKER;
	now.wait = &wait;
	before.wait = wait.kind;
	before.object = lock;
	checks_blocked_worker(&c, &check);
	bool found = c.found.n != 0;
	vec_free(&c.found);
	return found;
}

/* A task that sleeps for a moment in each poll does not block its worker. */
static void a_worker_is_blocked_in_one_poll_or_call(void **state)
{
	const struct look ninth = { .has_poll = true, .poll = 9, .slept_on = false };
	SCRATCH(a);

	(void)state;
	assert_true(is_blocked(&a, ninth, (struct thread_info){ .has_poll = true, .poll = 9 }, 0));
	assert_false(
		is_blocked(&a, ninth, (struct thread_info){ .has_poll = true, .poll = 10 }, 0));
	assert_false(
		is_blocked(&a, ninth, (struct thread_info){ .has_poll = true, .poll = 10 }, 0xa0));
	/* Without a count of polls. */
	assert_true(
		is_blocked(&a, (struct look){ .slept_on = true }, (struct thread_info){ 0 }, 0));
	assert_false(is_blocked(&a, (struct look){ 0 }, (struct thread_info){ 0 }, 0));
	assert_true(is_blocked(&a, (struct look){ 0 }, (struct thread_info){ 0 }, 0xa0));
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

/* ---- timers ---- */

/* A worker that is blocked while task 5 waits for a timer; each test changes a part of it. */
struct late_timer {
	struct wait_detail details[2]; /* remaining_ms, runtime */
	struct wait sleep, blocked;
	struct future root;
	struct task five;
	struct task *tasks[1];
	struct thread_info threads[2];
	struct look before[2];
	struct runtime_info runtime;
	struct snapshot s;
	struct checks c;
};

static void late_timer_make(struct late_timer *l, struct arena *a)
{
	*l = (struct late_timer){
		.details = { { .key = "remaining_ms", .kind = DETAIL_INT, .number = -1500 },
		             { .key = "runtime", .kind = DETAIL_INT, .number = 0 } },
		.sleep = { .kind = "sleep",
		           .armed = WAKER_REGISTERED_YES,
		           .details = l->details,
		           .ndetails = 2 },
		.blocked = { .kind = "std_mutex", .phrase = "std Mutex lock", .object = 0xa0 },
		.root = { .wait = &l->sleep, .function = "app::wait", .branch = BRANCH_POLLED },
		.five = { .id = "5", .number = 5, .state = TASK_IDLE, .root = &l->root },
		.tasks = { &l->five },
		.threads = { { .number = 1, .tid = 77, .role = THREAD_WORKER, .wait = &l->blocked },
		             { .number = 2, .tid = 78, .role = THREAD_WORKER } },
		.before = { { .tid = 77, .wait = "std_mutex", .object = 0xa0 }, { .tid = 78 } },
		.runtime = { .workers_poll = true, .workers = 2 },
	};
	l->s = (struct snapshot){ .tasks = l->tasks,
		                  .ntasks = 1,
		                  .threads = l->threads,
		                  .nthreads = 2,
		                  .runtimes = &l->runtime,
		                  .nruntimes = 1 };
	l->c = (struct checks){ .a = a,
		                .s = &l->s,
		                .two_looks = true,
		                .before = l->before,
		                .nbefore = 2,
		                .interval = 1 };
}

/* The finding of timer-overdue: "certain: text", "possible: text", "" none. */
static const char *late_timer_found(struct late_timer *l)
{
	const struct check check = { .name = "timer-overdue" };
	const char *text = "";

	checks_timer_overdue(&l->c, &check);
	assert_true(l->c.found.n <= 1);
	if (l->c.found.n)
		text = arena_printf(l->c.a, "%s: %s",
		                    l->c.found.data[0].possible ? "possible" : "certain",
		                    l->c.found.data[0].text);
	vec_free(&l->c.found);
	vec_free(&l->c.skipped);
	return text;
}

static const char stuck_worker[] =
	"certain: the timer of task 5 (app::wait) was due 1.4 s ago and has not fired: thread #1, "
	"a "
	"worker of runtime 0, is blocked in std Mutex lock, and the others are idle";

static void a_timer_that_nobody_fires_is_found(void **state)
{
	struct late_timer l;
	SCRATCH(a);

	(void)state;
	late_timer_make(&l, &a);
	assert_string_equal(late_timer_found(&l), stuck_worker);
	/* Overdue since before the first look, by 100 ms. */
	l.details[0].number = -1101;
	assert_string_not_equal(late_timer_found(&l), "");
	l.details[0].number = -1100;
	assert_string_equal(late_timer_found(&l), "");
	l.details[0].number = INT64_MIN;
	assert_string_not_equal(late_timer_found(&l), "");
	l.details[0].number = 100000;
	assert_string_equal(late_timer_found(&l), "");
}

/* Each of these timers fires, will, or has, or it is another runtime's. */
static void other_timers_are_not_found(void **state)
{
	struct late_timer l;
	struct future child, parent = { 0 };
	struct future *children[] = { &child };
	SCRATCH(a);

	(void)state;
	late_timer_make(&l, &a);
	l.sleep.armed = WAKER_REGISTERED_NO;
	assert_string_equal(late_timer_found(&l), "");
	late_timer_make(&l, &a);
	l.five.state = TASK_SCHEDULED;
	assert_string_equal(late_timer_found(&l), "");
	late_timer_make(&l, &a);
	l.five.changed = true;
	assert_string_equal(late_timer_found(&l), "");
	/* A worker that polls another task turns the driver in between. */
	late_timer_make(&l, &a);
	l.threads[1].task = "6";
	assert_string_equal(late_timer_found(&l), "");
	/* No worker is kept from turning the driver. */
	late_timer_make(&l, &a);
	l.before[0].object = 0xb0;
	assert_string_equal(late_timer_found(&l), "");
	late_timer_make(&l, &a);
	l.details[1].number = 7;
	assert_string_equal(late_timer_found(&l), "");
	late_timer_make(&l, &a);
	l.c.suspended = true;
	assert_string_equal(late_timer_found(&l), "");
	/* A future that is held and not polled. */
	late_timer_make(&l, &a);
	child = l.root;
	child.branch = BRANCH_HELD;
	parent.children = children;
	parent.nchildren = 1;
	l.five.root = &parent;
	assert_string_equal(late_timer_found(&l), "");
}

static void an_overdue_timer_may_be_uncertain(void **state)
{
	struct late_timer l;
	SCRATCH(a);

	(void)state;
	late_timer_make(&l, &a);
	l.sleep.ndetails = 1; /* its runtime is not known */
	assert_non_null(strstr(late_timer_found(&l), "possible: possibly, the timer of task 5"));
	late_timer_make(&l, &a);
	l.c.two_looks = false;
	assert_non_null(strstr(late_timer_found(&l), "possible: possibly, the timer of task 5"));
	/* Somebody may enter the runtime yet. */
	late_timer_make(&l, &a);
	l.s.nthreads = 0;
	assert_non_null(strstr(late_timer_found(&l), "possible: possibly, "));
	/* Somebody is in block_on() of its handle. */
	late_timer_make(&l, &a);
	l.runtime.workers_poll = false;
	l.s.nthreads = 1;
	l.s.ntasks = 0;
	l.threads[0] = (struct thread_info){
		.number = 1, .role = THREAD_BLOCK_ON, .root = &l.root, .handle_only = true
	};
	assert_string_equal(late_timer_found(&l),
	                    "certain: the timer of thread #1 was due 1.4 s ago and has not fired: "
	                    "no thread drives runtime 0");
	l.threads[0].handle_only = false;
	assert_string_equal(late_timer_found(&l), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_poll_is_certain_where_it_is_proved),
		cmocka_unit_test(a_worker_is_blocked_in_one_poll_or_call),
		cmocka_unit_test(a_pool_lacks_threads_at_two_looks),
		cmocka_unit_test(a_runtime_is_late_where_it_lacks_a_thread),
		cmocka_unit_test(a_timer_that_nobody_fires_is_found),
		cmocka_unit_test(other_timers_are_not_found),
		cmocka_unit_test(an_overdue_timer_may_be_uncertain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
