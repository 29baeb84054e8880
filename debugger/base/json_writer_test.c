/* Tests of the JSON writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "debugger/base/arena.h"
#include "debugger/base/json_writer.h"
#include "debugger/base/str.h"

/* A writer whose output is captured. */
struct caught {
	struct json_writer w;
	FILE *f;
	char *text;
	size_t len;
};

static struct caught *begin(bool compact)
{
	struct caught *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	c->f = open_memstream(&c->text, &c->len);
	json_writer_init(&c->w, c->f, compact);
	return c;
}

static const char *text_of(struct caught *c)
{
	json_flush(&c->w);
	fflush(c->f);
	return c->text;
}

static void end(struct caught *c)
{
	fclose(c->f);
	free(c->text);
	free(c);
}

/* One of each, with empty containers and full ones. */
static void write_sample(struct json_writer *w)
{
	json_open_object(w, NULL);
	json_put_text(w, "text", "a \"b\" \\c");
	json_put_text(w, "none", NULL);
	json_put_bool(w, "yes", true);
	json_put_bool(w, "no", false);
	json_put_int(w, "least", INT64_MIN);
	json_put_int(w, "most", INT64_MAX);
	json_put_int(w, "zero", 0);
	json_put_address(w, "addr", UINT64_MAX);
	json_put_address(w, "null", 0);
	json_put_id(w, "id", UINT64_MAX);
	json_put_id(w, "no id", 0);
	json_open_array(w, "empty");
	json_close_array(w);
	json_open_object(w, "nothing");
	json_close_object(w);
	json_open_array(w, "list");
	json_put_text(w, NULL, "one");
	json_open_object(w, NULL);
	json_put_null(w, "x");
	json_close_object(w);
	json_put_int(w, NULL, -2);
	json_close_array(w);
	json_close_object(w);
}

/* The output equals that of jansson for the same values. */
static void looks_like_jansson(void **state)
{
	(void)state;
	for (int compact = 0; compact < 2; compact++) {
		struct caught *c = begin(compact);
		json_error_t error;

		write_sample(&c->w);
		json_t *j = json_loads(text_of(c), JSON_REJECT_DUPLICATES, &error);
		if (!j)
			fail_msg("line %d: %s\n%s", error.line, error.text, c->text);
		char *same = json_dumps(j, compact ? JSON_COMPACT : JSON_INDENT(2));
		assert_string_equal(c->text, same);
		free(same);
		json_decref(j);
		end(c);
	}
}

/* Six digits, and always a fraction or an exponent, so that readers parse a real number. */
static void numbers_with_a_fraction(void **state)
{
	static const struct {
		double number;
		const char *text;
	} rows[] = {
		{ 0, "0.0" },          { 1, "1.0" },
		{ 0.5, "0.5" },        { 12.3456789, "12.3457" },
		{ 1e6, "1e6" },        { 1234567.0, "1.23457e6" },
		{ 1.5e-07, "1.5e-7" }, { 123456789, "1.23457e8" },
		{ -2e300, "-2e300" },  { 1e-300, "1e-300" },
		{ 3e15, "3e15" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct caught *c = begin(true);
		json_t *read;

		json_put_real(&c->w, NULL, rows[i].number);
		assert_string_equal(text_of(c), rows[i].text);
		read = json_loads(rows[i].text, JSON_DECODE_ANY, NULL);
		assert_true(json_is_real(read));
		json_decref(read);
		end(c);
	}
}

/* Every byte, alone and in every place of a line: valid UTF-8 without control characters. */
static void hostile_bytes(void **state)
{
	static const char *const tails[] = { "", "\x80", "\xc3", "\xa9 \"", "\xed\xa0\x80", "\\" };

	(void)state;
	for (unsigned byte = 1; byte < 256; byte++) {
		for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
			struct caught *c = begin(true);
			STR(text);
			STR(clean);

			str_printf(&text, "x%c%s", (int)byte, tails[i]);
			str_append_clean(&clean, text.data, text.len);
			json_put_text(&c->w, NULL, text.data);
			json_t *j = json_loads(text_of(c), JSON_DECODE_ANY, NULL);
			if (!j)
				fail_msg("byte 0x%x: %s", byte, c->text);
			assert_string_equal(json_string_value(j), clean.data);
			json_decref(j);
			end(c);
		}
	}
}

