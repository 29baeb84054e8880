#include <inttypes.h>

#include "dwarf/test/places.h"
#include "dwarf/values/show_rows.h"

struct shown {
	struct fixture shapes, values;
	struct show_cache shapes_cache, values_cache;
};

static int setup(void **state)
{
	struct shown *s = calloc(1, sizeof(*s));

	if (!s)
		return -1;
	s->shapes = shapes_open();
	s->values = values_open();
	places_map(&s->shapes);
	places_map(&s->values);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct shown *s = *state;

	show_free(&s->shapes_cache);
	show_free(&s->values_cache);
	fixture_close(&s->shapes);
	fixture_close(&s->values);
	free(s);
	return 0;
}

static struct show_cache *cache_of(struct shown *s, struct fixture *f)
{
	return f == &s->shapes ? &s->shapes_cache : &s->values_cache;
}

static void check(struct shown *s, struct fixture *f, struct value v, const char *expected)
{
	assert_string_equal(show_value(f->target, f->di, cache_of(s, f), &f->arena, v, NULL),
	                    expected);
}

/* Sets the number at a path of members: "buf.inner.cap", also inside single-member structs. */
static void set(struct fixture *f, struct value v, const char *path, uint64_t number)
{
	char copy[128], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *step = strtok_r(copy, ".", &save); step; step = strtok_r(NULL, ".", &save))
		v = member(v, step);
	while (type_single_member(v.type)) {
		const struct member *m = type_single_member(v.type);

		v = (struct value){ m->type, v.addr + m->offset };
	}
	poke(f, v.addr, number, type_size(v.type) > 8 ? 8 : type_size(v.type));
}

static void set_vec(struct fixture *f, struct value v, uint64_t ptr, uint64_t cap, uint64_t len)
{
	set(f, v, "buf.inner.ptr", ptr);
	set(f, v, "buf.inner.cap", cap);
	set(f, v, "len", len);
}

static void test_strings(void **state)
{
	struct shown *s = *state;
	struct fixture *f = &s->shapes;
	struct value named = place_of(f, "shapes::Named"), owned = member(named, "owned");
	struct value vec = member(owned, "vec");
	static const char text[] = "a\"b\\c\n\x1b[31m\xff\xc3\xa9'\xe2\x80\xae";

	set_vec(f, vec, ELSEWHERE, 64, sizeof(text) - 1);
	target_fake_poke(f->target, ELSEWHERE, text, sizeof(text) - 1);
	check(s, f, owned, "\"a\\\"b\\\\c\\n\\u{1b}[31m\\xff\xc3\xa9'\\u{202e}\"");
	set_vec(f, vec, ELSEWHERE, 4, 5);
	check(s, f, owned, "<invalid>");
	set_vec(f, vec, ELSEWHERE, UINT64_MAX, UINT64_MAX);
	check(s, f, owned, "<invalid>");
	set_vec(f, vec, HOLE, 5, 5);
	check(s, f, owned, "<unreadable>");
	set_vec(f, vec, 1, 0, 0);
	check(s, f, owned, "\"\"");
}

/* Cut after SHOW_STRING bytes; half a character at the cut is not an error. */
static void test_long_string(void **state)
{
	struct shown *s = *state;
	struct fixture *f = &s->shapes;
	struct value owned = member(place_of(f, "shapes::Named"), "owned");
	char text[SHOW_STRING + 2], expected[SHOW_STRING + 8];

	memset(text, 'x', sizeof(text));
	memcpy(text + SHOW_STRING - 1, "\xc3\xa9", 2);
	target_fake_poke(f->target, ELSEWHERE, text, sizeof(text));
	set_vec(f, member(owned, "vec"), ELSEWHERE, 4096, SHOW_STRING + 2);
	snprintf(expected, sizeof(expected), "\"%.*s\"...", SHOW_STRING - 1, text);
	check(s, f, owned, expected);
}

