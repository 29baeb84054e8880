/* Tests of decisions about the lines at which a step may stop. */
#include "runtimes/step_rules/line_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/*
 * A function of app.rs, which is a coroutine, with an inlined call of a library's function at line
 * 12, in that one of the user's at its line 5; and at line 14 an inlined coroutine, whose body is
 * at lines 31 and 32.
 */
static const struct function makes = { 0 };
static struct function_call calls[] = {
	{ .file = "app.rs", .line = 10, .is_coroutine = true },
	{ .site = 1, .file = "lib.rs", .line = 4, .call_file = "app.rs", .call_line = 12 },
	{ .site = 2,
	  .file = "app.rs",
	  .line = 20,
	  .parent = 1,
	  .call_file = "lib.rs",
	  .call_line = 5 },
	{ .site = 3,
	  .file = "app.rs",
	  .line = 30,
	  .is_coroutine = true,
	  .call_file = "app.rs",
	  .call_line = 14 },
	{ .site = 4,
	  .function = &makes,
	  .file = "app.rs",
	  .line = 40,
	  .call_file = "app.rs",
	  .call_line = 14 },
	{ .site = 5,
	  .file = "app.rs",
	  .line = 50,
	  .is_coroutine = true,
	  .parent = 3,
	  .call_file = "app.rs",
	  .call_line = 32 },
	{ .site = 6, .file = "app.rs", .line = 60 },
	{ .site = 7, .file = "app.rs", .line = 70, .is_coroutine = true, .parent = 1 },
};
enum {
	CALL_NONE,
	CALL_LIBRARY,
	CALL_USERS,
	CALL_COROUTINE,
	CALL_MAKES,
	CALL_INNER,
	CALL_NOWHERE,
	CALL_POLLED
};

#define ROW(a, f, l, c, ...)                                                                       \
	{                                                                                          \
		.addr = (a), .file = (f), .line = (l), .call = (c), .statement = true, __VA_ARGS__ \
	}
static struct function_row rows[] = {
	ROW(0x100, "app.rs", 11, 0, ), /* 0: the entry */
	ROW(0x104, "app.rs", 10, 0, ), /* 1: the head */
	ROW(0x108, "app.rs", 11, 0, ), /* 2 */
	ROW(0x10c, "app.rs", 12, 0, ), /* 3 */
	ROW(0x110, "lib.rs", 5, CALL_LIBRARY, ),
	ROW(0x114, "app.rs", 21, CALL_USERS, ), /* 5 */
	ROW(0x118, "app.rs", 13, 0, .in_await = true),
	ROW(0x11c, "app.rs", 13, 0, ), /* 7 */
	ROW(0x120, "app.rs", 14, 0, .in_await = true),
	ROW(0x124, "app.rs", 30, CALL_COROUTINE, ), /* 9: its head */
	ROW(0x128, "app.rs", 31, CALL_COROUTINE, ),
	ROW(0x12c, "app.rs", 32, CALL_COROUTINE, ), /* 11 */
	ROW(0x130, "app.rs", 41, CALL_MAKES, ),
	ROW(0x134, "app.rs", 0, 0, ), /* 13 */
	ROW(0x138, "macro.rs", 3, 0, ),
	ROW(0x13c, "app.rs", 50, CALL_INNER, ), /* 15: a coroutine in a single line */
	ROW(0x140, NULL, 15, 0, ),
	ROW(0x144, "app.rs", 61, CALL_NOWHERE, ), /* 17 */
	{ .addr = 0x148, .file = "app.rs", .line = 16 },
	ROW(0x150, "app.rs", 51, CALL_INNER, ), /* behind the end: it is none of the function */
};
static const struct function_lines lines = {
	.rows = rows,
	.nrows = sizeof(rows) / sizeof(*rows) - 1,
	.calls = calls,
	.ncalls = sizeof(calls) / sizeof(*calls),
};

static bool is_app(void *arg, const char *file)
{
	(void)arg;
	return file && (strcmp(file, "app.rs") == 0 || strcmp(file, "other.rs") == 0);
}

static bool is_makes(void *arg, const struct function *f)
{
	(void)arg;
	return f == &makes;
}

/* A step at a line of the function itself. */
static struct line_rules step_at(enum step_kind kind, unsigned line)
{
	return (struct line_rules){ .lines = &lines,
		                    .low = 0x100,
		                    .file = "app.rs",
		                    .line = line,
		                    .kind = kind,
		                    .is_users = is_app,
		                    .makes_coroutine = is_makes };
}

