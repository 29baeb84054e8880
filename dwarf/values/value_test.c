#include "dwarf/test/places.h"

/* The name of the active variant; NULL on ERR_CORRUPT. */
static const char *active(struct fixture *f, struct value v)
{
	const struct variant *variant;
	struct error *err = value_variant(f->target, v, &variant);

	if (err) {
		expect_error(err, ERR_CORRUPT, "has no variant");
		return NULL;
	}
	struct value payload = value_payload(v, variant);
	assert_ptr_equal(payload.type, variant->payload);
	assert_int_equal(payload.addr, v.addr + variant->offset);
	return variant->name;
}

static void check_tag(struct fixture *f, const char *type, uint64_t tag, const char *expected)
{
	struct value v = place_of(f, type);
	const char *name;

	poke(f, PLACE, tag, 8);
	name = active(f, v);
	if (!expected)
		assert_null(name);
	else if (!name)
		fail_msg("%s: tag 0x%" PRIx64 " names no variant", type, tag);
	else
		assert_string_equal(name, expected);
}

/* Tags of each size; the bytes after them are ignored. */
static void test_tagged_enums(void **state)
{
	struct fixture *f = *state;

	check_tag(f, "shapes::TaggedU8", 0xaa03, "Small");
	check_tag(f, "shapes::TaggedU8", 0xaac8, "Large");
	check_tag(f, "shapes::TaggedU8", 0xaaff, "Empty");
	check_tag(f, "shapes::TaggedU8", 0xaa04, NULL);
	check_tag(f, "shapes::TaggedI8", 0x55fd, "Negative");
	check_tag(f, "shapes::TaggedI8", 0x5504, "Positive");
	check_tag(f, "shapes::TaggedI8", 0x5503, NULL);
	check_tag(f, "shapes::TaggedU16", 0x55fffe, "High");
	check_tag(f, "shapes::TaggedU16", 0x55feff, NULL);
	check_tag(f, "shapes::TaggedU32", 0x55fffffffe, "High");
	check_tag(f, "shapes::TaggedU32", 0xfffe, NULL);
	check_tag(f, "shapes::TaggedU64", 0, "Low");
	check_tag(f, "shapes::TaggedU64", UINT64_MAX, "High");
	check_tag(f, "shapes::TaggedU64", UINT32_MAX, NULL);
	check_tag(f, "shapes::TaggedI64", (uint64_t)INT64_MIN, "Lowest");
	check_tag(f, "shapes::TaggedI64", UINT64_MAX, "Minus");
	check_tag(f, "shapes::TaggedI64", 0xff, NULL);
}

/* A niche: a number of no other variant belongs to the variant with data. */
static void test_niches(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Niches"), many = member(v, "many");

	assert_string_equal(active(f, member(v, "reference")), "None");
	assert_string_equal(active(f, member(v, "non_null")), "None");
	poke(f, member(v, "reference").addr, 0x1000, 8);
	poke(f, member(v, "non_null").addr, UINT64_C(1) << 63, 8);
	assert_string_equal(active(f, member(v, "reference")), "Some");
	assert_string_equal(active(f, member(v, "non_null")), "Some");

	static const char *const names[] = { "Flag", "Flag", "Red", "Green", "Blue", "Flag" };
	for (unsigned i = 0; i < 6; i++) {
		poke(f, many.addr, i, 1);
		assert_string_equal(active(f, many), names[i]);
	}
}

static void test_option_of_option(void **state)
{
	struct fixture *f = *state;
	struct value v = member(place_of(f, "shapes::Niches"), "twice");
	const struct variant *outer;

	poke(f, v.addr, 3, 1);
	assert_string_equal(active(f, v), "None");
	poke(f, v.addr, 2, 1);
	assert_string_equal(active(f, v), "Some");
	fail_on(value_variant(f->target, v, &outer));
	struct value inner = member(value_payload(v, outer), "__0");
	assert_string_equal(active(f, inner), "None");
	poke(f, v.addr, 1, 1);
	assert_string_equal(active(f, inner), "Some");
}

