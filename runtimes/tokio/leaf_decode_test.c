/* Decodes leaves from made-up memory: oneshots, semaphores, sleeps, corrupt queues. */
#include "runtimes/model/wait_kind.h"
#include "runtimes/test/futures.h"

#define SYNC "tokio::sync::"

/* enum of oneshot::State */
enum { RX_TASK_SET = 1, VALUE_SENT = 2 };

static struct value oneshot(struct futures *f, uint64_t state)
{
	struct value receiver = futures_value(f, SYNC "oneshot::Receiver", FUTURES_ROOT);
	struct value inner = futures_value(f, SYNC "oneshot::Inner", FUTURES_OTHER);

	futures_poke(f, receiver, "inner", FUTURES_OTHER);
	futures_poke(f, inner, "state", state);
	return receiver;
}

static void test_oneshot(void **state)
{
	struct futures f = futures_open();
	struct value v = oneshot(&f, RX_TASK_SET);

	(void)state;
	futures_expect(&f, v, "oneshot", "oneshot receive, sender alive");
	const struct future *future = futures_decode(&f, v);
	assert_int_equal(future->wait->object, FUTURES_OTHER);
	assert_int_equal(futures_detail(future, "sender_alive")->number, 1);
	assert_int_equal(futures_detail(future, "polled")->number, 1);
	oneshot(&f, VALUE_SENT);
	futures_expect(&f, v, "oneshot", "oneshot receive, sender gone without a value");
	futures_poke(&f, v, "inner", 0);
	futures_expect(&f, v, "oneshot", "oneshot receive, received already");
	futures_close(&f);
}

static void test_oneshot_unreadable(void **state)
{
	struct futures f = futures_open();
	struct value v = oneshot(&f, 0);

	(void)state;
	futures_poke(&f, v, "inner", FUTURES_HOLE);
	futures_expect_problem(&f, v, "not readable");
	v.addr = FUTURES_HOLE;
	futures_expect_problem(&f, v, "not readable");
	futures_close(&f);
}

/* A wait for `wanted` permits, of which `missing` are missing; the semaphore has none left. */
static struct value acquire(struct futures *f, uint64_t wanted, uint64_t missing)
{
	struct value v = futures_value(f, SYNC "batch_semaphore::Acquire", FUTURES_ROOT);

	futures_poke(f, v, "semaphore", FUTURES_OTHER);
	futures_poke(f, v, "num_permits", wanted);
	futures_poke(f, v, "node.state", missing);
	futures_poke(f, v, "queued", true);
	return v;
}

static struct value semaphore(struct futures *f)
{
	return futures_value(f, SYNC "batch_semaphore::Semaphore", FUTURES_OTHER);
}

static void test_semaphore(void **state)
{
	struct futures f = futures_open();
	struct value v = acquire(&f, 2, 2);
	uint64_t node = futures_member(v, "node").addr;

	(void)state;
	futures_poke(&f, semaphore(&f), "waiters.queue.tail", node);
	futures_poke(&f, semaphore(&f), "waiters.queue.head", node);
	const struct future *future = futures_decode(&f, v);
	assert_string_equal(future->wait->kind, "semaphore");
	assert_non_null(strstr(future->wait->phrase, "first in its queue"));
	assert_int_equal(futures_detail(future, "position")->number, 1);
	futures_close(&f);
}

static void expect_behind(struct futures *f, struct value v, bool unpolled, bool doubted,
                          const char *turn, int64_t behind)
{
	struct decoder d = { .c = f->c, .unpolled = unpolled, .doubted = doubted };
	const struct wait *w = future_decode(&d, v)->wait;
	int64_t number = 0;

	wait_number(w, "behind", &number);
	assert_int_equal(number, behind);
	if (!strstr(w->phrase, turn))
		fail_msg("%s", w->phrase);
}

/* Who waits behind a future is shown where nobody polls it. */
static void test_semaphore_behind(void **state)
{
	struct futures f = futures_open();
	struct value v = acquire(&f, 1, 1), node = futures_member(v, "node");
	struct value other = { node.type, FUTURES_OTHER + 0x100 };

	(void)state;
	futures_poke(&f, node, "pointers.prev", other.addr);
	futures_poke(&f, semaphore(&f), "waiters.queue.tail", node.addr);
	expect_behind(&f, v, false, false, "first in its queue", 0);
	expect_behind(&f, v, true, true, "first in its queue, 1 waiter behind it", 1);
	futures_close(&f);
	f = futures_open();
	/* Granted: it has left the queue. What may have moved proves nothing. */
	v = acquire(&f, 1, 0);
	futures_poke(&f, semaphore(&f), "waiters.queue.tail", other.addr);
	expect_behind(&f, v, true, false, "polls the future that got it, 1 waiter behind it", 1);
	expect_behind(&f, v, true, true, "granted, not taken yet", 0);
	futures_close(&f);
}

