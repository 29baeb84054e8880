/* Tests of types read from DWARF. */
#include "dwarf/test/module.h"

static void test_kinds(void **state)
{
	struct fixture *f = *state;
	const struct type *root = must_find(f, "shapes::Root");
	const struct type *named = must_find(f, "shapes::Named");

	assert_int_equal(type_kind(root), TYPE_STRUCT);
	assert_int_equal(type_kind(type_member(root, "first")->type), TYPE_UINT);
	assert_int_equal(type_kind(type_member(root, "list")->type), TYPE_POINTER);
	assert_int_equal(type_kind(type_member(root, "maybe")->type), TYPE_ENUM);
	assert_int_equal(type_kind(type_member(root, "pair")->type), TYPE_STRUCT);
	assert_int_equal(type_kind(type_member(named, "real")->type), TYPE_FLOAT);
	assert_int_equal(type_kind(type_member(named, "letter")->type), TYPE_CHAR);
	assert_int_equal(type_kind(must_find(f, "i32")), TYPE_INT);
	assert_int_equal(type_kind(must_find(f, "bool")), TYPE_BOOL);
	assert_int_equal(type_kind(must_find(f, "shapes::CLike")), TYPE_CENUM);
	assert_int_equal(type_kind(must_find(f, "shapes::Overlay")), TYPE_UNION);
	const struct type *callback = type_member(named, "callback")->type;
	assert_int_equal(type_kind(callback), TYPE_POINTER);
	assert_int_equal(type_kind(type_target(callback)), TYPE_FUNCTION);
}

static void test_names_and_sizes(void **state)
{
	struct fixture *f = *state;
	const struct type *root = must_find(f, "shapes::Root");

	assert_string_equal(type_name(root), "shapes::Root");
	assert_int_equal(type_size(must_find(f, "shapes::Inner")), 16);
	assert_int_equal(type_align(must_find(f, "shapes::Inner")), 8);
	const struct type *list = type_member(root, "list")->type;
	assert_string_equal(type_name(list), "*const shapes::Node");
	assert_int_equal(type_size(list), 8);
	assert_string_equal(type_name(type_target(list)), "shapes::Node");
	assert_string_equal(type_name(type_member(root, "maybe")->type),
	                    "core::option::Option<&shapes::Inner>");
	assert_true(type_is(type_member(root, "maybe")->type, "core::option::Option"));
	assert_false(type_is(type_member(root, "maybe")->type, "core::option::Opt"));
	assert_false(type_is(root, "shapes::Roo"));
	assert_null(type_member(root, "firs"));
	/* The same DIE is the same type. */
	assert_ptr_equal(root, lookup_type(f->dm, "shapes::Root", 0));
	assert_ptr_equal(root, type_at(f->dm, type_die(root)));
	assert_null(type_at(f->dm, 0));
}

static void test_arrays(void **state)
{
	struct fixture *f = *state;
	const struct type *array = type_member(must_find(f, "shapes::Lists"), "array")->type;
	const struct type *none = type_member(must_find(f, "shapes::Zst"), "none")->type;

	assert_int_equal(type_kind(array), TYPE_ARRAY);
	assert_int_equal(type_count(array), 7);
	assert_int_equal(type_size(array), 28);
	assert_string_equal(type_name(array), "[u32; 7]");
	assert_string_equal(type_name(type_target(array)), "u32");
	assert_int_equal(type_count(none), 0);
	assert_int_equal(type_size(none), 0);
}

static void test_single_member(void **state)
{
	struct fixture *f = *state;
	const struct member *m = type_single_member(must_find(f, "shapes::Zst"));

	/* The members beside it: (), PhantomData and an empty array. */
	assert_non_null(m);
	assert_string_equal(m->name, "value");
	assert_null(type_single_member(must_find(f, "shapes::Inner")));
	assert_null(type_single_member(must_find(f, "u32")));
	assert_null(type_single_member(must_find(f, "shapes::Niche")));
	/* All members of a union have a size. */
	assert_null(type_single_member(must_find(f, "shapes::Overlay")));
}

