/* Tests of conditions: their grammar, and comparisons. */
#include "runtimes/hits/predicate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* n 3, m -1, big 2^64 - 1, x 1.5, nan, flag true, name "reader", task.id 7 of no name, an async fn.
 */
static struct error *find(void *arg, const struct predicate *operand, struct predicate_value *ret)
{
	const char *path = operand->path ? operand->path : "";

	++*(unsigned *)arg;
	if (operand->op == PREDICATE_TASK_ID)
		*ret = (struct predicate_value){ .kind = PREDICATE_NUMBER, .number = 7 };
	else if (operand->op == PREDICATE_TASK_TYPE)
		*ret = (struct predicate_value){ .kind = PREDICATE_TEXT,
			                         .text = "svc::f::{async_fn_env#0}<u8>" };
	else if (operand->op == PREDICATE_TASK_NAME)
		ret->kind = PREDICATE_NOTHING;
	else if (strcmp(path, "n") == 0 || strcmp(path, "*a.b[2].0") == 0)
		*ret = (struct predicate_value){ .kind = PREDICATE_NUMBER, .number = 3 };
	else if (strcmp(path, "m") == 0)
		*ret = (struct predicate_value){ .kind = PREDICATE_NUMBER,
			                         .number = 1,
			                         .negative = true };
	else if (strcmp(path, "big") == 0)
		*ret = (struct predicate_value){ .kind = PREDICATE_NUMBER, .number = UINT64_MAX };
	else if (strcmp(path, "x") == 0)
		*ret = (struct predicate_value){ .kind = PREDICATE_REAL, .real = 1.5 };
	else if (strcmp(path, "nan") == 0)
		*ret = (struct predicate_value){ .kind = PREDICATE_REAL,
			                         .real = __builtin_nan("") };
	else if (strcmp(path, "flag") == 0)
		*ret = (struct predicate_value){ .kind = PREDICATE_BOOL, .truth = true };
	else if (strcmp(path, "name") == 0 || strcmp(path, "(0x10 as a::B<u8>).c") == 0)
		*ret = (struct predicate_value){ .kind = PREDICATE_TEXT, .text = "reader" };
	else
		return error_new(ERR_STATE, "no variable `%s` here", path);
	return NULL;
}

/* Whether it is true; fails if it is an error. */
static bool holds(const char *text, unsigned *finds)
{
	SCRATCH(tmp);
	const struct predicate *c;
	unsigned n = 0;
	bool ret = false;
	struct error *err = predicate_parse(&tmp, text, &c);

	if (!err)
		err = predicate_evaluate(c, find, &n, &ret);
	if (err)
		fail_msg("%s: %s", text, err->message);
	if (finds)
		*finds = n;
	return ret;
}

static void test_true(void **state)
{
	static const char *const list[] = {
		"n == 3",
		"n==3&&m<0",
		"3 <= n && n <= 0x3",
		"n != 0b100 && n == 0o3",
		"big == 18_446_744_073_709_551_615",
		"m < big",
		"m == -1",
		"m > -2 && m < 0 && -0 == 0",
		"x == 1.5",
		"x > 1 && x < 2e0",
		"big > 1.5",
		"!(nan == nan)",
		"nan != 1",
		"flag",
		"!!flag",
		"flag == true",
		"flag != !flag",
		"(n == 4) == false",
		"name == \"reader\"",
		"name == 'reader'",
		"name >= \"reade\"",
		"'a\\'b\\n' == \"a'b\\n\"",
		"task.id == 7",
		"task.name != \"x\"",
		"!(task.name == \"x\") && !(task.name < \"x\")",
		"task.type == \"svc::f::{async_fn_env#0}<u8>\"",
		"task.type == 'svc::f' && 'svc::f' == task.type",
		"!(task.type != 'svc::f') && task.type != 'svc::g' && task.type != 'f'",
		"n == 4 || n == 3 && m == -1",
		"*a.b[2].0 == n",
		"`(0x10 as a::B<u8>).c` == name",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		if (!holds(list[i], NULL))
			fail_msg("%s", list[i]);
	}
	assert_false(holds("n == 4 || n == 3 && m == 1", NULL));
	assert_false(holds("!flag", NULL));
	assert_false(holds("nan >= 1 || nan <= 1 || nan < 1 || nan > 1", NULL));
}

