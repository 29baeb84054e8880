/* Finding statics by their names: whole paths, ends of paths, ambiguous names. */
#include "runtimes/query/globals.h"

#include "dwarf/test/module.h"

/* The static that a name leads to; NULL if there is none; "! " and the message for an error. */
static const char *answer(struct fixture *f, const char *name)
{
	struct inspector in = { .di = f->di, .target = f->target };
	struct global g;
	bool found;
	struct error *err = globals_find(&in, name, &f->arena, &g, &found);
	const char *ret;

	if (!err)
		return found ? arena_printf(&f->arena, "%s: %s", g.name, type_name(g.type)) : NULL;
	ret = arena_printf(&f->arena, "! %s", err->message);
	error_free(err);
	return ret;
}

static void test_names(void **state)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "CONFIG", "statics::config::CONFIG: statics::config::Config" },
		{ "config::CONFIG", "statics::config::CONFIG: statics::config::Config" },
		{ "statics::config::CONFIG", "statics::config::CONFIG: statics::config::Config" },
		{ "nfig::CONFIG", NULL },
		{ "other::CONFIG", NULL },
		{ "MISSING", NULL },
		{ "statics::MISSING", NULL },
		{ "statics::config::UNUSED", NULL },
		{ "::CONFIG", NULL },
		{ "statics::", NULL },
		{ "LIMIT", "! 3 statics are called `LIMIT`; print one by its path: statics::LIMIT "
		           "(a thread-local), statics::config::LIMIT, statics::other::LIMIT" },
		{ "other::LIMIT", "statics::other::LIMIT: u64" },
		{ "statics::other::LIMIT", "statics::other::LIMIT: u64" },
		{ "statics::LIMIT",
		  "! statics::LIMIT is a thread-local: each thread has its own, and "
		  "none is a static" },
		{ "OWN", "! statics::OWN is a thread-local: each thread has its own, and none is a "
		         "static" },
		{ "{impl#0}::next::NEXT",
		  "statics::{impl#0}::next::NEXT: core::sync::atomic::AtomicU64" },
	};
	struct fixture f = fixture_open_file("testdata/unit/statics.elf");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *have = answer(&f, cases[i].name);

		if (!have || !cases[i].want)
			assert_ptr_equal(have, cases[i].want);
		else
			assert_string_equal(have, cases[i].want);
	}
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