static void test_named(void **state)
{
	struct shown *s = *state;
	struct fixture *f = &s->shapes;
	struct value v = place_of(f, "shapes::Named");
	double d = -2.5;

	target_fake_poke(f->target, member(v, "real").addr, &d, sizeof(d));
	poke(f, member(v, "cell").addr, 0xffffffff, 4);
	poke(f, member(v, "callback").addr, 0x1234, 8);
	poke(f, member(v, "letter").addr, 0xd800, 4);
	set_vec(f, member(member(v, "owned"), "vec"), ELSEWHERE, 4, 1);
	poke(f, ELSEWHERE, 'o', 1);
	set(f, v, "borrowed.data_ptr", HOLE);
	set(f, v, "borrowed.length", 4);
	check(s, f, v,
	      "Named { owned: \"o\", boxed: \"\", borrowed: <unreadable>, "
	      "cell: Cell { value: -1 }, uninit: MaybeUninit<u16>, real: -2.5, "
	      "letter: <invalid>, callback: 0x1234 }");
}

static void test_lists(void **state)
{
	struct shown *s = *state;
	struct fixture *f = &s->shapes;
	struct value v = place_of(f, "shapes::Lists"), slice = member(v, "slice");
	struct value vec = member(v, "vec"), deque = member(v, "deque");

	for (uint64_t i = 0; i < 64; i++)
		poke(f, ELSEWHERE + i * 4, i, 4);
	set(f, slice, "data_ptr", ELSEWHERE);
	set(f, slice, "length", 3);
	check(s, f, slice, "[0, 1, 2]");
	set(f, slice, "length", 33);
	check(s, f, slice,
	      "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, "
	      "23, 24, 25, 26, 27, 28, 29, 30, 31, ...]");
	set(f, slice, "length", UINT64_MAX);
	check(s, f, slice, "<invalid>");
	/* A value that ends in unmapped memory is printed up to there. */
	set(f, slice, "data_ptr", ELSEWHERE + PLACE_SIZE - 8);
	set(f, slice, "length", 3);
	check(s, f, slice, "[0, 0, <unreadable>]");
	set_vec(f, vec, ELSEWHERE, UINT64_C(1) << 63, 1);
	check(s, f, vec, "<invalid>");
	set_vec(f, vec, ELSEWHERE, 2, 2);
	check(s, f, vec, "[0, 0]");
	check(s, f, member(v, "array"), "[0, 0, 0, 0, 0, 0, 0]");

	set(f, deque, "buf.inner.ptr", ELSEWHERE);
	set(f, deque, "buf.inner.cap", 8);
	set(f, deque, "head", 7);
	set(f, deque, "len", 2);
	poke(f, ELSEWHERE + 7, 70, 1);
	poke(f, ELSEWHERE, 80, 1);
	check(s, f, deque, "[70, 80]");
	set(f, deque, "len", 9);
	check(s, f, deque, "<invalid>");
	set(f, deque, "len", 1);
	set(f, deque, "head", 8);
	check(s, f, deque, "<invalid>");
}

static void test_index(void **state)
{
	struct shown *s = *state;
	struct fixture *f = &s->shapes;
	struct value v = place_of(f, "shapes::Lists"), ret;
	uint64_t length;

	set_vec(f, member(v, "vec"), ELSEWHERE, 2, 2);
	fail_on(show_length(f->target, &s->shapes_cache, member(v, "vec"), &length));
	assert_int_equal(length, 2);
	fail_on(show_length(f->target, &s->shapes_cache, member(v, "array"), &length));
	assert_true(length > 6);
	expect_error(show_length(f->target, &s->shapes_cache, v, &length), ERR_LAYOUT,
	             "no elements");
	fail_on(show_index(f->target, &s->shapes_cache, member(v, "vec"), 1, &ret));
	assert_int_equal(ret.addr, ELSEWHERE + 2);
	expect_error(show_index(f->target, &s->shapes_cache, member(v, "vec"), 2, &ret), ERR_USAGE,
	             "there are 2 elements");
	expect_error(show_index(f->target, &s->shapes_cache, v, 0, &ret), ERR_LAYOUT,
	             "no elements");
	fail_on(show_index(f->target, &s->shapes_cache, member(v, "array"), 6, &ret));
	assert_int_equal(ret.addr, member(v, "array").addr + 24);
}

