/* Tests of filters of tasks and of lists of checks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/analysis/checks.h"
#include "runtimes/analysis/field.h"
#include "runtimes/analysis/task_filter.h"

/* The ids of the tasks that pass, in order: "4 5". NULL: the conditions are invalid. */
static const char *passing(struct arena *a, const struct task_filter *f)
{
	struct task four = { .id = "4", .number = 4 }, five = { .id = "5", .number = 5 };
	struct task nine = { .id = "9", .number = 9 };
	struct task *tasks[] = { &four, &five, &nine };
	struct snapshot s = { .tasks = tasks, .ntasks = 3 };
	const struct task **list;
	const char *text = "";
	size_t n;

	assert_null(task_filter_apply(a, &s, f, &list, &n));
	for (size_t i = 0; i < n; i++)
		text = arena_printf(a, "%s%s%s", text, *text ? " " : "", list[i]->id);
	return text;
}

static void a_task_meets_all_conditions(void **state)
{
	static const struct {
		const char *field, *value;
		bool without;
		const char *then; /* what passes this condition and the ones before */
	} rows[] = {
		{ "id", "4..8", false, "4 5" },
		{ "id", "5", true, "4" },
		{ "id", ">=4", false, "4" },
		{ "id", "4", true, "" },
	};
	struct task_filter f CLEANUP(task_filter_free) = { 0 };
	SCRATCH(a);

	(void)state;
	assert_string_equal(passing(&a, &f), "4 5 9");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_null(task_filter_add(&f, rows[i].field, rows[i].value, rows[i].without));
		assert_string_equal(passing(&a, &f), rows[i].then);
	}
}

static void jobs_are_filtered(void **state)
{
	struct job jobs[] = { { .id = "4" }, { .id = "5", .thread = 1 }, { .id = "6" } };
	struct snapshot s = { .jobs = jobs, .njobs = 2 };
	struct task_filter f CLEANUP(task_filter_free) = { 0 };
	const struct job **list;
	size_t n;
	SCRATCH(a);

	(void)state;
	assert_null(task_filter_jobs(&a, &s, &f, &list, &n));
	assert_int_equal(n, 2);
	assert_ptr_equal(list[1], &jobs[1]);
	assert_null(task_filter_add(&f, "state", "running", true));
	assert_null(task_filter_jobs(&a, &s, &f, &list, &n));
	assert_int_equal(n, 1);
	assert_ptr_equal(list[0], &jobs[0]);
}

static void invalid_conditions_are_errors(void **state)
{
	static const char *const rows[][2] = { { "color", "red" },
		                               { "type", "(" },
		                               { "depth", "x" } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct task_filter f CLEANUP(task_filter_free) = { 0 };
		struct error *err CLEANUP(error_freep) =
			task_filter_add(&f, rows[i][0], rows[i][1], false);

		assert_non_null(err);
		assert_int_equal(err->kind, ERR_USAGE);
	}
}

static void lists_of_checks(void **state)
{
	static const struct {
		const char *list, *check;
		bool possible, has;
	} rows[] = {
		{ "deadlock", "deadlock", false, true },
		{ "deadlock", "deadlock", true, false },
		{ "deadlock:possible", "deadlock", true, true },
		{ "deadlock:possible", "deadlock", false, true },
		{ "no-waker, deadlock ", "deadlock", false, true },
		{ " no-waker:possible ,deadlock", "no-waker", true, true },
		{ "dead", "deadlock", false, false },
		{ "", "deadlock", false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct finding f = { .check = rows[i].check, .possible = rows[i].possible };

		assert_int_equal(checks_list_has(rows[i].list, &f), rows[i].has);
	}
	static const char *const bad[] = { "", "deadlok", "deadlock,", "huge-future:possible",
		                           ":possible" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error *err CLEANUP(error_freep) = checks_list_check(bad[i]);

		assert_non_null(err);
		assert_int_equal(err->kind, ERR_USAGE);
	}
	assert_null(checks_list_check("deadlock, no-waker:possible"));
}

static void spans_are_of_futures_that_are_polled(void **state)
{
	struct future held = { .note = "span held", .branch = BRANCH_HELD };
	struct future polled = { .note = "span polled" };
	struct future *children[] = { &held, &polled };
	struct future root = { .children = children, .nchildren = 2 };
	struct task task = { .id = "1", .root = &root };
	struct task *tasks[] = { &task };
	struct snapshot s = { .tasks = tasks, .ntasks = 1 };
	const struct field *span;
	SCRATCH(a);

	(void)state;
	struct field_of of = { .a = &a, .snapshot = &s, .task = &task };
	assert_null(field_find("span", &span));
	assert_string_equal(span->value(&of), "span polled");
	root.nchildren = 1;
	assert_null(span->value(&of));
	root.note = "own span";
	assert_string_equal(span->value(&of), "own span");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_meets_all_conditions),
		cmocka_unit_test(jobs_are_filtered),
		cmocka_unit_test(invalid_conditions_are_errors),
		cmocka_unit_test(lists_of_checks),
		cmocka_unit_test(spans_are_of_futures_that_are_polled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
