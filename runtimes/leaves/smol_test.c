/* Decodes futures around pipes of piper and shared streams of async-io from made-up memory. */
#include "runtimes/model/names.h"
#include "runtimes/test/futures.h"

enum {
	OWN = 0x5550,                   /* data of the task's waker */
	THEIRS = 0x7770,                /* that of another task's */
	VTABLE = FUTURES_OTHER + 0x800, /* of a waker */
	COUNTS = FUTURES_OTHER + 0x100, /* of an Arc */
	SHARED = COUNTS + 16,           /* what it shares */
	SOURCE_COUNTS = FUTURES_OTHER + 0x300,
	ASYNC_COUNTS = FUTURES_OTHER + 0x500,
	ENTRIES = FUTURES_OTHER + 0x600,
};

static struct futures open_smol(void)
{
	return futures_open_file("testdata/unit/smol.elf");
}

static void smol_store_waker(struct futures *f, struct value option, uint64_t data)
{
	struct value waker = futures_member(futures_variant(f, option, "Some"), "__0");

	futures_poke(f, waker, "waker.data", data);
	futures_poke(f, waker, "waker.vtable", VTABLE);
}

static void expect_detail(const struct future *f, const char *key, int64_t number)
{
	assert_int_equal(futures_detail(f, key)->number, number);
}

/* ---- piper ---- */

/* The pipe of an end at its place. */
static struct value pipe_of(struct futures *f, struct value end, uint64_t head, uint64_t tail)
{
	struct value pipe = futures_value(f, "piper::Pipe", SHARED);

	futures_poke(f, end, "inner", COUNTS);
	futures_poke(f, pipe, "head", head);
	futures_poke(f, pipe, "tail", tail);
	futures_poke(f, pipe, "cap", 4096);
	return pipe;
}

static struct value pipe_slot(struct value pipe, const char *end)
{
	return futures_member(futures_member(pipe, end), "waker.value");
}

static void test_reader(void **state)
{
	struct futures f = open_smol();
	struct value v = futures_value(&f, "smol::Reads", FUTURES_ROOT);
	struct value end = futures_variant(&f, futures_member(v, "reader"), "Some");
	struct value pipe = pipe_of(&f, futures_member(end, "__0"), 5, 5);

	(void)state;
	smol_store_waker(&f, pipe_slot(pipe, "reader"), OWN);
	struct future *future = futures_decode_of(&f, v, OWN, false);
	if (future->problem)
		fail_msg("%s", future->problem);
	assert_string_equal(future->wait->kind, "duplex");
	assert_string_equal(future->wait->phrase,
	                    "pipe readable, 0 of 4096 bytes buffered, other end alive");
	assert_int_equal(future->wait->armed, WAKER_REGISTERED_YES);
	assert_int_equal(future->wait->object, pipe.addr);
	expect_detail(future, "buffered", 0);
	expect_detail(future, "capacity", 4096);
	expect_detail(future, "other_end_alive", true);
	futures_close(&f);
}

/* A full pipe: its tail is a whole capacity ahead, beyond the end of the count. */
static void test_writer(void **state)
{
	struct futures f = open_smol();
	struct value v = futures_value(&f, "smol::Writes", FUTURES_ROOT);
	struct value pipe = pipe_of(&f, futures_member(v, "writer"), 5000, 904);

	(void)state;
	futures_poke(&f, pipe, "closed", 1);
	smol_store_waker(&f, pipe_slot(pipe, "writer"), OWN);
	struct future *future = futures_decode_of(&f, v, OWN, false);
	assert_string_equal(future->wait->phrase,
	                    "pipe writable, 4096 of 4096 bytes buffered, other end dropped");
	assert_int_equal(future->wait->armed, WAKER_REGISTERED_YES);
	futures_close(&f);
}

static void test_bad_pipe(void **state)
{
	static const struct {
		uint64_t head, tail;
	} cases[] = { { 0, 4097 }, { 8193, 8193 }, { 0, UINT64_MAX } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct futures f = open_smol();
		struct value v = futures_value(&f, "smol::Writes", FUTURES_ROOT);
		struct value pipe =
			pipe_of(&f, futures_member(v, "writer"), cases[i].head, cases[i].tail);

		smol_store_waker(&f, pipe_slot(pipe, "writer"), OWN);
		futures_expect_problem(&f, v, "more bytes than room");
		futures_close(&f);
	}
}

/* ---- a leaf behind an Arc ---- */

