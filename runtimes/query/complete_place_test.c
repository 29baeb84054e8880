/* Tests of how paths of functions and files are completed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/base/str.h"
#include "runtimes/query/complete_place.h"

static void expect(const char *path, bool is_file, const char *partial, const char *words)
{
	const char *found[COMPLETE_PLACE_COMPONENTS];
	SCRATCH(a);
	STR(list);
	size_t n = complete_place_words(&a, path, is_file, partial, found);

	for (size_t i = 0; i < n; i++)
		str_printf(&list, "%s%s", i ? " " : "", found[i]);
	assert_string_equal(str_text(&list), words);
}

static void functions(void **state)
{
	(void)state;
	expect("app::serve", false, "app::ser", "app::serve");
	expect("app::serve", false, "ser", "serve");
	expect("app::serve", false, "a", "app::");
	expect("app::server::serve", false, "ser", "server:: serve");
	expect("app::server::serve", false, "app::", "app::server::");
	expect("app::server::serve", false, "server::", "server::serve");
	expect("app::server::serve", false, "server", "server::");
	expect("app::serve", false, "erve", "");
	expect("app::serve", false, "serve", "serve");
	expect("app::serve", false, "b::serve", "");
}

static void files(void **state)
{
	(void)state;
	expect("/home/me/app/src/main.rs", true, "ma", "main.rs:");
	expect("/home/me/app/src/main.rs", true, "src/m", "src/main.rs:");
	expect("/home/me/app/src/main.rs", true, "/home", "/home/me/app/src/main.rs:");
	expect("/home/me/app/src/main.rs", true, "m", "me/app/src/main.rs: main.rs:");
	expect("src/main.rs", true, "rc", "");
}

static void is_bounded(void **state)
{
	const char *found[COMPLETE_PLACE_COMPONENTS];
	SCRATCH(a);
	STR(path);

	(void)state;
	for (int i = 0; i < 1000; i++)
		str_append(&path, "a::");
	assert_int_equal(complete_place_words(&a, str_text(&path), false, "a", found),
	                 COMPLETE_PLACE_COMPONENTS);
}

static void nothing_without_a_program(void **state)
{
	const char **words;
	SCRATCH(a);

	(void)state;
	assert_int_equal(complete_place_list(NULL, "main", &a, &words), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions),
		cmocka_unit_test(files),
		cmocka_unit_test(is_bounded),
		cmocka_unit_test(nothing_without_a_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
