#include "dwarf/test/places.h"
#include "dwarf/values/path.h"

static const struct path *resolve(struct fixture *f, const struct type *t, const char *expr)
{
	const struct path *p = NULL;

	fail_on(path_resolve(&f->arena, t, expr, &p));
	return p;
}

/* The address that a path leads to; 0: none. */
static uint64_t follow(struct fixture *f, const struct path *p, struct value v)
{
	struct value place = { NULL, 0 };
	bool found;

	fail_on(path_eval(f->target, p, v, &place, &found));
	if (!found)
		return 0;
	assert_ptr_equal(place.type, path_type(p));
	return place.addr;
}

static void test_members_and_tuples(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Root");
	uint64_t newer = offset_of(v.type, "newer"), offset, number;
	const struct path *p = resolve(f, v.type, "newer.deep");
	bool found;

	assert_true(path_offset(p, &offset));
	assert_int_equal(offset, newer);
	assert_string_equal(type_name(path_type(p)), "u64");
	poke(f, PLACE + newer, 1234567, 8);
	fail_on(path_uint(f->target, p, v, &number, &found));
	assert_true(found);
	assert_int_equal(number, 1234567);

	p = resolve(f, v.type, "pair.1");
	assert_string_equal(type_name(path_type(p)), "u32");
	assert_string_equal(path_matched(p), "pair.1");
	char plan[32];
	snprintf(plan, sizeof(plan), "+%" PRIu64, follow(f, p, v) - PLACE);
	assert_string_equal(path_plan(&f->arena, p), plan);
}

static void test_empty_path_is_the_place(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Root");
	const struct path *p = resolve(f, v.type, "");
	uint64_t offset = 1;

	assert_ptr_equal(path_type(p), v.type);
	assert_int_equal(follow(f, p, v), PLACE);
	assert_true(path_offset(p, &offset));
	assert_int_equal(offset, 0);
	assert_string_equal(path_plan(&f->arena, p), "");
}

static void test_first_alternative_that_fits(void **state)
{
	struct fixture *f = *state;
	const struct type *t = must_find(f, "shapes::Root");

	assert_string_equal(path_matched(resolve(f, t, "newer.deep | first")), "newer.deep");
	assert_string_equal(path_matched(resolve(f, t, " older.deep|newer.shallow |\n first ")),
	                    "first");
	assert_string_equal(path_matched(resolve(f, t, "newest | newer | first")), "newer");
}

static void test_error_lists_all_that_was_tried(void **state)
{
	struct fixture *f = *state;
	const struct type *t = must_find(f, "shapes::Root");
	const struct path *p = NULL;
	struct error *err =
		path_resolve(&f->arena, t, "older.deep | newer.shallow | list.prev", &p);

	assert_non_null(err);
	assert_int_equal(err->kind, ERR_LAYOUT);
	assert_non_null(strstr(err->message,
	                       "tried 'older.deep': no member 'older' in shapes::Root "
	                       "(has first, newer"));
	assert_non_null(strstr(err->message, "tried 'newer.shallow': no member 'shallow' in "
	                                     "shapes::Inner (has deep, pad)"));
	assert_non_null(
		strstr(err->message, "tried 'list.prev': no member 'prev' in shapes::Node"));
	assert_null(p);
	error_free(err);
}

