#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "commands/top/top_samples.h"
#include "commands/top/top_view.h"
#include "runtimes/model/model.h"

enum { MAX = 4 };

/* A snapshot with the tasks 1 to n in these states. */
struct look {
	struct future root;
	struct task tasks[MAX], *list[MAX];
	struct thread_info threads[2];
	struct snapshot s;
};

static void look_torn(struct top_samples *t, size_t n, const enum task_state *states, bool parked,
                      bool changed)
{
	struct look l = { .root = { .function = "app::run",
		                    .file_short = "src/main.rs",
		                    .line = 12,
		                    .kind = FUTURE_ASYNC_FN,
		                    .state = FUTURE_SUSPENDED,
		                    .addr = 0x1000 } };

	for (size_t i = 0; i < n; i++) {
		l.tasks[i] = (struct task){ .number = i + 1,
			                    .type = "app::T",
			                    .state = states[i],
			                    .changed = changed,
			                    .thread = 1,
			                    .size = 64 };
		l.tasks[i].root = states[i] == TASK_RUNNING ? NULL : &l.root;
		l.list[i] = &l.tasks[i];
	}
	l.threads[0] = (struct thread_info){ .number = 1, .tid = 7, .runtime = -1, .worker = -1 };
	l.threads[1] = (struct thread_info){ .number = 2,
		                             .tid = 8,
		                             .state = parked ? "parked" : "running task 1",
		                             .queue_len = 3,
		                             .has_queue = true };
	l.s = (struct snapshot){
		.tasks = l.list, .ntasks = n, .threads = l.threads, .nthreads = 2
	};
	top_samples_look(t, &l.s);
}

static void look(struct top_samples *t, size_t n, const enum task_state *states, bool parked)
{
	look_torn(t, n, states, parked, false);
}

static void test_shares(void **state)
{
	SCRATCH(a);
	struct top_samples *t = top_samples_new(1000);
	const struct top_view view = { .sort = TOP_ID };
	struct top_worker *workers;
	struct top_list list;
	size_t n;

	(void)state;
	look(t, 3, (enum task_state[]){ TASK_RUNNING, TASK_SCHEDULED, TASK_IDLE }, false);
	look(t, 3, (enum task_state[]){ TASK_IDLE, TASK_RUNNING, TASK_IDLE }, false);
	look(t, 2, (enum task_state[]){ TASK_IDLE, TASK_RUNNING }, true);
	look(t, 2, (enum task_state[]){ TASK_IDLE, TASK_RUNNING }, true);
	assert_int_equal(top_samples_looks(t), 4);
	const struct top_frame *frame = top_samples_cut(t, 1400);
	/* The third one has ended. */
	assert_int_equal(frame->n, 2);
	assert_int_equal(frame->polled_ns, 400);
	top_view_rows(NULL, frame, &view, &a, &list);
	assert_int_equal(list.rows[0].polled_ns, 100);
	assert_string_equal(top_view_place_text(&a, list.rows[0].place),
	                    "src/main.rs:12 in app::run");
	assert_int_equal(list.rows[1].polled_ns, 300);
	assert_int_equal(list.rows[1].runnable_ns, 100);
	assert_int_equal(list.rows[1].task->doing, DOING_POLLING);
	assert_int_equal(list.rows[1].task->tid, 7);
	/* It waits where it has waited last. */
	assert_ptr_equal(list.rows[1].place, list.rows[0].place);
	top_samples_workers(t, &a, &workers, &n);
	assert_int_equal(n, 1);
	assert_int_equal(workers[0].busy_ns, 200);
	assert_int_equal(workers[0].parked_ns, 200);
	assert_int_equal(workers[0].queue_len, 3);

	/* The next interval begins anew. */
	look(t, 3, (enum task_state[]){ TASK_IDLE, TASK_IDLE, TASK_COMPLETE }, true);
	frame = top_samples_cut(t, 1500);
	assert_int_equal(frame->n, 2);
	assert_int_equal(frame->polled_ns, 0);
	assert_int_equal(top_samples_looks(t), 0);
	top_samples_free(t);
}

/* A look without a stop may read a task while a worker polls it. */
static void test_read_while_polled(void **state)
{
	const enum task_state idle = TASK_IDLE;
	SCRATCH(a);
	struct top_samples *t = top_samples_new(1000);
	const struct top_view view = { .sort = TOP_ID };
	struct top_list list;

	(void)state;
	look_torn(t, 1, &idle, true, true);
	top_view_rows(NULL, top_samples_cut(t, 1100), &view, &a, &list);
	assert_null(list.rows[0].place);
	look(t, 1, &idle, true);
	look_torn(t, 1, &idle, true, true);
	top_view_rows(NULL, top_samples_cut(t, 1200), &view, &a, &list);
	assert_string_equal(top_view_place_text(&a, list.rows[0].place),
	                    "src/main.rs:12 in app::run");
	top_samples_free(t);
}

/* A runtime may have as many workers as a program has threads. */
static void test_many_workers(void **state)
{
	enum { WORKERS = 3000 };
	SCRATCH(a);
	struct top_samples *t = top_samples_new(1000);
	struct thread_info *threads = NEW_ARRAY(&a, struct thread_info, WORKERS);
	const struct snapshot s = { .threads = threads, .nthreads = WORKERS };
	struct top_worker *workers;
	size_t n;

	(void)state;
	for (int i = 0; i < WORKERS; i++)
		threads[i] = (struct thread_info){
			.tid = i + 1, .runtime = i % 2, .worker = i / 2, .state = "parked"
		};
	top_samples_look(t, &s);
	top_samples_look(t, &s);
	top_samples_cut(t, 1400);
	top_samples_workers(t, &a, &workers, &n);
	assert_int_equal(n, WORKERS);
	assert_int_equal(workers[WORKERS - 1].worker, WORKERS / 2 - 1);
	assert_int_equal(workers[WORKERS - 1].parked_ns, 400);
	top_samples_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_shares),
		                            cmocka_unit_test(test_read_while_polled),
		                            cmocka_unit_test(test_many_workers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