/* A stream that has been read by a task with that waker, and is shared by two halves. */
static struct value shared_stream(struct futures *f, uint64_t waker)
{
	struct value v = futures_value(f, "smol::Halves", FUTURES_ROOT);
	struct value half = futures_value(f, "smol::ReadHalf", FUTURES_OTHER);
	struct value stream = futures_member(
		futures_value(f, "std::sync::poison::mutex::Mutex<smol::Stream>", SHARED),
		"data.value");
	struct value async = futures_value(f, "async_io::Async<smol::Socket>", ASYNC_COUNTS + 16);
	struct value source = futures_value(f, "async_io::reactor::Source", SOURCE_COUNTS + 16);
	struct value ready = futures_member(
		futures_variant(f, futures_member(stream, "readable"), "Some"), "__0.__0");
	struct value slots = futures_member(source, "state.data.value");
	struct value reading = { type_target(slots.type), slots.addr };
	struct value entry = futures_value(f, "async_io::reactor::Entry", ENTRIES);

	futures_poke(f, v, "reader", half.addr);
	futures_poke(f, half, "__0", COUNTS);
	futures_poke(f, stream, "inner", ASYNC_COUNTS);
	futures_poke(f, async, "source", SOURCE_COUNTS);
	futures_poke(f, source, "registration.raw", 9);
	futures_poke(f, ready, "handle", ASYNC_COUNTS);
	futures_poke(f, ready, "dir", 0);
	futures_poke(f, futures_variant(f, futures_member(ready, "index"), "Some"), "__0", 0);
	futures_poke(f, reading, "wakers.entries.buf.inner.ptr.pointer.pointer", ENTRIES);
	futures_poke(f, reading, "wakers.entries.buf.inner.cap", 1);
	futures_poke(f, reading, "wakers.entries.len", 1);
	futures_poke(f, reading, "wakers.len", 1);
	smol_store_waker(f, futures_member(futures_variant(f, entry, "Occupied"), "__0"), waker);
	return v;
}

/*
 * A half of io::split() has an Arc of the stream, which keeps the wait of its reader. The leaf
 * there tells more than where the task's waker is.
 */
static void test_shared_leaf(void **state)
{
	struct futures f = open_smol();
	struct value v = shared_stream(&f, OWN);

	(void)state;
	struct future *future = futures_decode_of(&f, v, OWN, false);
	if (future->wait)
		fail_msg("%s", future->wait->phrase);
	assert_int_equal(future->nchildren, 1);
	const struct future *leaf = future->children[0];
	assert_string_equal(leaf->edge, "waits");
	assert_string_equal(leaf->wait->kind, "io");
	assert_string_equal(leaf->wait->phrase, "Socket readable, fd 9");
	assert_int_equal(leaf->wait->armed, WAKER_REGISTERED_YES);
	futures_close(&f);
}

/* The other task's wait at the same stream is none of this one. */
static void test_shared_leaf_of_another(void **state)
{
	struct futures f = open_smol();
	struct value v = shared_stream(&f, THEIRS);

	(void)state;
	struct future *future = futures_decode_of(&f, v, OWN, false);
	assert_int_equal(future->nchildren, 0);
	assert_string_equal(future->wait->kind, "unknown");
	futures_close(&f);
}

/* ---- a waker beside a child ---- */

/*
 * The waker in a value that a known crate's generic type contains is the program's: no row of that
 * crate describes it. The one in the crate's own type is left to its rows.
 */
static void test_foreign_contents(void **state)
{
	struct futures f = open_smol();
	struct value v = futures_value(&f, "smol::Beside", FUTURES_ROOT);

	(void)state;
	smol_store_waker(&f, futures_member(v, "own.waker"), OWN);
	struct future *future = futures_decode_of(&f, v, OWN, false);
	assert_int_equal(future->nchildren, 1);
	smol_store_waker(&f, futures_member(v, "lock.data.value.stored"), OWN);
	future = futures_decode_of(&f, v, OWN, false);
	assert_int_equal(future->nchildren, 2);
	assert_string_equal(future->children[1]->wait->phrase, "its waker is in lock.stored");
	futures_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader),
		cmocka_unit_test(test_writer),
		cmocka_unit_test(test_bad_pipe),
		cmocka_unit_test(test_shared_leaf),
		cmocka_unit_test(test_shared_leaf_of_another),
		cmocka_unit_test(test_foreign_contents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
