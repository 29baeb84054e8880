/* Which variables of a suspended coroutine may have been moved out. */
#include "dwarf/test/module.h"

#include "runtimes/common/inspector.h"
#include "runtimes/future/held_futures.h"
#include "runtimes/future/move_state.h"
#include "runtimes/test/futures.h"

static const struct type *coroutine(struct fixture *f)
{
	return must_find(f, "moved::variables::{async_fn_env#0}");
}

/* The first state that has the variable. */
static const struct variant *state_with(const struct type *t, const char *name)
{
	size_t n;
	const struct variant *variants = type_variants(t, &n);

	for (size_t i = 3; i < n; i++) {
		if (type_member(variants[i].payload, name))
			return &variants[i];
	}
	fail_msg("no state has %s", name);
	return NULL;
}

static enum move_rule rule(struct fixture *f, const char *name)
{
	struct inspector in = { 0 };
	const struct type *t = coroutine(f);
	enum move_rule ret =
		move_rule(&in, t, type_member(state_with(t, name)->payload, name)->type);

	map_free(&in.drops);
	return ret;
}

static struct fixture open_program(bool unwinds)
{
	struct fixture f = fixture_open_file("testdata/unit/moved.elf");

	debuginfo_rustc_version(f.dm);
	/* It is built without std, so without panic_unwind. */
	assert_false(debuginfo_panics_unwind(f.dm));
	f.dm->build.unwinds = unwinds;
	return f;
}

static void flags_are_believed_if_panics_unwind(void **state)
{
	static const char *const whole[] = { "list",   "guard",     "plain_box", "pinned",
		                             "object", "coroutine", "closure" };
	(void)state;
	for (int unwinds = 0; unwinds < 2; unwinds++) {
		struct fixture f = open_program(unwinds);

		for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
			assert_int_equal(rule(&f, whole[i]), unwinds ? MOVE_BY_FLAGS : MOVE_OPEN);
		fixture_close(&f);
	}
}

static void parts_can_be_moved(void **state)
{
	static const char *const parts[] = { "parts", "pair", "option", "box_of_boxes", "wrapped" };
	struct fixture f = open_program(true);

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		assert_int_equal(rule(&f, parts[i]), MOVE_OPEN);
	assert_int_equal(rule(&f, "number"), MOVE_NEVER);
	fixture_close(&f);
}

static void clear_flags_are_counted(void **state)
{
	enum { PLACE = 0x5000000 };
	static char bytes[4096];
	struct fixture f = open_program(true);
	const struct type *t = coroutine(&f);
	struct inspector in = { .target = f.target };
	struct coroutine_state s = { .variant = state_with(t, "guard"), .state = FUTURE_SUSPENDED };
	const struct value v = { t, PLACE };

	(void)state;
	held_futures_plan(&in, t, &s);
	assert_true(s.nflags > 0 && type_size(t) <= sizeof(bytes));
	/* What cannot be read counts. */
	assert_int_equal(move_state_flags_clear(f.target, v, &s), s.nflags);
	for (size_t i = 0; i < s.nflags; i++)
		bytes[s.variant->offset + s.flags[i]->offset] = 1;
	target_fake_map(f.target, PLACE, bytes, sizeof(bytes));
	assert_int_equal(move_state_flags_clear(f.target, v, &s), 0);
	target_fake_poke(f.target, PLACE + s.variant->offset + s.flags[0]->offset, "", 1);
	assert_int_equal(move_state_flags_clear(f.target, v, &s), 1);
	arena_free(&in.arena);
	fixture_close(&f);
}

/* The coroutine `borrows`, which awaits `uses`; its state. */
static struct value lend(struct futures *f, struct value *coroutine, const struct variant **active)
{
	struct value awaitee, captured;

	*coroutine = futures_value(f, "moved::borrows::{async_fn_env#0}", FUTURES_ROOT);
	*active = type_variant(coroutine->type, "Suspend0");
	struct value state = futures_variant(f, *coroutine, "Suspend0");
	awaitee = futures_member(state, "__awaitee");
	futures_variant(f, awaitee, "Suspend0");
	captured = (struct value){ type_variant(awaitee.type, "Unresumed")->payload, awaitee.addr };
	futures_poke(f, captured, "lent", futures_member(state, "lent").addr);
	return state;
}

static void what_the_awaitee_refers_to_is_borrowed(void **state)
{
	static struct move_state_borrows borrows;
	struct futures f = futures_open_file("testdata/unit/moved.elf");
	const struct variant *active;
	struct value coroutine, at = lend(&f, &coroutine, &active), part;

	(void)state;
	move_state_find_borrows(f.c, coroutine, active, &borrows);
	assert_int_equal(borrows.n, 1);
	assert_true(move_state_is_borrowed(&borrows, futures_member(at, "lent")));
	assert_false(move_state_is_borrowed(&borrows, futures_member(at, "kept")));
	/* A reference to a part: another part may have been moved out. */
	part = futures_member(at, "lent.__0");
	assert_false(move_state_is_borrowed(&borrows, part));
	/* The state of the awaitee does not matter while it is not over. */
	part = futures_variant(&f, futures_member(at, "__awaitee"), "Unresumed");
	move_state_find_borrows(f.c, coroutine, active, &borrows);
	assert_int_equal(borrows.n, 1);
	futures_variant(&f, futures_member(at, "__awaitee"), "Returned");
	move_state_find_borrows(f.c, coroutine, active, &borrows);
	assert_int_equal(borrows.n, 0);
	futures_variant(&f, futures_member(at, "__awaitee"), "Suspend0");
	futures_poke(&f, part, "lent", FUTURES_OTHER);
	move_state_find_borrows(f.c, coroutine, active, &borrows);
	assert_int_equal(borrows.n, 0);
	futures_close(&f);
}

static void what_owns_nothing_is_settled(void **state)
{
	struct futures f = futures_open_file("testdata/unit/moved.elf");
	const struct variant *active;
	struct value coroutine, at = lend(&f, &coroutine, &active), maybe, bytes;

	(void)state;
	maybe = futures_member(at, "maybe");
	bytes = futures_member(at, "bytes");
	assert_true(move_state_is_settled(f.in, maybe)); /* the null pointer is None */
	assert_true(move_state_is_settled(f.in, bytes));
	assert_false(move_state_is_settled(f.in, futures_member(at, "lent")));
	target_fake_poke(f.fixture.target, maybe.addr, &(uint64_t){ FUTURES_OTHER }, 8);
	assert_false(move_state_is_settled(f.in, maybe));
	futures_poke(&f, bytes, "buf.inner.cap.__0", 8);
	assert_false(move_state_is_settled(f.in, bytes));
	/* A suspended coroutine is pinned where it is. */
	assert_true(move_state_is_settled(f.in, futures_member(at, "__awaitee")));
	futures_variant(&f, futures_member(at, "__awaitee"), "Unresumed");
	assert_false(move_state_is_settled(f.in, futures_member(at, "__awaitee")));
	futures_close(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_are_believed_if_panics_unwind),
		cmocka_unit_test(parts_can_be_moved),
		cmocka_unit_test(clear_flags_are_counted),
		cmocka_unit_test(what_the_awaitee_refers_to_is_borrowed),
		cmocka_unit_test(what_owns_nothing_is_settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
