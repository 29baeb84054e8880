/* Tests of persistent_findings.h: what a watchdog reports of the findings of one check after
 * another. */
#include "commands/incident/persistent_findings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TASKS(...)                                                                                 \
	.tasks = (const char *const[]){ __VA_ARGS__ },                                             \
	.ntasks = sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)

#define DEADLOCK(text_, ...)                                                                       \
	{                                                                                          \
		.check = "deadlock", .severity = SEVERITY_ERROR, .text = (text_),                  \
		TASKS(__VA_ARGS__)                                                                 \
	}

static struct persistent_findings list;
static struct arena answers;
static struct batch gone, due;

static int set_up(void **state)
{
	(void)state;
	list = (struct persistent_findings){ 0 };
	answers = (struct arena){ 0 };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	persistent_findings_free(&list);
	arena_free(&answers);
	return 0;
}

/* One more check. */
static void look(const struct finding *found, size_t n, uint64_t looks)
{
	persistent_findings_compare(&list, &answers, found, n, NULL, looks, &gone, &due);
	assert_true(gone.gone);
	assert_false(due.gone);
}

#define LOOK(looks, ...)                                                                           \
	look((const struct finding[]){ __VA_ARGS__ },                                              \
	     sizeof((const struct finding[]){ __VA_ARGS__ }) / sizeof(struct finding), looks)

static void reports_once_what_lasts(void **state)
{
	(void)state;
	LOOK(3, DEADLOCK("a", "3", "4"));
	assert_int_equal(due.n + gone.n, 0);
	LOOK(3, DEADLOCK("b", "3", "4"));
	assert_int_equal(due.n + gone.n, 0);
	LOOK(3, DEADLOCK("c", "3", "4"));
	assert_int_equal(due.n, 1);
	/* The newest text. */
	assert_string_equal(due.data[0].text, "c");
	assert_string_equal(due.data[0].tasks[1], "4");
	for (int i = 0; i < 5; i++) {
		LOOK(3, DEADLOCK("d", "3", "4"));
		assert_int_equal(due.n + gone.n, 0);
	}
	look(NULL, 0, 3);
	assert_int_equal(due.n, 0);
	assert_int_equal(gone.n, 1);
	assert_string_equal(gone.data[0].text, "d");
	look(NULL, 0, 3);
	assert_int_equal(gone.n, 0);
}

static void counts_checks_in_a_row(void **state)
{
	(void)state;
	/* Found, not found, found: neither twice in a row nor reported, so it is not gone either.
	 */
	for (int i = 0; i < 4; i++) {
		LOOK(2, DEADLOCK("a", "3"));
		assert_int_equal(due.n + gone.n, 0);
		look(NULL, 0, 2);
		assert_int_equal(due.n + gone.n, 0);
	}
	/* What was gone and comes back is reported again. */
	for (int i = 0; i < 2; i++) {
		LOOK(1, DEADLOCK("a", "3"));
		assert_int_equal(due.n, 1);
		look(NULL, 0, 1);
		assert_int_equal(gone.n, 1);
	}
}

static void knows_a_finding_by_its_tasks(void **state)
{
	(void)state;
	LOOK(1, DEADLOCK("a", "3", "4"));
	assert_int_equal(due.n, 1);
	/* Another order, more tasks, fewer: the same. */
	LOOK(1, DEADLOCK("a", "4", "3"));
	assert_int_equal(due.n + gone.n, 0);
	LOOK(1, DEADLOCK("a", "4", "5", "3"));
	assert_int_equal(due.n + gone.n, 0);
	LOOK(1, DEADLOCK("a", "5"));
	assert_int_equal(due.n + gone.n, 0);
	/* Other tasks, or another check of the same ones: another finding. */
	LOOK(1, DEADLOCK("a", "6"));
	assert_int_equal(due.n, 1);
	assert_int_equal(gone.n, 1);
	assert_string_equal(gone.data[0].tasks[0], "5");
	LOOK(1, { .check = "no-waker", .severity = SEVERITY_ERROR, .text = "a", TASKS("6") });
	assert_int_equal(due.n, 1);
	assert_int_equal(gone.n, 1);
	assert_string_equal(due.data[0].check, "no-waker");
	assert_string_equal(gone.data[0].check, "deadlock");
}