/* A step in an inlined call. */
static struct line_rules step_in(enum step_kind kind, size_t call, unsigned line)
{
	struct line_rules r = step_at(kind, line);

	r.call = call;
	return r;
}

/* Addresses at which the step ends, less 0x100, of rows in their order. */
static void assert_ends(struct line_rules r, const char *expected)
{
	char found[256] = "";

	for (size_t i = 0; i <= lines.nrows; i++) {
		if (line_rules_ends_at(&r, rows[i].addr))
			snprintf(found + strlen(found), sizeof(found) - strlen(found), " %zu", i);
	}
	assert_string_equal(found, expected);
}

static void test_is_here(void **state)
{
	char copy[] = "app.rs";
	struct line_rules r = step_at(STEP_NEXT, 12);
	struct function_row row = { .file = copy, .line = 12 };

	(void)state;
	assert_true(line_rules_is_here(&r, &rows[3]));
	assert_true(line_rules_is_here(&r, &row));
	row.line = 13;
	assert_false(line_rules_is_here(&r, &row));
	row = (struct function_row){ .file = "lib.rs", .line = 12 };
	assert_false(line_rules_is_here(&r, &row));
	row.file = NULL;
	assert_false(line_rules_is_here(&r, &row));
	r.file = NULL;
	assert_true(line_rules_is_here(&r, &row));
	row.file = "app.rs";
	assert_false(line_rules_is_here(&r, &row));
}

static void test_is_around(void **state)
{
	(void)state;
	assert_true(line_rules_is_around(&lines, CALL_NONE, CALL_NONE));
	assert_true(line_rules_is_around(&lines, CALL_NONE, CALL_USERS));
	assert_true(line_rules_is_around(&lines, CALL_LIBRARY, CALL_USERS));
	assert_true(line_rules_is_around(&lines, CALL_USERS, CALL_USERS));
	assert_false(line_rules_is_around(&lines, CALL_USERS, CALL_LIBRARY));
	assert_false(line_rules_is_around(&lines, CALL_USERS, CALL_NONE));
	assert_false(line_rules_is_around(&lines, CALL_COROUTINE, CALL_USERS));
}

static void test_heads(void **state)
{
	struct function_row rest[] = { ROW(0x200, "app.rs", 50, CALL_INNER, ),
		                       ROW(0x204, "app.rs", 0, CALL_INNER, ),
		                       { .addr = 0x208, .line = 51, .call = CALL_INNER } };
	const struct function_lines only = { rest, 3, calls, lines.ncalls, NULL };

	(void)state;
	assert_true(line_rules_is_head(&lines, &rows[1]));
	assert_false(line_rules_is_head(&lines, &rows[2]));
	assert_true(line_rules_is_head(&lines, &rows[9]));
	const struct function_row library = { .line = 4, .call = CALL_LIBRARY };
	assert_false(line_rules_is_head(&lines, &library));
	assert_true(line_rules_has_body(&lines, CALL_COROUTINE));
	assert_false(line_rules_has_body(&lines, CALL_INNER));
	/* Code without a line, or that begins no statement, is no body. */
	assert_false(line_rules_has_body(&only, CALL_INNER));
	rest[2].statement = true;
	assert_true(line_rules_has_body(&only, CALL_INNER));
	rest[0].line = 52;
	rest[2].statement = false;
	assert_true(line_rules_has_body(&only, CALL_INNER));
	assert_false(line_rules_has_body(&only, CALL_COROUTINE));
}

static void test_next(void **state)
{
	(void)state;
	/* Neither the entry, nor the head, nor code of macros, nor inlined calls. */
	assert_ends(step_at(STEP_NEXT, 12), " 2 7 8");
	assert_ends(step_at(STEP_NEXT, 13), " 2 3 8");
	/* Back at the await of a line that begins outside of it is no stop. */
	assert_ends(step_at(STEP_NEXT, 14), " 2 3 7");
	struct line_rules r = step_at(STEP_NEXT, 12);
	assert_false(line_rules_may_stop_at(&r, &rows[18]));
	assert_true(line_rules_may_stop_within(&r, &rows[18]));
	assert_false(line_rules_ends_at(&r, 0x10a));
	r.low = 0;
	assert_true(line_rules_ends_at(&r, 0x100));
}