/* Waiters that are each other's predecessor. */
static void test_semaphore_queue_with_a_cycle(void **state)
{
	struct futures f = futures_open();
	struct value v = acquire(&f, 1, 1);
	struct value node = futures_member(v, "node");
	struct value other = { node.type, FUTURES_OTHER + 0x100 };

	(void)state;
	futures_poke(&f, other, "pointers.prev", other.addr);
	futures_poke(&f, semaphore(&f), "waiters.queue.tail", other.addr);
	const struct future *future = futures_decode(&f, v);
	assert_null(future->problem);
	assert_non_null(strstr(future->wait->phrase, "its place in the queue is unknown"));
	futures_close(&f);
}

static void test_semaphore_closed_or_torn(void **state)
{
	struct futures f = futures_open();
	struct value v = acquire(&f, 1, 1);

	(void)state;
	futures_poke(&f, semaphore(&f), "waiters.closed", true);
	assert_non_null(strstr(futures_decode(&f, v)->wait->phrase, "closed"));
	acquire(&f, 1, 2);
	futures_expect_problem(&f, v, "more permits are missing than were wanted");
	futures_poke(&f, v, "semaphore", 0);
	futures_expect_problem(&f, v, "refers to no semaphore");
	futures_close(&f);
}

static void test_sleep_never_polled(void **state)
{
	struct futures f = futures_open();
	struct value v = futures_value(&f, "tokio::time::sleep::Sleep", FUTURES_ROOT);
	const struct future *future = futures_decode(&f, v);

	(void)state;
	assert_null(future->problem);
	assert_string_equal(future->wait->kind, "sleep");
	assert_int_equal(futures_detail(future, "registered")->number, 0);
	futures_close(&f);
}

static void expect_armed(struct futures *f, struct value v, uint64_t own,
                         enum waker_registered expected)
{
	assert_int_equal(futures_decode_of(f, v, own, false)->wait->armed, expected);
}

/* Whose waker a queue has, and whether anybody's. */
static void test_armed(void **state)
{
	enum { OWN = 0x5550, OTHER = 0x6660, NOOP = 0 };
	struct futures f = futures_open();
	struct value v = acquire(&f, 1, 1);

	(void)state;
	expect_armed(&f, v, OWN, WAKER_REGISTERED_NO);
	futures_poke(&f, v, "node.waker", 0);
	struct value waker = futures_variant(&f, futures_member(v, "node.waker"), "Some");
	struct value raw = futures_member(waker, "__0.waker");
	futures_poke(&f, raw, "vtable", FUTURES_OTHER + 0x800);
	futures_poke(&f, raw, "data", OWN);
	expect_armed(&f, v, OWN, WAKER_REGISTERED_YES);
	expect_armed(&f, v, 0, WAKER_REGISTERED_UNKNOWN);
	futures_poke(&f, raw, "data", OTHER);
	expect_armed(&f, v, OWN, WAKER_REGISTERED_UNKNOWN);
	/* No waker of the task exists, so this one is another's. */
	assert_int_equal(futures_decode_of(&f, v, OWN, true)->wait->armed, WAKER_REGISTERED_NO);
	/* Never polled. */
	futures_poke(&f, raw, "data", OWN);
	futures_poke(&f, v, "queued", false);
	expect_armed(&f, v, OWN, WAKER_REGISTERED_NO);
	futures_close(&f);
}

static void test_oneshot_armed(void **state)
{
	struct futures f = futures_open();
	struct value v = oneshot(&f, 0);

	(void)state;
	expect_armed(&f, v, 0x5550, WAKER_REGISTERED_NO);
	futures_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oneshot),
		cmocka_unit_test(test_oneshot_unreadable),
		cmocka_unit_test(test_semaphore),
		cmocka_unit_test(test_semaphore_behind),
		cmocka_unit_test(test_semaphore_queue_with_a_cycle),
		cmocka_unit_test(test_semaphore_closed_or_torn),
		cmocka_unit_test(test_sleep_never_polled),
		cmocka_unit_test(test_armed),
		cmocka_unit_test(test_oneshot_armed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
