/* Tests of the search of a variable for guards: the path to each, and what is left out. */
#include "runtimes/ownership/ownership_walk.h"
#include "runtimes/test/owned.h"

/* ---- members and variants ---- */

static void test_members(void **state)
{
	struct owned o = owned_open();
	struct value second = variable_of(&o, "pair.second");

	(void)state;
	pair_at(&o, variable_of(&o, "pair").addr);
	search_variable(&o, variable_of(&o, "pair"), "pair", false);
	assert_int_equal(o.f.c->holdings->list.n, 2);
	const struct found *f = &o.f.c->holdings->list.data[1];
	assert_int_equal(f->h.addr, second.addr);
	assert_int_equal(f->h.primitive, LOCK);
	assert_ptr_equal(f->type, second.type);
	assert_int_equal(f->h.role, HOLDING_LOCK);
	assert_string_equal(take_findings(&o), "std_mutex pair.first; std_mutex pair.second");
	expect_uncertain_in(&o, "pair", "std_mutex pair.first?; std_mutex pair.second?");
	owned_close(&o);
}

/* A member of a tuple has a number. */
static void test_tuple(void **state)
{
	struct owned o = owned_open();

	(void)state;
	guard_at(&o, variable_of(&o, "tuple.__0"));
	expect_in(&o, "tuple", "std_mutex tuple.0");
	guard_at(&o, variable_of(&o, "named.__kept"));
	expect_in(&o, "named", "std_mutex named.__kept");
	owned_close(&o);
}

/* A guard that refers to nothing is an error where it is certain, and stale bytes where it is not.
 */
static void test_no_guard(void **state)
{
	struct owned o = owned_open();

	(void)state;
	guard_at(&o, variable_of(&o, "pair.second"));
	search_variable(&o, variable_of(&o, "pair"), "pair", false);
	const char *text = take_findings(&o);
	assert_non_null(strstr(text, "std_mutex pair.second | pair.first: "));
	assert_non_null(strstr(text, "MutexGuard"));
	assert_non_null(strstr(text, " in a stack frame: "));
	assert_non_null(strstr(text, " refers to nothing"));
	expect_uncertain_in(&o, "pair", "std_mutex pair.second?");
	owned_close(&o);
}

static void test_variants(void **state)
{
	struct owned o = owned_open();
	struct value place = variable_of(&o, "place"), held;

	(void)state;
	futures_variant(&o.f, place, "Empty");
	expect_in(&o, "place", "");
	held = futures_variant(&o.f, place, "Held");
	guard_at(&o, futures_member(held, "__1"));
	expect_in(&o, "place", "std_mutex place.1");
	held = futures_variant(&o.f, place, "Named");
	guard_at(&o, futures_member(held, "guard"));
	expect_in(&o, "place", "std_mutex place.guard");
	owned_close(&o);
}

/* Bytes that are no variant: an error, or nothing. */
static void test_no_variant(void **state)
{
	struct owned o = owned_open();
	struct value place = variable_of(&o, "place");
	const struct member *discr = type_discr(place.type);

	(void)state;
	write_word(&o, place.addr + discr->offset, 77);
	search_variable(&o, place, "place", false);
	assert_non_null(strstr(take_findings(&o), "| place: owned::Place in a stack frame: "));
	expect_uncertain_in(&o, "place", "");
	owned_close(&o);
}

static void test_union(void **state)
{
	struct owned o = owned_open();

	(void)state;
	guard_at(&o, variable_of(&o, "hidden"));
	expect_in(&o, "hidden", " | what is in a owned::Hidden<" GUARD ">");
	owned_close(&o);
}

/* ---- elements ---- */

static void test_array(void **state)
{
	struct owned o = owned_open();

	(void)state;
	guards_at(&o, variable_of(&o, "array").addr, 3);
	expect_in(&o, "array", "std_mutex array[0]; std_mutex array[1]; std_mutex array[2]");
	owned_close(&o);
}

/* The first and last of three Options are set. */
static void test_list(void **state)
{
	struct owned o = owned_open();
	struct value list = variable_of(&o, "list");

	(void)state;
	fill_list(&o, list, HEAP, 3);
	guards_at(&o, HEAP, 1);
	none_at(&o, HEAP + guard_size(&o));
	guards_at(&o, HEAP + 2 * guard_size(&o), 1);
	expect_in(&o, "list", "std_mutex list[0]; std_mutex list[2]");
	/* A value behind an uncertain variable may be of somebody else: it is only a trace. */
	expect_uncertain_in(&o, "list", "std_mutex list[0]??; std_mutex list[2]??");
	fill_list(&o, list, HEAP, 2);
	expect_in(&o, "list", "std_mutex list[0]");
	owned_close(&o);
}

