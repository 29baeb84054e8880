#include "dwarf/values/parts.h"

#include "dwarf/test/places.h"

struct opened {
	struct fixture shapes, values;
	struct show_cache cache;
};

static int setup(void **state)
{
	struct opened *o = calloc(1, sizeof(*o));

	if (!o)
		return -1;
	o->shapes = shapes_open();
	o->values = values_open();
	places_map(&o->shapes);
	places_map(&o->values);
	*state = o;
	return 0;
}

static int teardown(void **state)
{
	struct opened *o = *state;

	show_free(&o->cache);
	fixture_close(&o->shapes);
	fixture_close(&o->values);
	free(o);
	return 0;
}

static struct parts_context context_of(struct opened *o, struct fixture *f)
{
	return (struct parts_context){ f->target, f->di, &o->cache, NULL };
}

static struct parts_count count(struct opened *o, struct fixture *f, struct value v)
{
	const struct parts_context c = context_of(o, f);
	struct parts_count ret;
	struct error *err = parts_count(&c, v, &ret);

	if (err)
		fail_msg("%s", err->message);
	return ret;
}

static size_t list(struct opened *o, struct fixture *f, struct value v, uint64_t first, uint64_t n,
                   struct part **ret)
{
	const struct parts_context c = context_of(o, f);
	size_t got;
	struct error *err = parts_list(&c, v, first, n, &f->arena, ret, &got);

	if (err)
		fail_msg("%s", err->message);
	return got;
}

static void set_vec(struct fixture *f, struct value v, uint64_t ptr, uint64_t cap, uint64_t len)
{
	struct value at[] = { member(member(member(v, "buf"), "inner"), "ptr"),
		              member(member(member(v, "buf"), "inner"), "cap"), member(v, "len") };
	const uint64_t numbers[] = { ptr, cap, len };

	for (size_t i = 0; i < 3; i++)
		poke(f, at[i].addr, numbers[i], 8);
}

static void test_members(void **state)
{
	struct opened *o = *state;
	struct fixture *f = &o->shapes;
	struct value v = place_of(f, "shapes::Named");
	struct part *parts;
	size_t n;
	const struct member *members = type_members(v.type, &n);

	assert_int_equal(count(o, f, v).named, n);
	assert_int_equal(count(o, f, v).indexed, 0);
	assert_int_equal(list(o, f, v, 0, UINT64_MAX, &parts), n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(parts[i].v.addr, v.addr + members[i].offset);
	assert_int_equal(list(o, f, v, 1, 2, &parts), 2);
	assert_string_equal(parts[0].name, members[1].name);
	assert_int_equal(list(o, f, v, n, 5, &parts), 0);
	/* Texts and numbers have no parts. */
	assert_int_equal(count(o, f, member(v, "owned")).named, 0);
	assert_int_equal(count(o, f, member(v, "real")).named, 0);
	assert_int_equal(count(o, f, member(v, "cell")).named, 0);
}

static void test_elements(void **state)
{
	struct opened *o = *state;
	struct fixture *f = &o->shapes;
	struct value vec = member(place_of(f, "shapes::Lists"), "vec");
	struct part *parts;

	set_vec(f, vec, ELSEWHERE, 16, 5);
	assert_int_equal(count(o, f, vec).indexed, 5);
	assert_int_equal(list(o, f, vec, 3, 10, &parts), 2);
	assert_string_equal(parts[0].name, "[3]");
	assert_string_equal(parts[1].name, "[4]");
	assert_true(parts[0].v.addr > ELSEWHERE && parts[1].v.addr > parts[0].v.addr);
	/* More than it has room for. */
	const struct parts_context c = context_of(o, f);
	struct parts_count n;
	set_vec(f, vec, ELSEWHERE, 4, 5);
	struct error *err = parts_count(&c, vec, &n);
	assert_non_null(err);
	error_free(err);
}

static void test_coroutine(void **state)
{
	struct opened *o = *state;
	struct fixture *f = &o->shapes;

	/* What a nested coroutine has may have been moved out: its frames show it. */
	assert_int_equal(count(o, f, place_of(f, "shapes::leaf::{async_fn_env#0}")).named, 0);
}

static void test_map(void **state)
{
	struct opened *o = *state;
	struct fixture *f = &o->values;
	struct value v = member(place_of(f, "values::Maps"), "tree");
	const struct variant *some = type_variant(member(v, "root").type, "Some");
	struct value node = member(value_payload(member(v, "root"), some), "__0");
	struct value pointer = member(node, "node");
	struct part *parts;

	assert_int_equal(count(o, f, v).indexed, 0);
	while (type_single_member(pointer.type)) {
		const struct member *m = type_single_member(pointer.type);

		pointer = (struct value){ m->type, pointer.addr + m->offset };
	}
	struct value leaf = { type_target(pointer.type), ELSEWHERE };
	poke(f, member(v, "length").addr, 2, 8);
	poke(f, pointer.addr, ELSEWHERE, 8);
	poke(f, member(leaf, "len").addr, 2, 2);
	poke(f, member(leaf, "keys").addr, 7 | 8 << 16, 4);
	poke(f, member(leaf, "vals").addr, 70 | 80 << 8, 2);
	assert_int_equal(count(o, f, v).indexed, 2);
	assert_int_equal(list(o, f, v, 1, 1, &parts), 1);
	assert_string_equal(parts[0].name, "[8]");
	assert_int_equal(parts[0].v.addr, member(leaf, "vals").addr + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_elements),
		cmocka_unit_test(test_coroutine),
		cmocka_unit_test(test_map),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
