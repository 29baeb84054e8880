/* Verdicts about tasks: deadlocks through locks, joins, selects and sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/base/str.h"
#include "runtimes/test/graph.h"

enum { A = 0xa0, B = 0xb0, C = 0xc0 };

static void abba(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "f", locks(&p, "mutex", B, 1)));
	struct task *two = add_task(&p, 2, calls(&p, "g", locks(&p, "mutex", A, 2)));

	(void)state;
	add_task(&p, 3, calls(&p, "h", locks(&p, "mutex", A, 1)));
	add_task(&p, 4, calls(&p, "h", joins(&p, 3)));
	add_task(&p, 5, calls(&p, "h", sleeps(&p)));
	guards(&p, one, "mutex", A);
	guards(&p, two, "mutex", B)->line = 55;
	/* Task 3 is before task 2 in the queue, but is no member of the cycle. */
	assert_says(&p, "deadlock task 1, task 2 <- task 3, task 4");
	assert_text(&p, 0,
	            "task 1 holds Mutex 0xa0 (`guard` at src/x.rs:41) and waits for Mutex 0xb0; "
	            "task 2 holds Mutex 0xb0 (`guard` at src/x.rs:55) and waits for Mutex 0xa0");
}

/* Also the first node of the graph may be behind. */
static void first_is_behind(void **state)
{
	PROGRAM(p);

	(void)state;
	add_task(&p, 1, calls(&p, "h", locks(&p, "mutex", A, 2)));
	struct task *two = add_task(&p, 2, calls(&p, "f", locks(&p, "mutex", B, 1)));
	struct task *three = add_task(&p, 3, calls(&p, "g", locks(&p, "mutex", A, 1)));
	guards(&p, two, "mutex", A);
	guards(&p, three, "mutex", B);
	assert_says(&p, "deadlock task 2, task 3 <- task 1");
}

static void with_itself(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "f", locks(&p, "mutex", A, 1)));

	(void)state;
	guards(&p, one, "mutex", A);
	assert_says(&p, "deadlock task 1");
	assert_text(&p, 0, "task 1 holds Mutex 0xa0 (`guard` at src/x.rs:41) and waits for it");
}

/* A lock without a known holder may be held outside the graph. */
static void unknown_holder(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "f", locks(&p, "mutex", B, 1)));

	(void)state;
	add_task(&p, 2, calls(&p, "g", locks(&p, "mutex", A, 1)));
	guards(&p, one, "mutex", A);
	assert_says(&p, "");
	assert_int_equal(p.verdicts->nstuck, 0);
}

static void holder_that_goes_on(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "f", sleeps(&p)));
	struct task *busy = add_task(&p, 2, calls(&p, "f", locks(&p, "mutex", A, 1)));

	(void)state;
	guards(&p, one, "mutex", A);
	guards(&p, busy, "mutex", B);
	add_task(&p, 3, calls(&p, "f", locks(&p, "mutex", B, 1)));
	assert_says(&p, "");
}

static void two_that_run(enum task_state how, const char *expected)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "f", locks(&p, "mutex", B, 1)));
	struct task *two = add_task(&p, 2, calls(&p, "g", locks(&p, "mutex", A, 1)));

	guards(&p, one, "mutex", A);
	guards(&p, two, "mutex", B);
	two->state = how;
	assert_says(&p, expected);
}

static void what_runs_or_was_woken_goes_on(void **state)
{
	(void)state;
	two_that_run(TASK_IDLE, "deadlock task 1, task 2");
	two_that_run(TASK_SCHEDULED, "");
	two_that_run(TASK_RUNNING, "");
	two_that_run(TASK_COMPLETE, "");
}

static void three_ways(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "produce", joins(&p, 2)));
	struct task *three;

	(void)state;
	add_task(&p, 2, calls(&p, "write", locks(&p, "rwlock_write", A, 1)));
	three = add_task(&p, 3, calls(&p, "consume", receives(&p, C, 1)));
	guards(&p, three, "rwlock_read", A);
	holds(&p, one, HOLDING_SENDER, "mpsc", C)->path = "tx";
	assert_says(&p, "deadlock task 1, task 2, task 3");
	assert_text(
		&p, 0,
		"task 1 owns a sender of mpsc channel 0xc0 (`tx` at src/x.rs:41) and waits for "
		"task 2 to end; task 2 waits for RwLock 0xa0; task 3 holds RwLock 0xa0 (`guard` "
		"at src/x.rs:41) and waits for the other end of mpsc channel 0xc0");
}

/* A receiver that owns one of its channel's two senders waits for the owner of the other one. */
static void two_senders(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "consume", receives(&p, C, 2)));
	struct task *two = add_task(&p, 2, calls(&p, "produce", joins(&p, 1)));

	(void)state;
	holds(&p, one, HOLDING_SENDER, "mpsc", C);
	holds(&p, two, HOLDING_SENDER, "mpsc", C);
	assert_says(&p, "deadlock task 1, task 2");
	assert_text(
		&p, 0,
		"task 2 owns a sender of mpsc channel 0xc0 (`guard` at src/x.rs:41) and waits for "
		"task 1 to end; task 1 waits for the other end of mpsc channel 0xc0");
}