/* Where one finding has the same tasks and another one some of them, the former is the same. */
static void prefers_the_same_tasks(void **state)
{
	(void)state;
	LOOK(2, DEADLOCK("old", "3", "4"), DEADLOCK("old", "5", "6"));
	LOOK(2, DEADLOCK("new", "4", "5"), DEADLOCK("new", "5", "6"));
	assert_int_equal(due.n, 2);
	assert_string_equal(due.data[0].tasks[1], "5");
	assert_string_equal(due.data[1].tasks[1], "6");
	/* One that splits: one of both is the old one. */
	LOOK(2, DEADLOCK("new", "4"), DEADLOCK("new", "5"), DEADLOCK("new", "6"));
	assert_int_equal(due.n + gone.n, 0);
	LOOK(2, DEADLOCK("new", "4"), DEADLOCK("new", "5"), DEADLOCK("new", "6"));
	assert_int_equal(due.n, 1);
	/* Two that become one: the other one is gone. */
	LOOK(2, DEADLOCK("new", "4", "5", "6"));
	assert_int_equal(due.n, 0);
	assert_int_equal(gone.n, 2);
}

static void knows_threads_by_the_command(void **state)
{
	struct finding a = { .check = "blocked-worker",
		             .severity = SEVERITY_ERROR,
		             .text = "for 1 s",
		             .more = "thread 17" },
		       b = a, none = a;

	(void)state;
	b.more = "thread 18";
	b.text = "for 2 s";
	none.more = NULL;
	LOOK(1, a);
	assert_int_equal(due.n, 1);
	a.text = "for 3 s";
	LOOK(1, a, b);
	assert_int_equal(due.n, 1);
	assert_string_equal(due.data[0].more, "thread 18");
	LOOK(1, b, none);
	assert_int_equal(due.n, 1);
	assert_null(due.data[0].more);
	assert_int_equal(gone.n, 1);
	assert_string_equal(gone.data[0].text, "for 3 s");
}

static void counts_what_the_list_has(void **state)
{
	struct finding certain = DEADLOCK("a", "3"), possible = DEADLOCK("a", "4"),
		       warning = { .check = "huge-future",
		                   .severity = SEVERITY_WARNING,
		                   .text = "w",
		                   TASKS("5") };
	const struct finding found[] = { certain, possible, warning };

	(void)state;
	possible.possible = true;
	const struct finding all[] = { certain, possible, warning };
	look(all, 3, 1);
	assert_int_equal(due.n, 1);
	assert_string_equal(due.data[0].tasks[0], "3");
	persistent_findings_compare(&list, &answers, found, 3, "huge-future", 1, &gone, &due);
	assert_int_equal(due.n, 1);
	assert_string_equal(due.data[0].check, "huge-future");
	/* Another list, under which the deadlock is none: it is gone. */
	assert_int_equal(gone.n, 1);
}

/* The copies do not need what they were taken from, and more than are followed are counted. */
static void is_bounded(void **state)
{
	static struct finding many[PERSISTENT_FINDINGS_MAX + 10];
	static char names[PERSISTENT_FINDINGS_MAX + 10][16];
	static const char *tasks[PERSISTENT_FINDINGS_MAX + 10];

	(void)state;
	for (size_t i = 0; i < PERSISTENT_FINDINGS_MAX + 10; i++) {
		snprintf(names[i], sizeof(names[i]), "%zu", i);
		tasks[i] = names[i];
		many[i] = (struct finding){ .check = "deadlock",
			                    .severity = SEVERITY_ERROR,
			                    .text = names[i],
			                    .tasks = &tasks[i],
			                    .ntasks = 1 };
	}
	look(many, PERSISTENT_FINDINGS_MAX + 10, 1);
	assert_int_equal(due.n, PERSISTENT_FINDINGS_MAX);
	assert_int_equal(list.left_out, 10);
	const struct batch first = due;
	memset(names, 'x', sizeof(names));
	memset(many, 0, sizeof(many));
	look(NULL, 0, 1);
	assert_int_equal(gone.n, PERSISTENT_FINDINGS_MAX);
	assert_string_equal(gone.data[17].text, "17");
	assert_string_equal(first.data[17].tasks[0], "17");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reports_once_what_lasts),
		TEST(counts_checks_in_a_row),
		TEST(knows_a_finding_by_its_tasks),
		TEST(prefers_the_same_tasks),
		TEST(knows_threads_by_the_command),
		TEST(counts_what_the_list_has),
		TEST(is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
