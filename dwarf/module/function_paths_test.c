/* Tests of the paths of functions, of symbols by themselves and of shapes.rs. */
#include "dwarf/module/function_paths.h"

#include "debugger/base/vec.h"
#include "dwarf/lookup/function_names.h"
#include "dwarf/test/module.h"

static void test_symbols(void **state)
{
	static const struct {
		const char *symbol, *path;
	} rows[] = {
		{ "_ZN3app6Server5serve17h0123456789abcdefE", "app::Server::serve" },
		{ "_ZN3app5serve28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "app::serve" },
		{ "_ZN39_$LT$app..Server$u20$as$u20$app..Tr$GT$5serve17h0123456789abcdefE",
		  "app::Server::serve" },
		{ "_ZN3app15Server$LT$T$GT$5serve17h0123456789abcdefE", "app::Server::serve" },
		{ "_RNvCs1234_3app5serve", "app::serve" },
		{ "_RNCNvCs1234_3app5serve0B3_", "app::serve" },
		{ "_ZN4core3ptr32drop_in_place$LT$app..Server$GT$17h0123456789abcdefE",
		  "core::ptr::drop_in_place" },
		{ "_ZN3app40_$LT$impl$u20$app..Tr$u20$for$u20$u8$GT$2go17h0123456789abcdefE",
		  "u8::go" },
		/* C++, C, what cannot be typed, and a closure in a static. */
		{ "_ZN3app5serveEv", NULL },
		{ "main", NULL },
		{ "_ZN3app4LAZY28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", NULL },
		{ "_ZN3app3go_17h0123456789abcdeE$x", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		SCRATCH(tmp);
		const char *path = function_paths_of(&tmp, rows[i].symbol);

		if (rows[i].path)
			assert_string_equal(path ? path : "none", rows[i].path);
		else if (path)
			fail_msg("%s is %s", rows[i].symbol, path);
	}
}

struct seen {
	struct arena a;
	VEC(const char *) own;
	bool other;
};

static void see(const char *path, bool own, void *arg)
{
	struct seen *seen = arg;

	if (own)
		*vec_push(&seen->own) = arena_strdup(&seen->a, path);
	seen->other |= !own;
}

/* Each path is one that `break` finds. */
static void test_paths_are_found(void **state)
{
	struct fixture *f = *state;
	struct seen seen = { 0 };
	bool leaf = false;

	assert_true(debuginfo_need(f->dm));
	fail_on(function_paths_each(f->di, NULL, see, &seen));
	assert_true(seen.own.n > 5);
	assert_true(seen.other);
	for (size_t i = 0; i < seen.own.n; i++) {
		struct named_function *found;
		size_t n;

		leaf |= strcmp(seen.own.data[i], "shapes::leaf") == 0;
		fail_on(function_names_find(f->di, seen.own.data[i], &f->arena, &found, &n));
		if (!n)
			fail_msg("%s is not found", seen.own.data[i]);
	}
	assert_true(leaf);
	vec_free(&seen.own);
	arena_free(&seen.a);
}

static void test_part(void **state)
{
	struct fixture *f = *state;
	struct seen seen = { 0 };

	fail_on(function_paths_each(f->di, "leaf", see, &seen));
	for (size_t i = 0; i < seen.own.n; i++)
		assert_non_null(strstr(seen.own.data[i], "leaf"));
	assert_true(seen.own.n > 0);
	vec_free(&seen.own);
	arena_free(&seen.a);
}

static void expect_near(struct fixture *f, const char *typed, const char *first)
{
	const char *paths[FUNCTION_PATHS_NEAR];
	size_t n;

	fail_on(function_paths_near(f->di, typed, &f->arena, paths, &n));
	assert_true(n <= FUNCTION_PATHS_NEAR);
	assert_string_equal(n ? paths[0] : "none", first);
	for (size_t i = 1; i < n; i++)
		assert_string_not_equal(paths[i - 1], paths[i]);
}

static void test_near(void **state)
{
	struct fixture *f = *state;

	assert_true(debuginfo_need(f->dm));
	expect_near(f, "lefa", "shapes::leaf");
	expect_near(f, "shape::leaf", "shapes::leaf");
	expect_near(f, "midle", "shapes::middle");
	expect_near(f, "nothing_like_it", "none");
	expect_near(f, "shapes::bird", "none");
	expect_near(f, "a::b::c::d::e::f::leaf", "none");
	expect_near(f, "", "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_paths_are_found),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_near),
	};

	return cmocka_run_group_tests(tests, shapes_setup, shapes_teardown);
}