static void test_enums(void **state)
{
	struct shown *s = *state;
	struct fixture *f = &s->shapes;
	struct value v = place_of(f, "shapes::TaggedU8");

	poke(f, PLACE, 200, 1);
	check(s, f, v, "Large { x: 0 }");
	poke(f, PLACE, 255, 1);
	check(s, f, v, "Empty");
	poke(f, PLACE, 4, 1);
	check(s, f, v, "<invalid>");
	v = place_of(f, "shapes::CLike");
	poke(f, PLACE, 0xff, 1);
	check(s, f, v, "Minus");
	poke(f, PLACE, 5, 1);
	check(s, f, v, "<invalid>");
	v = member(place_of(f, "shapes::Niches"), "twice");
	poke(f, v.addr, 2, 1);
	check(s, f, v, "Some(None)");
	check(s, f, place_of(f, "shapes::Overlay"), "{shapes::Overlay}");
	check(s, f, place_of(f, "shapes::leaf::{async_fn_env#0}"), "{async fn shapes::leaf}");
}

/* A cycle of references is cut off. */
static void test_ring(void **state)
{
	struct shown *s = *state;
	struct fixture *f = &s->values;
	struct value v = place_of(f, "values::Ring");

	set(f, v, "value", 1);
	poke(f, member(v, "next").addr, PLACE, 8);
	const char *text = show_value(f->target, f->di, &s->values_cache, &f->arena, v, NULL);
	assert_non_null(strstr(text, "Ring { value: 1, next: Some(Ring { value: 1, next: "));
	assert_non_null(strstr(text, "..."));
	assert_true(strlen(text) < SHOW_BYTES);
}

/* A table of four buckets at ELSEWHERE: 16 bytes of elements, then the control bytes. */
static void test_hash_map(void **state)
{
	struct shown *s = *state;
	struct fixture *f = &s->values;
	struct value v = member(place_of(f, "values::Maps"), "hash");
	struct value table = member(member(v, "base"), "table");
	uint64_t ctrl = ELSEWHERE + 64, size = type_size(type_param(table.type, "T"));

	assert_int_equal(size, 8);
	set(f, table, "table.bucket_mask", 3);
	set(f, table, "table.ctrl", ctrl);
	set(f, table, "table.items", 2);
	target_fake_poke(f->target, ctrl, "\x11\xff\x80\x22", 4);
	const struct type *entry = type_param(table.type, "T");
	for (uint64_t i = 0; i < 4; i++) {
		struct value e = { entry, ctrl - (i + 1) * size };

		set(f, e, "__0", i);
		set(f, e, "__1", 10 + i);
	}
	check(s, f, v, "{0: 10, 3: 13}");
	/* Fewer full buckets than its count. */
	set(f, table, "table.items", 4);
	check(s, f, v, "{0: 10, 3: 13, ...}");
	set(f, table, "table.items", 5);
	check(s, f, v, "<invalid>");
	set(f, table, "table.items", 2);
	set(f, table, "table.bucket_mask", 5);
	check(s, f, v, "<invalid>");
	set(f, table, "table.bucket_mask", UINT64_MAX);
	check(s, f, v, "<invalid>");
	set(f, table, "table.bucket_mask", 3);
	set(f, table, "table.ctrl", HOLE);
	check(s, f, v, "<unreadable>");
}

static const struct type *pointee(const struct type *t)
{
	while (type_kind(t) != TYPE_POINTER)
		t = type_single_member(t)->type;
	return type_target(t);
}

