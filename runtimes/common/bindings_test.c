#include "dwarf/test/module.h"

#include "runtimes/common/bindings.h"

enum { PLACE = 0x7000000, ELSEWHERE = 0x7100000 };

enum row {
	NEWER,
	NEWER_DEEP,
	ITEMS,
	ITEM,
	ITEM_DEEP,
	LIST,
	NEXT,
	OLDER,
	OLDER_DEEP,
	BROKEN,
	NO_TYPE,
	BELOW_NO_TYPE,
	NO_KEY,
	LATER,
	NO_ELEMENTS,
	WRAPPED,
	NROWS
};

static const struct binding_row rows[NROWS] = {
	[NEWER] = { "newer", "given", "older | newer", false },
	[NEWER_DEEP] = { "newer.deep", "newer", "deep", false },
	[ITEMS] = { "items", "given", "items", false },
	[ITEM] = { "item", "items[]", "", false },
	[ITEM_DEEP] = { "item.deep", "item", "deep", false },
	[LIST] = { "list", "given", "list.value", false },
	[NEXT] = { "node.next", "type:shapes::Node", "next", false },
	[OLDER] = { "older", "given", "older | oldest", true },
	[OLDER_DEEP] = { "older.deep", "older", "deep", true },
	[BROKEN] = { "broken", "newer", "shallow", false },
	[NO_TYPE] = { "no.type", "type:shapes::Nothing", "deep", true },
	[BELOW_NO_TYPE] = { "below", "no.type", "deep", false },
	/* A row can only refer to earlier rows. */
	[NO_KEY] = { "no.key", "wrapped", "deep", false },
	[LATER] = { "later", "new", "deep", false },
	[NO_ELEMENTS] = { "no.elements", "newer[]", "deep", false },
	[WRAPPED] = { "wrapped", "given", "wrapped", false },
};

struct resolved {
	struct fixture f;
	struct bindings l;
	struct value root;
};

static int setup(void **state)
{
	static const char zeros[4096];
	struct resolved *r = calloc(1, sizeof(*r));

	if (!r)
		return -1;
	*state = r;
	r->f = shapes_open();
	target_fake_map(r->f.target, PLACE, zeros, sizeof(zeros));
	target_fake_map(r->f.target, ELSEWHERE, zeros, sizeof(zeros));
	r->root = (struct value){ must_find(&r->f, "shapes::Root"), PLACE };
	bindings_resolve(&r->f.arena, r->f.dm, r->root.type, rows, NROWS, &r->l);
	return 0;
}

static int teardown(void **state)
{
	struct resolved *r = *state;

	fixture_close(&r->f);
	free(r);
	return 0;
}

static void poke(struct resolved *r, uint64_t addr, uint64_t number)
{
	target_fake_poke(r->f.target, addr, &number, 8);
}

static void test_roots(void **state)
{
	struct resolved *r = *state;

	assert_string_equal(type_name(bindings_type(&r->l, NEWER)), "shapes::Inner");
	assert_string_equal(type_name(bindings_type(&r->l, NEWER_DEEP)), "u64");
	assert_string_equal(type_name(bindings_type(&r->l, ITEM)), "shapes::Inner");
	assert_string_equal(type_name(bindings_type(&r->l, ITEM_DEEP)), "u64");
	assert_string_equal(type_name(r->l.slots[NEXT].root), "shapes::Node");
	assert_null(bindings_type(&r->l, OLDER));
	assert_true(bindings_has(&r->l, WRAPPED));
	assert_false(bindings_has(&r->l, BROKEN));
}

static void test_absent_and_broken(void **state)
{
	static const struct {
		enum row row;
		enum row_status status;
		const char *tried;
	} expected[] = {
		{ NEWER, ROW_OK, NULL },
		{ OLDER, ROW_ABSENT,
		  "tried 'older': no member 'older' in shapes::Root (has first" },
		{ OLDER, ROW_ABSENT, "; tried 'oldest': no member 'oldest'" },
		{ OLDER_DEEP, ROW_ABSENT, "its root 'older' was not found" },
		{ BROKEN, ROW_BROKEN, "tried 'shallow': no member 'shallow' in shapes::Inner" },
		{ NO_TYPE, ROW_ABSENT, "its root 'type:shapes::Nothing' was not found" },
		{ BELOW_NO_TYPE, ROW_BROKEN, "its root 'no.type' was not found" },
		{ NO_KEY, ROW_BROKEN, "its root 'wrapped' was not found" },
		{ LATER, ROW_BROKEN, "its root 'new' was not found" },
		{ NO_ELEMENTS, ROW_BROKEN, "its root 'newer[]' was not found" },
	};
	struct resolved *r = *state;

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct bindings_slot *slot = &r->l.slots[expected[i].row];

		assert_int_equal(slot->status, expected[i].status);
		if (!expected[i].tried)
			assert_null(slot->tried);
		else if (!strstr(slot->tried, expected[i].tried))
			fail_msg("'%s' is not in '%s'", expected[i].tried, slot->tried);
	}
}

