/* Owners found in shared values, in sockets, and in the variables of coroutines. */
#include "runtimes/test/owned.h"

/* ---- shared values ---- */

/* Points an Arc or Rc to an address, with its counts there. Returns what it shares. */
static struct value share(struct owned *o, struct value arc, uint64_t addr, uint64_t strong,
                          uint64_t weak)
{
	struct value pointer = futures_member(arc, "ptr.pointer");
	struct value inner = { type_target(pointer.type), addr };
	const char *content = type_member(inner.type, "data") ? "data" : "value";

	write_word(o, pointer.addr, addr);
	futures_poke(&o->f, inner, "strong", strong);
	futures_poke(&o->f, inner, "weak", weak);
	return futures_member(inner, content);
}

static void expect_shared(struct owned *o, const char *name, uint64_t strong, uint64_t weak,
                          const char *expected)
{
	struct value arc = variable_of(o, name);

	pair_at(o, share(o, arc, HEAP, strong, weak).addr);
	expect_in(o, name, expected);
}

static void test_only_reference(void **state)
{
	struct owned o = owned_open();

	(void)state;
	expect_shared(&o, "shared", 1, 1, "std_mutex shared.first; std_mutex shared.second");
	expect_shared(&o, "counted", 1, 1, "std_mutex counted.first; std_mutex counted.second");
	expect_uncertain_in(&o, "shared", "std_mutex shared.first??; std_mutex shared.second??");
	/* The strong count is 0: the memory of the Arc was freed. */
	expect_shared(&o, "shared", 0, 1, "");
	owned_close(&o);
}

static void test_shared_with_others(void **state)
{
	struct owned o = owned_open();

	(void)state;
	expect_shared(
		&o, "shared", 2, 1,
		" | values shared through an alloc::sync::Arc<owned::Pair, alloc::alloc::Global>");
	expect_shared(
		&o, "shared", 1, 2,
		" | values reached through a Weak as well as an alloc::sync::Arc<owned::Pair, "
		"alloc::alloc::Global>");
	owned_close(&o);
}

/* How often a value is shared is noted only with what the Arc leads to. */
static void test_sharing(void **state)
{
	struct owned o = owned_open();
	struct value arc = variable_of(&o, "shared");
	struct value shared = share(&o, arc, HEAP, 1, 1);
	const struct found *f;

	(void)state;
	pair_at(&o, shared.addr);
	search_variable(&o, arc, "shared", false);
	f = &o.f.c->holdings->list.data[0];
	assert_int_equal(f->sharing.at, shared.addr);
	assert_int_equal(f->sharing.handle, arc.addr);
	assert_int_equal(f->sharing.strong, 1);
	assert_int_equal(f->sharing.weak, 1);
	take_findings(&o);
	pair_at(&o, variable_of(&o, "pair").addr);
	search_variable(&o, variable_of(&o, "pair"), "pair", false);
	assert_int_equal(o.f.c->holdings->list.data[0].sharing.at, 0);
	owned_close(&o);
}

/* A Notify belongs to everybody who shares it. */
static void test_shared_notify(void **state)
{
	struct owned o = owned_open();
	struct value arc = variable_of(&o, "shared_notify");

	(void)state;
	share(&o, arc, HEAP, 3, 2);
	search_variable(&o, arc, "shared_notify", false);
	assert_int_equal(o.f.c->holdings->list.n, 1);
	assert_int_equal(o.f.c->holdings->list.data[0].sharing.strong, 3);
	assert_int_equal(o.f.c->holdings->list.data[0].sharing.weak, 2);
	assert_string_equal(take_findings(&o), "notify shared_notify");
	o.f.c->want = WANT_DESCRIPTORS;
	expect_in(&o, "shared_notify", "");
	owned_close(&o);
}

/* ---- descriptors ---- */

/* Writes the number of a descriptor where a value has it. */
static void set_descriptor(struct owned *o, struct value v, int fd)
{
	while (type_kind(v.type) == TYPE_STRUCT) {
		const struct member *m = type_single_member(v.type);

		assert_non_null(m);
		v = (struct value){ m->type, v.addr + m->offset };
	}
	target_fake_poke(o->f.fixture.target, v.addr, &fd, sizeof(fd));
}

