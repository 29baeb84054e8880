/* Decoding what polls streams: which of them are followed, and the names of the edges. */
#include "dwarf/lookup/lookup.h"
#include "runtimes/future/combinator.h"
#include "runtimes/test/futures.h"

#define STREAMS "futures_util::stream::stream::"
#define NUMBERS "futures_core::Numbers"
#define COUNTED "futures_core::Counted<" NUMBERS ">"
#define ZIP     STREAMS "zip::Zip<" NUMBERS ", " COUNTED ">"
#define UNTIL   STREAMS "take_until::TakeUntil<" NUMBERS ", tokio::sync::oneshot::Receiver>"

static const struct future *child(const struct future *f, unsigned index, const char *function,
                                  const char *edge)
{
	assert_true(f->nchildren > index);
	assert_string_equal(f->children[index]->function, function);
	assert_string_equal(f->children[index]->edge, edge);
	return f->children[index];
}

/* A stream is what has a function poll_next(); it is no future. */
static void test_types(void **state)
{
	struct futures f = futures_open();
	const struct type *numbers = must_find(&f.fixture, NUMBERS);
	const struct type *next = must_find(&f.fixture, STREAMS "next::Next<" ZIP ">");

	(void)state;
	assert_int_equal(lookup_polled_as(numbers), POLLED_AS_STREAM);
	assert_int_equal(lookup_polled_as(next), POLLED_AS_FUTURE);
	assert_true(future_is_stream(f.in, numbers));
	assert_false(future_is_type(f.in, numbers));
	assert_false(future_is_or_has(f.in, numbers));
	assert_true(future_is_or_has_polled(f.in, numbers));
	assert_false(future_is_stream(f.in, next));
	assert_true(future_is_type(f.in, next));
	futures_close(&f);
}

/* From a Next through a stream of two to both, and to the stream in one of them. */
static void test_streams(void **state)
{
	struct futures f = futures_open();
	struct value v = futures_value(&f, STREAMS "next::Next<" ZIP ">", FUTURES_ROOT);

	(void)state;
	futures_poke(&f, v, "stream", FUTURES_OTHER);
	futures_variant(&f, futures_member(futures_value(&f, ZIP, FUTURES_OTHER), "stream2"),
	                "Some");
	const struct future *next = futures_decode(&f, v);
	assert_false(next->stream);
	assert_int_equal(next->nchildren, 1);
	const struct future *zip = child(next, 0, STREAMS "zip::Zip", "next");
	assert_true(zip->stream);
	assert_int_equal(zip->nchildren, 2);
	assert_true(child(zip, 0, NUMBERS, "stream1")->stream);
	const struct future *counted = child(zip, 1, "futures_core::Counted", "stream2");
	/* A type of a crate that is not known to poll what it holds. */
	assert_true(child(counted, 0, NUMBERS, "holds")->stream);
	futures_close(&f);
}

/* Streams in the variables of a frame are no futures that are held. */
static void test_held(void **state)
{
	struct futures f = futures_open();
	struct value v = futures_value(&f, UNTIL, FUTURES_OTHER);
	struct decoder d = { .c = f.c };
	child_vec held = { 0 };

	(void)state;
	fail_on(combinator_held(&d, v, futures_member(v, "stream"), &held));
	assert_int_equal(held.n, 0);
	futures_variant(&f, futures_member(v, "future"), "Some");
	fail_on(combinator_held(&d, v, v, &held));
	assert_int_equal(held.n, 1);
	assert_false(held.data[0].stream);
	vec_free(&held);
	futures_close(&f);
}

/* A task that sleeps and waits for the future does not wait for the stream beside it. */
static void test_not_polled(void **state)
{
	struct futures f = futures_open();
	struct value v = futures_value(&f, UNTIL, FUTURES_ROOT);
	struct decoder d = { .c = f.c, .stream = true };

	(void)state;
	futures_variant(&f, futures_member(v, "future"), "Some");
	const struct future *until = future_decode(&d, v);
	assert_true(until->stream);
	assert_int_equal(until->nchildren, 2);
	child(until, 0, NUMBERS, "next");
	child(until, 1, "tokio::sync::oneshot::Receiver", "await");
	d = (struct decoder){ .c = f.c, .stream = true, .idle = true };
	until = future_decode(&d, v);
	assert_int_equal(until->nchildren, 1);
	child(until, 0, "tokio::sync::oneshot::Receiver", "await");
	futures_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_not_polled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