static void test_numbers_and_places(void **state)
{
	struct resolved *r = *state;
	struct target *t = r->f.target;
	struct value newer = { NULL, 0 };
	uint64_t number = 1;
	bool found;

	fail_on(bindings_eval(t, &r->l, NEWER, r->root, &newer, &found));
	assert_true(found);
	assert_int_equal(newer.addr, PLACE + offset_of(r->root.type, "newer"));
	poke(r, newer.addr + offset_of(newer.type, "deep"), 77);
	fail_on(bindings_uint(t, &r->l, NEWER_DEEP, newer, &number, &found));
	assert_true(found);
	assert_int_equal(number, 77);

	/* Absent rows and null pointers give *found false, without an error. */
	fail_on(bindings_uint(t, &r->l, OLDER, r->root, &number, &found));
	assert_false(found);
	poke(r, PLACE + offset_of(r->root.type, "list"), 0);
	fail_on(bindings_uint(t, &r->l, LIST, r->root, &number, &found));
	assert_false(found);
	assert_int_equal(number, 77);
	/* An error names the row. */
	poke(r, PLACE + offset_of(r->root.type, "list"), 0xdead0000);
	expect_error(bindings_uint(t, &r->l, LIST, r->root, &number, &found), ERR_FAULT, "list: ");
}

/* Option<NonNull> as a word: 0 is None, with *found true. */
static void test_words(void **state)
{
	struct resolved *r = *state;
	struct value node = { r->l.slots[NEXT].root, ELSEWHERE };
	uint64_t word = 1;
	bool found = false;

	poke(r, ELSEWHERE + offset_of(node.type, "next"), 0);
	fail_on(bindings_word(r->f.target, &r->l, NEXT, node, &word, &found));
	assert_true(found);
	assert_int_equal(word, 0);
	poke(r, ELSEWHERE + offset_of(node.type, "next"), 0x1234);
	fail_on(bindings_word(r->f.target, &r->l, NEXT, node, &word, &found));
	assert_int_equal(word, 0x1234);
	node.addr = 0x10;
	expect_error(bindings_word(r->f.target, &r->l, NEXT, node, &word, &found), ERR_FAULT,
	             "node.next: ");
}

static void test_slices(void **state)
{
	struct resolved *r = *state;
	uint64_t at = PLACE + offset_of(r->root.type, "items");
	struct slice items;
	bool found = false;

	poke(r, at, ELSEWHERE);
	poke(r, at + 8, 2);
	fail_on(bindings_slice(r->f.target, &r->l, ITEMS, r->root, &items, &found));
	assert_true(found);
	assert_int_equal(items.addr, ELSEWHERE);
	assert_int_equal(items.count, 2);
	assert_ptr_equal(items.element, bindings_type(&r->l, ITEM));
	expect_error(bindings_slice(r->f.target, &r->l, NEWER, r->root, &items, &found), ERR_LAYOUT,
	             "newer: shapes::Inner is not a slice");
	fail_on(bindings_slice(r->f.target, &r->l, OLDER, r->root, &items, &found));
	assert_false(found);
}

static void test_describe(void **state)
{
	struct resolved *r = *state;
	struct layout_info out[NROWS];

	bindings_describe(&r->l, &r->f.arena, "program", out);
	assert_string_equal(out[NEWER].module, "program");
	assert_string_equal(out[NEWER].key, "newer");
	assert_string_equal(out[NEWER].path, "older | newer");
	assert_string_equal(out[NEWER].matched, "newer");
	assert_int_equal(out[NEWER].status, ROW_OK);
	assert_null(out[NEWER].tried);
	assert_non_null(strstr(out[LIST].plan, " * +"));
	assert_string_equal(out[ITEM].plan, "");
	assert_int_equal(out[BROKEN].status, ROW_BROKEN);
	assert_null(out[BROKEN].matched);
	assert_null(out[BROKEN].plan);
	assert_string_equal(out[BROKEN].tried, r->l.slots[BROKEN].tried);
}

/* A program without the runtime's types: each row has its reason, none crashes. */
static void test_nothing_given(void **state)
{
	struct resolved *r = *state;
	struct bindings l;

	bindings_resolve(&r->f.arena, r->f.dm, NULL, rows, NROWS, &l);
	assert_false(bindings_has(&l, NEWER));
	assert_int_equal(l.slots[NEWER].status, ROW_BROKEN);
	assert_true(bindings_has(&l, NEXT));
	assert_null(bindings_type(&l, ITEM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_absent_and_broken),
		cmocka_unit_test(test_numbers_and_places),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_nothing_given),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
