/* Decodes select!, join! and sets of futures from made-up memory. */
#include "runtimes/test/futures.h"

#define SET "futures_util::stream::futures_unordered::"

/* The async fn suspended at its poll_fn; its closure refers to what is at FUTURES_OTHER. */
static struct value suspended(struct futures *f, const char *function, struct value *frame)
{
	char name[128];

	snprintf(name, sizeof(name), "futures_util::%s::{async_fn_env#0}", function);
	struct value v = futures_value(f, name, FUTURES_ROOT);
	*frame = futures_variant(f, v, "Suspend0");
	return v;
}

/* The closure in the frame's poll_fn. */
static struct value closure(struct value frame)
{
	struct value poll_fn = futures_member(frame, "__awaitee");
	const struct member *m = type_single_member(poll_fn.type);

	return (struct value){ m->type, poll_fn.addr + m->offset };
}

/* The poll_fn, whose children are the arms. What comes behind it is held by variables. */
static const struct future *arms(struct futures *f, struct value v)
{
	const struct future *future = futures_decode(f, v);

	assert_true(future->nchildren > 0);
	assert_string_equal(future->children[0]->edge, "await");
	return future->children[0];
}

static void expect_arm(const struct future *f, unsigned i, const char *edge, enum branch branch)
{
	assert_true(i < f->nchildren);
	assert_string_equal(f->children[i]->edge, edge);
	assert_int_equal(f->children[i]->branch, branch);
	assert_string_equal(f->children[i]->type, "futures_util::Leaf");
}

static void test_select(void **state)
{
	struct futures f = futures_open();
	struct value frame, v = suspended(&f, "select", &frame);
	struct value c = closure(frame);

	(void)state;
	for (uint8_t disabled = 0; disabled < 4; disabled++) {
		futures_poke(&f, c, "_ref__futures", FUTURES_OTHER);
		futures_poke(&f, c, "_ref__disabled", FUTURES_OTHER + 0x100);
		target_fake_poke(f.fixture.target, FUTURES_OTHER + 0x100, &disabled, 1);
		const struct future *poll_fn = arms(&f, v);
		assert_int_equal(poll_fn->nchildren, 2);
		expect_arm(poll_fn, 0, "select arm 0",
		           disabled & 1 ? BRANCH_DISABLED : BRANCH_POLLED);
		expect_arm(poll_fn, 1, "select arm 1",
		           disabled & 2 ? BRANCH_DISABLED : BRANCH_POLLED);
	}
	/* Without the mask no arm is shown. */
	futures_poke(&f, c, "_ref__disabled", FUTURES_HOLE);
	assert_non_null(arms(&f, v)->problem);
	assert_int_equal(arms(&f, v)->nchildren, 0);
	futures_close(&f);
}

static void test_join(void **state)
{
	struct futures f = futures_open();
	struct value frame, v = suspended(&f, "join", &frame), c = closure(frame);
	struct value second =
		futures_value(&f, "futures_util::future::maybe_done::MaybeDone<futures_util::Leaf>",
	                      FUTURES_OTHER);

	(void)state;
	futures_poke(&f, c, "_ref__futures", FUTURES_OTHER);
	futures_variant(&f, second, "Future");
	second.addr += type_size(second.type);
	futures_variant(&f, second, "Future");
	const struct future *poll_fn = arms(&f, v);
	assert_int_equal(poll_fn->nchildren, 2);
	expect_arm(poll_fn, 0, "join arm 0", BRANCH_POLLED);
	expect_arm(poll_fn, 1, "join arm 1", BRANCH_POLLED);
	/* An arm that has finished is not polled. */
	futures_variant(&f, second, "Done");
	poll_fn = arms(&f, v);
	for (unsigned i = 1; i < poll_fn->nchildren; i++)
		assert_int_not_equal(poll_fn->children[i]->branch, BRANCH_POLLED);
	futures_poke(&f, c, "_ref__futures", FUTURES_HOLE);
	assert_non_null(arms(&f, v)->problem);
	futures_close(&f);
}

/* futures::select! has no mask: its arms are Fuses. */
static void test_select_of_fused(void **state)
{
	struct futures f = futures_open();
	struct value frame, v = suspended(&f, "select_fused", &frame), c = closure(frame);
	struct value first = futures_value(
		&f, "futures_util::future::future::fuse::Fuse<futures_util::Leaf>", FUTURES_OTHER);
	struct value second = { first.type, FUTURES_OTHER + 0x100 };

	(void)state;
	futures_poke(&f, c, "_ref__a", first.addr);
	futures_poke(&f, c, "_ref__b", second.addr);
	futures_variant(&f, futures_member(first, "inner"), "Some");
	futures_variant(&f, futures_member(second, "inner"), "None");
	const struct future *poll_fn = arms(&f, v);
	assert_int_equal(poll_fn->nchildren, 2);
	assert_string_equal(poll_fn->children[0]->edge, "select arm 0");
	assert_int_equal(poll_fn->children[0]->branch, BRANCH_POLLED);
	assert_string_equal(poll_fn->children[1]->edge, "select arm 1");
	assert_int_equal(poll_fn->children[1]->branch, BRANCH_DISABLED);
	futures_close(&f);
}

/* ---- FuturesUnordered ---- */

static struct value node(struct futures *f, unsigned i)
{
	return futures_value(f, SET "task::Task<futures_util::Leaf>", FUTURES_OTHER + 0x100 * i);
}

/* A set of three futures, the newest first. */
static struct value set_of_three(struct futures *f)
{
	struct value v = futures_value(f, "futures_util::future::join_all::JoinAll", FUTURES_ROOT);

	for (unsigned i = 0; i < 3; i++) {
		futures_variant(f, futures_member(futures_member(node(f, i), "future"), "value"),
		                "Some");
		futures_poke(f, node(f, i), "next_all", i < 2 ? node(f, i + 1).addr : 0);
	}
	futures_poke(f, v, "set.head_all", node(f, 0).addr);
	return v;
}

static void test_set(void **state)
{
	struct futures f = futures_open();
	struct value v = set_of_three(&f);
	const struct future *future = futures_decode(&f, v);

	(void)state;
	assert_null(future->problem);
	assert_int_equal(future->nchildren, 3);
	for (unsigned i = 0; i < 3; i++) {
		expect_arm(future, i, "set", BRANCH_POLLED);
		/* oldest first */
		assert_true(!i || future->children[i]->addr < future->children[i - 1]->addr);
	}
	/* Its future has finished; the node is still there. */
	futures_variant(&f, futures_member(futures_member(node(&f, 1), "future"), "value"), "None");
	assert_int_equal(futures_decode(&f, v)->nchildren, 2);
	futures_poke(&f, v, "set.head_all", 0);
	assert_int_equal(futures_decode(&f, v)->nchildren, 0);
	futures_close(&f);
}

/* What is before the broken link is shown. */
static void test_broken_set(void **state)
{
	static const struct {
		uint64_t next; /* of the second node */
		const char *problem;
	} cases[] = {
		{ FUTURES_OTHER, "is circular" },
		{ FUTURES_OTHER + 0x100, "is circular" },
		{ FUTURES_HOLE, "not readable" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct futures f = futures_open();
		struct value v = set_of_three(&f);

		futures_poke(&f, node(&f, 1), "next_all", cases[i].next);
		futures_expect_problem(&f, v, cases[i].problem);
		assert_true(futures_decode(&f, v)->nchildren >= 2);
		futures_close(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select),          cmocka_unit_test(test_join),
		cmocka_unit_test(test_select_of_fused), cmocka_unit_test(test_set),
		cmocka_unit_test(test_broken_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
