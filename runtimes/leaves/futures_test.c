/* Decodes locks and Abortables of futures from made-up memory. */
#include "runtimes/model/wait_kind.h"
#include "runtimes/test/futures.h"

#define BILOCK "futures_util::lock::bilock::"

enum {
	OWN = 0x5550,                   /* data of the task's waker */
	COUNTS = FUTURES_OTHER + 0x100, /* of an Arc */
	SHARED = COUNTS + 16,           /* what it shares */
	WAKER = FUTURES_OTHER + 0x200,
};

static struct futures open_crate(void)
{
	return futures_open_file("testdata/unit/futures_util.elf");
}

/* A future of a half at FUTURES_OTHER; what the halves share is in this state. */
static struct value acquire(struct futures *f, uint64_t lock)
{
	struct value v = futures_value(f, BILOCK "BiLockAcquire<u32>", FUTURES_ROOT);

	futures_poke(f, v, "bilock", FUTURES_OTHER);
	futures_poke(f, futures_value(f, BILOCK "BiLock<u32>", FUTURES_OTHER), "arc", COUNTS);
	futures_poke(f, futures_value(f, BILOCK "Inner<u32>", SHARED), "state", lock);
	return v;
}

static void store_waker(struct futures *f, uint64_t data)
{
	struct value raw = futures_value(f, "core::task::wake::RawWaker", WAKER);

	futures_poke(f, raw, "data", data);
	futures_poke(f, raw, "vtable", FUTURES_OTHER + 0x300);
}

