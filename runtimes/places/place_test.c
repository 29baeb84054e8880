/* Where a task sleeps, from a copy of the states in its future: those of walks.rs and nested.rs. */
#include "runtimes/common/runtime.h"
#include "runtimes/places/place.h"
#include "runtimes/test/futures.h"

enum { SIZE = 4096 };

/* The copy that the kernel would make of an object. Returns its length. */
static size_t copy_pieces(const struct probe_point *point, const unsigned char *object,
                          unsigned char *copy)
{
	size_t len = 0;

	assert_int_equal(point->nboxes, 0);
	for (uint32_t i = 0; i < point->npieces; i++) {
		memcpy(copy + len, object + point->pieces[i].offset, point->pieces[i].len);
		len += point->pieces[i].len;
	}
	return len;
}

/* Suspends a coroutine of the object at an await, and returns what it awaits. */
static struct value suspend(unsigned char *object, struct value v, const char *at)
{
	const struct member *discr = type_discr(v.type);
	const struct variant *variant = type_variant(v.type, at);

	assert_non_null(variant);
	memcpy(object + v.addr + discr->offset, &variant->discr, type_size(discr->type));
	return futures_member((struct value){ variant->payload, v.addr + variant->offset },
	                      "__awaitee");
}

static void test_many_wrappers(void **state)
{
	struct futures f = futures_open_file("testdata/unit/walks.elf");
	struct value v = futures_value(&f, "walks::wraps::{async_fn_env#0}", 0);
	const struct task_types types = { .future = v.type };
	unsigned char object[SIZE] = { 0 }, copy[SIZE];
	struct probe_point point = { 0 };
	struct places places = { 0 };
	SCRATCH(a);

	(void)state;
	v = suspend(object, v, "Suspend0");
	for (int i = 0; i < 10; i++)
		v = futures_member(v, "__0");
	suspend(object, v, "Suspend0");
	const struct place_plan *plan = place_plan_make(f.in, &a, &types, &point);
	assert_non_null(plan);
	size_t len = copy_pieces(&point, object, copy);
	const struct trace_place *place = place_of(&places, f.in, &a, plan, copy, len);
	assert_non_null(place);
	assert_int_equal(place->nframes, 2);
	assert_string_equal(place->frames[1].function, "walks::receives");
	assert_false(place->cut);
	places_free(&places);
	futures_close(&f);
}

/* Objects of nested.rs: that of the task, and those in its boxes. */
struct nest {
	struct futures f;
	struct arena a;
	struct probe_point point;
	const struct place_plan *plan;
	unsigned char objects[1 + PROBE_MAX_BOXES][8 * SIZE];
};

/* Suspends a coroutine of an object at an await, and the one that it awaits, and so on, at their
 * first. */
static void suspend_all(struct nest *n, unsigned object, const char *type, const char *at)
{
	char name[128];

	snprintf(name, sizeof(name), "nested::%s", type);
	struct value v = futures_value(&n->f, name, 0);
	for (; type_is_coroutine(v.type); at = "Suspend0")
		v = suspend(n->objects[object], v, at);
}

static void nest_open(struct nest *n, const char *type)
{
	char name[128];

	*n = (struct nest){ .f = futures_open_file("testdata/unit/nested.elf") };
	snprintf(name, sizeof(name), "nested::%s", type);
	const struct task_types types = { .future = must_find(&n->f.fixture, name) };
	n->plan = place_plan_make(n->f.in, &n->a, &types, &n->point);
	assert_non_null(n->plan);
	suspend_all(n, 0, type, "Suspend0");
}

static void nest_close(struct nest *n)
{
	arena_free(&n->a);
	futures_close(&n->f);
}

/* The place of a task whose boxes of these bits cannot be read: "last function*", * if it is cut.
 */
