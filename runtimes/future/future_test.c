/* Decoding futures: structs, enums, null pointers, cycles and coroutines that are damaged. */
#include "runtimes/test/futures.h"

static void receiver_at(struct futures *f, struct value v, const char *path)
{
	futures_poke(f, futures_member(v, path), "inner", FUTURES_OTHER);
}

static void expect_child(const struct future *f, unsigned child, const char *function)
{
	assert_true(f->nchildren > child);
	assert_string_equal(f->children[child]->function, function);
}

/* A struct polls the futures among its members. */
static void test_struct(void **state)
{
	struct futures f = futures_open();
	struct value one = futures_value(&f, "tokio::Wrapper", FUTURES_ROOT);
	struct value two = futures_value(&f, "tokio::Both", FUTURES_ROOT);

	(void)state;
	receiver_at(&f, one, "receiver");
	const struct future *future = futures_decode(&f, one);
	assert_int_equal(future->nchildren, 1);
	expect_child(future, 0, "tokio::sync::oneshot::Receiver");
	receiver_at(&f, two, "first");
	futures_poke(&f, two, "second.semaphore", FUTURES_OTHER + 0x100);
	future = futures_decode(&f, two);
	assert_int_equal(future->nchildren, 2);
	assert_string_equal(future->children[0]->wait->kind, "oneshot");
	assert_string_equal(future->children[1]->wait->kind, "semaphore");
	futures_close(&f);
}

/* An enum polls only the futures of its active variant. */
static void test_enum(void **state)
{
	struct futures f = futures_open();
	struct value v = futures_value(&f, "tokio::Stage", FUTURES_ROOT);
	const struct future *future;

	(void)state;
	futures_variant(&f, v, "Begin");
	future = futures_decode(&f, v);
	assert_int_equal(future->nchildren, 1);
	expect_child(future, 0, "tokio::sync::oneshot::Receiver");
	futures_variant(&f, v, "End");
	future = futures_decode(&f, v);
	assert_int_equal(future->nchildren, 1);
	expect_child(future, 0, "tokio::sync::batch_semaphore::Acquire");
	futures_close(&f);
}

/* An empty box, an Option that is None, an empty Vec and a trait object without a vtable. */
static void test_null_pointers(void **state)
{
	struct futures f = futures_open();
	struct value v = futures_value(&f, "tokio::Children", FUTURES_ROOT);
	const struct future *future = futures_decode(&f, v);
	bool reported = future->problem;

	(void)state;
	for (unsigned i = 0; i < future->nchildren; i++)
		reported |= future->children[i]->problem != NULL;
	assert_true(reported);
	futures_close(&f);
}

/* Decoding must end for a box that points back to its container. */
static void test_ring(void **state)
{
	struct futures f = futures_open();
	struct value v = futures_value(&f, "tokio::Ring", FUTURES_ROOT);
	unsigned depth = 0;

	(void)state;
	futures_poke(&f, v, "next", FUTURES_ROOT);
	const struct future *future = futures_decode(&f, v);
	while (future->nchildren && depth <= FUTURE_MAX_DEPTH) {
		future = future->children[0];
		depth++;
	}
	assert_true(depth <= FUTURE_MAX_DEPTH);
	assert_non_null(future->problem);
	futures_poke(&f, v, "next", 0);
	assert_int_equal(futures_decode(&f, v)->nchildren, 0);
	futures_poke(&f, v, "next", FUTURES_HOLE);
	future = futures_decode(&f, v);
	assert_true(future->problem || (future->nchildren && future->children[0]->problem));
	futures_close(&f);
}

static void test_coroutine(void **state)
{
	struct futures f = futures_open();
	struct value v = futures_value(&f, "tokio::outer::{async_fn_env#0}", FUTURES_ROOT);
	struct value suspended;
	const struct future *future;

	(void)state;
	futures_variant(&f, v, "Unresumed");
	future = futures_decode(&f, v);
	assert_string_equal(future->function, "tokio::outer");
	assert_int_equal(future->state, FUTURE_UNRESUMED);
	const struct source_place *defined = coroutine_defined_at(f.in, v.type);

	assert_non_null(strstr(defined->file, "futures.rs"));
	assert_true(defined->line > 0);
	assert_ptr_equal(coroutine_defined_by_name(f.in, future->type), defined);
	assert_null(coroutine_defined_by_name(f.in, "tokio::outer"));
	assert_int_equal(future->nchildren, 0);

	suspended = futures_variant(&f, v, "Suspend0");
	receiver_at(&f, suspended, "__awaitee");
	future = futures_decode(&f, v);
	assert_int_equal(future->state, FUTURE_SUSPENDED);
	assert_int_equal(future->await_point, 0);
	expect_child(future, 0, "tokio::sync::oneshot::Receiver");
	assert_string_equal(future->children[0]->edge, "await");

	futures_variant(&f, v, "Returned");
	assert_int_equal(futures_decode(&f, v)->state, FUTURE_RETURNED);
	futures_variant(&f, v, "Panicked");
	assert_int_equal(futures_decode(&f, v)->state, FUTURE_PANICKED);
	futures_close(&f);
}

/* A state number that belongs to no variant. */
static void test_torn_coroutine(void **state)
{
	struct futures f = futures_open();
	struct value v = futures_value(&f, "tokio::outer::{async_fn_env#0}", FUTURES_ROOT);
	uint8_t none = 77;

	(void)state;
	target_fake_poke(f.fixture.target, v.addr + type_discr(v.type)->offset, &none, 1);
	futures_expect_problem(&f, v, "variant");
	futures_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_struct),        cmocka_unit_test(test_enum),
		cmocka_unit_test(test_null_pointers), cmocka_unit_test(test_ring),
		cmocka_unit_test(test_coroutine),     cmocka_unit_test(test_torn_coroutine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
