/* Tests of texts of logpoints. */
#include "runtimes/hits/log_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/base/str.h"

/* The pieces with | between them, paths in <>. */
static const char *pieces(struct arena *a, const char *text)
{
	struct log_message m;
	struct error *err CLEANUP(error_freep) = log_message_parse(a, text, &m);
	STR(ret);

	if (err)
		return arena_strdup(a, err->message);
	for (size_t i = 0; i < m.n; i++)
		str_printf(&ret, m.pieces[i].is_path ? "%s<%s>" : "%s%s", i ? "|" : "",
		           m.pieces[i].text);
	return arena_strdup(a, str_text(&ret));
}

static void test_pieces(void **state)
{
	static const char *const cases[][2] = {
		{ "plain", "plain" },
		{ "{n}", "<n>" },
		{ "n is {n}, {task.id}", "n is |<n>|, |<task.id>" },
		{ "{ *req.headers[0].1 }{b}", "<*req.headers[0].1>|<b>" },
		{ "{{n}} {n}", "{n} |<n>" },
		{ "}}{{", "}{" },
		{ "{(0x10 as app::main::{closure#0}).n}!",
		  "<(0x10 as app::main::{closure#0}).n>|!" },
		{ "a\tb\x1b[31m", "a?b?[31m" },
		{ "", "a logpoint needs a text, for example 'n is {n}'" },
		{ "{}", "{} needs a path, for example {req.count}" },
		{ "{  }", "{} needs a path, for example {req.count}" },
		{ "n is {n", "\"{n\" has no }; write {{ for a { in the text" },
		{ "n} is", "unmatched }; write }} for a } in the text" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		SCRATCH(tmp);

		assert_string_equal(pieces(&tmp, cases[i][0]), cases[i][1]);
	}
}

static void test_limits(void **state)
{
	SCRATCH(tmp);
	STR(text);

	(void)state;
	for (int i = 0; i < LOG_MESSAGE_PATHS; i++)
		str_append(&text, "{a}");
	assert_non_null(strstr(pieces(&tmp, str_text(&text)), "<a>"));
	str_append(&text, "{a}");
	assert_string_equal(pieces(&tmp, str_text(&text)), "a text may have at most 64 paths");
	while (text.len <= LOG_MESSAGE_LENGTH)
		str_append(&text, "x");
	assert_string_equal(pieces(&tmp, str_text(&text)),
	                    "the text of a logpoint may have at most 4096 bytes");
}

static void test_values(void **state)
{
	SCRATCH(tmp);
	const struct log_value values[] = {
		{ .path = "n", .value = "Some(3)" },
		{ .path = "gone", .problem = "no variable `gone` here" },
		{ .path = "old", .value = "5", .doubt = "may have been moved out" },
	};
	struct log_message m;

	(void)state;
	assert_null(log_message_parse(&tmp, "{n} and {gone}{{, {old}", &m));
	assert_int_equal(m.npaths, 3);
	assert_string_equal(
		log_message_text(&tmp, &m, values),
		"Some(3) and {gone: no variable `gone` here}{, 5 (may have been moved out)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
