/* Verdicts about owners of channel ends: uncertain places, several candidates, AbortHandles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtimes/test/graph.h"

enum { A = 0xa0, B = 0xb0, C = 0xc0 };

/* An end moved between two variables of its task: either place gives the same owner. */
static void moved_within_a_task(void **state)
{
	(void)state;
	for (unsigned other = 0; other < 2; other++) {
		PROGRAM(p);
		struct future *waits =
			with(&p, leaf(&p, "oneshot", C), "sender_alive", DETAIL_BOOL, 1);
		struct task *keeps;

		with(&p, waits, "value_there", DETAIL_BOOL, 0);
		add_task(&p, 1, calls(&p, "ask", waits));
		keeps = add_task(&p, 2, calls(&p, "keep", joins(&p, 1)));
		holds(&p, keeps, HOLDING_SENDER, "oneshot", C)->uncertain = true;
		holds(&p, keeps, HOLDING_SENDER, "oneshot", C)->uncertain = true;
		p.holdings.data[1].path = "_kept";
		/* A sleeping task may own it instead. */
		if (other)
			holds(&p, add_task(&p, 3, calls(&p, "h", sleeps(&p))), HOLDING_SENDER,
			      "oneshot", C)
				->uncertain = true;
		assert_says(&p, other ? "" : "~deadlock task 1, task 2");
		if (!other)
			assert_text(
				&p, 0,
				"task 1 waits for the other end of oneshot channel 0xc0; task 2 "
				"owns a sender of oneshot channel 0xc0 (`guard` at src/x.rs:41 or "
				"`_kept` at src/x.rs:41) and waits for task 1 to end");
	}
}

/* Two uncertain senders in a task prove nothing when the channel counts three. */
static void moved_and_others(void **state)
{
	PROGRAM(p);
	PROGRAM(two);
	struct task *task = add_task(&p, 1, calls(&p, "collect", receives(&p, C, 3)));

	(void)state;
	holds(&p, task, HOLDING_SENDER, "mpsc", C)->uncertain = true;
	holds(&p, task, HOLDING_SENDER, "mpsc", C)->uncertain = true;
	assert_says(&p, "");
	/* One end is certain; the other is in one of two places. */
	task = add_task(&two, 1, calls(&two, "collect", receives(&two, C, 2)));
	holds(&two, task, HOLDING_SENDER, "mpsc", C);
	holds(&two, task, HOLDING_SENDER, "mpsc", C)->uncertain = true;
	holds(&two, task, HOLDING_SENDER, "mpsc", C)->uncertain = true;
	assert_says(&two, "~lost task 1");
}

static void moved_guards_and_receivers(void **state)
{
	(void)state;
	for (unsigned other = 0; other < 2; other++) {
		PROGRAM(p);
		PROGRAM(full);
		struct task *one = add_task(&p, 1, calls(&p, "f", locks(&p, "mutex", B, 1)));
		struct task *two = add_task(&p, 2, calls(&p, "g", locks(&p, "mutex", A, 1)));

		guards(&p, one, "mutex", A);
		guards(&p, two, "mutex", B)->uncertain = true;
		guards(&p, two, "mutex", B)->uncertain = true;
		if (other)
			guards(&p, add_task(&p, 3, calls(&p, "h", sleeps(&p))), "mutex", B)
				->uncertain = true;
		assert_says(&p, other ? "" : "~deadlock task 1, task 2");

		struct future *send = locks(&full, "mpsc_send", C, 1);
		with(&full, send, "capacity", DETAIL_INT, 1);
		with(&full, send, "queued", DETAIL_INT, 1);
		one = add_task(&full, 1, calls(&full, "f", send));
		two = add_task(&full, 2, calls(&full, "g", joins(&full, 1)));
		holds(&full, two, HOLDING_RECEIVER, "mpsc", C)->uncertain = true;
		holds(&full, two, HOLDING_RECEIVER, "mpsc", C)->uncertain = true;
		if (other)
			holds(&full, add_task(&full, 3, calls(&full, "h", sleeps(&full))),
			      HOLDING_RECEIVER, "mpsc", C)
				->uncertain = true;
		assert_says(&full, other ? "" : "~deadlock task 1, task 2");
	}
}

static struct future *asks(struct program *p, uint64_t object)
{
	struct future *f = with(p, leaf(p, "oneshot", object), "sender_alive", DETAIL_BOOL, 1);

	return with(p, f, "value_there", DETAIL_BOOL, 0);
}

/*
 * Two actors that call each other: the reply senders are in queued messages that no task receives.
 */
