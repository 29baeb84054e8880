/* Futures in collections that a variable has: found there, and no more than a limit of them. */
#include "runtimes/future/combinator.h"
#include "runtimes/test/futures.h"

enum { NODE = FUTURES_OTHER + 0x200, CONTROL = FUTURES_OTHER + 0x800 };

static struct futures open_held(void)
{
	return futures_open_file("testdata/unit/held.elf");
}

static struct value member(struct futures *f, const char *name)
{
	return futures_member(futures_value(f, "held::Owner", FUTURES_ROOT), name);
}

/* The futures that a variable of the owner's frame holds. The caller frees ret. */
static void find(struct futures *f, struct value v, struct decoder *d, child_vec *ret)
{
	*d = (struct decoder){ .c = f->c };
	*ret = (child_vec){ 0 };
	fail_on(combinator_held(d, v, v, ret));
}

static void expect(struct futures *f, struct value v, const uint64_t *addrs, size_t n)
{
	struct decoder d;
	child_vec found;

	find(f, v, &d, &found);
	assert_int_equal(found.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(found.data[i].v.addr, addrs[i]);
		assert_string_equal(type_name(found.data[i].v.type), "held::Leaf");
		assert_string_equal(found.data[i].edge, "held");
	}
	assert_false(d.left_out);
	vec_free(&found);
}

static void fill_deque(struct futures *f, struct value deque, uint64_t capacity, uint64_t len)
{
	futures_poke(f, deque, "buf.inner.cap", capacity);
	futures_poke(f, deque, "buf.inner.ptr", FUTURES_OTHER);
	futures_poke(f, deque, "head", 2);
	futures_poke(f, deque, "len", len);
}

/* Its second half is at the beginning of the buffer. */
static void test_deque(void **state)
{
	struct futures f = open_held();
	struct value deque = member(&f, "deque");

	(void)state;
	expect(&f, deque, NULL, 0);
	fill_deque(&f, deque, 4, 3);
	expect(&f, deque, (uint64_t[]){ FUTURES_OTHER + 16, FUTURES_OTHER + 24, FUTURES_OTHER }, 3);
	futures_close(&f);
}

static void test_many(void **state)
{
	struct futures f = open_held();
	struct value deque = member(&f, "deque");
	struct decoder d;
	child_vec found;

	(void)state;
	fill_deque(&f, deque, 5000, 4000);
	find(&f, deque, &d, &found);
	assert_int_equal(found.n, COMBINATOR_MAX_HELD);
	assert_true(d.left_out);
	vec_free(&found);
	futures_close(&f);
}

/* Bucket i of a table ends i elements before the control bytes. */
static void test_map(void **state)
{
	struct futures f = open_held();
	struct value table = futures_member(member(&f, "map"), "base.table");

	(void)state;
	futures_poke(&f, table, "table.bucket_mask", 3);
	futures_poke(&f, table, "table.ctrl.pointer", CONTROL);
	futures_poke(&f, table, "table.items", 2);
	target_fake_poke(f.fixture.target, CONTROL, "\x11\xff\x80\x22", 4);
	expect(&f, member(&f, "map"), (uint64_t[]){ CONTROL - 16 + 8, CONTROL - 4 * 16 + 8 }, 2);
	futures_close(&f);
}

static void test_tree(void **state)
{
	struct futures f = open_held();
	struct value tree = member(&f, "tree"), root, vals;
	const struct variant *some = type_variant(futures_member(tree, "root").type, "Some");
	struct value leaf = {
		must_find(&f.fixture, "alloc::collections::btree::node::LeafNode<u64, held::Leaf>"),
		NODE
	};

	(void)state;
	root = futures_member(tree, "root");
	root = futures_member((struct value){ some->payload, root.addr + some->offset }, "__0");
	futures_poke(&f, tree, "length", 2);
	futures_poke(&f, root, "node.pointer", NODE);
	futures_poke(&f, leaf, "len", 2);
	vals = futures_member(leaf, "vals");
	expect(&f, tree, (uint64_t[]){ vals.addr, vals.addr + 8 }, 2);
	futures_close(&f);
}

/* Which types are worth a search is decided without one. */
static void test_types(void **state)
{
	static const char *const with[] = { "deque", "list", "map", "tree", "vec" };
	static const char *const without[] = { "deque_of_numbers", "map_of_numbers",
		                               "tree_of_numbers" };
	struct futures f = open_held();

	(void)state;
	for (size_t i = 0; i < sizeof(with) / sizeof(*with); i++)
		assert_true(future_is_or_has(f.in, member(&f, with[i]).type));
	for (size_t i = 0; i < sizeof(without) / sizeof(*without); i++)
		assert_false(future_is_or_has(f.in, member(&f, without[i]).type));
	/* Who polls the futures of a map is not known. */
	assert_false(future_is_or_has_polled(f.in, member(&f, "map").type));
	assert_true(future_is_or_has_polled(f.in, member(&f, "vec").type));
	futures_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deque), cmocka_unit_test(test_many),
		cmocka_unit_test(test_map),   cmocka_unit_test(test_tree),
		cmocka_unit_test(test_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