/* A socket has the name of the outermost value that is one. */
static void test_descriptor(void **state)
{
	struct owned o = owned_open();
	struct value stream = variable_of(&o, "socket.stream");

	(void)state;
	set_descriptor(&o, stream, 5);
	search_variable(&o, variable_of(&o, "socket"), "socket", false);
	assert_int_equal(o.f.c->holdings->list.n, 1);
	assert_int_equal(o.f.c->holdings->list.data[0].h.addr, stream.addr);
	assert_ptr_equal(o.f.c->holdings->list.data[0].type, stream.type);
	assert_string_equal(take_findings(&o), "io socket.stream #5");
	set_descriptor(&o, variable_of(&o, "file"), 6);
	expect_in(&o, "file", "io file #6");
	set_descriptor(&o, stream, -1);
	expect_in(&o, "socket", "");
	set_descriptor(&o, stream, 1 << 24);
	expect_in(&o, "socket", "io socket.stream #16777216");
	set_descriptor(&o, stream, (1 << 24) + 1);
	expect_in(&o, "socket", "");
	owned_close(&o);
}

/* Guards and descriptors are searched for apart. */
static void test_wants(void **state)
{
	struct owned o = owned_open();

	(void)state;
	guard_at(&o, variable_of(&o, "both.guard"));
	set_descriptor(&o, variable_of(&o, "both.stream"), 5);
	expect_in(&o, "both", "std_mutex both.guard; io both.stream #5");
	o.f.c->want = WANT_HOLDINGS;
	expect_in(&o, "both", "std_mutex both.guard");
	o.f.c->want = WANT_DESCRIPTORS;
	expect_in(&o, "both", "io both.stream #5");
	owned_close(&o);
}

/* Each owner of a shared socket has it, by a path of its own. Guards in there are nobody's. */
static void test_shared_descriptor(void **state)
{
	static const char expected[] =
		"io first.stream #5 shared; io second.stream #5 shared?? | values shared through "
		"an alloc::sync::Arc<owned::Both, alloc::alloc::Global>";
	struct owned o = owned_open();
	struct value arc = variable_of(&o, "shared_both"), both;

	(void)state;
	both = share(&o, arc, HEAP, 2, 1);
	guard_at(&o, futures_member(both, "guard"));
	set_descriptor(&o, futures_member(both, "stream"), 5);
	search_variable(&o, arc, "first", false);
	search_variable(&o, arc, "second", true);
	assert_string_equal(take_findings(&o), expected);
	owned_close(&o);
}

/* The findings of the first owner, wherever they are in the list, are those of the next. */
static void test_shared_list(void **state)
{
	struct owned o = owned_open();
	struct value arc = variable_of(&o, "shared_list"), list = share(&o, arc, HEAP, 2, 1);
	struct value stream = { must_find(&o.f.fixture, "std::net::tcp::TcpStream"), HEAP + 0x100 };

	(void)state;
	fill_list(&o, list, stream.addr, 2);
	set_descriptor(&o, stream, 5);
	stream.addr += type_size(stream.type);
	set_descriptor(&o, stream, 6);
	set_descriptor(&o, variable_of(&o, "file"), 7);
	search_variable(&o, variable_of(&o, "file"), "file", false);
	search_variable(&o, arc, "first", false);
	search_variable(&o, arc, "second", false);
	assert_string_equal(take_findings(&o),
	                    "io file #7; io first[0] #5 shared; io first[1] #6 shared; "
	                    "io second[0] #5 shared; io second[1] #6 shared");
	owned_close(&o);
}

