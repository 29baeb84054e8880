/* Decodes waits for locks and channels with the async fns of tokio around them. */
#include "runtimes/test/futures.h"

#define SYNC "tokio::sync::"

/* An async fn of tokio that is suspended at its leaf; its self is the object at FUTURES_OTHER. */
static struct value suspended(struct futures *f, const char *function, struct value *frame)
{
	char name[128];

	snprintf(name, sizeof(name), "%s::{async_fn_env#0}", function);
	struct value v = futures_value(f, name, FUTURES_ROOT);
	*frame = futures_variant(f, v, "Suspend0");
	futures_poke(f, *frame, "self", FUTURES_OTHER);
	return v;
}

static const struct future *expect_leaf(struct futures *f, struct value v, const char *kind,
                                        const char *phrase)
{
	const struct future *future = futures_decode(f, v);

	while (!future->wait && future->nchildren)
		future = future->children[0];
	if (future->problem)
		fail_msg("%s: %s", phrase, future->problem);
	assert_non_null(future->wait);
	assert_string_equal(future->wait->phrase, phrase);
	assert_string_equal(future->wait->kind, kind);
	return future;
}

/* An Acquire of the semaphore, alone in its queue or not in it. */
static void acquire(struct futures *f, struct value v, struct value semaphore, uint64_t wanted,
                    uint64_t missing, bool polled, bool queued)
{
	uint64_t node = futures_member(v, "node").addr;

	futures_poke(f, v, "semaphore", semaphore.addr);
	futures_poke(f, v, "num_permits", wanted);
	futures_poke(f, v, "node.state", missing);
	futures_poke(f, v, "queued", polled);
	futures_poke(f, semaphore, "waiters.queue.tail", queued ? node : 0);
}