static void test_list_that_cannot_be_read(void **state)
{
	struct owned o = owned_open();

	(void)state;
	fill_list(&o, variable_of(&o, "list"), FUTURES_HOLE, 1);
	search_variable(&o, variable_of(&o, "list"), "list", false);
	assert_non_null(strstr(take_findings(&o), " | list[0]: core::option::Option<"));
	expect_uncertain_in(&o, "list", "");
	owned_close(&o);
}

/* Numbers own nothing, and are not read. */
static void test_numbers(void **state)
{
	struct owned o = owned_open();

	(void)state;
	fill_list(&o, variable_of(&o, "numbers"), FUTURES_HOLE, 1000);
	expect_in(&o, "numbers", "");
	assert_int_equal(o.f.c->holdings->visited, 0);
	owned_close(&o);
}

static void test_slices(void **state)
{
	struct owned o = owned_open();

	(void)state;
	guards_at(&o, HEAP, 2);
	futures_poke(&o.f, variable_of(&o, "slice"), "data_ptr", HEAP);
	futures_poke(&o.f, variable_of(&o, "slice"), "length", 2);
	futures_poke(&o.f, variable_of(&o, "borrowed_slice"), "data_ptr", HEAP);
	futures_poke(&o.f, variable_of(&o, "borrowed_slice"), "length", 2);
	expect_in(&o, "slice", "std_mutex slice[0]; std_mutex slice[1]");
	expect_in(&o, "borrowed_slice", "");
	owned_close(&o);
}

/* As many elements as are searched, and one more. */
static void test_many_elements(void **state)
{
	static uint64_t words[2 * (OWNERSHIP_MAX_ELEMENTS + 1)];
	struct owned o = owned_open();
	const uint64_t size = guard_size(&o);

	(void)state;
	assert_true(sizeof(words) >= (OWNERSHIP_MAX_ELEMENTS + 1) * size);
	target_fake_map(o.f.fixture.target, LARGE, (const char *)words, sizeof(words));
	for (uint64_t i = 0; i + 1 < OWNERSHIP_MAX_ELEMENTS; i++)
		none_at(&o, LARGE + i * size);
	guards_at(&o, LARGE + (OWNERSHIP_MAX_ELEMENTS - 1) * size, 2);
	fill_list(&o, variable_of(&o, "list"), LARGE, OWNERSHIP_MAX_ELEMENTS);
	expect_in(&o, "list", "std_mutex list[16383]");
	fill_list(&o, variable_of(&o, "list"), LARGE, OWNERSHIP_MAX_ELEMENTS + 1);
	search_variable(&o, variable_of(&o, "list"), "list", false);
	const char *text = take_findings(&o);
	assert_true(str_begins(text, "std_mutex list[16383] | all but the first 16384 of 16385 "
	                             "elements of core::option::Option<"));
	owned_close(&o);
}

/* ---- collections that are no slices ---- */

static void fill_deque(struct owned *o, uint64_t head, uint64_t len)
{
	struct value deque = variable_of(o, "deque");

	futures_poke(&o->f, deque, "buf.inner.ptr.pointer.pointer", HEAP);
	futures_poke(&o->f, deque, "buf.inner.cap.__0", 3);
	futures_poke(&o->f, deque, "head", head);
	futures_poke(&o->f, deque, "len", len);
}

static void test_deque(void **state)
{
	struct owned o = owned_open();

	(void)state;
	guards_at(&o, HEAP, 1);
	guards_at(&o, HEAP + 2 * guard_size(&o), 1);
	fill_deque(&o, 2, 2);
	expect_in(&o, "deque", "std_mutex deque[0]; std_mutex deque[1]");
	fill_deque(&o, 2, 4); /* more than it has room for */
	search_variable(&o, variable_of(&o, "deque"), "deque", false);
	assert_non_null(strstr(take_findings(&o), " | deque: alloc::collections::vec_deque::"));
	expect_uncertain_in(&o, "deque", "");
	owned_close(&o);
}