/* A list that is full of findings gets no further owners of what is shared, and says so. */
static void test_too_many_owners(void **state)
{
	struct owned o = owned_open();
	struct value arc = variable_of(&o, "shared_socket");
	struct ownership_data *all;

	(void)state;
	set_descriptor(&o, futures_member(share(&o, arc, HEAP, 2, 1), "stream"), 5);
	search_variable(&o, arc, "first", false);
	all = o.f.c->holdings;
	while (all->list.n + 1 < 1 << 17)
		vec_push(&all->list)->gone = true;
	search_variable(&o, arc, "second", false);
	assert_int_equal(all->list.n, 1 << 17);
	assert_false(all->shared_cut);
	search_variable(&o, arc, "third", false);
	assert_int_equal(all->list.n, 1 << 17);
	assert_true(all->shared_cut);
	owned_close(&o);
}

/* An Arc with one owner and one Weak, which may be upgraded: the owner has the socket. */
static void test_descriptor_beside_weak(void **state)
{
	struct owned o = owned_open();
	struct value arc = variable_of(&o, "shared_socket");

	(void)state;
	set_descriptor(&o, futures_member(share(&o, arc, HEAP, 1, 2), "stream"), 5);
	expect_in(&o, "shared_socket", "io shared_socket.stream #5");
	share(&o, arc, HEAP, 2, 1);
	expect_in(&o, "shared_socket", "io shared_socket.stream #5 shared");
	owned_close(&o);
}

/* ---- lock futures ---- */

static void test_acquire(void **state)
{
	struct owned o = owned_open();
	struct value acquire = variable_of(&o, "acquire");

	(void)state;
	write_word(&o, futures_member(acquire, "semaphore").addr, HEAP);
	futures_poke(&o.f, acquire, "num_permits", 3);
	futures_poke(&o.f, acquire, "node.state", 1);
	futures_poke(&o.f, acquire, "queued", 1);
	search_variable(&o, acquire, "acquire", false);
	assert_int_equal(o.f.c->holdings->list.n, 1);
	assert_int_equal(o.f.c->holdings->list.data[0].h.permits, 2);
	assert_string_equal(take_findings(&o), "semaphore acquire");
	futures_poke(&o.f, acquire, "node.state", 3);
	expect_in(&o, "acquire", "");
	owned_close(&o);
}

/* ---- coroutines ---- */

enum { CALLS = FUTURES_OTHER + 0xa00, RECEIVER = FUTURES_OTHER + 0x800 };

/* A coroutine that is suspended, and the frame of its state. */
static struct value suspended(struct owned *o, const char *type, uint64_t addr, struct value *frame)
{
	struct value v = futures_value(&o->f, type, addr);

	*frame = futures_variant(&o->f, v, "Suspend0");
	return v;
}

static void suspend_keeps(struct owned *o, uint64_t addr)
{
	struct value frame;

	suspended(o, "owned::keeps::{async_fn_env#0}", addr, &frame);
	guard_at(o, futures_member(frame, "guard"));
	write_word(o, futures_member(frame, "__awaitee").addr, RECEIVER);
	write_word(o, RECEIVER, RECEIVER + 0x100);
}

static struct value suspend_calls(struct owned *o)
{
	struct value frame, v = suspended(o, "owned::calls::{async_fn_env#0}", CALLS, &frame);

	guard_at(o, futures_member(frame, "guard"));
	suspend_keeps(o, futures_member(frame, "__awaitee").addr);
	return v;
}

/* A coroutine in a variable, and its awaitee. */
static void test_coroutine(void **state)
{
	struct owned o = owned_open();
	struct value v = suspend_calls(&o);

	(void)state;
	search_variable(&o, v, "future", false);
	assert_string_equal(take_findings(&o), "std_mutex future.guard?; std_mutex future.guard?");
	owned_close(&o);
}

static void expect_in_tree(struct owned *o, struct value v, const char *expected)
{
	struct task task = { .id = "1", .root = futures_decode(&o->f, v) }, *tasks[] = { &task };

	o->f.c->out->tasks = tasks;
	o->f.c->out->ntasks = 1;
	ownership_search(o->f.c);
	o->f.c->out->tasks = NULL;
	o->f.c->out->ntasks = 0;
	assert_string_equal(take_findings(o), expected);
}

static void test_tree(void **state)
{
	struct owned o = owned_open();

	(void)state;
	expect_in_tree(&o, suspend_calls(&o), "std_mutex guard?; std_mutex guard?; oneshot -");
	owned_close(&o);
}