/* A sender that was found nowhere may still send: there is no deadlock. */
static void another_sender(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "produce", joins(&p, 2)));

	(void)state;
	add_task(&p, 2, calls(&p, "consume", receives(&p, C, 2)));
	holds(&p, one, HOLDING_SENDER, "mpsc", C);
	assert_says(&p, "");
}

static void message_there(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "produce", joins(&p, 2)));
	struct future *f = receives(&p, C, 1);

	(void)state;
	f->wait->details[1].number = 1;
	add_task(&p, 2, calls(&p, "consume", f));
	holds(&p, one, HOLDING_SENDER, "mpsc", C);
	assert_says(&p, "");
}

static void select_with(struct program *p, struct future *other, const char *expected)
{
	struct future *first = as(locks(p, "mutex", B, 1), "select arm 0");
	struct task *one = add_task(p, 1, calls(p, "f", first, as(other, "select arm 1")));
	struct task *two = add_task(p, 2, calls(p, "g", locks(p, "mutex", A, 1)));

	guards(p, one, "mutex", A);
	guards(p, two, "mutex", B);
	assert_says(p, expected);
}

static void select_goes_on_with_any_arm(void **state)
{
	PROGRAM(timer);
	PROGRAM(disabled);
	PROGRAM(both);

	(void)state;
	select_with(&timer, sleeps(&timer), "");
	select_with(&disabled, held(sleeps(&disabled), BRANCH_POLLED), "");
	/* A disabled select arm cannot end the wait. */
	struct future *off = sleeps(&both);
	off->branch = BRANCH_DISABLED;
	select_with(&both, off, "deadlock task 1, task 2");
}

static void select_of_two_in_cycles(void **state)
{
	PROGRAM(p);
	struct future *left = as(locks(&p, "mutex", B, 1), "select arm 0");
	struct future *right = as(locks(&p, "mutex", C, 1), "select arm 1");
	struct task *one = add_task(&p, 1, calls(&p, "f", left, right));
	struct task *two = add_task(&p, 2, calls(&p, "g", locks(&p, "mutex", A, 1)));
	struct task *three = add_task(&p, 3, calls(&p, "g", locks(&p, "mutex", A, 2)));

	(void)state;
	guards(&p, one, "mutex", A);
	guards(&p, two, "mutex", B);
	guards(&p, three, "mutex", C);
	assert_says(&p, "deadlock task 1, task 2, task 3");
}

static void join_of(struct program *p, const char *type, bool joined, const char *expected)
{
	struct future *join = calls(p, type, as(locks(p, "mutex", B, 1), "join arm 0"),
	                            as(sleeps(p), "join arm 1"));
	struct task *one = add_task(p, 1, calls(p, "f", join));
	struct task *two = add_task(p, 2, calls(p, "g", locks(p, "mutex", A, 1)));

	join->children[1]->joined = joined;
	guards(p, one, "mutex", A);
	guards(p, two, "mutex", B);
	assert_says(p, expected);
}

static void join_with(struct program *p, const char *type, const char *expected)
{
	join_of(p, type, false, expected);
}

static void join_needs_all_arms(void **state)
{
	PROGRAM(join);
	PROGRAM(macro);
	PROGRAM(try_join);
	PROGRAM(proven);
	PROGRAM(named);

	(void)state;
	join_with(&join, "futures_util::future::join::Join<A, B>", "deadlock task 1, task 2");
	/* It may be join! or try_join!. */
	join_with(&macro, "core::future::poll_fn::PollFn<x>", "?deadlock task 1, task 2");
	join_of(&proven, "core::future::poll_fn::PollFn<x>", true, "deadlock task 1, task 2");
	/* The closure is in a function of that name. */
	join_with(&named, "core::future::poll_fn::PollFn<app::try_join_all::{closure_env#0}>",
	          "?deadlock task 1, task 2");
	join_with(&try_join, "futures_util::future::try_join::TryJoin<A, B>", "");
}

/* An arm drops what it holds independently of the others. */
static void arms_of_one_task(void **state)
{
	PROGRAM(p);
	PROGRAM(both);
	struct future *holder = as(calls(&p, "g", sleeps(&p)), "join arm 0");
	struct future *join = calls(&p, "futures_util::future::join::Join<A, B>", holder,
	                            as(locks(&p, "mutex", A, 1), "join arm 1"));
	struct task *one = add_task(&p, 1, calls(&p, "f", join));

	(void)state;
	guards(&p, one, "mutex", A)->future = holder;
	add_task(&p, 2, calls(&p, "g", locks(&p, "mutex", A, 2)));
	assert_says(&p, "");
	/* Arms that wait for each other are deadlocked. */
	struct future *left = as(calls(&both, "g", locks(&both, "mutex", B, 1)), "join arm 0");
	struct future *right = as(calls(&both, "g", locks(&both, "mutex", A, 1)), "join arm 1");
	join = calls(&both, "futures_util::future::join::Join<A, B>", left, right);
	one = add_task(&both, 1, calls(&both, "f", join));
	guards(&both, one, "mutex", A)->future = left;
	guards(&both, one, "mutex", B)->future = right;
	add_task(&both, 2, calls(&both, "g", locks(&both, "mutex", A, 2)));
	assert_says(&both, "deadlock task 1 <- task 2");
}