static void test_variants(void **state)
{
	struct fixture *f = *state;
	const struct type *t = must_find(f, "shapes::TaggedU8");
	size_t n;
	const struct variant *v = type_variants(t, &n);

	assert_int_equal(n, 3);
	assert_string_equal(v[0].name, "Small");
	assert_int_equal(v[0].discr, 3);
	assert_int_equal(v[1].discr, 200);
	assert_int_equal(v[2].discr, 255);
	assert_false(v[0].is_default);
	assert_non_null(type_member(v[1].payload, "x"));
	assert_int_equal(type_size(type_discr(t)->type), 1);
	assert_ptr_equal(type_variant(t, "Large"), &v[1]);
	assert_null(type_variant(t, "Larg"));
	assert_false(type_is_coroutine(t));

	t = must_find(f, "shapes::TaggedI8");
	assert_int_equal(type_variant(t, "Negative")->discr, 0xfd);
	t = must_find(f, "shapes::TaggedU16");
	assert_int_equal(type_variant(t, "High")->discr, 0xfffe);
	t = must_find(f, "shapes::TaggedU32");
	assert_int_equal(type_variant(t, "High")->discr, 0xfffffffe);
	/* LLVM writes this -1 as one byte. */
	t = must_find(f, "shapes::TaggedI64");
	assert_true(type_variant(t, "Lowest")->discr == (uint64_t)INT64_MIN);
	assert_true(type_variant(t, "Minus")->discr == UINT64_MAX);
	t = must_find(f, "shapes::TaggedU64");
	assert_true(type_variant(t, "High")->discr == UINT64_MAX);
}

static void test_niche_has_a_default(void **state)
{
	struct fixture *f = *state;
	const struct type *t = must_find(f, "shapes::Niche");

	assert_true(type_variant(t, "Flag")->is_default);
	assert_false(type_variant(t, "Red")->is_default);
	assert_int_equal(type_variant(t, "Blue")->discr, type_variant(t, "Red")->discr + 2);
	t = must_find(f, "shapes::Single");
	assert_null(type_discr(t));
	assert_non_null(type_variant(t, "Only"));
}

/* An enumerator is compared with the value in memory, which has as many bits as the enum. */
static void test_enumerators_have_the_size_of_the_enum(void **state)
{
	struct fixture *f = *state;
	const struct type *t = must_find(f, "core::cmp::Ordering");
	size_t n;
	const struct enumerator *e = type_enumerators(t, &n);

	assert_int_equal(n, 3);
	assert_string_equal(e[0].name, "Less");
	assert_int_equal(e[0].value, 0xff);
	assert_int_equal(e[1].value, 0);
	assert_int_equal(e[2].value, 1);
	assert_int_equal(type_size(type_target(t)), 1);
}

static void test_coroutine(void **state)
{
	struct fixture *f = *state;
	const struct type *t = must_find(f, "shapes::middle::{async_fn_env#0}");
	size_t n;

	assert_true(type_is_coroutine(t));
	type_variants(t, &n);
	assert_int_equal(n, 5);
	assert_int_equal(type_variant(t, "Unresumed")->discr, 0);
	assert_int_equal(type_variant(t, "Suspend1")->discr, 4);
	const struct member *awaitee =
		type_member(type_variant(t, "Suspend1")->payload, "__awaitee");
	assert_string_equal(type_name(awaitee->type), "shapes::leaf::{async_fn_env#0}");
	assert_true(type_variant(t, "Suspend1")->line == type_variant(t, "Suspend0")->line + 1);
	assert_non_null(type_variant(t, "Suspend1")->file);
}

static void test_parameters_and_trait_objects(void **state)
{
	struct fixture *f = *state;
	const struct type *vec = type_member(must_find(f, "shapes::Lists"), "vec")->type;

	assert_string_equal(type_name(type_param(vec, "T")), "u16");
	assert_null(type_param(vec, "U"));
	assert_false(type_is_dyn(vec));
	assert_false(type_is_dyn(type_member(must_find(f, "shapes::Lists"), "slice")->type));
	/* alloc::string::String has a Vec<u8>, &str has data_ptr and length. */
	assert_false(type_is_dyn(must_find(f, "alloc::string::String")));
	uint64_t boxed = 0;
	size_t n;
	const struct scope *scopes = read_scopes(f, &n);
	for (size_t i = 0; i < n; i++) {
		const struct scope *s = &scopes[i];

		if (s->name && s->parent == SCOPE_NONE &&
		    strncmp(s->name, "alloc::boxed::Box<dyn core::future", 34) == 0)
			boxed = s->die;
	}
	assert_true(type_is_dyn(type_at(f->dm, boxed)));
}

/* ---- wrong debug info ---- */