/* Whether the line of an await begins outside of it. */
static void test_awaits(void **state)
{
	struct function_row of[] = { ROW(0x200, "app.rs", 13, 0, ),
		                     ROW(0x204, "app.rs", 13, 0, .in_await = true),
		                     ROW(0x208, "app.rs", 13, 0, ) };
	const struct function_lines first = { of, 2, calls, lines.ncalls, NULL },
				    last = { of + 1, 1, calls, lines.ncalls, NULL };
	struct line_rules r = step_at(STEP_NEXT, 12);

	(void)state;
	r.lines = &first;
	assert_false(line_rules_may_stop_at(&r, &of[1]));
	of[0].statement = false;
	assert_true(line_rules_may_stop_at(&r, &of[1]));
	of[0].statement = true;
	of[0].call = CALL_LIBRARY;
	assert_true(line_rules_may_stop_at(&r, &of[1]));
	of[0].call = 0;
	of[0].line = 14;
	assert_true(line_rules_may_stop_at(&r, &of[1]));
	r.lines = &last;
	assert_true(line_rules_may_stop_at(&r, &of[1]));
}

static void test_until(void **state)
{
	struct line_rules r = step_at(STEP_UNTIL, 12);

	(void)state;
	assert_ends(r, " 7 8");
	r.line = 13;
	assert_ends(r, " 8");
	r.until = 13;
	r.line = 11;
	assert_ends(r, " 7 8");
	r.until = 14;
	assert_ends(r, " 8");
	/* Lines around an inlined call are later ones whatever their number is. */
	assert_ends(step_in(STEP_UNTIL, CALL_USERS, 21), " 2 3 6 7 8");
	/* The same number in another file is no later line. */
	struct function_row other[] = { ROW(0x200, "other.rs", 12, 0, ) };
	r = step_at(STEP_UNTIL, 12);
	assert_false(line_rules_may_stop_at(&r, &other[0]));
	r.kind = STEP_NEXT;
	assert_true(line_rules_may_stop_at(&r, &other[0]));
}

static void test_finish(void **state)
{
	(void)state;
	assert_ends(step_at(STEP_FINISH, 12), "");
	assert_ends(step_in(STEP_FINISH, CALL_USERS, 21), " 2 3 6 7 8");
	/* An inlined coroutine that is suspended returns to the await, too. */
	assert_ends(step_in(STEP_FINISH, CALL_COROUTINE, 31), " 2 3 7");
}

static void test_out_of_inlined(void **state)
{
	(void)state;
	assert_ends(step_in(STEP_NEXT, CALL_COROUTINE, 31), " 2 3 7 11");
	assert_ends(step_in(STEP_NEXT, CALL_COROUTINE, 32), " 2 3 7 10");
	assert_ends(step_in(STEP_NEXT, CALL_INNER, 50), " 2 3 7 10 11");
	assert_ends(step_in(STEP_NEXT, CALL_USERS, 21), " 2 3 6 7 8");
}

static void test_into(void **state)
{
	struct line_rules r = step_at(STEP_INTO, 12);

	(void)state;
	/* 5: what the library calls; 12 only makes a coroutine; 9 is a head; 15 has no other line.
	 */
	assert_ends(r, " 2 5 7 8 10 11 15 17");
	r = step_in(STEP_INTO, CALL_COROUTINE, 31);
	assert_ends(r, " 2 3 7 11 15");
	r.low = 0x13c;
	assert_true(line_rules_enters_inlined(&r, &rows[15]));
	rows[15].statement = false;
	assert_false(line_rules_enters_inlined(&r, &rows[15]));
	rows[15].statement = true;
	rows[15].line = 0;
	assert_false(line_rules_enters_inlined(&r, &rows[15]));
	rows[15].line = 50;
	assert_false(line_rules_enters_inlined(&r, &rows[10]));
}

static void test_reason(void **state)
{
	struct line_rules r = step_in(STEP_NEXT, CALL_USERS, 21);

	(void)state;
	assert_int_equal(line_rules_reason(&r, &rows[5], false), STEP_LINE);
	assert_int_equal(line_rules_reason(&r, &rows[2], false), STEP_LINE);
	r.kind = STEP_FINISH;
	assert_int_equal(line_rules_reason(&r, &rows[2], false), STEP_RETURNED);
	/* What awaits a coroutine goes on when that is ready. */
	r = step_in(STEP_NEXT, CALL_COROUTINE, 31);
	assert_int_equal(line_rules_reason(&r, &rows[11], false), STEP_LINE);
	assert_int_equal(line_rules_reason(&r, &rows[2], false), STEP_RETURNED);
	/* What polls it otherwise may go on while it is suspended. */
	r = step_in(STEP_NEXT, CALL_POLLED, 71);
	assert_int_equal(line_rules_reason(&r, &rows[2], false), STEP_LEFT);
	assert_int_equal(line_rules_reason(&r, &rows[2], true), STEP_RETURNED);
	r.call = 0;
	assert_int_equal(line_rules_reason(&r, &rows[15], false), STEP_LEFT);
}

