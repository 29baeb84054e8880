/* Tests of the JSON reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "debugger/base/json_reader.h"
#include "debugger/base/str.h"

/* A reader of a copy on the heap, so that valgrind and asan detect reads past its end. */
struct source {
	char *text;
	struct json_reader r;
};

static void source_free(struct source *s)
{
	free(s->text);
}

static struct source source_of(const char *text)
{
	struct source s = { .text = strdup(text) };

	json_reader_init(&s.r, s.text, strlen(s.text));
	return s;
}

#define SOURCE(name, text)                                                                         \
	struct source name##_source CLEANUP(source_free) = source_of(text);                        \
	struct json_reader *name = &name##_source.r

static void test_walk(void **state)
{
	SCRATCH(tmp);
	SOURCE(r, " {\"a\" : [1, -2,[] ,{}], \"b\":{\"c\":true,\"d\":false} "
	          ",\"e\":null,\"f\":\"x\"}\n");

	(void)state;
	assert_int_equal(json_peek(r), JSON_IS_OBJECT);
	assert_true(json_enter_object(r));
	assert_string_equal(json_next_key(r), "a");
	assert_true(json_enter_array(r));
	assert_true(json_next_element(r));
	assert_int_equal(json_take_integer(r), 1);
	assert_true(json_next_element(r));
	assert_int_equal(json_take_integer(r), -2);
	assert_true(json_next_element(r));
	assert_true(json_enter_array(r));
	assert_false(json_next_element(r));
	assert_true(json_next_element(r));
	assert_true(json_enter_object(r));
	assert_null(json_next_key(r));
	assert_false(json_next_element(r));
	assert_string_equal(json_next_key(r), "b");
	assert_true(json_enter_object(r));
	assert_string_equal(json_next_key(r), "c");
	assert_true(json_take_bool(r));
	assert_string_equal(json_next_key(r), "d");
	assert_false(json_take_bool(r));
	assert_null(json_next_key(r));
	assert_string_equal(json_next_key(r), "e");
	assert_int_equal(json_peek(r), JSON_IS_NULL);
	json_skip(r);
	assert_string_equal(json_next_key(r), "f");
	assert_string_equal(json_take_text(r, &tmp), "x");
	assert_null(json_next_key(r));
	assert_true(json_at_end(r));
}

static void assert_text(const char *json, const char *wanted)
{
	SOURCE(r, json);
	const char *text = json_take_raw(r);

	assert_non_null(text);
	assert_string_equal(text, wanted);
	assert_true(json_at_end(r));
}

static void test_texts(void **state)
{
	(void)state;
	assert_text("\"\"", "");
	assert_text("\"plain\"", "plain");
	assert_text("\"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\t.\"", "a\"b\\c/d\b\f\n\r\t.");
	assert_text("\"\\u0041\\u00fc\\u20AC\\ud83d\\ude00|\"", "Aü€😀|");
	assert_text("\"\\u0000\\ud83d|\\ude00\\ud83d\\u0041\"", "��|���");
	assert_text("\"ü\"", "ü");
}

static void test_clean(void **state)
{
	SCRATCH(tmp);
	SOURCE(r, "\"\\u001b[2J\xff\"");

	(void)state;
	assert_string_equal(json_take_text(r, &tmp), "?[2J�");
}

static void test_integers(void **state)
{
	(void)state;
	SOURCE(most, "9223372036854775807");
	assert_true(json_take_integer(most) == INT64_MAX);
	SOURCE(least, "-9223372036854775808");
	assert_true(json_take_integer(least) == INT64_MIN);
	static const char *const bad[] = { "9223372036854775808",
		                           "-9223372036854775809",
		                           "99999999999999999999",
		                           "1.0",
		                           "1e3",
		                           "-",
		                           "x",
		                           "" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		SOURCE(r, bad[i]);
		assert_int_equal(json_take_integer(r), 0);
		assert_non_null(r->problem);
	}
}

/* json_skip() accepts what jansson accepts; this test lists where it is laxer. */
static void test_skip(void **state)
{
	static const char *const good[] = { "1",
		                            "-1.5e+3",
		                            "\"x\"",
		                            "null",
		                            "[]",
		                            "{}",
		                            "true",
		                            "[1,[2,[3]],{}]",
		                            "{\"a\":{\"b\":[{}]},\"c\":1}" };
	static const char *const bad[] = {
		"",        "[",        "{",          "]",      "[1",       "[1,",  "[,]",
		"{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{1:2}",  "[1 2]",    "nul",  "tru",
		"\"x",     "\"\\x\"",  "\"\\u12\"",  "[1]]",   "{} {}",    "[1,]", "{a:1}",
		"\"\\u12", "\"\\",     "[\"a\" 1]",  "falsee", "{\"a\":1", "[}",   "{]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		SOURCE(r, good[i]);
		json_skip(r);
		if (!json_at_end(r))
			fail_msg("%s is not read: %s", good[i], r->problem);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		SOURCE(r, bad[i]);
		json_skip(r);
		if (json_at_end(r))
			fail_msg("%s is read", bad[i]);
	}
}

static void test_depth(void **state)
{
	STR(deep);

	(void)state;
	for (int i = 0; i < 1000000; i++)
		str_append(&deep, "[");
	SOURCE(r, deep.data);
	json_skip(r);
	assert_string_equal(r->problem, "is nested too deep");
	assert_false(json_at_end(r));
}

/*
 * Random changes of a document: the reader never reads past the end, and never refuses what jansson
 * accepts.
 */
static void test_changed(void **state)
{
	static const char document[] = "{\"a\":[1,-22,\"x\\n\\u00fc\\\\\",true],\"bc\":{\"d\":null,"
				       "\"e\":[[],{}]},\"f\":\"\"}";
	static const char letters[] = "0{}[]\",:-ntu\\ ";
	size_t both = 0;

	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		char text[sizeof(document)];

		memcpy(text, document, sizeof(text));
		for (int n = 1 + rand() % 3; n; n--)
			text[(size_t)rand() % (sizeof(text) - 1)] =
				letters[(size_t)rand() % (sizeof(letters) - 1)];
		json_t *theirs = json_loads(text, JSON_DECODE_ANY, NULL);
		SOURCE(r, text);
		json_skip(r);
		/*
		 * The reader accepts any characters as a number, and control characters in texts.
		 */
		if (theirs && !json_at_end(r) && !strstr(r->problem, "escape"))
			fail_msg("%s: %s", text, r->problem);
		both += theirs && json_at_end(r);
		json_decref(theirs);
	}
	assert_in_range(both, 100, 19900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),    cmocka_unit_test(test_texts),
		cmocka_unit_test(test_clean),   cmocka_unit_test(test_integers),
		cmocka_unit_test(test_skip),    cmocka_unit_test(test_depth),
		cmocka_unit_test(test_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
