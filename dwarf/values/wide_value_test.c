/* Values behind wide pointers to structs with an unsized tail, in the types of unsized.elf. */
#include "dwarf/test/places.h"
#include "dwarf/types/wide.h"
#include "dwarf/values/path.h"
#include "dwarf/values/show.h"

static int setup(void **state)
{
	struct fixture *f = malloc(sizeof(*f));

	if (!f)
		return -1;
	*f = fixture_open_file("testdata/unit/unsized.elf");
	places_map(f);
	*state = f;
	return 0;
}

static struct value pointer_in(struct fixture *f, const char *name)
{
	struct value v = member(place_of(f, "unsized::Pointers"), name);

	while (type_wide_kind(v.type) == WIDE_NONE) {
		const struct member *m = type_single_member(v.type);

		assert_non_null(m);
		v = (struct value){ m->type, v.addr + m->offset };
	}
	return v;
}

/* Points a wide pointer to ELSEWHERE. */
static void aim(struct fixture *f, const char *name, uint64_t meta)
{
	struct value v = pointer_in(f, name);

	poke(f, v.addr, ELSEWHERE, 8);
	poke(f, v.addr + 8, meta, 8);
}

static void check(struct fixture *f, const char *name, const char *expected)
{
	struct show_cache cache = { 0 };
	struct value v = { type_member(must_find(f, "unsized::Pointers"), name)->type,
		           PLACE + type_member(must_find(f, "unsized::Pointers"), name)->offset };

	assert_string_equal(show_value(f->target, f->di, &cache, &f->arena, v, NULL), expected);
	show_free(&cache);
}

/* The vtable of a type, which says that size and alignment. */
static uint64_t vtable_of(struct fixture *f, const char *type, uint64_t size, uint64_t align)
{
	const uint64_t words[] = { 0, size, align, 0 };
	uint64_t addr = 0;
	char name[200];
	size_t n;

	snprintf(name, sizeof(name), "<%s as unsized::Animal>::{vtable}", type);
	const struct scope *scopes = read_scopes(f, &n);
	for (size_t i = 0; i < n; i++) {
		if (scopes[i].name && strcmp(scopes[i].name, name) == 0)
			addr = scopes[i].low + BIAS;
	}
	assert_true(addr != 0);
	target_fake_map(f->target, addr, words, sizeof(words));
	return addr;
}

static void test_kinds(void **state)
{
	static const struct {
		const char *name;
		enum wide_kind kind;
		bool has_vtable;
	} rows[] = {
		{ "slice", WIDE_STRUCT, false },  { "object", WIDE_STRUCT, true },
		{ "nested", WIDE_STRUCT, false }, { "record", WIDE_STRUCT, false },
		{ "shared", WIDE_STRUCT, true },  { "arc_str", WIDE_STRUCT, false },
		{ "path", WIDE_STRUCT, false },   { "plain", WIDE_DYN, true },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wide wide = type_wide(pointer_in(f, rows[i].name).type);

		assert_int_equal(wide.kind, rows[i].kind);
		assert_int_equal(wide.has_vtable, rows[i].has_vtable);
	}
	/* A struct of the program whose members have these names. */
	assert_int_equal(type_wide_kind(must_find(f, "unsized::Named")), WIDE_NONE);
	assert_int_equal(type_wide_kind(must_find(f, "unsized::Dog")), WIDE_NONE);
	assert_false(type_is_slice(must_find(f, "unsized::Named")));
}

