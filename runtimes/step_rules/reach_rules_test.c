/* Tests of where the code of a function leads to, with instructions made by hand. */
#include "runtimes/step_rules/reach_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A program at 0x100, an instruction of four bytes at a time. */
enum { LOW = 0x100 };

struct reach_test {
	struct instruction *code;
	size_t n;
	const uint64_t *ends; /* where the step ends, up to a 0 */
	unsigned reads;
};

static bool read_one(void *arg, uint64_t addr, struct instruction *ret)
{
	struct reach_test *t = arg;
	size_t at = (addr - LOW) / 4;

	if (addr < LOW || at >= t->n)
		return false;
	t->reads++;
	*ret = t->code[at];
	ret->size = 4;
	return true;
}

static bool ends_here(void *arg, uint64_t addr)
{
	struct reach_test *t = arg;

	for (const uint64_t *end = t->ends; *end; end++) {
		if (*end == addr)
			return true;
	}
	return false;
}

static struct reach_code reach_of(struct reach_test *t)
{
	return (struct reach_code){
		.low = LOW, .high = LOW + 4 * t->n, .read = read_one, .arg = t
	};
}

#define NEXT                                                                                       \
	{                                                                                          \
		.flow = FLOW_NEXT                                                                  \
	}
#define STORE                                                                                      \
	{                                                                                          \
		.flow = FLOW_NEXT, .stores = true                                                  \
	}
#define CALL                                                                                       \
	{                                                                                          \
		.flow = FLOW_CALL                                                                  \
	}
#define JUMP(to)                                                                                   \
	{                                                                                          \
		.flow = FLOW_JUMP, .is_branch = true, .target = (to)                               \
	}
#define BRANCH(to)                                                                                 \
	{                                                                                          \
		.flow = FLOW_BRANCH, .is_branch = true, .target = (to)                             \
	}
#define INDIRECT                                                                                   \
	{                                                                                          \
		.flow = FLOW_JUMP                                                                  \
	}
#define RETURN                                                                                     \
	{                                                                                          \
		.flow = FLOW_END, .text = "ret"                                                    \
	}
#define TRAP                                                                                       \
	{                                                                                          \
		.flow = FLOW_END, .text = "ud2"                                                    \
	}
#define BAD                                                                                        \
	{                                                                                          \
		.bad = true                                                                        \
	}

/* ---- the first ends ---- */

/* The ends that code leads to from an address, in ascending order; "?": unknown. */
static void assert_reached(struct instruction *code, size_t n, uint64_t from, const uint64_t *ends,
                           const char *expected)
{
	struct reach_test t = { code, n, ends, 0 };
	const struct reach_code of = reach_of(&t);
	struct map places = { 0 };
	char found[128] = "?";

	if (reach_rules_first_ends(&of, from, ends_here, &t, &places)) {
		found[0] = '\0';
		for (uint64_t addr = LOW - 4; addr <= LOW + 4 * n; addr++) {
			if (map_has(&places, addr))
				snprintf(found + strlen(found), sizeof(found) - strlen(found),
				         " %x", (unsigned)addr);
		}
	}
	map_free(&places);
	assert_string_equal(found, expected);
	/* No instruction is read twice. */
	assert_true(t.reads <= n);
}

#define ASSERT_REACHED(from, ends, expected, ...)                                                  \
	do {                                                                                       \
		struct instruction code_[] = { __VA_ARGS__ };                                      \
		assert_reached(code_, sizeof(code_) / sizeof(*code_), from, ends, expected);       \
	} while (0)

static void test_first_ends(void **state)
{
	const uint64_t ends[] = { 0x100, 0x108, 0x110, 0 };

	(void)state;
	ASSERT_REACHED(0x104, ends, " 108", NEXT, NEXT, NEXT, NEXT, NEXT);
	/* Where it begins is no end. */
	ASSERT_REACHED(0x100, ends, " 108", NEXT, NEXT, NEXT, NEXT, NEXT);
	ASSERT_REACHED(0x108, ends, " 110", NEXT, NEXT, NEXT, CALL, NEXT);
	ASSERT_REACHED(0x104, ends, " 108 110", NEXT, BRANCH(0x10c), NEXT, NEXT, NEXT);
	ASSERT_REACHED(0x104, ends, " 110", NEXT, JUMP(0x10c), NEXT, NEXT, NEXT);
	ASSERT_REACHED(0x10c, ends, " 100 110", NEXT, NEXT, NEXT, BRANCH(0x100), NEXT);
	/* Code may end, or leave the function. */
	ASSERT_REACHED(0x104, ends, "", NEXT, RETURN, NEXT, NEXT, NEXT);
	ASSERT_REACHED(0x104, ends, "", NEXT, JUMP(0x200), NEXT, NEXT, NEXT);
	ASSERT_REACHED(0x104, ends, "", NEXT, JUMP(0xfc), NEXT, NEXT, NEXT);
	ASSERT_REACHED(0x10c, ends, "", NEXT, NEXT, NEXT, NEXT);
	ASSERT_REACHED(0x104, ends, "", NEXT, JUMP(0x104), NEXT, NEXT, NEXT);
}

