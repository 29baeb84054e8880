/* Tests of the parsing and merging of phrases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/analysis/phrase.h"

/* The range of two phrases; NULL: their patterns differ. */
static const char *range(struct arena *a, const char *x, const char *y)
{
	struct phrase p CLEANUP(phrase_free) = { 0 };
	struct phrase_range r;

	phrase_parse(&p, x);
	phrase_range_init(&r, a, &p, x);
	phrase_parse(&p, y);
	if (strcmp(str_text(&p.pattern), r.pattern) != 0)
		return NULL;
	phrase_range_add(&r, &p, y);
	return phrase_range_text(a, &r);
}

static void test_ranges(void **state)
{
	(void)state;
	SCRATCH(a);
	static const struct {
		const char *x, *y, *range;
	} rows[] = {
		{ "ready", "ready", "ready" },
		{ "ready", "steady", NULL },
		{ "1 second", "1 second", "1 second" },
		{ "sleeping 18 seconds", "sleeping 3 seconds", "sleeping 3-18 seconds" },
		{ "sleeping 3.25 seconds", "sleeping 3.5 seconds", "sleeping 3.25-3.5 seconds" },
		{ "sleeping 3.05 seconds", "sleeping 3 seconds", "sleeping 3-3.05 seconds" },
		{ "1 sender alive", "3 senders alive", "1-3 senders alive" },
		{ "0 queued, 1 sender", "9 queued, 1 sender", "0-9 queued, 1 sender" },
		{ "1 senderish", "2 sendersish", NULL },
		{ "first in its queue", "2 tasks ahead in its queue (tasks 7, 8)",
		  "0-2 ahead in its queue" },
		{ "90 waiters ahead in its queue (tasks 5, ...)",
		  "1 task ahead in its queue (task 2)", "1-90 ahead in its queue" },
		{ "lock, first in its queue, 1", "lock, first in its queue, 2",
		  "lock, first in its queue, 1-2" },
		{ "join handle of task 3 (idle)", "join handle of task 17 (idle)",
		  "join handle of task 3-17 (idle)" },
		{ "join handle of task 3 (idle)", "join handle of task 3 (running)", NULL },
		{ "set of 2 tasks (13 idle, 12 idle)", "set of 1 task (3 idle)",
		  "set of 1-2 tasks (...)" },
		{ "at 0x7f00", "at 0xff", "at 0xff-0x7f00" },
		{ "fd 9, 127.0.0.1:80 -> 10.0.0.1:443", "fd 10, 127.0.0.1:80 -> 10.0.0.2:443",
		  "fd 9-10, 127.0.0.1:80 -> 10.0.0.1:443 and others" },
		{ "fd 9, 127.0.0.1:7835 -> 127.0.0.1:443", "fd 19, 127.0.0.1:7835 -> 127.0.0.1:52",
		  "fd 9-19, 127.0.0.1:7835 -> 127.0.0.1 (ports 52-443)" },
		{ "127.0.0.1", "127.0.0.2", "127.0.0.1 and others" },
		{ "[::1]:443 x", "[::1]:80 x", "[::1] (ports 80-443) x" },
		{ "[::1]:443 x", "[::2]:80 x", "[::1]:443 and others x" },
		{ "[a] 1.2.3", "[a] 1.2.4", "[a] 1.2.3-4" },
		/* Names are words. */
		{ "job a::{closure#0}", "job a::{closure#1}", NULL },
		{ "u32", "u64", NULL },
		{ "Foo<[u8; 4]>", "Foo<[u8; 5]>", NULL },
		{ "99999999999999999999 x", "5 x", "5-99999999999999999999 x" },
		{ "", "", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *text = range(&a, rows[i].x, rows[i].y);

		if (rows[i].range)
			assert_string_equal(text, rows[i].range);
		else
			assert_string_equal(text ? text : "two patterns", "two patterns");
		/* The order does not matter. */
		text = range(&a, rows[i].y, rows[i].x);
		if (rows[i].range)
			assert_string_equal(text, rows[i].range);
	}
}

/* More numbers than are kept: the pattern has them all. */
static void test_many_numbers(void **state)
{
	(void)state;
	SCRATCH(a);

	assert_string_equal(range(&a, "1 2 3 4 5 6 7 8 9 10", "1 2 3 4 5 6 7 8 8 8"),
	                    "1 2 3 4 5 6 7 8 N N");
}

/* An unterminated part is searched only up to a limit. */
static void test_far_ends(void **state)
{
	(void)state;
	enum { FAR = 5000 };
	static const char *const ends[][2] = { { "(", ")" }, { "{", "}" }, { "<", ">" } };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		for (size_t len = 10; len <= FAR; len += FAR - 10) {
			struct phrase p CLEANUP(phrase_free) = { 0 };
			SCRATCH(a);
			const char *text =
				arena_printf(&a, "%s%*s 2%s", ends[i][0], (int)len, "", ends[i][1]);

			/*
			 * With a near end it is a list or a name; with a far end the number in it
			 * is a slot.
			 */
			phrase_parse(&p, text);
			assert_int_equal(p.nslots, len < FAR ? *ends[i][0] == '(' : 1);
			if (p.nslots)
				assert_int_equal(*p.slots[0].text, len < FAR ? '(' : '2');
		}
	}
}

static void test_nothing(void **state)
{
	(void)state;
	SCRATCH(a);
	struct phrase p CLEANUP(phrase_free) = { 0 };
	struct phrase_range r;

	phrase_parse(&p, NULL);
	phrase_range_init(&r, &a, &p, NULL);
	phrase_range_add(&r, &p, NULL);
	assert_null(r.pattern);
	assert_null(phrase_range_text(&a, &r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_many_numbers),
		cmocka_unit_test(test_far_ends),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
