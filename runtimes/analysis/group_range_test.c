/* Tests of the merging of texts that differ in their variable parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/base/marked.h"
#include "runtimes/analysis/group_range.h"

/* The range of two marked texts; NULL: their patterns differ. */
static const char *range(struct arena *a, const char *x, const char *y)
{
	struct group_text t CLEANUP(group_text_free) = { 0 };
	struct group_range r;
	const char *parts;

	x = marked_finish(a, x, &parts);
	group_text_read(&t, x, parts);
	group_range_init(&r, a, &t, x);
	y = marked_finish(a, y, &parts);
	group_text_read(&t, y, parts);
	if (strcmp(str_text(&t.pattern), r.pattern) != 0)
		return NULL;
	group_range_add(&r, &t, y);
	return group_range_text(a, &r);
}

#define N(text)       MARKED_NUMBER(text)
#define QUEUE(text)   MARKED_QUEUE(text)
#define LIST(text)    MARKED_LIST(text)
#define ADDRESS(text) MARKED_ADDRESS(text)
#define S(text)       MARKED_PLURAL(text)

static void test_ranges(void **state)
{
	(void)state;
	SCRATCH(a);
	static const struct {
		const char *x, *y, *range;
	} rows[] = {
		{ "ready", "ready", "ready" },
		{ "ready", "steady", NULL },
		{ N("1") " second", N("1") " second", "1 second" },
		{ "sleeping " N("18") " seconds", "sleeping " N("3") " seconds",
		  "sleeping 3-18 seconds" },
		{ "sleeping " N("3.25") " seconds", "sleeping " N("3.5") " seconds",
		  "sleeping 3.25-3.5 seconds" },
		{ "sleeping " N("3.05") " seconds", "sleeping " N("3") " seconds",
		  "sleeping 3-3.05 seconds" },
		{ N("1") " sender" S("") " alive", N("3") " sender" S("s") " alive",
		  "1-3 senders alive" },
		{ N("0") " queued, " N("1") " sender" S(""),
		  N("9") " queued, " N("1") " sender" S(""), "0-9 queued, 1 sender" },
		{ QUEUE("first in its queue"),
		  QUEUE("2 tasks ahead in its queue (tasks " N("7") ", " N("8") ")"),
		  "0-2 ahead in its queue" },
		{ QUEUE("90 waiters ahead in its queue (tasks 5, ...)"),
		  QUEUE("1 task ahead in its queue (task 2)"), "1-90 ahead in its queue" },
		{ "lock, " QUEUE("first in its queue") ", " N("1"),
		  "lock, " QUEUE("first in its queue") ", " N("2"),
		  "lock, first in its queue, 1-2" },
		{ "join handle of task " N("3") " (idle)", "join handle of task " N("17") " (idle)",
		  "join handle of task 3-17 (idle)" },
		{ "join handle of task " N("3") " (idle)",
		  "join handle of task " N("3") " (running)", NULL },
		{ "set of " N("2") " task" S("s") " " LIST("(13 idle, 12 idle)"),
		  "set of " N("1") " task" S("") " " LIST("(3 idle)"), "set of 1-2 tasks (...)" },
		{ "at " N("0x7f00"), "at " N("0xff"), "at 0xff-0x7f00" },
		{ "fd " N("9") ", " ADDRESS("127.0.0.1:80") " -> " ADDRESS("10.0.0.1:443"),
		  "fd " N("10") ", " ADDRESS("127.0.0.1:80") " -> " ADDRESS("10.0.0.2:443"),
		  "fd 9-10, 127.0.0.1:80 -> 10.0.0.1:443 and others" },
		{ "fd " N("9") ", " ADDRESS("127.0.0.1:7835") " -> " ADDRESS("127.0.0.1:443"),
		  "fd " N("19") ", " ADDRESS("127.0.0.1:7835") " -> " ADDRESS("127.0.0.1:52"),
		  "fd 9-19, 127.0.0.1:7835 -> 127.0.0.1 (ports 52-443)" },
		{ ADDRESS("127.0.0.1"), ADDRESS("127.0.0.2"), "127.0.0.1 and others" },
		{ ADDRESS("[::1]:443") " x", ADDRESS("[::1]:80") " x", "[::1] (ports 80-443) x" },
		{ ADDRESS("[::1]:443") " x", ADDRESS("[::2]:80") " x", "[::1]:443 and others x" },
		{ N("99999999999999999999") " x", N("5") " x", "5-99999999999999999999 x" },
		/* Numbers that are not marked are names. */
		{ "job a::{closure#0}", "job a::{closure#1}", NULL },
		{ "", "", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		/* The order does not matter. */
		for (unsigned other = 0; other < 2; other++) {
			const char *text = other ? range(&a, rows[i].y, rows[i].x)
			                         : range(&a, rows[i].x, rows[i].y);

			assert_string_equal(text ? text : "two patterns",
			                    rows[i].range ? rows[i].range : "two patterns");
		}
	}
}

/* More numbers than are kept: the pattern has them all. */
static void test_many_numbers(void **state)
{
	(void)state;
	SCRATCH(a);

	assert_string_equal(
		range(&a, N("1") N("2") N("3") N("4") N("5") N("6") N("7") N("8") " " N("9"),
	              N("1") N("2") N("3") N("4") N("5") N("6") N("7") N("8") " " N("8")),
		"12345678 N");
}

/* Lists of parts from a damaged file: those before the first bad one count. */
static void test_bad_parts(void **state)
{
	(void)state;
	static const struct {
		const char *parts, *pattern;
	} rows[] = {
		{ "n2+1", "a \1 c 2" },
		{ "n2+1 n6+1", "a \1 c \1" },
		{ "n2+1 n2+1", "a \1 c 2" },
		{ "n6+1 n2+1", "a 1 c \1" },
		{ "n2+6", "a 1 c 2" },
		{ "n7+1", "a 1 c 2" },
		{ "n2", "a 1 c 2" },
		{ "n+", "\1a 1 c 2" },
		{ "-2+1", "a 1 c 2" },
		{ "x2+1", "a 1 c 2" },
		{ "n2+99999999999999999999", "a 1 c 2" },
		{ "n18446744073709551615+3", "a 1 c 2" },
	};
	struct group_text t CLEANUP(group_text_free) = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		group_text_read(&t, "a 1 c 2", rows[i].parts);
		assert_string_equal(str_text(&t.pattern), rows[i].pattern);
	}
}

static void test_nothing(void **state)
{
	(void)state;
	SCRATCH(a);
	struct group_text t CLEANUP(group_text_free) = { 0 };
	struct group_range r;

	group_text_read(&t, NULL, NULL);
	group_range_init(&r, &a, &t, NULL);
	group_range_add(&r, &t, NULL);
	assert_null(r.pattern);
	assert_null(group_range_text(&a, &r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_many_numbers),
		cmocka_unit_test(test_bad_parts),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