static void test_unknown_ends(void **state)
{
	const uint64_t ends[] = { 0x108, 0 };

	(void)state;
	ASSERT_REACHED(0x100, ends, "?", NEXT, INDIRECT, NEXT);
	ASSERT_REACHED(0x100, ends, "?", NEXT, BAD, NEXT);
	ASSERT_REACHED(0x100, ends, "?", BRANCH(0x108), { .flow = FLOW_BRANCH }, NEXT);
	ASSERT_REACHED(0x108, ends, "", NEXT, INDIRECT, NEXT);
	interrupt_request();
	ASSERT_REACHED(0x100, ends, "?", NEXT, NEXT, NEXT);
	interrupt_clear();
}

/* ---- jumps back ---- */

static struct function_call calls[] = {
	{ .file = "app.rs", .line = 1 },
	{ .site = 1, .file = "lib.rs", .line = 4, .call_file = "app.rs", .call_line = 10 },
	{ .site = 2, .file = "lib.rs", .line = 4, .call_file = "app.rs", .call_line = 12 },
};

static bool is_app(void *arg, const char *file)
{
	(void)arg;
	return strcmp(file, "app.rs") == 0;
}

static bool makes_none(void *arg, const struct function *f)
{
	(void)arg, (void)f;
	return false;
}

/* The place that a jump back from line 12 to target needs; 0: none. */
static uint64_t jump_back(struct instruction *code, size_t n, const struct function_row *rows,
                          size_t nrows, uint64_t target)
{
	struct reach_test t = { .code = code, .n = n };
	const struct reach_code of = reach_of(&t);
	struct function_row copy[8];
	const struct function_lines lines = { copy, nrows, calls, 3, NULL };
	const struct line_rules rules = { .lines = &lines,
		                          .file = "app.rs",
		                          .line = 12,
		                          .kind = STEP_NEXT,
		                          .is_users = is_app,
		                          .makes_coroutine = makes_none };
	uint64_t ret = 0;

	memcpy(copy, rows, nrows * sizeof(*rows));
	const struct function_row *row = reach_rules_jump_back(&of, &rules, target, &ret);
	return row ? ret : 0;
}

#define CODE(...)                                                                                  \
	(struct instruction[]){ __VA_ARGS__ },                                                     \
		sizeof((struct instruction[]){ __VA_ARGS__ }) / sizeof(struct instruction)
#define ROWS(...)                                                                                  \
	(struct function_row[]){ __VA_ARGS__ },                                                    \
		sizeof((struct function_row[]){ __VA_ARGS__ }) / sizeof(struct function_row)
#define ROW(a, l, c, s)                                                                            \
	{                                                                                          \
		.addr = (a), .file = "app.rs", .line = (l), .call = (c), .statement = (s)          \
	}

static void test_jump_back(void **state)
{
	(void)state;
	/* Into the middle of the statement at line 10. */
	assert_int_equal(jump_back(CODE(NEXT, NEXT, NEXT, NEXT),
	                           ROWS(ROW(0x100, 10, 0, true), ROW(0x108, 12, 0, true)), 0x104),
	                 0x104);
	/* Its beginning has a place already, unless it begins no statement. */
	assert_int_equal(jump_back(CODE(NEXT, NEXT, NEXT, NEXT),
	                           ROWS(ROW(0x100, 10, 0, true), ROW(0x108, 14, 0, true)), 0x100),
	                 0);
	assert_int_equal(jump_back(CODE(NEXT, NEXT, NEXT, NEXT),
	                           ROWS(ROW(0x100, 10, 0, false), ROW(0x108, 12, 0, true)), 0x100),
	                 0x100);
	/* Within the line itself, or outside of the function. */
	assert_int_equal(
		jump_back(CODE(NEXT, NEXT, NEXT, NEXT), ROWS(ROW(0x100, 12, 0, true)), 0x104), 0);
	assert_int_equal(jump_back(CODE(NEXT), ROWS(ROW(0x80, 10, 0, true)), 0xfc), 0);
	assert_int_equal(jump_back(CODE(NEXT), ROWS(ROW(0x80, 10, 0, true)), 0x104), 0);
	assert_int_equal(jump_back(CODE(NEXT), ROWS(ROW(0x80, 10, 0, true)), 0x100), 0x100);
}