/* Option<Ordering>: Less is -1, so the niche is 2. */
static void test_niche_of_a_signed_enum(void **state)
{
	struct fixture *f = *state;
	struct value v = member(place_of(f, "shapes::Niches"), "ordering");

	poke(f, v.addr, 2, 1);
	assert_string_equal(active(f, v), "None");
	for (int i = -1; i <= 1; i++) {
		poke(f, v.addr, (uint64_t)i, 1);
		assert_string_equal(active(f, v), "Some");
	}
}

static void test_single_variants_have_no_tag(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Niches");
	uint64_t number = 0;
	const struct variant *only;

	check_tag(f, "shapes::Single", 12345, "Only");
	v = member(v, "certain");
	poke(f, v.addr, 77, 4);
	assert_string_equal(active(f, v), "Ok");
	fail_on(value_variant(f->target, v, &only));
	fail_on(value_uint(f->target, member(value_payload(v, only), "__0"), &number));
	assert_int_equal(number, 77);
}

static void test_enum_without_values(void **state)
{
	struct fixture *f = *state;
	const struct variant *variant = NULL;
	struct value v = { lookup_type(f->dm, "shapes::Never", 0), PLACE };

	if (!v.type)
		skip();
	struct error *err = value_variant(f->target, v, &variant);
	assert_non_null(err);
	error_free(err);
	assert_null(variant);
}

static void test_enumerators(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::CLike");
	static const struct {
		uint64_t bits;
		const char *name;
	} rows[] = { { 0xff, "Minus" }, { 0, "Zero" }, { 127, "Most" }, { 5, NULL } };

	for (size_t i = 0; i < 4; i++) {
		const char *name = "untouched";
		uint64_t number;

		poke(f, PLACE, 0xaa00 | rows[i].bits, 8);
		fail_on(value_enum_name(f->target, v, &name));
		if (rows[i].name)
			assert_string_equal(name, rows[i].name);
		else
			assert_null(name);
		fail_on(value_uint(f->target, v, &number));
		assert_int_equal(number, rows[i].bits);
	}
	const char *name = NULL;
	poke(f, PLACE, 0xff, 1);
	fail_on(value_enum_name(
		f->target, (struct value){ must_find(f, "core::cmp::Ordering"), PLACE }, &name));
	assert_string_equal(name, "Less");
	expect_error(value_enum_name(f->target, place_of(f, "shapes::Inner"), &name), ERR_LAYOUT,
	             "is not an enum");
}

