/* How far a future is searched for what it polls, and that its problem names a limit that was
 * reached. */
#include "runtimes/future/leaf.h"
#include "runtimes/test/futures.h"

enum { WAKER = FUTURES_OTHER + 0xf00, QUEUE = FUTURES_OTHER + 0x800, NODES = FUTURES_ROOT + 0x200 };

static struct futures open_walks(void)
{
	return futures_open_file("testdata/unit/walks.elf");
}

/* A VecDeque whose n elements are at an address. */
static void fill(struct futures *f, struct value deque, uint64_t addr, uint64_t n)
{
	futures_poke(f, deque, "buf.inner.ptr.pointer.pointer", addr);
	futures_poke(f, deque, "buf.inner.cap.__0", n);
	futures_poke(f, deque, "len", n);
}

/* n receivers at FUTURES_OTHER, each of a channel of its own. */
static void fill_receivers(struct futures *f, struct value deque, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t inner = FUTURES_OTHER + 0x100 + 0x40 * i;

		target_fake_poke(f->fixture.target, FUTURES_OTHER + 8 * i, &inner, 8);
	}
	fill(f, deque, FUTURES_OTHER, n);
}

static void test_futures_beside(void **state)
{
	struct futures f = open_walks();
	struct value v = futures_value(&f, "walks::Beside", FUTURES_ROOT);

	(void)state;
	futures_poke(&f, v, "own.inner", FUTURES_OTHER + 0x700);
	fill_receivers(&f, futures_member(v, "others"), 20);
	const struct future *future = futures_decode(&f, v);
	assert_null(future->problem);
	assert_int_equal(future->nchildren, 21);
	futures_close(&f);
}

static void test_futures_inside(void **state)
{
	struct futures f = open_walks();
	struct value v = futures_value(&f, "walks::Inside", FUTURES_ROOT);

	(void)state;
	fill_receivers(&f, futures_member(v, "others"), 20);
	const struct future *future = futures_decode(&f, v);
	assert_null(future->problem);
	assert_int_equal(future->nchildren, 20);
	futures_close(&f);
}

static void test_wakers(void **state)
{
	struct futures f = open_walks();
	struct value v = futures_value(&f, "walks::Wakers", FUTURES_ROOT);
	const uint64_t words[2] = { WAKER, WAKER };

	(void)state;
	for (uint64_t i = 0; i < 20; i++)
		target_fake_poke(f.fixture.target, FUTURES_OTHER + 16 * i, words, sizeof(words));
	fill(&f, futures_member(v, "list"), FUTURES_OTHER, 20);
	const struct future *future = futures_decode_of(&f, v, WAKER, false);
	assert_int_equal(futures_detail(future, "wakers")->nlist, 20);
	futures_close(&f);
}

/* A channel whose receiver waits with the waker, and its end at an address. */
static void make_queue(struct futures *f, uint64_t chan, uint64_t end)
{
	struct value v = futures_value(f, "tokio::sync::mpsc::chan::Chan", chan);
	struct value waker = futures_member(v, "rx_waker");
	const uint64_t words[2] = { WAKER, WAKER };

	target_fake_poke(f->fixture.target, waker.addr, words, sizeof(words));
	target_fake_poke(f->fixture.target, end, &chan, 8);
}

static void test_resources(void **state)
{
	struct futures f = open_walks();
	struct value v = futures_value(&f, "walks::Queues", FUTURES_ROOT);

	(void)state;
	for (uint64_t i = 0; i < 40; i++)
		make_queue(&f, QUEUE, FUTURES_OTHER + 8 * i);
	fill(&f, futures_member(v, "list"), FUTURES_OTHER, 40);
	const struct future *future = futures_decode_of(&f, v, WAKER, false);
	assert_int_equal(future->nchildren, 40);
	futures_close(&f);
}

