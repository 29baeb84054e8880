#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/trace/plan_private.h"

/* A runtime with a blocking pool, whose points are all there. */
struct judged {
	struct planner p;
	struct trace_plan plan;
	struct arena a;
};

static const struct probe_row rows[] = { { .event = PROBE_EVENT_POLL, .name = "poll" },
	                                 { .event = PROBE_EVENT_SPAWN, .name = "spawn" },
	                                 { .event = PROBE_EVENT_END, .name = "end" },
	                                 { .event = PROBE_EVENT_WAKE, .name = "wake" },
	                                 { .event = PROBE_EVENT_PARK, .name = "park" },
	                                 { 0 } };
static const struct runtime runtime = { .name = "tokio",
	                                .tracing.probes = rows,
	                                .threads.worker_job = "worker" };

static void begin(struct judged *j)
{
	*j = (struct judged){ .p = { .runtime = &runtime } };
	j->p.a = &j->a;
	j->p.plan = &j->plan;
	j->p.has = NEW_ARRAY(&j->a, bool, TRACE_NEVENTS);
	*vec_push(&j->p.points) =
		(struct trace_point){ .role = TRACE_AT_POLL, .job = TRACE_WORKER };
	*vec_push(&j->p.points) = (struct trace_point){ .role = TRACE_AT_RETURN };
	for (size_t i = 0; i <= PROBE_EVENT_PARK; i++)
		j->p.matches[i] = 1;
}

static bool is_missing(const struct judged *j, enum trace_event event)
{
	for (size_t i = 0; i < j->p.missing.n; i++) {
		if (j->p.missing.data[i].event == event)
			return true;
	}
	return false;
}

static void end(struct judged *j)
{
	vec_free(&j->p.points);
	vec_free(&j->p.missing);
	vec_free(&j->p.missing_keys);
	arena_free(&j->a);
}

static void test_all(void **state)
{
	struct judged j;

	(void)state;
	begin(&j);
	plan_coverage(&j.p);
	assert_true(j.plan.has[TRACE_POLL_END]);
	assert_true(j.plan.has[TRACE_WORKER_STOP]);
	assert_null(j.plan.late_job_ends.reason);
	assert_false(j.plan.late_ends);
	end(&j);
}

/* The end of jobs alone is slow: those of tasks are all seen, and say how long their polls took. */
static void test_slow_jobs(void **state)
{
	struct judged j;

	(void)state;
	begin(&j);
	j.p.slow_job_ends = 1;
	plan_coverage(&j.p);
	assert_true(j.plan.has[TRACE_POLL_END]);
	assert_false(is_missing(&j, TRACE_POLL_END));
	assert_false(j.plan.late_ends);
	assert_false(j.plan.has[TRACE_WORKER_STOP]);
	assert_true(is_missing(&j, TRACE_WORKER_STOP));
	assert_non_null(strstr(j.plan.late_job_ends.reason, "--allow-slow"));
	end(&j);
}

/* The end of tasks is slow: workers stop where jobs end. */
static void test_slow_tasks(void **state)
{
	struct judged j;

	(void)state;
	begin(&j);
	j.p.slow_ends = 1;
	plan_coverage(&j.p);
	assert_false(j.plan.has[TRACE_POLL_END]);
	assert_true(is_missing(&j, TRACE_POLL_END));
	assert_true(j.plan.late_ends);
	assert_true(j.plan.has[TRACE_WORKER_STOP]);
	assert_null(j.plan.late_job_ends.reason);
	end(&j);
}

static bool lacks_key(const struct judged *j, const char *key)
{
	for (size_t i = 0; i < j->p.missing_keys.n; i++) {
		if (strcmp(j->p.missing_keys.data[i].key, key) == 0)
			return true;
	}
	return false;
}

/* No function shows a spawn: the first poll does, and says where if the task records it. */
static void test_late_spawns(void **state)
{
	const struct probe_id without = { 0 }, with = { .location.behind_id = 8 };
	struct judged j;

	(void)state;
	begin(&j);
	j.p.id = &without;
	*vec_push(&j.p.points) = (struct trace_point){ .role = TRACE_AT_POLL, .job = TRACE_TASK };
	plan_coverage(&j.p);
	assert_true(lacks_key(&j, "by"));
	assert_true(lacks_key(&j, "spawned_at"));
	end(&j);
	begin(&j);
	j.p.id = &with;
	*vec_push(&j.p.points) = (struct trace_point){ .role = TRACE_AT_POLL, .job = TRACE_TASK };
	plan_coverage(&j.p);
	assert_true(lacks_key(&j, "by"));
	assert_false(lacks_key(&j, "spawned_at"));
	assert_int_equal(j.p.points.data[0].kernel.behind_id, 0);
	assert_int_equal(j.p.points.data[2].kernel.behind_id, 8);
	end(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_slow_jobs),
		cmocka_unit_test(test_slow_tasks),
		cmocka_unit_test(test_late_spawns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