static void test_coroutine_states(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::middle::{async_fn_env#0}");
	uint64_t at = v.addr + type_discr(v.type)->offset;
	static const char *const names[] = { "Unresumed", "Returned", "Panicked", "Suspend0",
		                             "Suspend1" };

	for (unsigned i = 0; i < 5; i++) {
		poke(f, at, i, 1);
		assert_string_equal(active(f, v), names[i]);
	}
	poke(f, at, 5, 1);
	assert_null(active(f, v));
	poke(f, at, 0xff, 1);
	assert_null(active(f, v));
}

static void test_numbers_below_wrappers(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Root");
	uint64_t number;

	poke(f, member(v, "wrapped").addr, 0x1122334455667788, 8);
	fail_on(value_uint(f->target, member(v, "wrapped"), &number));
	assert_true(number == 0x1122334455667788);
	poke(f, member(v, "list").addr, 0xdead, 8);
	fail_on(value_uint(f->target, member(v, "list"), &number));
	assert_int_equal(number, 0xdead);

	v = place_of(f, "shapes::Zst");
	poke(f, PLACE + offset_of(v.type, "value"), 99, 4);
	fail_on(value_uint(f->target, v, &number));
	assert_int_equal(number, 99);
	v = place_of(f, "shapes::Named");
	poke(f, member(v, "cell").addr, 0xfffffffe, 4);
	fail_on(value_uint(f->target, member(v, "cell"), &number));
	assert_int_equal(number, 0xfffffffe);
	poke(f, member(v, "uninit").addr, 0x1234, 2);
	fail_on(value_uint(f->target, member(v, "uninit"), &number));
	assert_int_equal(number, 0x1234);
	expect_error(value_uint(f->target, member(v, "real"), &number), ERR_LAYOUT,
	             "is not a scalar");
	expect_error(value_uint(f->target, v, &number), ERR_LAYOUT,
	             "shapes::Named is not a scalar");
}

static void test_faults(void **state)
{
	struct fixture *f = *state;
	const struct variant *variant = NULL;
	uint64_t number = 42;
	const char *name;
	struct value v = { must_find(f, "shapes::TaggedU8"), HOLE };

	expect_error(value_variant(f->target, v, &variant), ERR_FAULT, "");
	assert_null(variant);
	v.type = must_find(f, "shapes::CLike");
	expect_error(value_enum_name(f->target, v, &name), ERR_FAULT, "");
	expect_error(value_uint(f->target, v, &number), ERR_FAULT, "");
	/* The last mapped byte and seven unmapped ones. */
	v = (struct value){ must_find(f, "u64"), PLACE + 4096 - 1 };
	expect_error(value_uint(f->target, v, &number), ERR_FAULT, "");
	v.addr = UINT64_MAX - 2;
	expect_error(value_uint(f->target, v, &number), ERR_FAULT, "");
	assert_int_equal(number, 42);
}

static void put_slice(struct fixture *f, struct value v, uint64_t addr, uint64_t count)
{
	poke(f, member(v, "data_ptr").addr, addr, 8);
	poke(f, member(v, "length").addr, count, 8);
}

static void test_slices(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Lists");
	struct slice s;

	put_slice(f, member(v, "slice"), ELSEWHERE, 3);
	fail_on(value_slice(f->target, member(v, "slice"), &s));
	assert_string_equal(type_name(s.element), "u32");
	assert_int_equal(s.addr, ELSEWHERE);
	assert_int_equal(s.count, 3);
	put_slice(f, member(v, "boxed"), ELSEWHERE, UINT64_MAX);
	fail_on(value_slice(f->target, member(v, "boxed"), &s));
	assert_string_equal(type_name(s.element), "u64");
	assert_true(s.count == UINT64_MAX);
	expect_error(value_slice(f->target, member(v, "array"), &s), ERR_LAYOUT, "is not a slice");
	expect_error(value_slice(f->target, place_of(f, "shapes::Inner"), &s), ERR_LAYOUT,
	             "is not a slice");
}

/* The position of a Vec's pointer, which differs between compilers. */
static uint64_t pointer_of_vec(struct value v)
{
	v = member(v, "buf");
	while (type_kind(v.type) != TYPE_POINTER) {
		const struct member *m = type_member(v.type, "inner");

		m = m ? m : type_member(v.type, "ptr");
		m = m ? m : type_single_member(v.type);
		assert_non_null(m);
		v = (struct value){ m->type, v.addr + m->offset };
	}
	return v.addr;
}

static void test_vectors(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Lists"), vec = member(v, "vec");
	struct slice s;

	poke(f, pointer_of_vec(vec), ELSEWHERE, 8);
	poke(f, member(vec, "len").addr, 5, 8);
	fail_on(value_slice(f->target, vec, &s));
	assert_string_equal(type_name(s.element), "u16");
	assert_int_equal(s.addr, ELSEWHERE);
	assert_int_equal(s.count, 5);

	/* A wrapper has its own T, here u64. */
	v = member(v, "held");
	poke(f, pointer_of_vec(member(v, "items")), ELSEWHERE, 8);
	fail_on(value_slice(f->target, v, &s));
	assert_string_equal(type_name(s.element), "u16");
}

/* A ring buffer has a len and a buf too, but its elements need not start at the beginning. */
static void test_deque_is_no_slice(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Lists");
	struct slice s;

	expect_error(value_slice(f->target, member(v, "deque"), &s), ERR_LAYOUT, "is not a slice");
}

static void check_string(struct fixture *f, struct value v, size_t max, const char *expected)
{
	SCRATCH(a);
	const char *text = NULL;

	fail_on(value_string(f->target, &a, v, max, &text));
	assert_string_equal(text, expected);
}

static void test_strings(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Named"), owned = member(v, "owned");
	SCRATCH(a);
	const char *text = "untouched";

	target_fake_poke(f->target, ELSEWHERE, "gr\xc3\xbc\xc3\x9f\x1b[2J\xff.", 12);
	put_slice(f, member(v, "borrowed"), ELSEWHERE, 6);
	check_string(f, member(v, "borrowed"), 100, "gr\xc3\xbc\xc3\x9f");
	/* An escape sequence and a byte that is no UTF-8. */
	put_slice(f, member(v, "boxed"), ELSEWHERE, 12);
	check_string(f, member(v, "boxed"), 100, "gr\xc3\xbc\xc3\x9f?[2J\xef\xbf\xbd.");
	/* Cut in the middle of a character. */
	check_string(f, member(v, "boxed"), 3, "gr\xef\xbf\xbd");
	check_string(f, member(v, "boxed"), 0, "");

	poke(f, pointer_of_vec(member(owned, "vec")), ELSEWHERE, 8);
	poke(f, member(member(owned, "vec"), "len").addr, 2, 8);
	check_string(f, owned, 100, "gr");
	/* Longer than the memory, and longer than the limit. */
	put_slice(f, member(v, "borrowed"), ELSEWHERE, UINT64_MAX);
	check_string(f, member(v, "borrowed"), 2, "gr");
	expect_error(value_string(f->target, &a, member(v, "borrowed"), 1 << 20, &text), ERR_FAULT,
	             "");
	put_slice(f, member(v, "borrowed"), HOLE, 1);
	expect_error(value_string(f->target, &a, member(v, "borrowed"), 100, &text), ERR_FAULT, "");
	put_slice(f, member(v, "borrowed"), 1, 0); /* an empty one dangles */
	check_string(f, member(v, "borrowed"), 100, "");
	expect_error(value_string(f->target, &a, member(v, "cell"), 100, &text), ERR_LAYOUT, "");
	assert_string_equal(text, "untouched");
}

/* ---- wrong debug info ---- */

enum { U = 1, STRUCT, MEMBER, PART, TAG, VARIANT, BARE, BASE, ONLY_PART, WIDE };

static size_t begin_types(struct hand_made *h)
{
	struct bytes *b = &h->abbrev;

	put_abbrev(b, U, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, STRUCT, DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_string, DW_AT_byte_size,
	           DW_FORM_udata, 0);
	put_abbrev(b, MEMBER, DW_TAG_member, 0, DW_AT_name, DW_FORM_string, DW_AT_type,
	           DW_FORM_ref4, DW_AT_data_member_location, DW_FORM_udata, 0);
	put_abbrev(b, PART, DW_TAG_variant_part, 1, DW_AT_discr, DW_FORM_ref4, 0);
	put_abbrev(b, TAG, DW_TAG_member, 0, DW_AT_type, DW_FORM_ref4, 0);
	put_abbrev(b, VARIANT, DW_TAG_variant, 1, DW_AT_discr_value, DW_FORM_udata, 0);
	put_abbrev(b, BARE, DW_TAG_variant, 0, 0);
	put_abbrev(b, BASE, DW_TAG_base_type, 0, DW_AT_name, DW_FORM_string, DW_AT_byte_size,
	           DW_FORM_udata, 0);
	put_abbrev(b, ONLY_PART, DW_TAG_variant_part, 1, 0);
	put_abbrev(b, WIDE, DW_TAG_variant, 1, DW_AT_discr_value, DW_FORM_block1, 0);
	put_fixed(b, 0, 1);
	size_t unit = begin_unit(&h->info, 4, 0);
	put_uleb(&h->info, U);
	put_text(&h->info, "src/lib.rs/@/odd.1");
	return unit;
}

static uint32_t put_sized(struct hand_made *h, unsigned code, const char *name, uint64_t size)
{
	uint32_t at = (uint32_t)h->info.n;

	put_uleb(&h->info, code);
	put_text(&h->info, name);
	put_uleb(&h->info, size);
	return at;
}

static void put_member(struct hand_made *h, const char *name, uint32_t type, uint64_t offset)
{
	put_uleb(&h->info, MEMBER);
	put_text(&h->info, name);
	put_fixed(&h->info, type, 4);
	put_uleb(&h->info, offset);
}

static struct fixture end_types(struct hand_made *h, size_t unit)
{
	static const char zeros[64];

	put_fixed(&h->info, 0, 1);
	end_unit(&h->info, unit);
	struct fixture f = hand_made_open(h);
	target_fake_map(f.target, PLACE, zeros, sizeof(zeros));
	return f;
}

/* Integers of 3 and 32 bytes, tags of these sizes, and an impossible size. */
static void test_odd_sizes(void **state)
{
	static const uint64_t sizes[] = { 0, 3, 32, UINT64_MAX };
	(void)state;

	for (size_t i = 0; i < 4; i++) {
		struct hand_made h = { 0 };
		size_t unit = begin_types(&h);
		uint32_t number = put_sized(&h, BASE, "odd", sizes[i]);
		uint32_t choice = put_sized(&h, STRUCT, "Choice", 32);
		put_uleb(&h.info, PART);
		put_fixed(&h.info, h.info.n + 4, 4);
		put_uleb(&h.info, TAG);
		put_fixed(&h.info, number, 4);
		put_fixed(&h.info, 0, 2);
		struct fixture f = end_types(&h, unit);
		const struct variant *variant;
		uint64_t value;
		const char *name;

		expect_error(value_uint(f.target, (struct value){ type_at(f.dm, number), PLACE },
		                        &value),
		             ERR_LAYOUT, "odd");
		expect_error(value_variant(f.target, (struct value){ type_at(f.dm, choice), PLACE },
		                           &variant),
		             ERR_LAYOUT, "Choice has a discriminant of");
		expect_error(value_enum_name(f.target,
		                             (struct value){ type_at(f.dm, number), PLACE }, &name),
		             ERR_LAYOUT, "is not an enum");
		fixture_close(&f);
	}
}

/* A variant with a number of 16 bytes, and a payload of that name. */
static void put_wide(struct hand_made *h, uint64_t low, uint64_t high, uint32_t payload)
{
	put_uleb(&h->info, WIDE);
	put_fixed(&h->info, 16, 1);
	put_fixed(&h->info, low, 8);
	put_fixed(&h->info, high, 8);
	put_member(h, "payload", payload, 0);
	put_fixed(&h->info, 0, 1);
}

/* An enum with a discriminant of 16 bytes and variants 0 and last, as Option<u128> is. */
static uint32_t put_wide_enum(struct hand_made *h, const uint32_t *payloads, uint64_t last,
                              uint64_t high)
{
	uint32_t tag = put_sized(h, BASE, "u128", 16);
	uint32_t ret = put_sized(h, STRUCT, "Choice", 32);

	put_uleb(&h->info, PART);
	put_fixed(&h->info, h->info.n + 4, 4);
	put_uleb(&h->info, TAG);
	put_fixed(&h->info, tag, 4);
	put_wide(h, 0, 0, payloads[0]);
	put_wide(h, last, high, payloads[1]);
	put_fixed(&h->info, 0, 2);
	return ret;
}

static void expect_variant(struct fixture *f, const struct type *t, const uint64_t *words,
                           const char *name)
{
	const struct variant *variant;

	target_fake_map(f->target, PLACE, words, 2 * sizeof(*words));
	if (name) {
		fail_on(value_variant(f->target, (struct value){ t, PLACE }, &variant));
		assert_string_equal(variant->name, name);
		return;
	}
	expect_error(value_variant(f->target, (struct value){ t, PLACE }, &variant), ERR_CORRUPT,
	             "has no variant");
}

static void test_wide_discriminant(void **state)
{
	static const uint64_t words[][2] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 0, 1 }, { 1, 1 } };
	static const char *const names[] = { "None", "Some", NULL, NULL, NULL };
	(void)state;

	for (size_t i = 0; i < 5; i++) {
		struct hand_made h = { 0 };
		size_t unit = begin_types(&h);
		uint32_t payloads[2] = { put_sized(&h, STRUCT, "None", 32) };
		put_fixed(&h.info, 0, 1);
		payloads[1] = put_sized(&h, STRUCT, "Some", 32);
		put_fixed(&h.info, 0, 1);
		uint32_t choice = put_wide_enum(&h, payloads, 1, 0);
		uint32_t wider = put_wide_enum(&h, payloads, 0, 1);
		put_fixed(&h.info, 0, 1);
		end_unit(&h.info, unit);
		struct fixture f = hand_made_open(&h);
		const struct variant *variant;

		expect_variant(&f, type_at(f.dm, choice), words[i], names[i]);
		/* A number of more than 64 bits: none of its variants is known. */
		expect_error(value_variant(f.target, (struct value){ type_at(f.dm, wider), PLACE },
		                           &variant),
		             ERR_LAYOUT, "Choice has no variants");
		fixture_close(&f);
	}
}