static void test_slices(void **state)
{
	struct fixture *f = *state;

	aim(f, "slice", 3);
	poke(f, ELSEWHERE, 7, 4);
	poke(f, ELSEWHERE + 4, 0x000300020001, 6);
	check(f, "slice", "Tail { n: 7, tail: [1, 2, 3] }");
	aim(f, "pinned", 1);
	poke(f, ELSEWHERE + 4, 9, 2);
	check(f, "pinned", "Tail { n: 0, tail: [9] }");
	aim(f, "nested", 2);
	poke(f, ELSEWHERE + 4, 5, 4);
	poke(f, ELSEWHERE + 8, 0x0201, 2);
	check(f, "nested", "Tail { n: 0, tail: Tail { n: 5, tail: [1, 2] } }");
	/* head: u16 at 0, len: u8 at 2, body at 3, in the padding of a sized one. */
	aim(f, "padded", 2);
	poke(f, ELSEWHERE, 0x0807020102, 5);
	check(f, "padded", "Padded { len: 2, head: 258, body: [7, 8] }");
	aim(f, "record", 2);
	struct value record = { type_wide(pointer_in(f, "record").type).pointee, ELSEWHERE };
	aim(f, "record", 2);
	poke(f, member(record, "kind").addr, 1, 1);
	poke(f, member(record, "data").addr, 0x200000001, 8);
	check(f, "record", "Record { kind: 1, data: [1, 2] }");
	aim(f, "cell", 2);
	poke(f, ELSEWHERE + 24, 0x400000003, 8);
	check(f, "cell", "RefCell { value: [3, 4] }");
	aim(f, "arc_slice", 2);
	poke(f, ELSEWHERE + 16, 0x00060005, 4);
	check(f, "arc_slice", "[5, 6]");
}

static void test_texts(void **state)
{
	static const char text[] = "hey";
	struct fixture *f = *state;

	aim(f, "text", 3);
	target_fake_poke(f->target, ELSEWHERE + 4, text, 3);
	check(f, "text", "Tail { n: 0, tail: \"hey\" }");
	aim(f, "arc_str", 3);
	target_fake_poke(f->target, ELSEWHERE + 16, text, 3);
	check(f, "arc_str", "\"hey\"");
	aim(f, "path", 3);
	target_fake_poke(f->target, ELSEWHERE, text, 3);
	check(f, "path", "\"hey\"");
	aim(f, "c", 4);
	target_fake_poke(f->target, ELSEWHERE, text, 4);
	check(f, "c", "\"hey\"");
	/* Nothing tells a str from a [u8] here: bytes are true of both. */
	aim(f, "bytes", 3);
	target_fake_poke(f->target, ELSEWHERE, text, 3);
	check(f, "bytes", "Text(b\"hey\")");
}

/* The tail starts where the alignment of the object allows it, in each struct around it. */
static void test_objects(void **state)
{
	struct fixture *f = *state;
	uint64_t dog = vtable_of(f, "unsized::Dog", 16, 8);
	uint64_t whale = vtable_of(f, "unsized::Whale", 32, 32);
	uint64_t age = type_member(must_find(f, "unsized::Dog"), "age")->offset;

	aim(f, "object", dog);
	poke(f, ELSEWHERE, 1, 4);
	poke(f, ELSEWHERE + 8 + age, 4, 1);
	check(f, "object", "Tail { n: 1, tail: Dog { age: 4, weight: 0 } }");
	aim(f, "object", whale);
	poke(f, ELSEWHERE + 32, 5, 1);
	check(f, "object", "Tail { n: 0, tail: Whale { age: 5 } }");
	aim(f, "shared", dog);
	poke(f, ELSEWHERE + 16 + age, 6, 1);
	check(f, "shared", "Dog { age: 6, weight: 0 }");
	aim(f, "shared", whale);
	poke(f, ELSEWHERE + 32, 7, 1);
	check(f, "shared", "Whale { age: 7 }");
	/* The lock begins at 32 too, because its data is as aligned; the data at 32 in it. */
	aim(f, "lock", whale);
	poke(f, ELSEWHERE + 16, 1, 4);
	poke(f, ELSEWHERE + 64, 8, 1);
	check(f, "lock", "Mutex { data: Whale { age: 8 }, poisoned: false, .. }");
	aim(f, "lock", dog);
	poke(f, ELSEWHERE + 16, 1, 4);
	poke(f, ELSEWHERE + 24 + age, 9, 1);
	check(f, "lock", "Mutex { data: Dog { age: 9, weight: 0 }, locked, poisoned: false, .. }");
}

