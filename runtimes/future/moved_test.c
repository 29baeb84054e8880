/* Which variables of a suspended coroutine may have been moved out. */
#include "dwarf/test/module.h"

#include "runtimes/common/inspector.h"
#include "runtimes/future/moved.h"
#include "runtimes/future/unpolled.h"

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

static enum moved_rule rule(struct fixture *f, const char *name)
{
	struct inspector in = { 0 };
	const struct type *t = coroutine(f);
	enum moved_rule ret =
		moved_rule(&in, t, type_member(state_with(t, name)->payload, name)->type);

	map_free(&in.drops);
	return ret;
}

static struct fixture open_program(bool unwinds)
{
	struct fixture f = fixture_open_file("testdata/unit/moved.elf");

	debuginfo_rustc_version(f.dm);
	/* It is built without std, so without panic_unwind. */
	assert_false(debuginfo_panics_unwind(f.dm));
	f.dm->unwinds = unwinds;
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
			assert_int_equal(rule(&f, whole[i]), unwinds ? MOVED_BY_FLAGS : MOVED_OPEN);
		fixture_close(&f);
	}
}

static void parts_can_be_moved(void **state)
{
	static const char *const parts[] = { "parts", "pair", "option", "box_of_boxes", "wrapped" };
	struct fixture f = open_program(true);

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		assert_int_equal(rule(&f, parts[i]), MOVED_OPEN);
	assert_int_equal(rule(&f, "number"), MOVED_NEVER);
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
	unpolled_plan(&in, t, &s);
	assert_true(s.nflags > 0 && type_size(t) <= sizeof(bytes));
	/* What cannot be read counts. */
	assert_int_equal(moved_flags_clear(f.target, v, &s), s.nflags);
	for (size_t i = 0; i < s.nflags; i++)
		bytes[s.variant->offset + s.flags[i]->offset] = 1;
	target_fake_map(f.target, PLACE, bytes, sizeof(bytes));
	assert_int_equal(moved_flags_clear(f.target, v, &s), 0);
	target_fake_poke(f.target, PLACE + s.variant->offset + s.flags[0]->offset, "", 1);
	assert_int_equal(moved_flags_clear(f.target, v, &s), 1);
	arena_free(&in.arena);
	fixture_close(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_are_believed_if_panics_unwind),
		cmocka_unit_test(parts_can_be_moved),
		cmocka_unit_test(clear_flags_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