static void test_resumes(void **state)
{
	struct line_rules r = step_at(STEP_NEXT, 12);

	(void)state;
	assert_true(line_rules_resumes_at(&r, &rows[1], 0));
	assert_false(line_rules_resumes_at(&r, &rows[1], 0x104));
	assert_false(line_rules_resumes_at(&r, &rows[2], 0));
	assert_false(line_rules_resumes_at(&r, &rows[9], 0));
	r.polled_call = CALL_COROUTINE;
	assert_true(line_rules_resumes_at(&r, &rows[9], 0x104));
	assert_false(line_rules_resumes_at(&r, &rows[1], 0));
}

static void test_whose_line(void **state)
{
	const struct line_rules r = step_at(STEP_NEXT, 12);
	const struct line_rules users = step_in(STEP_NEXT, CALL_USERS, 21);

	(void)state;
	assert_int_equal(line_rules_whose_line(&r, &rows[3]), LINE_HERE);
	assert_int_equal(line_rules_whose_line(&r, &rows[2]), LINE_OTHER);
	assert_int_equal(line_rules_whose_line(&r, &rows[13]), LINE_NONE);
	/* An inlined call is of the line where it is called. */
	assert_int_equal(line_rules_whose_line(&r, &rows[4]), LINE_HERE);
	assert_int_equal(line_rules_whose_line(&r, &rows[5]), LINE_HERE);
	assert_int_equal(line_rules_whose_line(&r, &rows[10]), LINE_OTHER);
	assert_int_equal(line_rules_whose_line(&users, &rows[5]), LINE_HERE);
	assert_int_equal(line_rules_whose_line(&users, &rows[3]), LINE_NONE);
	/* Where it is called is not known. */
	assert_int_equal(line_rules_whose_line(&r, &rows[17]), LINE_NONE);
	calls[CALL_NOWHERE].call_line = 12;
	assert_int_equal(line_rules_whose_line(&r, &rows[17]), LINE_NONE);
	calls[CALL_NOWHERE].call_file = "app.rs";
	assert_int_equal(line_rules_whose_line(&r, &rows[17]), LINE_HERE);
	calls[CALL_NOWHERE].call_line = 0;
	assert_int_equal(line_rules_whose_line(&r, &rows[17]), LINE_NONE);
	calls[CALL_NOWHERE].call_file = NULL;
}

static uint64_t body_from(uint64_t low)
{
	struct line_rules r = step_at(STEP_INTO, 12);

	r.low = low;
	return line_rules_body(&r);
}

static void test_body(void **state)
{
	(void)state;
	assert_int_equal(body_from(0), 0x100);
	assert_int_equal(body_from(0x100), 0x104);
	assert_int_equal(body_from(0x10c), 0); /* of a library that is inlined */
	assert_int_equal(body_from(0x130), 0); /* 0x134 has no line */
	assert_int_equal(body_from(0x140), 0x144);
	assert_int_equal(body_from(0x144), 0x144); /* 0x148 begins no statement */
}

static void test_coroutine(void **state)
{
	bool found;

	(void)state;
	assert_int_equal(line_rules_coroutine(&lines, &rows[5], &found), 0);
	assert_true(found);
	assert_int_equal(line_rules_coroutine(&lines, &rows[15], &found), CALL_INNER);
	assert_true(found);
	calls[0].is_coroutine = false;
	assert_int_equal(line_rules_coroutine(&lines, &rows[11], &found), CALL_COROUTINE);
	assert_true(found);
	line_rules_coroutine(&lines, &rows[5], &found);
	assert_false(found);
	line_rules_coroutine(&lines, &rows[2], &found);
	assert_false(found);
	calls[0].is_coroutine = true;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_here), cmocka_unit_test(test_is_around),
		cmocka_unit_test(test_heads),   cmocka_unit_test(test_next),
		cmocka_unit_test(test_awaits),  cmocka_unit_test(test_until),
		cmocka_unit_test(test_finish),  cmocka_unit_test(test_out_of_inlined),
		cmocka_unit_test(test_into),    cmocka_unit_test(test_reason),
		cmocka_unit_test(test_resumes), cmocka_unit_test(test_whose_line),
		cmocka_unit_test(test_body),    cmocka_unit_test(test_coroutine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