static void assert_place(struct nest *n, unsigned char unread, size_t frames, const char *last)
{
	unsigned char copy[2 * PROBE_MAX_COPY];
	struct places places = { 0 };
	size_t len = 0;
	STR(text);

	for (uint32_t i = 0; i < n->point.npieces; i++) {
		const struct probe_piece *p = &n->point.pieces[i];

		memcpy(copy + len, n->objects[0] + p->offset, p->len);
		len += p->len;
	}
	for (uint32_t i = 0; i < n->point.nboxes; i++) {
		const struct probe_box *b = &n->point.boxes[i];

		memcpy(copy + len, n->objects[i + 1] + b->offset, b->len);
		len += b->len;
	}
	if (n->point.nboxes)
		copy[len++] = unread;
	assert_in_range(len, 1, PROBE_MAX_COPY - 1);
	const struct trace_place *place = place_of(&places, n->f.in, &n->a, n->plan, copy, len);
	assert_non_null(place);
	assert_int_equal(place->nframes, frames);
	str_printf(&text, "%s%s", place->frames[frames - 1].function, place->cut ? "*" : "");
	assert_string_equal(str_text(&text), last);
	places_free(&places);
}

/* Their states are too far apart for one piece, and too many for one each. */
static void test_far_coroutines(void **state)
{
	struct nest n;

	(void)state;
	nest_open(&n, "first::{async_fn_env#0}<511>");
	assert_int_equal(n.point.npieces, PROBE_MAX_PIECES);
	for (unsigned i = 0; i < PROBE_MAX_PIECES; i++)
		assert_int_equal(n.point.pieces[i].len, 1);
	assert_place(&n, 0, PROBE_MAX_PIECES, "nested::fourth*");
	nest_close(&n);
}

static void test_rising_coroutines(void **state)
{
	static const char type[] = "rising::{async_fn_env#0}";
	struct nest n;

	(void)state;
	nest_open(&n, type);
	assert_int_equal(n.point.npieces, 1);
	assert_place(&n, 0, 2, "nested::last");
	suspend_all(&n, 0, type, "Suspend1");
	assert_place(&n, 0, 3, "nested::last");
	nest_close(&n);
}

/* Their states are near each other, but all of them and what is between have no room in a copy. */
static void test_near_coroutines(void **state)
{
	static const char type[] = "twice::{async_fn_env#0}";
	struct nest n;

	(void)state;
	nest_open(&n, type);
	assert_int_equal(n.point.npieces, PROBE_MAX_PIECES);
	assert_place(&n, 0, 5, "nested::last");
	suspend_all(&n, 0, type, "Suspend1");
	assert_place(&n, 0, 4, "nested::fifth*");
	nest_close(&n);
}

static void test_coroutines_in_boxes(void **state)
{
	struct nest n;

	(void)state;
	nest_open(&n, "boxed::{async_fn_env#0}");
	suspend_all(&n, 1, "boxes::{async_fn_env#0}", "Suspend0");
	suspend_all(&n, 2, "last::{async_fn_env#0}<0>", "Suspend0");
	assert_int_equal(n.point.nboxes, 2);
	assert_place(&n, 0, 3, "nested::last");
	assert_place(&n, 1, 1, "nested::boxed*");
	assert_place(&n, 2, 2, "nested::boxes*");
	nest_close(&n);
}

/* A chain that goes on where no copy follows it is cut; one that has ended there, or whose next
 * type only the run time knows, is not. */
static void test_chains_behind_pointers(void **state)
{
	static const struct {
		const char *type, *last;
	} chains[] = {
		{ "far::{async_fn_env#0}", "nested::far*" },
		{ "far_end::{async_fn_env#0}", "nested::far_end" },
		{ "object::{async_fn_env#0}", "nested::object" },
	};
	struct nest n;

	(void)state;
	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++) {
		nest_open(&n, chains[i].type);
		assert_place(&n, 0, 1, chains[i].last);
		nest_close(&n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_wrappers),
		cmocka_unit_test(test_far_coroutines),
		cmocka_unit_test(test_rising_coroutines),
		cmocka_unit_test(test_near_coroutines),
		cmocka_unit_test(test_coroutines_in_boxes),
		cmocka_unit_test(test_chains_behind_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
