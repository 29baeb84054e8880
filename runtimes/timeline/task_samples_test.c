#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/base/str.h"
#include "runtimes/model/model.h"
#include "runtimes/timeline/task_samples.h"

enum { TID = 10 };

static struct future leaf = { .type = "Sleep", .kind = FUTURE_OTHER, .edge = "await" };
static struct future *children[] = { &leaf };
static struct future waiting = { .function = "app::run",
	                         .line = 9,
	                         .addr = 0x1000,
	                         .kind = FUTURE_ASYNC_FN,
	                         .state = FUTURE_SUSPENDED,
	                         .children = children,
	                         .nchildren = 1 };

/* "7/0 waiting 0-10 at app::run; " */
static void note(const struct task_span *span, void *arg)
{
	static const char *const names[] = { "unknown", "runnable", "polling", "waiting" };
	struct str *s = arg;

	assert_true(span->open && !span->exact);
	str_printf(s, "%llu/%u %s %llu-%llu", (unsigned long long)span->task, span->slot,
	           names[span->doing], (unsigned long long)span->from.ns,
	           (unsigned long long)span->to.ns);
	if (span->place)
		str_printf(s, " at %s", span->place->frames[0].function);
	if (span->off_known)
		str_printf(s, " off %llu", (unsigned long long)span->off_ns);
	str_append(s, "; ");
}

static bool always_off(pid_t tid, bool *off, void *arg)
{
	(void)arg;
	*off = true;
	return tid == TID;
}

static void test_samples(void **state)
{
	STR(s);
	struct task_samples *t = task_samples_new(note, always_off, &s);
	struct thread_info th = { .number = 1, .tid = TID };
	struct task idle = { .number = 7, .type = "A", .root = &waiting, .size = 0x100 };
	struct task running = {
		.number = 8, .type = "A", .state = TASK_RUNNING, .thread = 1, .root = &waiting
	};
	struct task complete = { .number = 9, .state = TASK_COMPLETE };
	struct task *tasks[] = { &idle, &running, &complete, &idle };
	struct job queued = { .id = "11" };
	struct snapshot snap = { .tasks = tasks,
		                 .ntasks = 4,
		                 .threads = &th,
		                 .nthreads = 1,
		                 .jobs = &queued,
		                 .njobs = 1 };

	(void)state;
	task_samples_add(t, &snap, 5, 10);
	assert_string_equal(str_text(&s), "7/0 waiting 5-10 at app::run; 8/1 polling 5-10 off 5; "
	                                  "11/2 runnable 5-10; ");
	str_truncate(&s, 0);
	/* One has ended: its slot is that of the next one. */
	tasks[0] = &running;
	snap.ntasks = 1;
	snap.njobs = 0;
	task_samples_add(t, &snap, 10, 30);
	idle.state = TASK_SCHEDULED;
	idle.changed = true;
	tasks[1] = &idle;
	snap.ntasks = 2;
	task_samples_add(t, &snap, 30, 31);
	assert_string_equal(str_text(&s), "8/1 polling 10-30 off 20; 8/1 polling 30-31 off 1; "
	                                  "7/2 runnable 30-31; ");
	task_samples_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_samples) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