static void test_orders(void **state)
{
	static const struct {
		const char *op;
		bool less, equal, more, none;
	} cases[] = {
		{ "==", false, true, false, false }, { "!=", true, false, true, true },
		{ "<", true, false, false, false },  { "<=", true, true, false, false },
		{ ">", false, false, true, false },  { ">=", false, true, true, false },
	};
	SCRATCH(a);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *op = cases[i].op;

		assert_int_equal(holds(arena_printf(&a, "m %s n", op), NULL), cases[i].less);
		assert_int_equal(holds(arena_printf(&a, "n %s 3", op), NULL), cases[i].equal);
		assert_int_equal(holds(arena_printf(&a, "n %s m", op), NULL), cases[i].more);
		assert_int_equal(holds(arena_printf(&a, "nan %s 1", op), NULL), cases[i].none);
		assert_int_equal(holds(arena_printf(&a, "task.name %s ''", op), NULL),
		                 cases[i].none);
	}
}

/* What does not matter is not looked up. */
static void test_short(void **state)
{
	unsigned finds;

	(void)state;
	assert_false(holds("n == 4 && absent == 1", &finds));
	assert_int_equal(finds, 1);
	assert_true(holds("n == 3 || absent == 1", &finds));
	assert_int_equal(finds, 1);
}

static void assert_refused(const char *text, const char *with)
{
	SCRATCH(tmp);
	const struct predicate *c;
	struct error *err CLEANUP(error_freep) = predicate_parse(&tmp, text, &c);

	if (!err)
		fail_msg("\"%s\" was parsed", text);
	assert_int_equal(err->kind, ERR_USAGE);
	if (!strstr(err->message, with))
		fail_msg("%s: %s", text, err->message);
}

static void test_refused(void **state)
{
	char deep[200];

	(void)state;
	assert_refused("", "ends too early");
	assert_refused("n ==", "ends too early");
	assert_refused("n == 3 &&", "ends too early");
	assert_refused("(n == 3", "ends too early");
	assert_refused("n == 3)", "cannot parse \")\"");
	assert_refused("n = 3", "cannot parse \"= 3\"");
	assert_refused("n + 1 == 3", "cannot parse \"+ 1 == 3\"");
	assert_refused("n == 3 == true", "joined by && or ||");
	assert_refused("n == 3x", "3x is not a number");
	assert_refused("n == 0x", "0x is not a number");
	assert_refused("n == 1.2.3", "1.2.3 is not a number");
	assert_refused("n == 99999999999999999999999999", "too large");
	assert_refused("n == \"a", "missing closing quote \"");
	assert_refused("`a", "missing closing backquote");
	assert_refused("``", "nothing between the backquotes");
	assert_refused("n == \x1b[31m", "cannot parse");
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	assert_refused(deep, "too many parentheses");
}

static void assert_unreadable(const char *text, const char *with)
{
	SCRATCH(tmp);
	const struct predicate *c;
	unsigned n = 0;
	bool ret;

	assert_null(predicate_parse(&tmp, text, &c));
	struct error *err CLEANUP(error_freep) = predicate_evaluate(c, find, &n, &ret);
	if (!err || !strstr(err->message, with))
		fail_msg("%s: %s", text, err ? err->message : "it was read");
}

static void test_unreadable(void **state)
{
	(void)state;
	assert_unreadable("absent == 1", "no variable `absent`");
	assert_unreadable("n == name", "compares a number with a text");
	assert_unreadable("flag == 1", "compares a bool with a number");
	assert_unreadable("n", "n is not a bool");
	assert_unreadable("!3", "an operand is not a bool");
}

static void test_needs_task(void **state)
{
	SCRATCH(tmp);
	const struct predicate *c;

	(void)state;
	assert_null(predicate_parse(&tmp, "task.id == 3 && n == 1", &c));
	assert_false(predicate_needs_task(c));
	assert_null(predicate_parse(&tmp, "n == 1 || !(task.type == 'x')", &c));
	assert_true(predicate_needs_task(c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_true),       cmocka_unit_test(test_orders),
		cmocka_unit_test(test_short),      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unreadable), cmocka_unit_test(test_needs_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