/* A single variant without members. */
static void test_variant_without_a_payload(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_types(&h);
	uint32_t choice = put_sized(&h, STRUCT, "Choice", 8);
	put_uleb(&h.info, ONLY_PART);
	put_uleb(&h.info, BARE);
	put_fixed(&h.info, 0, 2);
	struct fixture f = end_types(&h, unit);
	const struct variant *variant = NULL;

	struct error *err =
		value_variant(f.target, (struct value){ type_at(f.dm, choice), PLACE }, &variant);
	assert_non_null(err);
	error_free(err);
	assert_null(variant);
	fixture_close(&f);
}

/* struct Self { inner: Self }, alone and as the buffer of a Vec. */
static void test_types_that_hold_themselves(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_types(&h);
	uint32_t number = put_sized(&h, BASE, "u64", 8);
	uint32_t self = put_sized(&h, STRUCT, "Self", 8);
	put_member(&h, "inner", self, 0);
	put_fixed(&h.info, 0, 1);
	uint32_t vec = put_sized(&h, STRUCT, "Vec", 24);
	put_member(&h, "len", number, 0);
	put_member(&h, "buf", self, 8);
	put_fixed(&h.info, 0, 1);
	struct fixture f = end_types(&h, unit);
	struct value v = { type_at(f.dm, self), PLACE };
	uint64_t value;
	struct slice s;

	expect_error(value_uint(f.target, v, &value), ERR_LAYOUT, "nested too deep");
	expect_error(value_slice(f.target, v, &s), ERR_LAYOUT, "is not a slice");
	v.type = type_at(f.dm, vec);
	expect_error(value_slice(f.target, v, &s), ERR_LAYOUT, "");
	fixture_close(&f);
}