enum {
	U = 1,
	STRUCT,
	MEMBER,
	POINTER,
	TYPEDEF,
	ARRAY,
	SUBRANGE,
	PART,
	DISCR,
	VARIANT,
	BASE,
	DECLARATION,
	NAMELESS,
	BARE_VARIANT,
	NAMED_VARIANT
};

static void put_type_abbrevs(struct bytes *b)
{
	put_abbrev(b, U, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, STRUCT, DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_string, DW_AT_byte_size,
	           DW_FORM_udata, 0);
	put_abbrev(b, MEMBER, DW_TAG_member, 0, DW_AT_name, DW_FORM_string, DW_AT_type,
	           DW_FORM_ref4, DW_AT_data_member_location, DW_FORM_udata, 0);
	put_abbrev(b, POINTER, DW_TAG_pointer_type, 0, DW_AT_type, DW_FORM_ref4, 0);
	put_abbrev(b, TYPEDEF, DW_TAG_typedef, 0, DW_AT_type, DW_FORM_ref4, 0);
	put_abbrev(b, ARRAY, DW_TAG_array_type, 1, DW_AT_type, DW_FORM_ref4, 0);
	put_abbrev(b, SUBRANGE, DW_TAG_subrange_type, 0, DW_AT_count, DW_FORM_udata, 0);
	put_abbrev(b, PART, DW_TAG_variant_part, 1, DW_AT_discr, DW_FORM_ref4, 0);
	put_abbrev(b, DISCR, DW_TAG_member, 0, DW_AT_type, DW_FORM_ref4, 0);
	put_abbrev(b, VARIANT, DW_TAG_variant, 1, DW_AT_discr_value, DW_FORM_udata, 0);
	put_abbrev(b, BASE, DW_TAG_base_type, 0, DW_AT_name, DW_FORM_string, DW_AT_byte_size,
	           DW_FORM_udata, 0);
	put_abbrev(b, DECLARATION, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string,
	           DW_AT_declaration, DW_FORM_flag_present, 0);
	put_abbrev(b, NAMELESS, DW_TAG_structure_type, 0, DW_AT_declaration, DW_FORM_flag_present,
	           0);
	put_abbrev(b, BARE_VARIANT, DW_TAG_variant, 0, 0);
	put_fixed(b, 0, 1);
}

static size_t begin_types(struct hand_made *h)
{
	put_type_abbrevs(&h->abbrev);
	size_t unit = begin_unit(&h->info, 4, 0);
	put_uleb(&h->info, U);
	put_text(&h->info, "src/lib.rs/@/odd.1");
	return unit;
}

static struct fixture end_types(struct hand_made *h, size_t unit)
{
	put_fixed(&h->info, 0, 1);
	end_unit(&h->info, unit);
	return hand_made_open(h);
}

static uint32_t put_reference(struct hand_made *h, unsigned code, uint32_t target)
{
	uint32_t at = (uint32_t)h->info.n;

	put_uleb(&h->info, code);
	put_fixed(&h->info, target, 4);
	return at;
}