static void test_many_entries(void **state)
{
	static char guards[(OWNERSHIP_MAX_ELEMENTS + 1) * 16];
	struct owned o = owned_open();
	struct value deque = variable_of(&o, "deque");
	const char *text;

	(void)state;
	assert_int_equal(guard_size(&o), 16);
	target_fake_map(o.f.fixture.target, LARGE, guards, sizeof(guards));
	guards_at(&o, LARGE, OWNERSHIP_MAX_ELEMENTS + 1);
	futures_poke(&o.f, deque, "buf.inner.ptr.pointer.pointer", LARGE);
	futures_poke(&o.f, deque, "buf.inner.cap.__0", OWNERSHIP_MAX_ELEMENTS + 1);
	futures_poke(&o.f, deque, "len", OWNERSHIP_MAX_ELEMENTS + 1);
	search_variable(&o, deque, "deque", false);
	assert_int_equal(o.f.c->holdings->list.n, OWNERSHIP_MAX_ELEMENTS);
	text = take_findings(&o);
	assert_non_null(strstr(text, " | all but the first 16384 of 16385 entries of alloc::"));
	search_variable(&o, deque, "deque", true);
	assert_int_equal(o.f.c->holdings->list.n, OWNERSHIP_MAX_ELEMENTS);
	assert_null(strstr(take_findings(&o), "all but"));
	futures_poke(&o.f, deque, "len", OWNERSHIP_MAX_ELEMENTS);
	search_variable(&o, deque, "deque", false);
	assert_null(strstr(take_findings(&o), "all but"));
	owned_close(&o);
}

/* ---- pointers ---- */

static void test_box(void **state)
{
	struct owned o = owned_open();
	struct value boxed = variable_of(&o, "boxed");

	(void)state;
	pair_at(&o, HEAP);
	expect_in(&o, "boxed", "");
	write_word(&o, boxed.addr, HEAP);
	expect_in(&o, "boxed", "std_mutex boxed.first; std_mutex boxed.second");
	expect_uncertain_in(&o, "boxed", "std_mutex boxed.first??; std_mutex boxed.second??");
	owned_close(&o);
}

/* An uncertain value is a trace where it is not in the variable itself: from its first byte on. */
static void test_traces(void **state)
{
	struct owned o = owned_open();
	struct value boxed = variable_of(&o, "boxed");
	struct value guard = { must_find(&o.f.fixture, GUARD), variable_of(&o, "array").addr };
	uint64_t pair;

	(void)state;
	guard_at(&o, guard);
	search_variable(&o, guard, "guard", true);
	assert_string_equal(take_findings(&o), "std_mutex guard?");
	/* The first guard is at the first byte behind the pointer. */
	boxed.addr = HEAP;
	pair = HEAP + 8 - type_member(must_find(&o.f.fixture, "owned::Pair"), "first")->offset;
	pair_at(&o, pair);
	write_word(&o, boxed.addr, pair);
	search_variable(&o, boxed, "boxed", true);
	assert_string_equal(take_findings(&o), "std_mutex boxed.first??; std_mutex boxed.second??");
	owned_close(&o);
}

static void test_reference(void **state)
{
	struct owned o = owned_open();

	(void)state;
	pair_at(&o, HEAP);
	write_word(&o, variable_of(&o, "borrowed").addr, HEAP);
	expect_in(&o, "borrowed", "");
	owned_close(&o);
}

/* A reference to a Notify counts as one that can wake; descriptors alone do not lead there. */
static void test_reference_to_notify(void **state)
{
	struct owned o = owned_open();
	struct value notify = variable_of(&o, "notify");

	(void)state;
	expect_in(&o, "notify", "");
	write_word(&o, notify.addr, HEAP);
	expect_in(&o, "notify", "notify notify");
	o.f.c->want = WANT_DESCRIPTORS;
	expect_in(&o, "notify", "");
	owned_close(&o);
}

/* A chain of boxes is followed to a depth, and no further. */
static void test_chain(void **state)
{
	enum { LINKS = 100 };
	static const char zeros[0x4000];
	struct owned o = owned_open();
	struct value node = variable_of(&o, "chain");

	(void)state;
	target_fake_map(o.f.fixture.target, LARGE, zeros, sizeof(zeros));
	guard_at(&o, futures_member(node, "guard"));
	expect_in(&o, "chain", "std_mutex chain.guard");
	for (uint64_t i = 0; i < LINKS; i++) {
		uint64_t next = LARGE + 0x40 * i;

		write_word(&o, futures_member(node, "next").addr, next);
		node.addr = next;
		guard_at(&o, futures_member(node, "guard"));
	}
	search_variable(&o, variable_of(&o, "chain"), "chain", false);
	assert_int_equal(o.f.c->holdings->list.n, 21);
	const char *text = take_findings(&o);
	assert_non_null(strstr(text, "; std_mutex chain.next.next.guard; "));
	assert_non_null(strstr(text, " | all that "));
	assert_non_null(strstr(text, " leads to: the limit was reached"));
	owned_close(&o);
}

