/* Verdicts about pools of connections that are exhausted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/test/graph.h"

enum { A = 0xa0 };

static struct holding *has(struct program *p, const struct task *task)
{
	struct holding *h = guards(p, task, "pool", A);

	h->permits = 1;
	h->path = "connection";
	return h;
}

static void exhausted_by_its_waiters(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "f", pools(&p, A, 2)));
	struct task *two = add_task(&p, 2, calls(&p, "g", pools(&p, A, 2)));

	(void)state;
	add_task(&p, 3, calls(&p, "h", pools(&p, A, 2)));
	has(&p, one);
	has(&p, two);
	assert_says(&p, "deadlock task 1, task 2 <- task 3");
	assert_text(&p, 0,
	            "task 1, task 2 hold all connections of pool 0xa0 (task 1: `connection` at "
	            "src/x.rs:41) and wait for another one");
}

static void exhausted_by_one(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "f", pools(&p, A, 2)));

	(void)state;
	has(&p, one);
	has(&p, one)->path = "other";
	assert_says(&p, "deadlock task 1");
	assert_text(&p, 0,
	            "task 1 holds all connections of pool 0xa0 (`connection` at src/x.rs:41) and "
	            "waits for another one");
}

static void busy(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "f", pools(&p, A, 2)));
	struct task *two = add_task(&p, 2, calls(&p, "g", sleeps(&p)));

	(void)state;
	has(&p, one);
	has(&p, two);
	assert_says(&p, "");
}

/* Of three connections two were found: who has the third may give it back. */
static void one_is_not_found(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "f", pools(&p, A, 3)));
	struct task *two = add_task(&p, 2, calls(&p, "g", pools(&p, A, 3)));

	(void)state;
	has(&p, one);
	has(&p, two);
	assert_says(&p, "");
	assert_int_equal(p.verdicts->nstuck, 0);
}

/* More may be opened, one is idle, or being opened. */
static void not_full(const char *key, int64_t number)
{
	PROGRAM(p);
	struct future *first = pools(&p, A, 2);
	struct task *one = add_task(&p, 1, calls(&p, "f", first));
	struct task *two = add_task(&p, 2, calls(&p, "g", pools(&p, A, 2)));

	with(&p, first, "opening", DETAIL_INT, 0);
	for (size_t i = 0; i < first->wait->ndetails; i++) {
		if (strcmp(first->wait->details[i].key, key) == 0)
			first->wait->details[i].number = number;
	}
	has(&p, one);
	has(&p, two);
	assert_says(&p, "");
}

static void more_may_come(void **state)
{
	(void)state;
	not_full("max_size", 3);
	not_full("idle", 1);
	not_full("opening", 1);
	not_full("granted", 1);
}

/* f waits for a connection beside a timer. */
static void with_timeout(struct program *p, int64_t own_frames, const char *expected)
{
	struct future *waits = pools(p, A, 1);
	struct future *timeout =
		calls(p, "Timeout", calls(p, "get", waits), as(sleeps(p), "deadline"));
	struct task *one = add_task(p, 1, calls(p, "f", timeout));

	for (size_t i = 0; i < waits->wait->ndetails; i++) {
		if (strcmp(waits->wait->details[i].key, "own_frames") == 0)
			waits->wait->details[i].number = own_frames;
	}
	has(p, one);
	assert_says(p, expected);
}

/* The pool's own timeout ends the wait, but gives no connection; the program's may do more. */
static void timeouts(void **state)
{
	PROGRAM(own);
	PROGRAM(other);

	(void)state;
	with_timeout(&own, 2, "?deadlock task 1");
	with_timeout(&other, 1, "");
}

/*
 * A pool's own future waits so many calls above the wait, beside so many ways to give up.
 */
static void with_own_frames(struct program *p, unsigned depth, unsigned ways)
{
	struct future *waits = pools(p, A, 1), *f = waits;

	for (unsigned i = 0; i < depth; i++)
		f = calls(p, "get", f);
	f = calls(p, "Timeout", f);
	for (unsigned i = 0; i < ways; i++)
		add_child(p, f, as(sleeps(p), "deadline"));
	for (size_t i = 0; i < waits->wait->ndetails; i++) {
		if (strcmp(waits->wait->details[i].key, "own_frames") == 0)
			waits->wait->details[i].number = depth + 1;
	}
	has(p, add_task(p, 1, calls(p, "f", f)));
	assert_says(p, "?deadlock task 1");
}

static void deep_pools(void **state)
{
	PROGRAM(deep);
	PROGRAM(wide);

	(void)state;
	with_own_frames(&deep, 60, 1);
	with_own_frames(&wide, 1, 20);
}

/* One holder is certain; so many others may have the second connection. */
static void with_candidates(struct program *p, uint64_t n, const char *expected)
{
	has(p, add_task(p, 1, calls(p, "f", pools(p, A, 2))));
	for (uint64_t i = 0; i < n; i++)
		has(p, add_task(p, 2 + i, calls(p, "g", pools(p, A, 2))))->uncertain = true;
	assert_says(p, expected);
}

static void uncertain_holders(void **state)
{
	PROGRAM(one);
	PROGRAM(two);

	(void)state;
	with_candidates(&one, 1, "~deadlock task 1, task 2");
	with_candidates(&two, 2, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exhausted_by_its_waiters),
		cmocka_unit_test(exhausted_by_one),
		cmocka_unit_test(busy),
		cmocka_unit_test(one_is_not_found),
		cmocka_unit_test(more_may_come),
		cmocka_unit_test(timeouts),
		cmocka_unit_test(deep_pools),
		cmocka_unit_test(uncertain_holders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