static uint32_t put_struct(struct hand_made *h, const char *name, uint64_t size)
{
	uint32_t at = (uint32_t)h->info.n;

	put_uleb(&h->info, STRUCT);
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

/* A typedef of itself, two of each other, one without a type. */
static void test_typedefs_in_a_cycle(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_types(&h);
	uint32_t self = (uint32_t)h.info.n;

	put_reference(&h, TYPEDEF, self);
	uint32_t first = put_reference(&h, TYPEDEF, (uint32_t)h.info.n + 5);
	uint32_t second = put_reference(&h, TYPEDEF, first);
	uint32_t lost = put_reference(&h, TYPEDEF, 0xfffffff);
	struct fixture f = end_types(&h, unit);

	assert_int_equal(type_kind(type_at(f.dm, self)), TYPE_OPAQUE);
	assert_int_equal(type_kind(type_at(f.dm, first)), TYPE_OPAQUE);
	assert_int_equal(type_kind(type_at(f.dm, second)), TYPE_OPAQUE);
	assert_int_equal(type_kind(type_at(f.dm, lost)), TYPE_OPAQUE);
	assert_string_equal(type_name(type_at(f.dm, self)), "?");
	fixture_close(&f);
}

static void test_array_of_itself(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_types(&h);
	uint32_t array = (uint32_t)h.info.n;

	put_reference(&h, ARRAY, array);
	put_uleb(&h.info, SUBRANGE);
	put_uleb(&h.info, 3);
	put_fixed(&h.info, 0, 1);
	struct fixture f = end_types(&h, unit);

	const struct type *t = type_at(f.dm, array);
	assert_int_equal(type_kind(t), TYPE_ARRAY);
	assert_int_equal(type_size(t), 0);
	fixture_close(&f);
}

static void test_size_that_overflows(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_types(&h);
	uint32_t huge = put_struct(&h, "Huge", UINT64_MAX);
	put_fixed(&h.info, 0, 1);
	uint32_t array = put_reference(&h, ARRAY, huge);
	put_uleb(&h.info, SUBRANGE);
	put_uleb(&h.info, 3);
	put_fixed(&h.info, 0, 1);
	struct fixture f = end_types(&h, unit);

	assert_true(type_size(type_at(f.dm, huge)) == UINT64_MAX);
	assert_int_equal(type_size(type_at(f.dm, array)), 0);
	fixture_close(&f);
}

/* A struct that contains itself. */
static void test_struct_in_itself(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_types(&h);
	uint32_t self = (uint32_t)h.info.n;

	put_struct(&h, "Self", 8);
	put_member(&h, "inner", self, 0);
	put_fixed(&h.info, 0, 1);
	struct fixture f = end_types(&h, unit);

	const struct type *t = type_at(f.dm, self);
	assert_ptr_equal(type_single_member(t)->type, t);
	fixture_close(&f);
}

/* A declaration that another DIE completes; one that none does; one without a name. */
static void test_declarations(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_types(&h);
	uint32_t declared = (uint32_t)h.info.n;

	put_uleb(&h.info, DECLARATION);
	put_text(&h.info, "Known");
	uint32_t unknown = (uint32_t)h.info.n;
	put_uleb(&h.info, DECLARATION);
	put_text(&h.info, "Unknown");
	uint32_t nameless = (uint32_t)h.info.n;
	put_uleb(&h.info, NAMELESS);
	uint32_t base = (uint32_t)h.info.n;
	put_uleb(&h.info, BASE);
	put_text(&h.info, "u64");
	put_uleb(&h.info, 8);
	put_struct(&h, "Known", 8);
	put_member(&h, "value", base, 0);
	put_fixed(&h.info, 0, 1);
	struct fixture f = end_types(&h, unit);

	assert_int_equal(type_kind(type_at(f.dm, declared)), TYPE_STRUCT);
	assert_int_equal(type_size(type_at(f.dm, declared)), 8);
	assert_non_null(type_member(type_at(f.dm, declared), "value"));
	assert_int_equal(type_kind(type_at(f.dm, unknown)), TYPE_OPAQUE);
	assert_null(type_member(type_at(f.dm, unknown), "value"));
	assert_int_equal(type_kind(type_at(f.dm, nameless)), TYPE_OPAQUE);
	assert_int_equal(type_size(type_at(f.dm, nameless)), 0);
	assert_null(lookup_type(f.dm, "Unknown", 0));
	fixture_close(&f);
}

/* Offsets at which no DIE starts, and DIEs that are no types. */
static void test_types_at_odd_places(void **state)
{
	(void)state;
	struct hand_made h = { 0 };
	size_t unit = begin_types(&h);
	uint32_t pointer = put_reference(&h, POINTER, 0xffffff);
	struct fixture f = end_types(&h, unit);
	size_t n;

	assert_null(type_target(type_at(f.dm, pointer)));
	assert_int_equal(type_kind(type_at(f.dm, UINT64_MAX)), TYPE_OPAQUE);
	assert_int_equal(type_size(type_at(f.dm, 3)), 0);
	type_members(type_at(f.dm, 3), &n);
	assert_int_equal(n, 0);
	type_variants(type_at(f.dm, pointer), &n);
	assert_int_equal(n, 0);
	assert_false(type_is_dyn(type_at(f.dm, UINT64_MAX)));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_names_and_sizes),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_single_member),
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_niche_has_a_default),
		cmocka_unit_test(test_enumerators_have_the_size_of_the_enum),
		cmocka_unit_test(test_coroutine),
		cmocka_unit_test(test_parameters_and_trait_objects),
		cmocka_unit_test(test_typedefs_in_a_cycle),
		cmocka_unit_test(test_array_of_itself),
		cmocka_unit_test(test_size_that_overflows),
		cmocka_unit_test(test_struct_in_itself),
		cmocka_unit_test(test_declarations),
		cmocka_unit_test(test_types_at_odd_places),
	};

	return cmocka_run_group_tests(tests, shapes_setup, shapes_teardown);
}
