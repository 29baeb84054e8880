/* Futures that a coroutine captured: before its first poll, and in the variables of its arguments.
 */
#include "runtimes/test/futures.h"

static struct value coroutine(struct futures *f, const char *function)
{
	char name[128];

	snprintf(name, sizeof(name), "futures_util::%s::{async_fn_env#0}", function);
	return futures_value(f, name, FUTURES_ROOT);
}

static void expect_held(const struct future *f, unsigned i, const char *variable, const char *type)
{
	assert_true(i < f->nchildren);
	assert_string_equal(f->children[i]->edge, "held");
	assert_int_equal(f->children[i]->branch, BRANCH_HELD);
	assert_string_equal(f->children[i]->variable, variable);
	assert_string_equal(f->children[i]->type, type);
}

/* Nothing can have been moved out of a coroutine that was not polled. */
static void captures_of_an_unresumed_one_are_held(void **state)
{
	struct futures f = futures_open();
	struct value v = coroutine(&f, "select");

	(void)state;
	futures_variant(&f, v, "Unresumed");
	const struct future *future = futures_decode(&f, v);
	assert_int_equal(future->state, FUTURE_UNRESUMED);
	assert_int_equal(future->nchildren, 2);
	for (unsigned i = 0; i < 2; i++) {
		expect_held(future, i, i ? "b" : "a", "futures_util::Leaf");
		assert_null(future->children[i]->note);
	}
	assert_true(future_is_at_rest(future));
	futures_close(&f);
}

static void one_that_returned_holds_nothing(void **state)
{
	struct futures f = futures_open();
	struct value v = coroutine(&f, "select");

	(void)state;
	futures_variant(&f, v, "Returned");
	assert_int_equal(futures_decode(&f, v)->nchildren, 0);
	futures_close(&f);
}

/* An async fn moves its arguments into variables of the same names, which are listed first. */
static void arguments_of_a_suspended_one_are_held(void **state)
{
	static const char fused[] = "futures_util::future::future::fuse::Fuse<futures_util::Leaf>";
	struct futures f = futures_open();
	struct value v = coroutine(&f, "select_fused"), captured, frame, poll_fn, closure;

	(void)state;
	captured = futures_member(futures_variant(&f, v, "Unresumed"), "a");
	frame = futures_variant(&f, v, "Suspend0");
	assert_int_not_equal(futures_member(frame, "a").addr, captured.addr);
	poll_fn = futures_member(frame, "__awaitee");
	const struct member *m = type_single_member(poll_fn.type);
	closure = (struct value){ m->type, poll_fn.addr + m->offset };
	for (int i = 0; i < 2; i++)
		futures_poke(&f, closure, i ? "_ref__b" : "_ref__a", FUTURES_OTHER);
	const struct future *future = futures_decode(&f, v);
	assert_int_equal(future->nchildren, 3);
	expect_held(future, 1, "a", fused);
	expect_held(future, 2, "b", fused);
	assert_int_equal(future->children[1]->addr, futures_member(frame, "a").addr);
	futures_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_of_an_unresumed_one_are_held),
		cmocka_unit_test(one_that_returned_holds_nothing),
		cmocka_unit_test(arguments_of_a_suspended_one_are_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