static void test_unknown_places(void **state)
{
	struct fixture *f = *state;
	uint64_t dog = vtable_of(f, "unsized::Dog", 16, 8);

	aim(f, "packed", dog);
	check(f, "packed", "<not understood>");
	aim(f, "ambiguous", 1);
	check(f, "ambiguous", "<not understood>");
	static const uint64_t odd[] = { 0, 16, 3, 0 };
	target_fake_map(f->target, 0x6001000, odd, sizeof(odd));
	aim(f, "object", 0x6001000);
	check(f, "object", "<invalid>");
	aim(f, "object", HOLE);
	check(f, "object", "<unreadable>");
	aim(f, "slice", UINT64_MAX);
	check(f, "slice", "<not understood>");
	aim(f, "slice", INT64_MAX);
	check(f, "slice", "<not understood>");
	/* A vtable that no debug info describes: what comes before the object is still known. */
	static const uint64_t words[] = { 0, 16, 8, 0 };
	target_fake_map(f->target, 0x6000000, words, sizeof(words));
	aim(f, "object", 0x6000000);
	poke(f, ELSEWHERE, 3, 4);
	check(f, "object", "Tail { n: 3, tail: {dyn Animal} }");
}

static void test_paths(void **state)
{
	struct fixture *f = *state;
	uint64_t whale = vtable_of(f, "unsized::Whale", 32, 32);
	struct value v = pointer_in(f, "lock"), shared, arc;
	const struct path *p;
	bool found;

	assert_null(path_resolve(&f->arena, v.type, "data.inner.futex", &p));
	poke(f, v.addr, ELSEWHERE, 8);
	poke(f, v.addr + 8, whale, 8);
	struct value place;
	assert_null(path_eval(f->target, p, v, &place, &found));
	assert_true(found);
	assert_int_equal(place.addr, ELSEWHERE + 32);
	assert_null(path_resolve(&f->arena, v.type, "strong", &p));
	assert_null(path_eval(f->target, p, v, &place, &found));
	assert_int_equal(place.addr, ELSEWHERE);
	/* An Arc of it shares the lock, and not the object. */
	const struct member *m = type_member(must_find(f, "unsized::Pointers"), "lock");
	arc = (struct value){ m->type, PLACE + m->offset };
	assert_null(value_shared(f->target, arc, &shared));
	assert_int_equal(shared.addr, ELSEWHERE + 32);
	assert_true(type_is(shared.type, "std::sync::poison::mutex::Mutex"));
	assert_int_equal(type_size(shared.type), 64);
	assert_int_equal(type_align(shared.type), 32);
}

static void test_elements(void **state)
{
	struct fixture *f = *state;
	struct slice slice;

	aim(f, "arc_slice", 2);
	struct value v = {
		type_member(must_find(f, "unsized::Pointers"), "arc_slice")->type,
		PLACE + type_member(must_find(f, "unsized::Pointers"), "arc_slice")->offset
	};
	assert_null(value_slice(f->target, v, &slice));
	assert_string_equal(type_name(slice.element), "u16");
	assert_int_equal(slice.addr, ELSEWHERE + 16);
	assert_int_equal(slice.count, 2);
}

/* Types are made once for each length, and no more than a target of many lengths may ask for. */
static void test_many_lengths(void **state)
{
	struct fixture *f = *state;
	const struct type *t = type_wide(pointer_in(f, "slice").type).pointee;
	size_t made = 0;

	assert_ptr_equal(type_with_slice(t, 5), type_with_slice(t, 5));
	assert_int_equal(type_size(type_with_slice(t, 5)), 16);
	for (uint64_t n = 0; n < 1 << 16; n++)
		made += type_with_slice(t, n) != NULL;
	assert_in_range(made, 1 << 12, 1 << 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),          cmocka_unit_test(test_slices),
		cmocka_unit_test(test_texts),          cmocka_unit_test(test_objects),
		cmocka_unit_test(test_unknown_places), cmocka_unit_test(test_paths),
		cmocka_unit_test(test_elements),       cmocka_unit_test(test_many_lengths),
	};

	return cmocka_run_group_tests(tests, setup, shapes_teardown);
}
