/* Tests of the folded list of unsearched places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "runtimes/analysis/unsearched.h"

static void assert_lines(const char *const *texts, size_t ntexts, bool full_names,
                         const char *const *wanted, size_t nwanted)
{
	struct arena a = { 0 };
	struct snapshot s = { .nunsearched = ntexts };
	size_t n;

	s.unsearched = arena_memdup(&a, texts, ntexts * sizeof(*texts));

	const char *const *lines =
		unsearched_lines(&a, &s, full_names ? NAMES_FULL : NAMES_FOLDED, &n);

	assert_int_equal(n, nwanted);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(lines[i], wanted[i]);
	arena_free(&a);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ASSERT_LINES(texts, full, wanted)                                                          \
	assert_lines((texts), COUNT(texts), (full), (wanted), COUNT(wanted))

#define HIDES ": another of this name hides where it is"
#define SHARE "values shared through an "

static void by_reason(void **state)
{
	static const char *const texts[] = {
		"variable `m` of app::a" HIDES,
		SHARE "alloc::sync::Arc<app::A, alloc::alloc::Global>",
		"variable `g` of app::b" HIDES,
		"task 7: torn",
		"variable `a: b` of app::c" HIDES,
		"task 9: torn",
		"variable `n` of app::d" HIDES,
		SHARE "app::Arc<(dyn app::T + core::marker::Send)>",
		"variable `o` of app::e" HIDES,
		"thread 7: torn",
	};
	static const char *const wanted[] = {
		"variable `m` of app::a; variable `g` of app::b; variable `a: b` of app::c; and 2 "
		"more (--json has all)" HIDES,
		SHARE "Arc<A>; app::Arc<dyn T + Send>",
		"task 7; task 9: torn",
		"thread 7: torn",
	};

	(void)state;
	ASSERT_LINES(texts, false, wanted);
}

static void whole_names(void **state)
{
	static const char *const texts[] = { SHARE "alloc::sync::Arc<app::A>",
		                             SHARE "alloc::sync::Arc<fn(u8) -> app::B>" };
	static const char *const wanted[] = {
		SHARE "alloc::sync::Arc<app::A>; alloc::sync::Arc<fn(u8) -> app::B>"
	};

	(void)state;
	ASSERT_LINES(texts, true, wanted);
}

/* A text with a unique reason is unchanged. */
static void alone(void **state)
{
	static const char *const texts[] = { "statics, and what raw pointers lead to",
		                             "",
		                             "a",
		                             ": b",
		                             "x>> y",
		                             "<< z: w",
		                             "`",
		                             "what is in a: b: c" };

	(void)state;
	ASSERT_LINES(texts, false, texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_reason),
		cmocka_unit_test(whole_names),
		cmocka_unit_test(alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