static void test_bilock(void **state)
{
	static const struct {
		uint64_t lock, waker;
		bool polled;
		enum waker_registered armed;
		const char *phrase;
	} cases[] = {
		{ 0, 0, false, WAKER_REGISTERED_NO, "futures BiLock lock, free" },
		{ 1, 0, false, WAKER_REGISTERED_NO,
		  "futures BiLock lock, held, no waker is stored" },
		{ WAKER, OWN, true, WAKER_REGISTERED_YES, "futures BiLock lock, held" },
		{ WAKER, 0x7770, true, WAKER_REGISTERED_UNKNOWN, "futures BiLock lock, held" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct futures f = open_crate();
		struct value v = acquire(&f, cases[i].lock);

		store_waker(&f, cases[i].waker);
		const struct future *future = futures_decode_of(&f, v, OWN, false);
		if (future->problem)
			fail_msg("%s", future->problem);
		assert_string_equal(future->wait->kind, "mutex");
		assert_string_equal(future->wait->phrase, cases[i].phrase);
		assert_int_equal(future->wait->armed, cases[i].armed);
		assert_int_equal(future->wait->object, SHARED);
		assert_int_equal(futures_detail(future, "polled")->number, cases[i].polled);
		futures_close(&f);
	}
}

/* A mutex has a slot for each future that ever waited at the same time: there may be many. */
static void test_mutex_of_many(void **state)
{
	struct futures f = open_crate();
	struct value v =
		futures_value(&f, "futures_util::lock::mutex::MutexLockFuture<u32>", FUTURES_ROOT);
	struct value mutex =
		futures_value(&f, "futures_util::lock::mutex::Mutex<u32>", FUTURES_OTHER);
	struct value entry = futures_value(&f, "futures_util::lock::mutex::Entry", WAKER + 0x40);

	(void)state;
	futures_poke(&f, v, "mutex", mutex.addr);
	futures_poke(&f, v, "wait_key", 0);
	futures_poke(&f, mutex, "state", 1);
	futures_poke(&f, mutex, "waiters.data.len", 2);
	futures_poke(&f, mutex, "waiters.data.entries.buf.inner.ptr.pointer.pointer", entry.addr);
	futures_poke(&f, mutex, "waiters.data.entries.len", 1 << 17);
	struct value waiter = futures_member(futures_variant(&f, entry, "Occupied"), "__0");
	futures_variant(&f, waiter, "Woken");
	futures_expect(&f, v, "mutex", "futures mutex lock, held, woken, not taken yet");
	futures_close(&f);
}

/* The waker of another task is stored, which polled the future last. */
static void test_bilock_of_another(void **state)
{
	struct futures f = open_crate();
	struct value v = acquire(&f, WAKER);

	(void)state;
	store_waker(&f, 0x7770);
	/* No waker of this task exists. */
	const struct future *future = futures_decode_of(&f, v, OWN, true);
	assert_int_equal(future->wait->armed, WAKER_REGISTERED_NO);
	futures_close(&f);
}

static void store_socket_waker(struct futures *f, uint64_t data)
{
	struct value inner = futures_value(f, BILOCK "Inner<futures_util::Socket>", SHARED);
	struct value some = futures_variant(f, futures_member(inner, "value"), "Some");

	futures_poke(f, some, "__0.value.waker.waker.data", data);
	futures_poke(f, some, "__0.value.waker.waker.vtable", FUTURES_OTHER + 0x300);
}

/* Who polls a half waits for the lock while its waker is there; otherwise for what is inside. */
static void test_half(void **state)
{
	static const struct {
		uint64_t lock, waker;
		const char *kind, *phrase;
	} cases[] = {
		{ 0, 0, "waker", "its waker is in half.handle.arc.waker" },
		{ 1, 0, "waker", "its waker is in half.handle.arc.waker" },
		{ WAKER, 0x7770, "waker", "its waker is in half.handle.arc.waker" },
		{ WAKER, OWN, "mutex", "futures BiLock lock, held" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct futures f = open_crate();
		struct value v = futures_value(&f, "futures_util::Read", FUTURES_ROOT);
		struct value inner =
			futures_value(&f, BILOCK "Inner<futures_util::Socket>", SHARED);

		futures_poke(&f, v, "half", FUTURES_OTHER);
		futures_poke(
			&f, futures_value(&f, BILOCK "BiLock<futures_util::Socket>", FUTURES_OTHER),
			"arc", COUNTS);
		futures_poke(&f, inner, "state", cases[i].lock);
		store_waker(&f, cases[i].waker);
		store_socket_waker(&f, OWN);
		const struct future *future = futures_decode_of(&f, v, OWN, false);
		if (future->problem)
			fail_msg("%s", future->problem);
		assert_string_equal(future->wait->kind, cases[i].kind);
		assert_string_equal(future->wait->phrase, cases[i].phrase);
		futures_close(&f);
	}
}

static void test_bad_bilock(void **state)
{
	struct futures f = open_crate();

	(void)state;
	futures_expect_problem(&f, acquire(&f, WAKER + 1), "has the state 0x");
	futures_expect_problem(&f, acquire(&f, FUTURES_HOLE), "");
	futures_poke(&f, acquire(&f, 0), "bilock", FUTURES_HOLE);
	futures_expect_problem(&f, futures_value(&f, BILOCK "BiLockAcquire<u32>", FUTURES_ROOT),
	                       "");
	futures_close(&f);
}

/* The properties of an Abortable whose state has that number. */
static const struct wait *abortable(struct futures *f, const char *module, const char *member,
                                    uint64_t number)
{
	char name[96];

	snprintf(name, sizeof(name), "futures_util::%sabortable::Abortable<futures_util::Leaf>",
	         module);
	struct value v = futures_value(f, name, FUTURES_ROOT);
	snprintf(name, sizeof(name), "futures_util::%sabortable::AbortInner", module);
	futures_poke(f, v, "inner", COUNTS);
	futures_poke(f, futures_value(f, name, SHARED), member, number);
	const struct future *future = futures_decode(f, v);
	assert_null(future->problem);
	assert_int_equal(future->nchildren, 1);
	return future->properties;
}

static void expect_aborted(struct futures *f, const char *module, const char *member)
{
	const struct wait *p = abortable(f, module, member, 0);

	assert_string_equal(p->kind, "abortable");
	assert_int_equal(p->object, SHARED);
	assert_string_equal(p->phrase, "not aborted");
	assert_false(wait_yes(p, "aborted"));
	p = abortable(f, module, member, 1);
	assert_string_equal(p->phrase, "aborted, ends when it is polled");
	assert_true(wait_yes(p, "aborted"));
	/* No bool. */
	assert_null(abortable(f, module, member, 2));
}

static void test_abortable(void **state)
{
	struct futures f = open_crate();

	(void)state;
	expect_aborted(&f, "", "aborted");
	expect_aborted(&f, "future::", "cancel");
	futures_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bilock),
		cmocka_unit_test(test_mutex_of_many),
		cmocka_unit_test(test_bilock_of_another),
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_bad_bilock),
		cmocka_unit_test(test_abortable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