static void test_btree(void **state)
{
	struct shown *s = *state;
	struct fixture *f = &s->values;
	struct value v = member(place_of(f, "values::Maps"), "tree");
	const struct variant *some = type_variant(member(v, "root").type, "Some");
	struct value node = member(value_payload(member(v, "root"), some), "__0");
	const struct type *leaf = pointee(member(node, "node").type);
	struct value keys = member((struct value){ leaf, ELSEWHERE }, "keys");
	struct value vals = member((struct value){ leaf, ELSEWHERE }, "vals");

	check(s, f, v, "{}");
	set(f, v, "length", 2);
	check(s, f, v, "<invalid>");
	set(f, node, "node", ELSEWHERE);
	set(f, (struct value){ leaf, ELSEWHERE }, "len", 2);
	poke(f, keys.addr, 7 | 8 << 16, 4);
	poke(f, vals.addr, 70 | 80 << 8, 2);
	check(s, f, v, "{7: 70, 8: 80}");
	set(f, (struct value){ leaf, ELSEWHERE }, "len", 12);
	check(s, f, v, "<invalid>");
	/* A tree whose inner node is its own child ends by its height. */
	set(f, (struct value){ leaf, ELSEWHERE }, "len", 0);
	set(f, node, "height", 30);
	const struct type *inner =
		must_find(f, "alloc::collections::btree::node::InternalNode<u16, u8>");
	poke(f, ELSEWHERE + offset_of(inner, "edges"), ELSEWHERE, 8);
	check(s, f, v, "{...}");
	set(f, node, "height", 1000);
	check(s, f, v, "<invalid>");
}

static void test_others(void **state)
{
	struct shown *s = *state;
	struct fixture *f = &s->values;
	struct value v = place_of(f, "values::Others"), wide = member(v, "wide");
	float tenth = 0.1F;

	set(f, member(v, "wait"), "nanos", 1000000000);
	check(s, f, member(v, "wait"), "<invalid>");
	set(f, member(v, "wait"), "nanos", 1500000);
	check(s, f, member(v, "wait"), "1.5ms");
	poke(f, member(wide, "__0").addr + 8, 1, 8);
	poke(f, member(wide, "__1").addr, UINT64_MAX, 8);
	poke(f, member(wide, "__1").addr + 8, UINT64_MAX, 8);
	target_fake_poke(f->target, member(wide, "__2").addr, &tenth, sizeof(tenth));
	check(s, f, wide, "(18446744073709551616, -1, 0.1)");
	check(s, f, member(v, "nested"),
	      "[[[0, 0, 0], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0], [0, 0, 0]], "
	      "[[0, 0, 0], [0, 0, 0], [0, 0, 0]]]");
	struct value range = member(v, "range");
	poke(f, member(range, "start").addr, 1, 1);
	poke(f, member(range, "end").addr, 3, 1);
	check(s, f, range, "1..=3");
	poke(f, member(range, "start").addr, 3, 1);
	poke(f, member(range, "exhausted").addr, 1, 1);
	check(s, f, range, "3..=3@exhausted");
	poke(f, member(v, "deep").addr, 1, 1);
	poke(f, member(v, "deep").addr + 1, 200, 1);
	const char *text =
		show_value(f->target, f->di, &s->values_cache, &f->arena, member(v, "deep"), NULL);
	assert_non_null(strstr(text, "Some(Some(Some(Some(Some(Some(Some(Some(...))))))))"));
}

static void test_words(void **state)
{
	struct shown *s = *state;
	struct fixture *f = &s->values;
	struct value wide = member(place_of(f, "values::Others"), "wide");
	struct value ring = place_of(f, "values::Ring");

	assert_string_equal(show_word(f->target, f->di, &s->values_cache, &f->arena,
	                              member(ring, "value").type, 5, NULL),
	                    "5");
	assert_null(show_word(f->target, f->di, &s->values_cache, &f->arena,
	                      member(wide, "__0").type, 5, NULL));
	assert_null(show_word(f->target, f->di, &s->values_cache, &f->arena, ring.type, 5, NULL));
}

static void check_redacted(struct shown *s, struct fixture *f, struct value v, const char *word,
                           const char *expected)
{
	struct secrets secrets CLEANUP(secrets_free) = { 0 };
	struct redaction redaction = { .secrets = &secrets };

	assert_true(secrets_add(&secrets, word));
	assert_string_equal(show_value(f->target, f->di, cache_of(s, f), &f->arena, v, &redaction),
	                    expected);
	assert_true(redaction.done == (strstr(expected, REDACTED) != NULL));
	/* Without a redaction nothing is redacted. */
	const char *whole = show_value(f->target, f->di, cache_of(s, f), &f->arena, v, NULL);
	assert_null(strstr(whole, REDACTED));
}

