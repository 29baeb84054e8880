#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtimes/places/snapshot_place.h"
#include "runtimes/test/snapshot.h"

/* A task whose async function calls itself, depth times in all, and then awaits a timer. */
static struct task nested(struct arena *a, unsigned depth, const char *file)
{
	struct future *f = make_sleep(a);

	for (unsigned i = 0; i < depth; i++)
		f = make_await(a, "part::walk", 0, file, 7, make_edge(f, "await", f->branch));
	return (struct task){ .state = TASK_IDLE, .root = f };
}

static void test_whole_chains(void **state)
{
	struct snapshot_places p = { 0 };
	SCRATCH(a);
	const struct task one = nested(&a, 3, "one/lib.rs"), two = nested(&a, 3, "two/lib.rs");
	const struct trace_place *place = snapshot_place(&p, &one);

	(void)state;
	assert_int_equal(place->nframes, 3);
	assert_false(place->cut);
	assert_string_equal(place->leaf, "SleepType");
	assert_string_equal(place->frames[0].file, "one/lib.rs");
	assert_string_equal(place->frames[0].path, "/build/one/lib.rs");
	assert_ptr_equal(snapshot_place(&p, &one), place);
	assert_ptr_not_equal(snapshot_place(&p, &two), place);
	snapshot_place_free(&p);
}

/* A chain that is longer than what is kept is cut, and nobody takes the next call for its leaf. */
static void test_long_chains(void **state)
{
	struct snapshot_places p = { 0 };
	SCRATCH(a);
	const struct task fits = nested(&a, 64, "lib.rs"), longer = nested(&a, 65, "lib.rs");
	const struct trace_place *place = snapshot_place(&p, &longer);

	(void)state;
	assert_int_equal(place->nframes, 64);
	assert_true(place->cut);
	assert_null(place->leaf);
	place = snapshot_place(&p, &fits);
	assert_int_equal(place->nframes, 64);
	assert_false(place->cut);
	assert_string_equal(place->leaf, "SleepType");
	snapshot_place_free(&p);
}

/* An async function behind so many futures that each poll one. */
static void test_many_wrappers(void **state)
{
	struct snapshot_places p = { 0 };
	SCRATCH(a);
	struct task task = nested(&a, 1, "lib.rs");

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct future *f = NEW(&a, struct future);

		f->kind = FUTURE_OTHER;
		f->function = f->type = "Wrapper";
		f->children = NEW(&a, struct future *);
		f->children[f->nchildren++] = task.root;
		task.root = f;
	}
	const struct trace_place *place = snapshot_place(&p, &task);
	assert_non_null(place);
	assert_int_equal(place->nframes, 1);
	snapshot_place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_chains),
		cmocka_unit_test(test_long_chains),
		cmocka_unit_test(test_many_wrappers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
