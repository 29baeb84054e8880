/* Tests of tasks that keep others waiting with a future that they do not poll. */
#include <string.h>

#include "runtimes/analysis/checks.h"
#include "runtimes/test/graph.h"

enum { A = 0xa0 };

/* The findings of the check, a line each; all are possible. */
static const char *unpolled_found(struct program *p)
{
	const struct check check = { .name = "futurelock" };
	struct arena *a = &p->s.arena;
	struct checks c;
	const char *text = "";

	judge(p);
	c = (struct checks){ .a = a, .s = &p->s, .v = p->verdicts };
	checks_unpolled_owner(&c, &check);
	for (size_t i = 0; i < c.found.n; i++) {
		assert_true(c.found.data[i].possible);
		text = arena_printf(a, "%s%s\n", text, c.found.data[i].text);
	}
	vec_free(&c.found);
	return text;
}

static void a_lock_granted_to_an_unpolled_future_is_found(void **state)
{
	PROGRAM(p);
	struct future *first = held(calls(&p, "app::do_it", locks(&p, "mutex", A, 0)), BRANCH_HELD);

	(void)state;
	add_task(&p, 5, calls(&p, "app::keep", sleeps(&p), first));
	add_task(&p, 6, calls(&p, "app::wait", locks(&p, "mutex", A, 1)));
	add_task(&p, 7, calls(&p, "app::wait", locks(&p, "mutex", A, 2)));
	assert_string_equal(
		unpolled_found(&p),
		"possibly, task 6 (app::wait) waits for Mutex 0xa0, granted to task 5 (app::keep) "
		"(`app::do_it` at src/x.rs:12), which waits for sleep; 1 more behind\n");
}

static void a_guard_in_an_unpolled_future_is_found(void **state)
{
	PROGRAM(p);
	struct future *first = held(calls(&p, "app::do_it", sleeps(&p)), BRANCH_HELD);
	struct task *keep;

	(void)state;
	keep = add_task(&p, 5, calls(&p, "app::keep", sleeps(&p), first));
	guards(&p, keep, "mutex", A)->future = first;
	add_task(&p, 6, calls(&p, "app::wait", locks(&p, "mutex", A, 1)));
	assert_non_null(
		strstr(unpolled_found(&p),
	               "task 6 (app::wait) waits for Mutex 0xa0, held by task 5 (app::keep) "
	               "(`guard` at src/x.rs:41, in a future that is not polled: "
	               "`app::do_it` at src/x.rs:12), which waits for sleep"));
}

static void a_place_ahead_in_the_queue_is_found(void **state)
{
	PROGRAM(p);
	struct future *first = held(calls(&p, "app::do_it", locks(&p, "mutex", A, 1)), BRANCH_HELD);

	(void)state;
	add_task(&p, 5, calls(&p, "app::keep", sleeps(&p), first));
	add_task(&p, 6, calls(&p, "app::wait", locks(&p, "mutex", A, 2)));
	guards(&p, add_task(&p, 7, calls(&p, "app::g", sleeps(&p))), "mutex", A);
	assert_non_null(strstr(unpolled_found(&p),
	                       "task 6 (app::wait) waits for Mutex 0xa0, queued behind a future of "
	                       "task 5 (app::keep)"));
}

/* The owner goes on soon, runs or is read in two halves, or nobody waits. */
static void nothing_is_found_where_it_goes_on(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		PROGRAM(p);
		struct future *timer =
			with(&p, sleeps(&p), "remaining_ms", DETAIL_INT, i == 0 ? 999 : 1000);
		struct future *first =
			held(calls(&p, "app::do_it", locks(&p, "mutex", A, 0)), BRANCH_HELD);
		struct task *keep = add_task(&p, 5, calls(&p, "app::keep", timer, first));

		if (i != 1)
			add_task(&p, 6, calls(&p, "app::wait", locks(&p, "mutex", A, 1)));
		if (i == 2)
			keep->state = TASK_SCHEDULED;
		keep->changed = i == 3;
		assert_int_equal(*unpolled_found(&p) != '\0', i == 4);
	}
}

/* A verdict has it already. */
static void a_futurelock_is_not_found_again(void **state)
{
	PROGRAM(p);
	struct future *first = held(calls(&p, "app::do_it", locks(&p, "mutex", A, 0)), BRANCH_HELD);

	(void)state;
	add_task(&p, 5, calls(&p, "app::keep", locks(&p, "mutex", A, 1), first));
	add_task(&p, 6, calls(&p, "app::wait", locks(&p, "mutex", A, 2)));
	assert_string_equal(unpolled_found(&p), "");
}

static void many_are_counted(void **state)
{
	PROGRAM(p);
	size_t lines = 0;

	(void)state;
	for (uint64_t i = 0; i < 20; i++) {
		struct future *first = held(
			calls(&p, "app::do_it", locks(&p, "mutex", A + 16 * i, 0)), BRANCH_HELD);

		add_task(&p, 1 + 2 * i, calls(&p, "app::keep", sleeps(&p), first));
		add_task(&p, 2 + 2 * i, calls(&p, "app::wait", locks(&p, "mutex", A + 16 * i, 1)));
	}
	const char *text = unpolled_found(&p);
	for (const char *s = text; (s = strchr(s, '\n')); s++)
		lines++;
	assert_int_equal(lines, 17);
	assert_non_null(strstr(text, "possibly, 4 more locks are kept by futures"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_granted_to_an_unpolled_future_is_found),
		cmocka_unit_test(a_guard_in_an_unpolled_future_is_found),
		cmocka_unit_test(a_place_ahead_in_the_queue_is_found),
		cmocka_unit_test(nothing_is_found_where_it_goes_on),
		cmocka_unit_test(a_futurelock_is_not_found_again),
		cmocka_unit_test(many_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