static void test_pointers(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Root");
	const struct path *p = resolve(f, v.type, "list.value");
	uint64_t list = PLACE + offset_of(v.type, "list"), offset, number = 7;
	const struct type *node = must_find(f, "shapes::Node");
	bool found = true;

	uint64_t offsets[3];
	assert_false(path_offset(p, &offset));
	assert_true(path_offsets(p, 2, offsets));
	assert_int_equal(offsets[0], list - PLACE);
	assert_int_equal(offsets[1], offset_of(node, "value"));
	assert_false(path_offsets(p, 1, offsets));
	assert_false(path_offsets(p, 3, offsets));
	assert_true(path_first_pointer(p, &offset));
	assert_int_equal(offset, list - PLACE);
	assert_false(path_first_pointer(resolve(f, v.type, "newer.deep"), &offset));
	/* Behind a variant: only some values have it. */
	assert_false(path_first_pointer(resolve(f, v.type, "maybe.Some.0.deep"), &offset));
	/* A null pointer: nothing is found, without an error. */
	fail_on(path_uint(f->target, p, v, &number, &found));
	assert_false(found);
	assert_int_equal(number, 7);
	poke(f, list, ELSEWHERE, 8);
	poke(f, ELSEWHERE + offset_of(node, "value"), 99, 8);
	fail_on(path_uint(f->target, p, v, &number, &found));
	assert_true(found);
	assert_int_equal(number, 99);
	poke(f, list, HOLE, 8);
	struct value place;
	expect_error(path_uint(f->target, p, v, &number, &found), ERR_FAULT, "");
	/* The final place need not be mapped: only memory on the way is read. */
	assert_int_equal(follow(f, p, v), HOLE + offset_of(node, "value"));
	v.addr = HOLE;
	expect_error(path_eval(f->target, p, v, &place, &found), ERR_FAULT, "");
}

/* Each is an address at the end of the address space, so that offsets wrap around. */
static void test_addresses_at_the_edge(void **state)
{
	static const uint64_t edges[] = { UINT64_MAX, UINT64_MAX - 7, (uint64_t)INT64_MIN, 1 };
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Root");
	const struct path *p = resolve(f, v.type, "list.next.Some.0.value");
	bool found;
	struct value place;

	for (size_t i = 0; i < 4; i++) {
		poke(f, PLACE + offset_of(v.type, "list"), edges[i], 8);
		expect_error(path_eval(f->target, p, v, &place, &found), ERR_FAULT, "");
		assert_false(found);
	}
}

static void test_variants(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Root");
	const struct path *p = resolve(f, v.type, "choice.Large.x");
	uint64_t choice = PLACE + offset_of(v.type, "choice"), number;
	bool found = true;

	assert_non_null(strstr(path_plan(&f->arena, p), "?Large"));
	poke(f, choice, 3, 1);
	fail_on(path_uint(f->target, p, v, &number, &found));
	assert_false(found);
	poke(f, choice, 200, 1);
	poke(f, choice + 4, 31, 4);
	fail_on(path_uint(f->target, p, v, &number, &found));
	assert_true(found);
	assert_int_equal(number, 31);
	poke(f, choice, 7, 1);
	expect_error(path_uint(f->target, p, v, &number, &found), ERR_CORRUPT, "has no variant 7");
	assert_false(found);
}

/* An Option is looked through without being named; None leads nowhere. */
static void test_option_is_looked_through(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Root");
	const struct path *p = resolve(f, v.type, "maybe.deep");

	assert_int_equal(follow(f, p, v), 0);
	poke(f, PLACE + offset_of(v.type, "maybe"), ELSEWHERE, 8);
	assert_int_equal(follow(f, p, v),
	                 ELSEWHERE + offset_of(must_find(f, "shapes::Inner"), "deep"));
	assert_string_equal(path_plan(&f->arena, resolve(f, v.type, "maybe.Some.0")),
	                    path_plan(&f->arena, resolve(f, v.type, "maybe.Some")));
}

/* Arc, ArcInner, Mutex, UnsafeCell, RefCell: one step. */
static void test_nested_wrappers(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Shared");
	const struct path *p = resolve(f, v.type, "state.deep");

	assert_string_equal(type_name(path_type(p)), "u64");
	assert_int_equal(follow(f, p, v), 0);
	poke(f, PLACE, ELSEWHERE, 8);
	uint64_t deep = follow(f, p, v);
	/* Behind both counters of the Arc, a lock and a borrow flag. */
	assert_in_range(deep, ELSEWHERE + 16, ELSEWHERE + 64);

	v = place_of(f, "shapes::Root");
	assert_string_equal(type_name(path_type(resolve(f, v.type, "wrapped.v"))),
	                    type_name(type_member(must_find(f, "shapes::Atomic"), "v")->type));
	v = place_of(f, "shapes::Zst");
	assert_string_equal(path_matched(resolve(f, v.type, "value.0")), "value.0");
}

/*
 * A path has a fixed number of steps, also in a cyclic list: only the walker of a list must detect
 * cycles.
 */