static void calls_of_each_other(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "call", asks(&p, A)));
	struct task *two = add_task(&p, 2, calls(&p, "call", asks(&p, B)));
	struct holding *h;

	(void)state;
	h = holds(&p, one, HOLDING_SENDER, "oneshot", B);
	h->queued = true;
	h->path = "mailbox.queued[0].answer";
	h = holds(&p, two, HOLDING_SENDER, "oneshot", A);
	h->queued = true;
	h->path = "mailbox.queued[3].answer";
	assert_says(&p, "deadlock task 1, task 2");
	assert_text(
		&p, 0,
		"task 1 has a sender of oneshot channel 0xb0 in a message queued in its mailbox "
		"(`mailbox.queued[0].answer` at src/x.rs:41) and waits for the other end of "
		"oneshot channel 0xa0; task 2 has a sender of oneshot channel 0xa0 in a message "
		"queued in its mailbox (`mailbox.queued[3].answer` at src/x.rs:41) and waits for "
		"the other end of oneshot channel 0xb0");
}

static struct holding *aborts(struct program *p, const struct task *by, uint64_t id)
{
	return holds(p, by, HOLDING_WAKER, "abort", 0x100000 + id * 0x100);
}

static void abba(struct program *p)
{
	struct task *one = add_task(p, 1, calls(p, "f", locks(p, "mutex", B, 1)));
	struct task *two = add_task(p, 2, calls(p, "g", locks(p, "mutex", A, 1)));

	guards(p, one, "mutex", A);
	guards(p, two, "mutex", B);
}

/* A task that can go on may abort a task whose AbortHandle it holds. */
static void abort_handles(void **state)
{
	PROGRAM(free);
	PROGRAM(behind);
	PROGRAM(own);

	(void)state;
	abba(&free);
	aborts(&free, add_task(&free, 3, calls(&free, "watch", sleeps(&free))), 2);
	assert_says(&free, "?deadlock task 1, task 2");
	assert_string_equal(free.verdicts->list[0].doubts[0],
	                    "task 3 holds an AbortHandle of task 2");
	assert_int_equal(free.verdicts->list[0].ndoubts, 1);
	/* A task that waits for the members will not abort them, nor will a member. */
	abba(&behind);
	aborts(&behind, add_task(&behind, 3, calls(&behind, "watch", joins(&behind, 1))), 2);
	assert_says(&behind, "deadlock task 1, task 2 <- task 3");
	abba(&own);
	aborts(&own, own.tasks.data[0], 2);
	aborts(&own, own.tasks.data[1], 2);
	assert_says(&own, "deadlock task 1, task 2");
}

/* A chain of tasks, each holding the AbortHandle of the next. */
static void abort_handles_of_others(void **state)
{
	PROGRAM(p);
	PROGRAM(elsewhere);

	(void)state;
	abba(&p);
	aborts(&p, add_task(&p, 3, calls(&p, "h", joins(&p, 1))), 2);
	aborts(&p, add_task(&p, 4, calls(&p, "i", sleeps(&p))), 3)->uncertain = true;
	/* It may abort task 3 before task 3 aborts a member: the order is unknown. */
	assert_says(&p, "?deadlock task 1, task 2 <- task 3");
	abba(&elsewhere);
	aborts(&elsewhere, add_task(&elsewhere, 3, calls(&elsewhere, "h", sleeps(&elsewhere))), 3);
	assert_says(&elsewhere, "deadlock task 1, task 2");
}

/* A future that AbortHandles can end, of which the state is at that address. */
static struct future *abortable(struct program *p, uint64_t state, struct future *inner)
{
	struct future *f = calls(p, "Abortable", inner);

	f->properties = NEW(&p->s.arena, struct wait);
	f->properties->kind = "abortable";
	f->properties->object = state;
	return f;
}

/* An AbortHandle of futures ends what is inside an Abortable, wherever that is in a task. */
static void abort_handles_of_futures(void **state)
{
	enum { STATE = 0xabe };
	PROGRAM(p);
	PROGRAM(other);

	(void)state;
	struct future *inner = abortable(&p, STATE, locks(&p, "mutex", B, 1));
	struct task *one = add_task(&p, 1, calls(&p, "f", inner));
	struct task *two = add_task(&p, 2, calls(&p, "g", locks(&p, "mutex", A, 1)));
	guards(&p, one, "mutex", A);
	guards(&p, two, "mutex", B);
	holds(&p, add_task(&p, 3, calls(&p, "watch", sleeps(&p))), HOLDING_WAKER, "abort", STATE);
	assert_says(&p, "?deadlock task 1, task 2");
	assert_string_equal(p.verdicts->list[0].doubts[0],
	                    "task 3 holds an AbortHandle of a future in task 1");
	/* Its Abortable is in no task of them. */
	abba(&other);
	holds(&other, add_task(&other, 3, calls(&other, "watch", sleeps(&other))), HOLDING_WAKER,
	      "abort", STATE);
	assert_says(&other, "deadlock task 1, task 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moved_within_a_task),
		cmocka_unit_test(moved_and_others),
		cmocka_unit_test(moved_guards_and_receivers),
		cmocka_unit_test(calls_of_each_other),
		cmocka_unit_test(abort_handles),
		cmocka_unit_test(abort_handles_of_others),
		cmocka_unit_test(abort_handles_of_futures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