static void sets_need_one(void **state)
{
	PROGRAM(p);
	struct future *first = as(locks(&p, "mutex", B, 1), "set");
	struct task *one = add_task(&p, 1, calls(&p, "f", first, as(sleeps(&p), "set")));
	struct task *two = add_task(&p, 2, calls(&p, "g", locks(&p, "mutex", A, 1)));

	(void)state;
	guards(&p, one, "mutex", A);
	guards(&p, two, "mutex", B);
	assert_says(&p, "");
}

static struct future *join_set(struct program *p, int64_t all, size_t listed)
{
	static const char *const ids[] = { "2", "3" };
	struct future *f = with(p, leaf(p, "join_set", C), "tasks_in_set", DETAIL_INT, all);

	with(p, f, "finished", DETAIL_INT, 0);
	with(p, f, "tasks", DETAIL_LIST, 0);
	f->wait->details[2].list = ids;
	f->wait->details[2].nlist = (unsigned)listed;
	return f;
}

static void a_join_set_needs_one(void **state)
{
	PROGRAM(all);
	PROGRAM(more);

	(void)state;
	struct task *parent = add_task(&all, 1, calls(&all, "f", join_set(&all, 2, 2)));
	add_task(&all, 2, calls(&all, "g", locks(&all, "mutex", A, 1)));
	add_task(&all, 3, calls(&all, "g", locks(&all, "mutex", A, 2)));
	guards(&all, parent, "mutex", A);
	assert_says(&all, "deadlock task 1, task 2, task 3");
	/* A task that is not listed may complete. */
	parent = add_task(&more, 1, calls(&more, "f", join_set(&more, 3, 2)));
	add_task(&more, 2, calls(&more, "g", locks(&more, "mutex", A, 1)));
	add_task(&more, 3, calls(&more, "g", locks(&more, "mutex", A, 2)));
	guards(&more, parent, "mutex", A);
	assert_says(&more, "");
}

static void starving_writer(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "read", sleeps(&p)));
	struct task *two = add_task(&p, 2, calls(&p, "read", sleeps(&p)));

	(void)state;
	guards(&p, one, "rwlock_read", A);
	guards(&p, two, "rwlock_read", A);
	add_task(&p, 3, calls(&p, "write", locks(&p, "rwlock_write", A, 1)));
	add_task(&p, 4, calls(&p, "read", locks(&p, "rwlock_read", A, 2)));
	assert_says(&p, "");
}

/* A task reads twice, with a writer queued in between. */
static void reader_behind_a_writer(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "read", locks(&p, "rwlock_read", A, 2)));

	(void)state;
	guards(&p, one, "rwlock_read", A);
	add_task(&p, 2, calls(&p, "write", locks(&p, "rwlock_write", A, 1)));
	assert_says(&p, "deadlock task 1, task 2");
	assert_text(&p, 0,
	            "task 1 holds RwLock 0xa0 (`guard` at src/x.rs:41) and waits for RwLock 0xa0; "
	            "task 2 is ahead in the queue of RwLock 0xa0 and waits for RwLock 0xa0");
}

/* Readers do not wait for each other. */
static void readers_share(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "read", locks(&p, "rwlock_read", A, 1)));

	(void)state;
	guards(&p, one, "rwlock_read", A);
	add_task(&p, 2, calls(&p, "read", locks(&p, "rwlock_read", A, 2)));
	assert_says(&p, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(abba),
		cmocka_unit_test(first_is_behind),
		cmocka_unit_test(with_itself),
		cmocka_unit_test(unknown_holder),
		cmocka_unit_test(holder_that_goes_on),
		cmocka_unit_test(what_runs_or_was_woken_goes_on),
		cmocka_unit_test(three_ways),
		cmocka_unit_test(two_senders),
		cmocka_unit_test(another_sender),
		cmocka_unit_test(message_there),
		cmocka_unit_test(select_goes_on_with_any_arm),
		cmocka_unit_test(select_of_two_in_cycles),
		cmocka_unit_test(join_needs_all_arms),
		cmocka_unit_test(arms_of_one_task),
		cmocka_unit_test(sets_need_one),
		cmocka_unit_test(a_join_set_needs_one),
		cmocka_unit_test(starving_writer),
		cmocka_unit_test(reader_behind_a_writer),
		cmocka_unit_test(readers_share),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