/* A poll_fn of which the ninth capture is a queue. */
static void test_captures(void **state)
{
	struct futures f = open_walks();
	struct value v = futures_value(&f, "walks::captures::{async_fn_env#0}", FUTURES_ROOT);
	struct value poll_fn = futures_member(futures_variant(&f, v, "Suspend0"), "__awaitee");
	const struct member *closure = type_single_member(poll_fn.type);
	struct value c = { closure->type, poll_fn.addr + closure->offset };

	(void)state;
	futures_poke(&f, c, "own", FUTURES_OTHER);
	futures_poke(&f, c, "queue", FUTURES_OTHER + 8);
	futures_poke(&f,
	             (struct value){ must_find(&f.fixture, "tokio::sync::oneshot::Receiver"),
	                             FUTURES_OTHER },
	             "inner", FUTURES_OTHER + 0x100);
	make_queue(&f, QUEUE, FUTURES_OTHER + 8);
	const struct future *future = futures_decode_of(&f, v, WAKER, false);
	assert_int_equal(future->nchildren, 1);
	future = future->children[0];
	assert_int_equal(future->nchildren, 2);
	assert_string_equal(future->children[1]->wait->kind, "mpsc_recv");
	futures_close(&f);
}

/* A resource behind a hundred pointers is found. */
static void test_depth(void **state)
{
	struct futures f = open_walks();
	struct value v = futures_value(&f, "walks::Chain", FUTURES_ROOT);
	struct value node = futures_member(v, "first");

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t next = i < 60 ? NODES + 0x30 * i : 0;

		target_fake_poke(f.fixture.target, futures_member(node, "next").addr, &next, 8);
		if (next)
			node.addr = next;
	}
	fill_receivers(&f, futures_member(node, "others"), 1);
	const struct future *future = futures_decode(&f, v);
	assert_int_equal(future->nchildren, 1);
	futures_close(&f);
}

/* A limit that is reached makes a problem, and the answer is not complete. */
static void test_limit(void **state)
{
	struct futures f = open_walks();
	struct value v = futures_value(&f, "walks::Flags", FUTURES_ROOT);
	struct value list = futures_member(v, "list");

	(void)state;
	futures_poke(&f, v, "own.inner", FUTURES_OTHER);
	futures_poke(&f, list, "buf.inner.ptr.pointer.pointer", FUTURES_OTHER);
	futures_poke(&f, list, "len", 300);
	assert_null(futures_decode(&f, v)->problem);
	assert_true(f.c->out->complete);
	futures_poke(&f, list, "len", 600);
	futures_expect_problem(&f, v, "it leads to more values than were searched");
	assert_false(f.c->out->complete);
	futures_close(&f);
}

/* Puts the Mutex<T> that v shares by an Arc at an address. Returns the T. */
static struct value shared_at(struct futures *f, struct value v, uint64_t addr)
{
	struct value pointer = futures_member(v, "shared.ptr.pointer");

	futures_poke(f, v, "own.inner", FUTURES_OTHER + 0x700);
	target_fake_poke(f->fixture.target, pointer.addr, &addr, 8);
	return futures_member((struct value){ type_target(pointer.type), addr }, "data.data.value");
}

/* A Vec that is shared, of so many elements that none of them is set. */
static struct value sharing_many(struct futures *f, const char *element, uint64_t n)
{
	enum { ELEMENTS = 0x8000000 };
	static const char zeros[0x8000];
	char type[200];

	snprintf(type, sizeof(type),
	         "walks::Sharing<alloc::vec::Vec<core::option::Option<%s>, alloc::alloc::Global>>",
	         element);
	struct value v = futures_value(f, type, FUTURES_ROOT);
	struct value list = shared_at(f, v, FUTURES_OTHER);
	target_fake_map(f->fixture.target, ELEMENTS, zeros, sizeof(zeros));
	futures_poke(f, list, "buf.inner.ptr.pointer.pointer", ELEMENTS);
	futures_poke(f, list, "buf.inner.cap.__0", n);
	futures_poke(f, list, "len", n);
	return v;
}

/* A shared value that the walk leaves out may be one that the task polls. */
static void test_limit_shared(void **state)
{
	struct futures f = open_walks();
	struct value v = sharing_many(&f, "tokio::sync::oneshot::Receiver", 300);

	(void)state;
	assert_null(futures_decode(&f, v)->problem);
	assert_true(f.c->out->complete);
	v = sharing_many(&f, "tokio::sync::oneshot::Receiver", 2000);
	futures_expect_problem(&f, v, "it leads to more values than were searched");
	assert_false(f.c->out->complete);
	futures_close(&f);
}