/* Code without a line is before that of the head. */
static void test_gap(void **state)
{
	struct instruction many[20] = { [0] = NEXT };

	(void)state;
	for (size_t i = 0; i < 20; i++)
		many[i] = (struct instruction)NEXT;
	assert_int_equal(jump_back(CODE(NEXT, NEXT, NEXT, NEXT),
	                           ROWS(ROW(0x100, 0, 0, true), ROW(0x108, 10, 0, false)), 0x100),
	                 0x108);
	assert_int_equal(
		jump_back(CODE(NEXT, NEXT, NEXT, NEXT), ROWS(ROW(0x108, 10, 0, false)), 0x100),
		0x108);
	assert_int_equal(jump_back(CODE(NEXT, NEXT, NEXT, NEXT),
	                           ROWS(ROW(0x104, 0, 0, true), ROW(0x108, 10, 0, false)), 0x100),
	                 0x108);
	assert_int_equal(
		jump_back(CODE(NEXT, CALL, NEXT, NEXT), ROWS(ROW(0x108, 10, 0, false)), 0x100), 0);
	assert_int_equal(
		jump_back(CODE(NEXT, BAD, NEXT, NEXT), ROWS(ROW(0x108, 10, 0, false)), 0x100), 0);
	/* The row is behind the end of the code. */
	assert_int_equal(jump_back(CODE(NEXT, NEXT), ROWS(ROW(0x108, 10, 0, false)), 0x100), 0);
	/* Fifteen instructions, but not sixteen. */
	assert_int_equal(jump_back(many, 20, ROWS(ROW(0x13c, 10, 0, false)), 0x100), 0x13c);
	assert_int_equal(jump_back(many, 20, ROWS(ROW(0x140, 10, 0, false)), 0x100), 0);
}

/* By way of an inlined call of line 10 to the beginning of line 12 again. */
static void test_round(void **state)
{
	struct function_row rows[] = { ROW(0x100, 5, 1, true), ROW(0x108, 12, 0, true),
		                       ROW(0x110, 14, 0, true) };
	struct instruction many[140];

	(void)state;
	assert_int_equal(jump_back(CODE(NEXT, NEXT, NEXT, NEXT), rows, 2, 0x100), 0x108);
	assert_int_equal(jump_back(CODE(JUMP(0x108), RETURN, NEXT, NEXT), rows, 2, 0x100), 0x108);
	assert_int_equal(jump_back(CODE(BRANCH(0x10c), CALL, NEXT, NEXT), rows, 2, 0x100), 0x108);
	assert_int_equal(jump_back(CODE(NEXT, RETURN, NEXT, NEXT), rows, 2, 0x100), 0);
	assert_int_equal(jump_back(CODE(NEXT, INDIRECT, NEXT, NEXT), rows, 2, 0x100), 0);
	assert_int_equal(jump_back(CODE(NEXT, BAD, NEXT, NEXT), rows, 2, 0x100), 0);
	/* Past the beginning of line 12, or to that of another one, which has a place. */
	assert_int_equal(jump_back(CODE(JUMP(0x10c), NEXT, NEXT, NEXT, NEXT), rows, 3, 0x100), 0);
	assert_int_equal(jump_back(CODE(JUMP(0x110), NEXT, NEXT, NEXT, NEXT), rows, 3, 0x100), 0);
	rows[1].in_await = true;
	assert_int_equal(jump_back(CODE(NEXT, NEXT, NEXT, NEXT), rows, 2, 0x100), 0);
	rows[1].in_await = false;
	rows[1].statement = false;
	assert_int_equal(jump_back(CODE(NEXT, NEXT, NEXT, NEXT), rows, 2, 0x100), 0);
	rows[1].statement = true;
	/* The inlined call is of line 12 itself: it was not left. */
	rows[0].call = 2;
	assert_int_equal(jump_back(CODE(NEXT, NEXT, NEXT, NEXT), rows, 2, 0x100), 0);
	rows[0].call = 1;
	for (size_t i = 0; i < 140; i++)
		many[i] = (struct instruction)NEXT;
	rows[1].addr = 0x100 + 4 * 127;
	assert_int_equal(jump_back(many, 140, rows, 2, 0x100), rows[1].addr);
	rows[1].addr += 4;
	assert_int_equal(jump_back(many, 140, rows, 2, 0x100), 0);
}