static void test_self_pointing_data(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Node");

	poke(f, PLACE + offset_of(v.type, "next"), PLACE, 8);
	assert_int_equal(follow(f, resolve(f, v.type, "next.next.next.next"), v),
	                 PLACE + offset_of(v.type, "next"));
	v = place_of(f, "shapes::Loop");
	poke(f, PLACE, PLACE, 8);
	assert_int_equal(follow(f, resolve(f, v.type, "me.me.me"), v), PLACE);
}

/* struct Loop { me: *const Loop }: the search for a missing member through its pointer must end. */
static void test_self_pointing_types(void **state)
{
	struct fixture *f = *state;
	const struct path *p;

	expect_error(path_resolve(&f->arena, must_find(f, "shapes::Loop"), "nothing", &p),
	             ERR_LAYOUT, "no member 'nothing'");
}

static void test_slices_have_members(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Root");

	assert_int_equal(follow(f, resolve(f, v.type, "items.length"), v),
	                 PLACE + offset_of(v.type, "items") + 8);
	assert_string_equal(type_name(path_type(resolve(f, v.type, "items.data_ptr.deep"))), "u64");
}

static void test_odd_expressions(void **state)
{
	static const char *const exprs[] = { "|", " | ", ".", "..", "newer..deep", ".newer" };
	static const char *const bad[] = { "5",           "newer.9999999999999999999",
		                           "first.first", "newer deep",
		                           "new\xff",     "__0",
		                           "choice.Larg" };
	struct fixture *f = *state;
	const struct type *t = must_find(f, "shapes::Root");
	const struct path *p;

	for (size_t i = 0; i < sizeof(exprs) / sizeof(exprs[0]); i++)
		assert_non_null(resolve(f, t, exprs[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_error(path_resolve(&f->arena, t, bad[i], &p), ERR_LAYOUT, "no member");
}

/* ---- wrong debug info ---- */

enum { U = 1, POINTER, STRUCT, MEMBER, DECLARATION, NAMED_POINTER };

static void put_named(struct hand_made *h, unsigned code, const char *name)
{
	put_uleb(&h->info, code);
	put_text(&h->info, name);
}

static size_t begin_types(struct hand_made *h)
{
	put_abbrev(&h->abbrev, U, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(&h->abbrev, POINTER, DW_TAG_pointer_type, 0, DW_AT_type, DW_FORM_ref4, 0);
	put_abbrev(&h->abbrev, STRUCT, DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_string,
	           DW_AT_byte_size, DW_FORM_udata, 0);
	put_abbrev(&h->abbrev, MEMBER, DW_TAG_member, 0, DW_AT_name, DW_FORM_string, DW_AT_type,
	           DW_FORM_ref4, DW_AT_data_member_location, DW_FORM_udata, 0);
	put_abbrev(&h->abbrev, DECLARATION, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string,
	           DW_AT_declaration, DW_FORM_flag_present, 0);
	put_abbrev(&h->abbrev, NAMED_POINTER, DW_TAG_pointer_type, 0, DW_AT_name, DW_FORM_string,
	           DW_AT_type, DW_FORM_ref4, 0);
	put_fixed(&h->abbrev, 0, 1);
	size_t unit = begin_unit(&h->info, 4, 0);
	put_named(h, U, "src/lib.rs/@/odd.1");
	return unit;
}

static struct fixture end_types(struct hand_made *h, size_t unit)
{
	put_fixed(&h->info, 0, 1);
	end_unit(&h->info, unit);
	return hand_made_open(h);
}

/* Pointer types that point at themselves, or at each other. */
static void test_pointers_to_pointers(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_types(&h);
	uint32_t self = (uint32_t)h.info.n;
	put_uleb(&h.info, POINTER);
	put_fixed(&h.info, self, 4);
	uint32_t pair = (uint32_t)h.info.n;
	put_uleb(&h.info, POINTER);
	put_fixed(&h.info, pair + 5, 4);
	put_uleb(&h.info, POINTER);
	put_fixed(&h.info, pair, 4);
	struct fixture f = end_types(&h, unit);
	const struct path *p;

	expect_error(path_resolve(&f.arena, type_at(f.dm, self), "a", &p), ERR_LAYOUT, "'a'");
	expect_error(path_resolve(&f.arena, type_at(f.dm, pair), "a", &p), ERR_LAYOUT, "'a'");
	fixture_close(&f);
}

/* A struct with one member of a type. */
static uint32_t put_wrapper(struct hand_made *h, const char *name, uint32_t type)
{
	uint32_t ret = (uint32_t)h->info.n;

	put_named(h, STRUCT, name);
	put_uleb(&h->info, 8);
	put_named(h, MEMBER, "inner");
	put_fixed(&h->info, type, 4);
	put_uleb(&h->info, 0);
	put_fixed(&h->info, 0, 1);
	return ret;
}

/* The message names the type at which the search for a member ends: after MAX_HOPS of path.c. */
static void test_deep_types(void **state)
{
	enum { HOPS = 64, DEPTH = 70 };
	struct hand_made h = { 0 };
	size_t unit = begin_types(&h);
	uint32_t wrapper = put_wrapper(&h, "Lost", 0xffffff), pointer = wrapper, lost = wrapper;
	const struct path *p;
	SCRATCH(a);

	(void)state;
	for (unsigned i = 1; i <= DEPTH; i++) {
		const char *name = arena_printf(&a, "W%u", i);

		wrapper = put_wrapper(&h, name, wrapper);
		uint32_t at = (uint32_t)h.info.n;
		put_named(&h, NAMED_POINTER, arena_printf(&a, "P%u", i));
		put_fixed(&h.info, pointer, 4);
		pointer = at;
	}
	struct fixture f = end_types(&h, unit);
	expect_error(path_resolve(&f.arena, type_at(f.dm, lost), "a", &p), ERR_LAYOUT,
	             "no member 'a'");
	expect_error(path_resolve(&f.arena, type_at(f.dm, wrapper), "a", &p), ERR_LAYOUT,
	             arena_printf(&a, "no member 'a' in W%d (", DEPTH - HOPS));
	expect_error(path_resolve(&f.arena, type_at(f.dm, pointer), "a", &p), ERR_LAYOUT,
	             arena_printf(&a, "no member 'a' in P%d", DEPTH - HOPS));
	fixture_close(&f);
}

static void test_members_of_nothing(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_types(&h);
	uint32_t holder = (uint32_t)h.info.n;
	put_named(&h, STRUCT, "Holder");
	put_uleb(&h.info, 16);
	put_named(&h, MEMBER, "lost");
	put_fixed(&h.info, 0xffffff, 4);
	put_uleb(&h.info, 0);
	put_named(&h, MEMBER, "unknown");
	uint32_t declared = (uint32_t)h.info.n + 4 + 1 + 1;
	put_fixed(&h.info, declared, 4);
	put_uleb(&h.info, 8);
	put_fixed(&h.info, 0, 1);
	put_named(&h, DECLARATION, "Unknown");
	struct fixture f = end_types(&h, unit);
	const struct type *t = type_at(f.dm, holder);
	const struct path *p;

	assert_int_equal(type_die(type_member(t, "unknown")->type), declared);
	expect_error(path_resolve(&f.arena, t, "lost.a", &p), ERR_LAYOUT, "no member 'lost'");
	expect_error(path_resolve(&f.arena, t, "unknown.a", &p), ERR_LAYOUT,
	             "no member 'a' in Unknown (declared only)");
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_and_tuples),
		cmocka_unit_test(test_empty_path_is_the_place),
		cmocka_unit_test(test_first_alternative_that_fits),
		cmocka_unit_test(test_error_lists_all_that_was_tried),
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_addresses_at_the_edge),
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_option_is_looked_through),
		cmocka_unit_test(test_nested_wrappers),
		cmocka_unit_test(test_self_pointing_data),
		cmocka_unit_test(test_self_pointing_types),
		cmocka_unit_test(test_slices_have_members),
		cmocka_unit_test(test_odd_expressions),
		cmocka_unit_test(test_pointers_to_pointers),
		cmocka_unit_test(test_deep_types),
		cmocka_unit_test(test_members_of_nothing),
	};

	return cmocka_run_group_tests(tests, places_setup, shapes_teardown);
}