/* A shared value whose type leads to no future leaves the answer complete. */
static void test_limit_shared_numbers(void **state)
{
	struct futures f = open_walks();
	struct value v = sharing_many(&f, "bool", 2000);

	(void)state;
	assert_null(futures_decode(&f, v)->problem);
	assert_true(f.c->out->complete);
	futures_close(&f);
}

/* An object that no debug info describes is shared: it may be polled. */
static void test_shared_object(void **state)
{
	struct futures f = open_walks();
	struct value v = futures_value(&f, "walks::Erased", FUTURES_ROOT);
	const uint64_t vtable[3] = { 0, 8, 8 }; /* size and alignment */

	(void)state;
	target_fake_poke(f.fixture.target, FUTURES_OTHER + 0x100, vtable, sizeof(vtable));
	futures_poke(&f, v, "own.inner", FUTURES_OTHER + 0x700);
	futures_poke(&f, v, "object.ptr.pointer.pointer", FUTURES_OTHER);
	futures_poke(&f, v, "object.ptr.pointer.vtable", FUTURES_OTHER + 0x100);
	futures_expect_problem(&f, v, "it may poll more futures: no debug info says what is in");
	assert_false(f.c->out->complete);
	futures_close(&f);
}

/* An object that a closure has captured and no debug info describes is reported. */
static void test_captured_object(void **state)
{
	struct futures f = open_walks();
	struct value v =
		futures_value(&f, "walks::captures_object::{async_fn_env#0}", FUTURES_ROOT);
	struct value poll_fn = futures_member(futures_variant(&f, v, "Suspend0"), "__awaitee");
	const struct member *closure = type_single_member(poll_fn.type);
	struct value c = { closure->type, poll_fn.addr + closure->offset };
	const uint64_t vtable[3] = { 0, 8, 8 }; /* size and alignment */

	(void)state;
	target_fake_poke(f.fixture.target, FUTURES_OTHER + 0x100, vtable, sizeof(vtable));
	futures_poke(&f, c, "own", FUTURES_OTHER + 0x200);
	futures_poke(&f, c, "object.ptr.pointer.pointer", FUTURES_OTHER);
	futures_poke(&f, c, "object.ptr.pointer.vtable", FUTURES_OTHER + 0x100);
	const struct future *future = futures_decode(&f, v);
	assert_non_null(future->children[0]->problem);
	assert_non_null(strstr(future->children[0]->problem, "no debug info says what is in"));
	futures_close(&f);
}

/* Others can poll the futures of an object that is shared: none of them has the waker of this task.
 */
static void test_shared_object_owns_nothing(void **state)
{
	static const char name[] = "<walks::Beside as walks::Source>::{vtable}";
	struct futures f = open_walks();
	struct value v = futures_value(&f, "walks::Erased", FUTURES_ROOT);
	uint64_t vtable[4] = { 0, 0, 8 };
	const uint64_t addr = futures_address_of(&f, name);

	(void)state;
	vtable[1] = type_size(must_find(&f.fixture, "walks::Beside"));
	target_fake_map(f.fixture.target, addr, vtable, sizeof(vtable));
	futures_poke(&f, v, "own.inner", FUTURES_OTHER + 0x700);
	futures_poke(&f, v, "object.ptr.pointer.pointer", FUTURES_OTHER);
	futures_poke(&f, v, "object.ptr.pointer.vtable", addr);
	const struct future *future = futures_decode(&f, v);
	assert_null(future->problem);
	assert_int_equal(future->nchildren, 1);
	futures_close(&f);
}