/* ---- trait objects and unsized tails ---- */

static uint64_t vtable_of_pair(struct owned *o)
{
	const uint64_t addr = futures_address_of(&o->f, "<owned::Pair as owned::Keeper>::{vtable}");
	const uint64_t vtable[4] = { 0, type_size(must_find(&o->f.fixture, "owned::Pair")), 8 };

	target_fake_map(o->f.fixture.target, addr, (const char *)vtable, sizeof(vtable));
	return addr;
}

static void test_object(void **state)
{
	struct owned o = owned_open();
	struct value object = variable_of(&o, "object");

	(void)state;
	pair_at(&o, HEAP);
	futures_poke(&o.f, object, "vtable", vtable_of_pair(&o));
	futures_poke(&o.f, object, "pointer", HEAP);
	expect_in(&o, "object", "std_mutex object.first; std_mutex object.second");
	expect_uncertain_in(&o, "object", "std_mutex object.first??; std_mutex object.second??");
	owned_close(&o);
}

/* No debug info describes the object: it may hold anything. */
static void test_unknown_object(void **state)
{
	static const char none[] = " | what is in a alloc::boxed::Box<dyn owned::Keeper, "
				   "alloc::alloc::Global>: the debug info does not describe it";
	struct owned o = owned_open();
	struct value object = variable_of(&o, "object");

	(void)state;
	pair_at(&o, HEAP);
	write_word(&o, HEAP + 0x100 + 8, 8); /* size and alignment */
	write_word(&o, HEAP + 0x100 + 16, 8);
	futures_poke(&o.f, object, "pointer", HEAP);
	futures_poke(&o.f, object, "vtable", HEAP + 0x100);
	expect_in(&o, "object", none);
	expect_uncertain_in(&o, "object", "");
	owned_close(&o);
}

static void test_unreadable_object(void **state)
{
	struct owned o = owned_open();

	(void)state;
	write_word(&o, variable_of(&o, "tail_object").addr, HEAP);
	write_word(&o, variable_of(&o, "tail_object").addr + 8, FUTURES_HOLE);
	search_variable(&o, variable_of(&o, "tail_object"), "tail_object", false);
	assert_non_null(strstr(take_findings(&o), " | tail_object: alloc::boxed::Box<"));
	expect_uncertain_in(&o, "tail_object", "");
	owned_close(&o);
}

static void test_tails(void **state)
{
	struct owned o = owned_open();
	struct value tail = variable_of(&o, "tail"), object = variable_of(&o, "tail_object");

	(void)state;
	none_at(&o, HEAP);
	guards_at(&o, HEAP + guard_size(&o), 2);
	futures_poke(&o.f, tail, "data_ptr", HEAP);
	futures_poke(&o.f, tail, "length", 2);
	expect_in(&o, "tail", "std_mutex tail.tail[0]; std_mutex tail.tail[1]");
	guards_at(&o, HEAP + 0x100, 1);
	pair_at(&o, HEAP + 0x100 + guard_size(&o));
	futures_poke(&o.f, object, "pointer", HEAP + 0x100);
	futures_poke(&o.f, object, "vtable", vtable_of_pair(&o));
	expect_in(&o, "tail_object",
	          "std_mutex tail_object.guard; std_mutex tail_object.tail.first; "
	          "std_mutex tail_object.tail.second");
	/* Members beside an object of an unknown type are known. */
	write_word(&o, HEAP + 0x200 + 8, 8);
	write_word(&o, HEAP + 0x200 + 16, 8);
	futures_poke(&o.f, object, "vtable", HEAP + 0x200);
	expect_in(&o, "tail_object",
	          "std_mutex tail_object.guard | what is in a alloc::boxed::Box<owned::Tail<dyn "
	          "owned::Keeper>, alloc::alloc::Global>: the debug info does not describe it");
	futures_poke(&o.f, object, "pointer", 0);
	expect_uncertain_in(&o, "tail_object", "");
	owned_close(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_tuple),
		cmocka_unit_test(test_no_guard),
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_no_variant),
		cmocka_unit_test(test_union),
		cmocka_unit_test(test_array),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_list_that_cannot_be_read),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_many_elements),
		cmocka_unit_test(test_deque),
		cmocka_unit_test(test_many_entries),
		cmocka_unit_test(test_box),
		cmocka_unit_test(test_traces),
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_reference_to_notify),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_object),
		cmocka_unit_test(test_unknown_object),
		cmocka_unit_test(test_unreadable_object),
		cmocka_unit_test(test_tails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