static void test_mutex(void **state)
{
	static const struct {
		uint64_t missing;
		bool polled, queued, closed;
		const char *phrase;
	} cases[] = {
		{ 1, true, true, false, "mutex lock, first in its queue" },
		{ 1, true, false, false, "mutex lock, its place in the queue is unknown" },
		{ 0, true, false, false, "mutex lock, granted, not taken yet" },
		{ 1, false, false, false, "mutex lock, never polled" },
		{ 1, true, true, true, "mutex lock, closed" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct futures f = futures_open();
		struct value frame, v = suspended(&f, SYNC "mutex::{impl#0}::acquire", &frame);
		struct value s =
			futures_member(futures_value(&f, SYNC "mutex::Mutex", FUTURES_OTHER), "s");

		acquire(&f, futures_member(frame, "__awaitee"), s, 1, cases[i].missing,
		        cases[i].polled, cases[i].queued);
		futures_poke(&f, s, "waiters.closed", cases[i].closed);
		const struct future *leaf = expect_leaf(&f, v, "mutex", cases[i].phrase);
		assert_int_equal(leaf->wait->object, FUTURES_OTHER);
		assert_int_equal(leaf->wait->primitive, s.addr);
		assert_int_equal(futures_detail(leaf, "granted")->number, cases[i].missing == 0);
		futures_close(&f);
	}
}

/* A Mutex that the frame does not refer to is a semaphore like others. */
static void test_mutex_of_another(void **state)
{
	struct futures f = futures_open();
	struct value frame, v = suspended(&f, SYNC "mutex::{impl#0}::acquire", &frame);
	struct value s = futures_value(&f, SYNC "batch_semaphore::Semaphore", FUTURES_OTHER);

	(void)state;
	futures_poke(&f, frame, "self", FUTURES_HOLE);
	acquire(&f, futures_member(frame, "__awaitee"), s, 1, 1, true, true);
	expect_leaf(&f, v, "semaphore",
	            "semaphore, 1 permit wanted, 1 missing, 0 available, first in its queue");
	futures_close(&f);
}

static void test_rwlock(void **state)
{
	enum { DEFAULT = 0x1fffffff };
	static const struct {
		const char *function;
		uint64_t max, available, wanted, missing;
		const char *kind, *phrase;
	} cases[] = {
		{ "read", DEFAULT, 0, 1, 1, "rwlock_read",
		  "rwlock read, held by a writer, first in its queue" },
		{ "write", DEFAULT, DEFAULT - 3, DEFAULT, DEFAULT, "rwlock_write",
		  "rwlock write, held by 3 readers, first in its queue" },
		/* Four of the permits that it wants are assigned to it. */
		{ "write", 10, 0, 10, 6, "rwlock_write",
		  "rwlock write, held by 6 readers, first in its queue" },
		{ "read", 10, 0, 1, 1, "rwlock_read",
		  "rwlock read, held by a writer or by the maximum number of readers, first in its "
		  "queue" },
		{ "read", 10, 10, 1, 1, "rwlock_read", "rwlock read, free, first in its queue" },
		/* More permits than there are: the holders are left out. */
		{ "read", 10, 11, 1, 1, "rwlock_read", "rwlock read, first in its queue" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct futures f = futures_open();
		char function[64];
		snprintf(function, sizeof(function), SYNC "rwlock::{impl#0}::%s",
		         cases[i].function);
		struct value frame, v = suspended(&f, function, &frame);
		struct value lock = futures_value(&f, SYNC "rwlock::RwLock", FUTURES_OTHER);

		futures_poke(&f, lock, "mr", cases[i].max);
		futures_poke(&f, lock, "s.permits", cases[i].available << 1);
		acquire(&f, futures_member(frame, "__awaitee"), futures_member(lock, "s"),
		        cases[i].wanted, cases[i].missing, true, true);
		expect_leaf(&f, v, cases[i].kind, cases[i].phrase);
		futures_close(&f);
	}
}

static void test_notify(void **state)
{
	enum { NOWHERE, FIRST, BEHIND_A_CYCLE };
	static const struct {
		int place;
		bool notified;
		const char *phrase;
	} cases[] = {
		{ FIRST, false, "notify, first in its queue" },
		{ NOWHERE, false, "notify, not in its queue" },
		{ BEHIND_A_CYCLE, false, "notify, its place in the queue is unknown" },
		{ NOWHERE, true, "notify, notified, not taken yet" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct futures f = futures_open();
		struct value v = futures_value(&f, SYNC "notify::Notified", FUTURES_ROOT);
		struct value notify = futures_value(&f, SYNC "notify::Notify", FUTURES_OTHER);
		struct value node = futures_member(v, "waiter");
		struct value other = { node.type, FUTURES_OTHER + 0x100 };

		futures_poke(&f, v, "notify", notify.addr);
		futures_poke(&f, v, "waiter.notification", cases[i].notified);
		futures_poke(&f, other, "pointers.prev", other.addr);
		futures_poke(&f, notify, "waiters.tail",
		             cases[i].place == FIRST            ? node.addr
		             : cases[i].place == BEHIND_A_CYCLE ? other.addr
		                                                : 0);
		futures_expect(&f, v, "notify", cases[i].phrase);
		assert_int_equal(f.c->out->complete, cases[i].place != BEHIND_A_CYCLE);
		futures_poke(&f, v, "notify", FUTURES_HOLE);
		futures_poke(&f, v, "waiter.notification", 0);
		futures_expect(&f, v, "notify", "notify, its place in the queue is unknown");
		assert_false(f.c->out->complete);
		futures_poke(&f, v, "notify", 0);
		futures_expect_problem(&f, v, "refers to no Notify");
		futures_close(&f);
	}
}

/* A bounded channel for 8 messages. */
static struct value channel(struct futures *f, uint64_t tail, uint64_t index, uint64_t senders)
{
	struct value chan = futures_value(f, SYNC "mpsc::chan::Chan", FUTURES_OTHER + 0x100);

	futures_poke(f, chan, "tx.tail_position", tail);
	futures_poke(f, chan, "rx_fields.list.index", index);
	futures_poke(f, chan, "tx_count", senders);
	futures_poke(f, chan, "semaphore.bound", 8);
	return chan;
}

static void test_mpsc_receive(void **state)
{
	static const struct {
		uint64_t tail, index, senders;
		bool closed;
		const char *phrase;
	} cases[] = {
		{ 5, 5, 1, false, "mpsc receive, 0 queued of 8, 1 sender alive" },
		{ 7, 5, 2, false, "mpsc receive, 2 queued of 8, 2 senders alive" },
		{ 6, 5, 0, false, "mpsc receive, 0 queued of 8, no sender left" },
		{ 5, 5, 1, true,
		  "mpsc receive, 0 queued of 8, 1 sender alive, closed by the receiver" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct futures f = futures_open();
		struct value frame, v = suspended(&f, SYNC "mpsc::bounded::{impl#1}::recv", &frame);
		struct value rx = futures_value(&f, SYNC "mpsc::chan::Rx", FUTURES_OTHER);
		struct value chan = channel(&f, cases[i].tail, cases[i].index, cases[i].senders);
		struct value poll_fn = futures_member(frame, "__awaitee");

		/* The closure of the poll_fn refers to the Rx. */
		target_fake_poke(f.fixture.target, poll_fn.addr, &rx.addr, 8);
		futures_poke(&f, rx, "inner", chan.addr);
		futures_poke(&f, chan, "rx_fields.rx_closed", cases[i].closed);
		const struct future *leaf = expect_leaf(&f, v, "mpsc_recv", cases[i].phrase);
		assert_int_equal(leaf->wait->object, chan.addr);
		futures_close(&f);
	}
}

static void test_mpsc_send(void **state)
{
	struct futures f = futures_open();
	struct value frame, v = suspended(&f, SYNC "mpsc::bounded::{impl#0}::reserve", &frame);
	struct value tx = futures_value(&f, SYNC "mpsc::bounded::Sender", FUTURES_OTHER);
	struct value chan = channel(&f, 13, 5, 1);
	struct value leaf = futures_member(frame, "__awaitee");

	(void)state;
	futures_poke(&f, tx, "chan.inner", chan.addr);
	acquire(&f, leaf, futures_member(chan, "semaphore.semaphore"), 1, 1, true, true);
	expect_leaf(&f, v, "mpsc_send", "mpsc send, 8 queued of 8, first in its queue");
	/* The receiver is ahead of the senders. */
	channel(&f, 5, 6, 1);
	const struct future *future = futures_decode(&f, v);
	assert_non_null(strstr(future->children[0]->problem, "ahead of its senders"));
	futures_close(&f);
}

static void test_mpsc_closed(void **state)
{
	struct futures f = futures_open();
	struct value frame, v = suspended(&f, SYNC "mpsc::chan::{impl#1}::closed", &frame);
	struct value tx = futures_value(&f, SYNC "mpsc::chan::Tx", FUTURES_OTHER);
	struct value chan = channel(&f, 5, 5, 1);

	(void)state;
	futures_poke(&f, tx, "inner", chan.addr);
	futures_poke(&f, futures_member(frame, "__awaitee"), "notify",
	             futures_member(chan, "notify_rx_closed").addr);
	expect_leaf(&f, v, "mpsc_closed", "mpsc close, receiver alive, 0 queued of 8");
	futures_poke(&f, chan, "rx_fields.rx_closed", true);
	expect_leaf(&f, v, "mpsc_closed", "mpsc close, it is closed, 0 queued of 8");
	futures_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex),        cmocka_unit_test(test_mutex_of_another),
		cmocka_unit_test(test_rwlock),       cmocka_unit_test(test_notify),
		cmocka_unit_test(test_mpsc_receive), cmocka_unit_test(test_mpsc_send),
		cmocka_unit_test(test_mpsc_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
