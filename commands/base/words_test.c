#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "commands/base/words.h"

/* The last word of the first command of a line, of n words. */
static void assert_last(const char *line, size_t n, const char *last)
{
	SCRATCH(tmp);
	struct words *commands;
	size_t ncommands;

	assert_null(words_split(&tmp, line, &commands, &ncommands));
	assert_int_equal(commands[0].n, n);
	assert_string_equal(commands[0].word[n - 1], last);
}

static void test_conditions(void **state)
{
	SCRATCH(tmp);
	struct words *commands;
	size_t n;

	(void)state;
	assert_last("break f if a == \"b c\" && d ; run", 4, "a == \"b c\" && d");
	assert_last("break f --after 3 if x == ';' # three", 6, "x == ';'");
	assert_last("break f if 'x == \"a\"' ", 4, "x == \"a\"");
	assert_last("break f if 'a' == x && y == 'b'", 4, "'a' == x && y == 'b'");
	assert_last("break f if `a::B<u8>` == {closure#0}", 4, "`a::B<u8>` == {closure#0}");
	assert_last("cond 1 a == 'b'", 3, "a == 'b'");
	assert_last("print if 'x'", 3, "x");
	struct error *err CLEANUP(error_freep) =
		words_split(&tmp, "break f if x == 'a", &commands, &n);
	assert_non_null(err);
}

static void test_literals(void **state)
{
	SCRATCH(tmp);
	struct words *commands;
	size_t n;

	(void)state;
	assert_last("set c = 'x'", 4, "'x'");
	assert_last("set c='x'", 3, "'x'");
	assert_last("set c = '\\'' ; run", 4, "'\\''");
	assert_last("set c = ' ' # a blank", 4, "' '");
	assert_last("set var c =';'", 5, "';'");
	assert_last("set c = \"'x'\"", 4, "'x'");
	assert_last("set c = '\"'", 4, "'\"'");
	assert_last("set n = 5 ; run", 4, "5");
	assert_last("set n =", 3, "=");
	assert_last("set source-map '/a b'='/c'", 3, "/a b=/c");
	assert_last("print x='y'", 2, "x=y");
	struct error *err CLEANUP(error_freep) = words_split(&tmp, "set c = '\\'", &commands, &n);
	assert_non_null(err);
}

static void test_sizes(void **state)
{
	static const struct {
		const char *word;
		uint64_t size;
	} samples[] = {
		{ "0", 0 },          { "65536", 65536 },          { "64K", 65536 },
		{ "16M", 16 << 20 }, { "4G", UINT64_C(4) << 30 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		uint64_t size;

		assert_null(words_size(samples[i].word, UINT64_C(1) << 40, &size));
		assert_int_equal(size, samples[i].size);
	}
}

static void test_no_sizes(void **state)
{
	static const char *const samples[] = { "",   "M",  "-1",  "1.5M", "16MB",        "16 M",
		                               "5T", "K1", "17M", "1G",   "17179869184G" };

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		uint64_t size;
		struct error *err CLEANUP(error_freep) = words_size(samples[i], 16 << 20, &size);

		assert_non_null(err);
		assert_int_equal(err->kind, ERR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_literals),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_no_sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
