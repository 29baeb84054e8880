#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/dap/wire/framing.h"
#include "commands/dap/wire/node.h"

static void add(struct framing *f, const char *text)
{
	framing_add(f, text, strlen(text));
}

static void expect(struct framing *f, enum framing_result wanted, const char *text)
{
	SCRATCH(a);
	char *got = NULL;
	size_t len;

	assert_int_equal(framing_take(f, &a, &got, &len), wanted);
	if (wanted != FRAMING_MESSAGE)
		return;
	assert_int_equal(len, strlen(text));
	assert_string_equal(got, text);
}

static void test_messages(void **state)
{
	struct framing f = { 0 };

	(void)state;
	expect(&f, FRAMING_MORE, NULL);
	assert_true(framing_is_empty(&f));
	add(&f, "Content-Length: 2\r\n\r\n{}content-length:3\r\nContent-Type: x\r\n\r\n[1");
	expect(&f, FRAMING_MESSAGE, "{}");
	expect(&f, FRAMING_MORE, NULL);
	assert_false(framing_is_empty(&f));
	add(&f, "]");
	expect(&f, FRAMING_MESSAGE, "[1]");
	add(&f, "Content-Length: 0\r\n\r\n");
	expect(&f, FRAMING_MESSAGE, "");
	assert_true(framing_is_empty(&f));
	framing_free(&f);
}

/* Byte by byte there is a message exactly behind its last byte. */
static void test_pieces(void **state)
{
	static const char text[] = "Content-Length: 4\r\n\r\nnull";
	struct framing f = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		framing_add(&f, text + i, 1);
		expect(&f, i + 2 == sizeof(text) ? FRAMING_MESSAGE : FRAMING_MORE, "null");
	}
	framing_free(&f);
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"\r\n",
		"\n",
		"Content-Length: 1\n\n",
		"Content-Length:\r\n\r\n",
		"Content-Length: x\r\n\r\n",
		"Content-Length: -1\r\n\r\n",
		"Content-Length: 16777217\r\n\r\n",
		"Content-Length: 99999999999999999999999\r\n\r\n",
		"Content-Type: x\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		"POST /:x HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nContent-Length: 2\r\n\r\n{}",
		"Host: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}",
		"Content-Length: 2\r\nOrigin: x\r\n\r\n{}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct framing f = { 0 };

		add(&f, bad[i]);
		expect(&f, FRAMING_BAD, NULL);
		framing_free(&f);
	}
	struct framing f = { 0 };
	for (int i = 0; i < FRAMING_MAX_HEADER; i++)
		add(&f, "x");
	expect(&f, FRAMING_BAD, NULL);
	framing_free(&f);
}

static const struct node *read(struct arena *a, const char *text)
{
	const struct node *n = NULL;
	struct error *err = node_read(a, arena_strdup(a, text), strlen(text), &n);

	error_free(err);
	return err ? NULL : n;
}

static void test_nodes(void **state)
{
	SCRATCH(a);
	const struct node *n = read(&a, "{\"a\": 7, \"b\": [true, \"x\\n\", null], \"c\": null, "
	                                "\"d\": -1.5e3, \"e\": 1e99}");

	(void)state;
	assert_non_null(n);
	assert_int_equal(node_number(node_get(n, "a"), 0), 7);
	assert_int_equal(node_count(node_get(n, "b")), 3);
	assert_true(node_is_true(node_first(node_get(n, "b")), false));
	assert_string_equal(node_text(node_first(node_get(n, "b"))->next), "x\n");
	assert_null(node_get(n, "c"));
	assert_null(node_get(n, "absent"));
	assert_int_equal(node_number(node_get(n, "d"), 0), -1500);
	assert_true(node_number(node_get(n, "e"), 0) == INT64_MAX);
	/* Another kind, or nothing. */
	assert_null(node_text(node_get(n, "a")));
	assert_int_equal(node_number(node_get(n, "b"), 9), 9);
	assert_null(node_first(NULL));
	assert_null(node_get(NULL, "a"));
}

static void test_bad_nodes(void **state)
{
	static const char *const bad[] = { "",    "{",   "[1,]",    "{\"a\"}",
		                           "nul", "1 2", "\"\\x\"", "[[[" };
	SCRATCH(a);
	char deep[2 * NODE_MAX_DEPTH + 3];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_null(read(&a, bad[i]));
	memset(deep, '[', NODE_MAX_DEPTH + 1);
	memset(deep + NODE_MAX_DEPTH + 1, ']', NODE_MAX_DEPTH + 1);
	deep[2 * NODE_MAX_DEPTH + 2] = '\0';
	assert_null(read(&a, deep));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),  cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_bad),       cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_bad_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