static void longer_than_the_buffer(void **state)
{
	struct caught *c = begin(true);
	SCRATCH(a);
	char *text = arena_alloc(&a, 3 * JSON_BUFFER + 1);

	(void)state;
	memset(text, 'a', 3 * JSON_BUFFER);
	json_open_array(&c->w, NULL);
	for (size_t len = 0; len < JSON_BUFFER + 100; len += 997)
		json_put_text(&c->w, NULL, text + 3 * JSON_BUFFER - len);
	text[JSON_BUFFER] = '"';
	text[JSON_BUFFER + 7] = 0x1b;
	json_put_text(&c->w, NULL, text);
	json_close_array(&c->w);
	json_t *j = json_loads(text_of(c), 0, NULL);
	assert_non_null(j);
	for (size_t i = 0; i + 1 < json_array_size(j); i++)
		assert_int_equal(json_string_length(json_array_get(j, i)), i * 997);
	text[JSON_BUFFER + 7] = '?';
	assert_string_equal(json_string_value(json_array_get(j, json_array_size(j) - 1)), text);
	json_decref(j);
	end(c);
}

/* The output is still a document; values that are too deep are null. */
static void deeper_than_any_tree(void **state)
{
	struct caught *c = begin(false);
	enum { DEPTH = JSON_MAX_DEPTH + 50 };
	unsigned depth = 0;

	(void)state;
	for (unsigned i = 0; i < DEPTH; i++)
		json_open_array(&c->w, NULL);
	json_put_text(&c->w, NULL, "lost");
	for (unsigned i = 0; i < DEPTH; i++)
		json_close_array(&c->w);
	json_put_text(&c->w, NULL, "x");
	json_t *j = json_loads(text_of(c), JSON_DISABLE_EOF_CHECK, NULL);
	assert_non_null(j);
	json_t *at = j;
	while (json_is_array(at)) {
		assert_int_equal(json_array_size(at), 1);
		at = json_array_get(at, 0);
		depth++;
	}
	assert_true(json_is_null(at));
	assert_int_equal(depth, JSON_MAX_DEPTH);
	json_decref(j);
	end(c);
}

static void lines(void **state)
{
	struct caught *c = begin(true);

	(void)state;
	for (int i = 0; i < 3; i++) {
		json_open_object(&c->w, NULL);
		json_put_int(&c->w, "i", i);
		json_close_object(&c->w);
		json_end_line(&c->w);
	}
	assert_string_equal(text_of(c), "{\"i\":0}\n{\"i\":1}\n{\"i\":2}\n");
	end(c);
}

/* A key from a file stays one key, and the document one object. */
static void hostile_keys(void **state)
{
	static const char *const keys[] = {
		"x\": true, \"complete", "a\\",         "a\nb", "\xff", "",
		"</script><script>",     "\xe2\x80\xa8"
	};
	static const char *const read_as[] = {
		"x\": true, \"complete", "a\\",      "a?b", "\xef\xbf\xbd", "",
		"</script><script>",     "\\u{2028}"
	};
	static char longer[JSON_BUFFER + 100];

	(void)state;
	memset(longer, 'k', sizeof(longer) - 1);
	for (int in_page = 0; in_page < 2; in_page++) {
		struct caught *c = begin(in_page);

		c->w.in_page = in_page;
		c->w.any_keys = true;
		json_open_object(&c->w, NULL);
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			json_put_int(&c->w, keys[i], (int64_t)i);
		json_put_bool(&c->w, longer, true);
		json_close_object(&c->w);
		json_t *j = json_loads(text_of(c), JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(j);
		assert_int_equal(json_object_size(j), sizeof(keys) / sizeof(*keys) + 1);
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			assert_int_equal(json_integer_value(json_object_get(j, read_as[i])), i);
		assert_true(json_is_true(json_object_get(j, longer)));
		if (in_page)
			assert_null(strchr(text_of(c), '<'));
		json_decref(j);
		end(c);
	}
}

/* Texts of several lines keep their control characters. */
static void test_lines(void **state)
{
	static const char text[] = "a\n\tb \"c\"\x1b[0m\r\x7f\xff\n";
	struct caught *c = begin(true);

	(void)state;
	json_put_lines(&c->w, NULL, text, sizeof(text) - 1);
	assert_string_equal(
		text_of(c),
		"\"a\\u000a\\u0009b \\\"c\\\"\\u001b[0m\\u000d\\u007f\xef\xbf\xbd\\u000a\"");
	end(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),           cmocka_unit_test(hostile_keys),
		cmocka_unit_test(looks_like_jansson),   cmocka_unit_test(numbers_with_a_fraction),
		cmocka_unit_test(hostile_bytes),        cmocka_unit_test(longer_than_the_buffer),
		cmocka_unit_test(deeper_than_any_tree), cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