/* Members are redacted by name, also behind references and in a register. */
static void test_secret_members(void **state)
{
	struct shown *s = *state;
	struct fixture *f = &s->values;
	struct value ring = place_of(f, "values::Ring");
	struct secrets secrets CLEANUP(secrets_free) = { 0 };
	struct redaction redaction = { .secrets = &secrets };

	poke(f, PLACE + member(ring, "value").addr - ring.addr, 7, 1);
	poke(f, member(ring, "next").addr, ELSEWHERE, 8);
	check(s, f, ring, "Ring { value: 7, next: Some(Ring { value: 0, next: None }) }");
	check_redacted(s, f, ring, "value",
	               "Ring { value: <redacted>, next: Some(Ring { value: <redacted>, next: None "
	               "}) }");
	check_redacted(s, f, ring, "next", "Ring { value: 7, next: <redacted> }");
	check_redacted(s, f, ring, "val",
	               "Ring { value: 7, next: Some(Ring { value: 0, next: None }) }");
	/* The name of the value itself does not matter. */
	check_redacted(s, f, ring, "ring",
	               "Ring { value: 7, next: Some(Ring { value: 0, next: None }) }");
	assert_true(secrets_add(&secrets, "value"));
	const struct type *reference =
		type_variant(member(ring, "next").type, "Some")
			? type_member(type_variant(member(ring, "next").type, "Some")->payload,
	                              "__0")
				  ->type
			: NULL;
	assert_non_null(reference);
	assert_string_equal(show_word(f->target, f->di, &s->values_cache, &f->arena, reference,
	                              ELSEWHERE, &redaction),
	                    "Ring { value: <redacted>, next: None }");
	assert_true(redaction.done);
}

/* The text must be bounded and sanitised for any bytes; pointers lead into the same bytes. */
static void test_random_bytes(void **state)
{
	struct shown *s = *state;
	static const char *const shapes[] = { "shapes::Named", "shapes::Lists",  "shapes::Niches",
		                              "shapes::Root",  "shapes::Shared", "shapes::Zst" };
	static const char *const values[] = { "values::Maps", "values::Ring", "values::Pointers",
		                              "values::Others" };
	uint64_t seed = 1;

	for (int round = 0; round < 3000; round++) {
		bool first = round % 10 < 6;
		struct fixture *f = first ? &s->shapes : &s->values;
		struct value v = place_of(f, first ? shapes[round % 10] : values[round % 10 - 6]);

		for (uint64_t i = 0; i < 512; i += 8) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			uint64_t word = seed >> 20;

			word = seed % 3 == 0   ? PLACE + word % 512
			       : seed % 3 == 1 ? word % 16
			                       : word;
			poke(f, PLACE + i, word, 8);
		}
		const char *text = show_value(f->target, f->di, cache_of(s, f), &f->arena, v, NULL);
		assert_true(strlen(text) <= SHOW_BYTES + 3);
		for (const char *p = text; *p; p++)
			assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
	}
}

static struct error *show_own(struct show *s, struct value v, const struct show_row *row)
{
	uint64_t number;

	TRY(show_row_number(s, v, row->expr[0], &number));
	show_type_last(s, v.type);
	show_printf(s, " (%s %" PRIu64 ")", (const char *)show_context(s), number);
	return NULL;
}

/* A row of the layer above has a function, and goes before those of std. */
static void test_functions_of_rows(void **state)
{
	static const struct show_row rows[] = {
		{ "Cell", "core::cell", SHOW_OWN, { "value" }, show_own },
		{ 0 },
	};
	struct shown *s = *state;
	struct fixture *f = &s->shapes;
	struct show_cache cache = { .context = (void *)(uintptr_t) "holds" };
	struct value cell = member(place_of(f, "shapes::Named"), "cell");

	show_register(&cache, rows);
	poke(f, cell.addr, 7, 4);
	assert_string_equal(show_value(f->target, f->di, &cache, &f->arena, cell, NULL),
	                    "Cell (holds 7)");
	show_free(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_of_rows),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_long_string),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_enums),
		cmocka_unit_test(test_secret_members),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_hash_map),
		cmocka_unit_test(test_btree),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_random_bytes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