/* An Arc points at its counts, which the value follows. */
static void test_what_an_arc_shares(void **state)
{
	struct fixture *f = *state;
	struct value arc = member(place_of(f, "shapes::Shared"), "state"), shared;
	const struct type *inner;

	expect_error(value_shared(f->target, arc, &shared), ERR_CORRUPT, "is null");
	poke(f, PLACE, ELSEWHERE, 8);
	assert_null(value_shared(f->target, arc, &shared));
	assert_true(type_is(shared.type, "std::sync::poison::mutex::Mutex") ||
	            type_is(shared.type, "std::sync::mutex::Mutex"));
	assert_true(shared.addr > ELSEWHERE);
	inner = must_find(f, "shapes::Inner");
	expect_error(value_shared(f->target, (struct value){ inner, PLACE }, &shared), ERR_LAYOUT,
	             "is not an Arc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tagged_enums),
		cmocka_unit_test(test_niches),
		cmocka_unit_test(test_option_of_option),
		cmocka_unit_test(test_niche_of_a_signed_enum),
		cmocka_unit_test(test_single_variants_have_no_tag),
		cmocka_unit_test(test_enum_without_values),
		cmocka_unit_test(test_enumerators),
		cmocka_unit_test(test_coroutine_states),
		cmocka_unit_test(test_numbers_below_wrappers),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_deque_is_no_slice),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_odd_sizes),
		cmocka_unit_test(test_wide_discriminant),
		cmocka_unit_test(test_variant_without_a_payload),
		cmocka_unit_test(test_types_that_hold_themselves),
		cmocka_unit_test(test_what_an_arc_shares),
	};

	return cmocka_run_group_tests(tests, places_setup, shapes_teardown);
}