/* Other code of the function itself in between is another line that has no place of its own. */
static void test_round_by_line(void **state)
{
	struct function_row rows[] = { ROW(0x100, 12, 0, false), ROW(0x104, 10, 0, false),
		                       ROW(0x108, 12, 0, true), ROW(0x10c, 12, 0, true) };

	(void)state;
	assert_int_equal(jump_back(CODE(NEXT, NEXT, NEXT, NEXT), rows, 4, 0x100), 0);
	rows[1].call = 1;
	assert_int_equal(jump_back(CODE(NEXT, NEXT, NEXT, NEXT), rows, 4, 0x100), 0x108);
}

static void test_is_jump_back(void **state)
{
	const struct instruction jump = JUMP(0x100), branch = BRANCH(0x100), other = INDIRECT,
				 call = { .flow = FLOW_CALL, .is_branch = true, .target = 0x100 };

	(void)state;
	assert_true(reach_rules_is_jump_back(&jump, 0x104));
	assert_true(reach_rules_is_jump_back(&branch, 0x104));
	assert_false(reach_rules_is_jump_back(&jump, 0x100));
	assert_false(reach_rules_is_jump_back(&jump, 0xfc));
	assert_false(reach_rules_is_jump_back(&other, 0x104));
	assert_false(reach_rules_is_jump_back(&call, 0x104));
}

/* ---- the way out ---- */

static bool leaves(struct instruction *code, size_t n, uint64_t from)
{
	static struct function_row rows[] = { ROW(0x100, 5, 1, true), ROW(0x110, 14, 0, true) };
	const struct function_lines lines = { rows, 2, calls, 3, NULL };
	struct reach_test t = { .code = code, .n = n };
	const struct reach_code of = reach_of(&t);

	return reach_rules_leaves(&of, &lines, from, 1);
}

/* What is behind the function is not its code, though it can be read. */
static void test_end_of_function(void **state)
{
	struct instruction code[] = { NEXT, NEXT, RETURN };
	const struct function_lines lines = { NULL, 0, calls, 3, NULL };
	struct reach_test t = { .code = code, .n = 3 };
	struct reach_code of = reach_of(&t);

	(void)state;
	assert_true(reach_rules_leaves(&of, &lines, 0x100, 1));
	of.high = 0x108;
	assert_false(reach_rules_leaves(&of, &lines, 0x100, 1));
	of.high = 0x10c;
	of.low = 0x104;
	assert_false(reach_rules_leaves(&of, &lines, 0x100, 1));
	assert_true(reach_rules_leaves(&of, &lines, 0x104, 1));
}

static void test_leaves(void **state)
{
	struct instruction many[80];

	(void)state;
	assert_true(leaves(CODE(NEXT, NEXT, RETURN), 0x100));
	assert_false(leaves(CODE(NEXT, NEXT, TRAP), 0x100));
	assert_false(leaves(CODE(NEXT, STORE, RETURN), 0x100));
	assert_false(leaves(CODE(NEXT, CALL, RETURN), 0x100));
	assert_false(leaves(CODE(NEXT, BRANCH(0x108), RETURN), 0x100));
	assert_false(leaves(CODE(NEXT, INDIRECT, RETURN), 0x100));
	assert_false(leaves(CODE(NEXT, BAD, RETURN), 0x100));
	assert_true(leaves(CODE(JUMP(0x108), STORE, RETURN), 0x100));
	/* A jump to code around leaves it, whatever that does. */
	assert_true(leaves(CODE(JUMP(0x110), NEXT, NEXT, NEXT, STORE), 0x100));
	assert_false(leaves(CODE(NEXT, NEXT, NEXT, NEXT, STORE), 0x100));
	assert_false(leaves(CODE(JUMP(0x10c), NEXT, NEXT, NEXT, STORE), 0x100));
	for (size_t i = 0; i < 80; i++)
		many[i] = (struct instruction)NEXT;
	many[63] = (struct instruction)RETURN;
	assert_true(leaves(many, 80, 0x100));
	many[63] = (struct instruction)NEXT;
	many[64] = (struct instruction)RETURN;
	assert_false(leaves(many, 80, 0x100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_ends),      cmocka_unit_test(test_unknown_ends),
		cmocka_unit_test(test_jump_back),       cmocka_unit_test(test_gap),
		cmocka_unit_test(test_round),           cmocka_unit_test(test_round_by_line),
		cmocka_unit_test(test_is_jump_back),    cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_end_of_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