/* A leaf beside the future's own is polled by this task if it has the task's waker. */
static void test_shared_leaf(void **state)
{
	struct futures f = open_walks();
	struct value v = sharing_many(&f, "tokio::sync::oneshot::Receiver", 1);
	struct value inner =
		futures_value(&f, "tokio::sync::oneshot::Inner", FUTURES_OTHER + 0x200);
	struct value waker = futures_member(inner, "rx_task");
	const uint64_t words[2] = { WAKER, WAKER };
	const struct future *future;

	(void)state;
	struct value element = { must_find(&f.fixture,
		                           "core::option::Option<tokio::sync::oneshot::Receiver>"),
		                 0x8000000 };
	futures_poke(&f, futures_variant(&f, element, "Some"), "__0.inner", inner.addr);
	future = futures_decode_of(&f, v, WAKER, false);
	assert_int_equal(future->nchildren, 1);
	futures_poke(&f, inner, "state", 1); /* its waker is set */
	target_fake_poke(f.fixture.target, waker.addr, words, sizeof(words));
	future = futures_decode_of(&f, v, WAKER, false);
	assert_int_equal(future->nchildren, 2);
	assert_string_equal(future->children[1]->edge, "waits");
	assert_string_equal(future->children[1]->wait->kind, "oneshot");
	assert_true(f.c->out->complete);
	futures_close(&f);
}

/* The last of a slice that is borrowed. */
static void test_shared_slice(void **state)
{
	struct futures f = open_walks();
	struct value v = futures_value(&f, "walks::Sharing<&[tokio::sync::oneshot::Receiver]>",
	                               FUTURES_ROOT);
	struct value inner =
		futures_value(&f, "tokio::sync::oneshot::Inner", FUTURES_OTHER + 0x200);
	struct value waker = futures_member(inner, "rx_task");
	struct value slice = shared_at(&f, v, FUTURES_OTHER);
	const uint64_t words[2] = { WAKER, WAKER };

	(void)state;
	futures_poke(&f, slice, "data_ptr", FUTURES_OTHER + 0x100);
	futures_poke(&f, slice, "length", 3);
	target_fake_poke(f.fixture.target, FUTURES_OTHER + 0x100 + 2 * 8, &inner.addr, 8);
	futures_poke(&f, inner, "state", 1);
	target_fake_poke(f.fixture.target, waker.addr, words, sizeof(words));
	const struct future *future = futures_decode_of(&f, v, WAKER, false);
	assert_int_equal(future->nchildren, 2);
	assert_string_equal(future->children[1]->edge, "waits");
	futures_close(&f);
}

/* An async fn behind an Arc is a child once it waits with the waker of the task. */
static void test_shared_coroutine(void **state)
{
	struct futures f = open_walks();
	struct value v = futures_value(&f, "walks::Sharing<walks::receives::{async_fn_env#0}>",
	                               FUTURES_ROOT);
	struct value inner =
		futures_value(&f, "tokio::sync::oneshot::Inner", FUTURES_OTHER + 0x200);
	struct value waker = futures_member(inner, "rx_task");
	const uint64_t words[2] = { WAKER, WAKER }, receiver = FUTURES_OTHER + 0x100;
	struct value frame;

	(void)state;
	frame = futures_variant(&f, shared_at(&f, v, FUTURES_OTHER), "Suspend0");
	futures_poke(&f, frame, "__awaitee", receiver);
	target_fake_poke(f.fixture.target, receiver, &inner.addr, 8);
	assert_int_equal(futures_decode_of(&f, v, WAKER, false)->nchildren, 1);
	futures_poke(&f, inner, "state", 1);
	target_fake_poke(f.fixture.target, waker.addr, words, sizeof(words));
	const struct future *future = futures_decode_of(&f, v, WAKER, false);
	assert_int_equal(future->nchildren, 2);
	assert_string_equal(future->children[1]->edge, "waits");
	assert_string_equal(future->children[1]->function, "walks::receives");
	futures_close(&f);
}

static struct value suspended(struct futures *f, const char *type, uint64_t addr,
                              struct value *frame)
{
	struct value v = futures_value(f, type, addr);

	*frame = futures_variant(f, v, "Suspend0");
	return v;
}

/* The awaitee is a reference to a receiver at FUTURES_OTHER. */
static struct value suspended_holds(struct futures *f, struct value *frame)
{
	struct value v = suspended(f, "walks::holds::{async_fn_env#0}", FUTURES_ROOT, frame);
	uint64_t inner = FUTURES_OTHER + 0x100;

	futures_poke(f, *frame, "__awaitee", FUTURES_OTHER);
	target_fake_poke(f->fixture.target, FUTURES_OTHER, &inner, 8);
	return v;
}