/* A future that is polled and that a variable holds, too, is searched once. */
static void test_frame_in_variable(void **state)
{
	struct owned o = owned_open();
	struct value frame, v = suspended(&o, "owned::pins::{async_fn_env#0}", CALLS, &frame);

	(void)state;
	suspend_keeps(&o, HEAP);
	write_word(&o, futures_member(frame, "kept").addr, HEAP);
	write_word(&o, futures_member(frame, "__awaitee").addr, HEAP);
	expect_in_tree(&o, v, "std_mutex guard?; oneshot -");
	owned_close(&o);
}

/* Variables that hold what they were initialised with: only a drop flag would say otherwise. */
static void test_own_variables(void **state)
{
	struct owned o = owned_open();
	struct value frame, v = suspended(&o, "owned::has::{async_fn_env#0}", CALLS, &frame);

	(void)state;
	o.f.fixture.dm->build.unwinds = true;
	guard_at(&o, futures_member(frame, "first"));
	guard_at(&o, futures_member(frame, "second"));
	search_variable(&o, v, "future", false);
	assert_string_equal(take_findings(&o), "std_mutex future.first; std_mutex future.second");
	search_variable(&o, v, "future", true);
	assert_string_equal(take_findings(&o), "std_mutex future.first?; std_mutex future.second?");
	owned_close(&o);
}

/* The variable at the end of a path, and that it may have been moved out, are of each finding. */
static void test_variable_of_finding(void **state)
{
	struct owned o = owned_open();
	struct value frame, v = suspended(&o, "owned::has::{async_fn_env#0}", CALLS, &frame);
	const struct found *f;

	(void)state;
	o.f.fixture.dm->build.unwinds = false; /* without unwinding a flag proves nothing */
	guard_at(&o, futures_member(frame, "first"));
	guard_at(&o, futures_member(frame, "second"));
	search_variable(&o, v, "future", false);
	assert_int_equal(o.f.c->holdings->list.n, 2);
	for (size_t i = 0; i < 2; i++) {
		f = &o.f.c->holdings->list.data[i];
		assert_non_null(f->variable);
		assert_string_equal(f->variable->name, i ? "second" : "first");
		assert_int_equal(f->within.addr, f->h.addr);
		assert_true(f->by_move && f->h.uncertain);
		assert_false(f->trace);
	}
	take_findings(&o);
	owned_close(&o);
}

/* A value that the awaitee borrows cannot have been moved out. */
static void test_borrowed_variable(void **state)
{
	struct owned o = owned_open();
	struct value frame, v = suspended(&o, "owned::lends::{async_fn_env#0}", CALLS, &frame);
	struct value guard = futures_member(frame, "guard"), awaitee, inner;

	(void)state;
	guard_at(&o, guard);
	awaitee = suspended(&o, "owned::uses::{async_fn_env#0}",
	                    futures_member(frame, "__awaitee").addr, &inner);
	assert_int_equal(awaitee.addr, futures_member(frame, "__awaitee").addr);
	search_variable(&o, v, "future", false);
	assert_string_equal(take_findings(&o), "std_mutex future.guard?");
	inner.type = type_variant(awaitee.type, "Unresumed")->payload;
	write_word(&o, futures_member(inner, "guard").addr, guard.addr);
	search_variable(&o, v, "future", false);
	assert_string_equal(take_findings(&o), "std_mutex future.guard");
	owned_close(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_reference),
		cmocka_unit_test(test_shared_with_others),
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_shared_notify),
		cmocka_unit_test(test_descriptor),
		cmocka_unit_test(test_wants),
		cmocka_unit_test(test_shared_descriptor),
		cmocka_unit_test(test_shared_list),
		cmocka_unit_test(test_too_many_owners),
		cmocka_unit_test(test_descriptor_beside_weak),
		cmocka_unit_test(test_acquire),
		cmocka_unit_test(test_coroutine),
		cmocka_unit_test(test_own_variables),
		cmocka_unit_test(test_variable_of_finding),
		cmocka_unit_test(test_borrowed_variable),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_frame_in_variable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