static void test_held_in_many_structs(void **state)
{
	struct futures f = open_walks();
	struct value frame, v = suspended_holds(&f, &frame);

	(void)state;
	const struct future *future = futures_decode(&f, v);
	assert_null(future->problem);
	assert_int_equal(future->nchildren, 2);
	assert_string_equal(future->children[1]->variable, "stack");
	assert_string_equal(future->children[1]->type, "walks::Inside");
	futures_close(&f);
}

/* None of the elements that are searched is a future: others may be. */
static void test_held_by_later_elements(void **state)
{
	enum { SLOTS = 0x8000000, NSLOTS = 2000, SLOT_SIZE = 32 };
	static uint64_t none[NSLOTS * SLOT_SIZE / 8];
	struct futures f = open_walks();
	struct value frame, v = suspended_holds(&f, &frame);
	struct value slots = futures_member(frame, "slots");

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		none[i] = UINT64_C(1) << 63; /* a capacity that no VecDeque has */
	target_fake_map(f.fixture.target, SLOTS, (const char *)none, sizeof(none));
	futures_poke(&f, slots, "buf.inner.ptr.pointer.pointer", SLOTS);
	futures_poke(&f, slots, "buf.inner.cap.__0", NSLOTS);
	futures_poke(&f, slots, "len", 1000);
	assert_null(futures_decode(&f, v)->problem);
	futures_poke(&f, slots, "len", NSLOTS);
	futures_expect_problem(&f, v, "it may hold more futures");
	futures_close(&f);
}

/* Where the awaitee refers to too many places, what a variable holds is shown, and doubted. */
static void test_many_references(void **state)
{
	enum { FRAME = 0x8000000, FRAME_SIZE = 0x8000 };
	static const char zeros[FRAME_SIZE];
	struct futures f = open_walks();
	struct value frame, v;

	(void)state;
	target_fake_map(f.fixture.target, FRAME, zeros, sizeof(zeros));
	v = suspended(&f, "walks::refers::{async_fn_env#0}", FRAME, &frame);
	struct value list = futures_member(frame, "__awaitee.list");
	for (uint64_t i = 0; i < 1100; i++) {
		uint64_t word = list.addr + 8 * i;

		target_fake_poke(f.fixture.target, list.addr + 8 * i, &word, 8);
	}
	const struct future *future = futures_decode(&f, v);
	assert_int_equal(future->nchildren, 2);
	assert_string_equal(future->children[1]->variable, "held");
	assert_non_null(strstr(future->children[1]->note,
	                       "may be polled by code that asyncdbg cannot see"));
	futures_close(&f);
}

/* The phrase of a wait is as long as what it names, such as the path of a request. */
static void test_long_phrase(void **state)
{
	struct futures f = open_walks();
	struct decoder d = { .c = f.c };
	struct wait w = { 0 };
	const struct leaf l = { .d = &d, .w = &w };
	char path[2000];

	(void)state;
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	wait_phrase(&l, "GET %s", path);
	assert_int_equal(strlen(w.phrase), strlen("GET ") + strlen(path));
	wait_words(&l, "GET ", path, "!", NULL);
	assert_int_equal(strlen(w.phrase), strlen("GET ") + strlen(path) + 1);
	assert_int_equal(w.phrase[strlen(w.phrase) - 1], '!');
	futures_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_futures_beside),
		cmocka_unit_test(test_futures_inside),
		cmocka_unit_test(test_wakers),
		cmocka_unit_test(test_resources),
		cmocka_unit_test(test_captures),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_limit_shared),
		cmocka_unit_test(test_limit_shared_numbers),
		cmocka_unit_test(test_shared_object),
		cmocka_unit_test(test_captured_object),
		cmocka_unit_test(test_shared_object_owns_nothing),
		cmocka_unit_test(test_shared_leaf),
		cmocka_unit_test(test_shared_slice),
		cmocka_unit_test(test_shared_coroutine),
		cmocka_unit_test(test_held_in_many_structs),
		cmocka_unit_test(test_held_by_later_elements),
		cmocka_unit_test(test_many_references),
		cmocka_unit_test(test_long_phrase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
