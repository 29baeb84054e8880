#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/model/model.h"
#include "runtimes/timeline/event_counts.h"
#include "runtimes/timeline/timeline.h"

enum { SLOW = 10000000, WORKER_TID = 100, DRIVER_TID = 200 };

/* A program with a task, a job, two runtimes, a worker that is parked, and a thread in block_on. */
struct program {
	struct snapshot s;
	struct task task, *tasks[1];
	struct job job;
	struct runtime_info runtimes[2];
	struct thread_info threads[3];
};

static void make_program(struct program *p)
{
	*p = (struct program){
		.task = { .id = "7", .number = 7, .type = "app::old", .state = TASK_IDLE },
		.job = { .id = "8", .runtime = 0, .type = "app::job" },
		.runtimes = { { .index = 0,
		                .kind = "tokio",
		                .workers_poll = true,
		                .addr = 0x1000,
		                .workers = 1,
		                .inject_len = 5,
		                .has_inject = true },
		              { .index = 1, .kind = "tokio", .addr = 0x2000 } },
		.threads = { { .number = 1,
		               .tid = WORKER_TID,
		               .role = THREAD_WORKER,
		               .runtime = 0,
		               .worker = 0,
		               .state = "parked",
		               .queue_len = 3,
		               .has_queue = true },
		             { .number = 2,
		               .tid = DRIVER_TID,
		               .role = THREAD_BLOCK_ON,
		               .runtime = 1,
		               .worker = -1,
		               .state = "running" },
		             { .number = 3, .tid = 300, .runtime = -1, .worker = -1 } },
	};
	p->tasks[0] = &p->task;
	p->s.tasks = p->tasks;
	p->s.ntasks = 1;
	p->s.jobs = &p->job;
	p->s.njobs = 1;
	p->s.runtimes = p->runtimes;
	p->s.nruntimes = 2;
	p->s.threads = p->threads;
	p->s.nthreads = 3;
}

static void add(struct event_counts *t, enum trace_event event, uint64_t time, uint64_t task,
                const char *type, pid_t tid)
{
	event_counts_add(
		t, &(struct trace_item){
			   .event = event, .time = time, .task = task, .type = type, .tid = tid });
}

static void end_poll(struct event_counts *t, uint64_t time, uint64_t task, const char *type,
                     uint64_t ns)
{
	event_counts_add(t, &(struct trace_item){ .event = TRACE_POLL_END,
	                                          .time = time,
	                                          .task = task,
	                                          .type = type,
	                                          .tid = WORKER_TID,
	                                          .poll_ns = ns });
}

static const struct tallied_type *type_named(const struct event_counts *t, const char *name)
{
	size_t n;
	const struct tallied_type *rows = event_counts_types(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (rows[i].type && strcmp(rows[i].type, name) == 0)
			return &rows[i];
	}
	return NULL;
}

static const struct tallied_worker *worker_of(const struct event_counts *t, int runtime, int worker)
{
	size_t n;
	const struct tallied_worker *rows = event_counts_workers(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (rows[i].runtime == runtime && rows[i].worker == worker)
			return &rows[i];
	}
	return NULL;
}

static void counts_tasks(void **state)
{
	struct event_counts *t CLEANUP(event_counts_freep) = event_counts_new(SLOW);
	struct program p;

	(void)state;
	make_program(&p);
	event_counts_begin(t, &p.s, 1000);
	assert_int_equal(type_named(t, "app::old")->alive, 1);
	assert_int_equal(type_named(t, "app::job")->job, TRACE_BLOCKING);
	assert_int_equal(type_named(t, "app::job")->alive, 1);
	add(t, TRACE_SPAWN, 2000, 9, "app::new", 300);
	add(t, TRACE_SPAWN, 2100, 10, "app::new", 300);
	add(t, TRACE_POLL_START, 5000, 9, "app::new", WORKER_TID);
	end_poll(t, 6000, 9, "app::new", 1000);
	add(t, TRACE_TERMINATE, 6000, 9, "app::new", WORKER_TID);
	add(t, TRACE_TERMINATE, 7000, 7, "app::old", WORKER_TID);
	/* One that ended before the snapshot, whose event came late. */
	add(t, TRACE_TERMINATE, 900, 6, "app::new", WORKER_TID);

	const struct tallied_type *row = type_named(t, "app::new");
	assert_int_equal(row->alive, 1);
	assert_int_equal(row->spawned, 2);
	assert_int_equal(row->ended, 2);
	assert_int_equal(row->polls, 1);
	assert_int_equal(row->poll.n, 1);
	assert_int_equal(row->first_delay.n, 1);
	assert_int_equal(row->first_delay.sum_ns, 3000);
	assert_int_equal(type_named(t, "app::old")->alive, 0);
	assert_int_equal(type_named(t, "app::old")->spawned, 0);
}

/* Without tasks the workers are the same. */
static void counts_workers_alone(void **state)
{
	struct event_counts *t CLEANUP(event_counts_freep) = event_counts_new_workers();
	struct program p;
	size_t n;

	(void)state;
	make_program(&p);
	event_counts_begin(t, &p.s, 1000);
	add(t, TRACE_SPAWN, 2000, 9, "app::new", 300);
	add(t, TRACE_POLL_START, 5000, 9, "app::new", WORKER_TID);
	end_poll(t, 6000, 9, "app::new", 1000);
	add(t, TRACE_TERMINATE, 6000, 9, "app::new", WORKER_TID);
	event_counts_advance(t, 6000);
	assert_null(type_named(t, "app::new"));
	assert_null(type_named(t, "app::old"));
	const struct tallied_worker *rows = event_counts_workers(t, &n);
	uint64_t polls = 0;
	for (size_t i = 0; i < n; i++)
		polls += rows[i].polls;
	assert_int_equal(polls, 1);
	assert_int_equal(event_counts_untracked(t), 0);
}

static void measures_polls(void **state)
{
	struct event_counts *t CLEANUP(event_counts_freep) = event_counts_new(SLOW);

	(void)state;
	add(t, TRACE_SPAWN, 1, 1, "a", WORKER_TID);
	end_poll(t, 1, 1, "a", 1000); /* a bound belongs to its bucket */
	end_poll(t, 1, 1, "a", 1001);
	end_poll(t, 1, 1, "a", SLOW);
	end_poll(t, 1, 1, "a", SLOW + 1);
	end_poll(t, 1, 1, "a", UINT64_C(11000000000));
	event_counts_add(t, &(struct trace_item){ .event = TRACE_POLL_END,
	                                          .task = 1,
	                                          .type = "a",
	                                          .poll_ns = 1,
	                                          .late = true });

	const struct tallied_type *row = type_named(t, "a");
	assert_int_equal(row->slow, 2);
	assert_int_equal(row->poll.n, 5);
	assert_int_equal(row->poll.buckets[0], 1);
	assert_int_equal(row->poll.buckets[1], 1);
	assert_int_equal(row->poll.buckets[12], 1);
	assert_int_equal(row->poll.buckets[13], 1);
	assert_int_equal(row->poll.buckets[EVENT_COUNTS_BOUNDS], 1);
	assert_int_equal(row->poll.max_ns, UINT64_C(11000000000));
}

static void measures_delays(void **state)
{
	struct event_counts *t CLEANUP(event_counts_freep) = event_counts_new(SLOW);

	(void)state;
	add(t, TRACE_SPAWN, 100, 1, "a", WORKER_TID);
	add(t, TRACE_WAKE, 150, 1, "a", WORKER_TID); /* the spawn counts */
	add(t, TRACE_POLL_START, 300, 1, "a", WORKER_TID);
	add(t, TRACE_WAKE, 400, 1, "a", WORKER_TID);
	add(t, TRACE_POLL_START, 450, 1, "a", WORKER_TID);
	add(t, TRACE_POLL_START, 900, 1, "a", WORKER_TID); /* nobody woke it: unknown */
	add(t, TRACE_WAKE, 1000, 1, "a", WORKER_TID);
	event_counts_lost(t);
	add(t, TRACE_POLL_START, 1100, 1, "a", WORKER_TID);

	const struct tallied_type *row = type_named(t, "a");
	assert_int_equal(row->first_delay.n, 1);
	assert_int_equal(row->first_delay.sum_ns, 200);
	assert_int_equal(row->scheduled.n, 1);
	assert_int_equal(row->scheduled.sum_ns, 50);
	assert_int_equal(row->polls, 4);
}

static void learns_a_type_from_a_poll(void **state)
{
	struct event_counts *t CLEANUP(event_counts_freep) = event_counts_new(SLOW);
	size_t n;

	(void)state;
	add(t, TRACE_SPAWN, 100, 1, NULL, WORKER_TID);
	add(t, TRACE_POLL_START, 300, 1, "a", WORKER_TID);
	assert_int_equal(type_named(t, "a")->alive, 1);
	assert_int_equal(type_named(t, "a")->polls, 1);
	const struct tallied_type *rows = event_counts_types(t, &n);
	assert_int_equal(n, 4);
	assert_null(rows[2].type);
	assert_int_equal(rows[2].alive, 0);
	assert_int_equal(rows[2].spawned, 1);
	add(t, TRACE_TERMINATE, 400, 1, NULL, WORKER_TID);
	assert_int_equal(type_named(t, "a")->alive, 0);
	assert_int_equal(type_named(t, "a")->ended, 1);
}

static void bounds_its_rows(void **state)
{
	struct event_counts *t CLEANUP(event_counts_freep) = event_counts_new(SLOW);
	char name[2 * EVENT_COUNTS_TYPE];
	size_t n;

	(void)state;
	for (uint64_t i = 1; i <= 2 * EVENT_COUNTS_TYPES; i++) {
		snprintf(name, sizeof(name), "type%d", (int)i);
		add(t, TRACE_SPAWN, i, i, name, (pid_t)i);
		add(t, TRACE_POLL_START, i, i, name, (pid_t)i);
	}
	const struct tallied_type *rows = event_counts_types(t, &n);
	assert_int_equal(n, EVENT_COUNTS_TYPES + 2);
	assert_true(rows[0].others);
	assert_int_equal(rows[0].spawned, EVENT_COUNTS_TYPES);
	assert_int_equal(rows[0].alive, EVENT_COUNTS_TYPES);
	for (int i = 0; i < 2 * TIMELINE_THREADS; i++)
		add(t, TRACE_PARK, 1, 0, NULL, 1000 + i);
	event_counts_finish(t);
	const struct tallied_worker *workers = event_counts_workers(t, &n);
	assert_int_equal(n, 1);
	assert_int_equal(workers[0].parks, 2 * TIMELINE_THREADS);
}

static void cuts_names(void **state)
{
	struct event_counts *t CLEANUP(event_counts_freep) = event_counts_new(SLOW);
	char name[2 * EVENT_COUNTS_TYPE];
	size_t n;

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	memcpy(name + EVENT_COUNTS_TYPE - 1, "\xc3\xa4", 2);
	add(t, TRACE_SPAWN, 1, 1, name, 1);
	name[sizeof(name) - 2] = 'y';
	add(t, TRACE_SPAWN, 1, 2, name, 1);
	add(t, TRACE_SPAWN, 1, 3, "a\nb", 1);
	const struct tallied_type *rows = event_counts_types(t, &n);
	assert_int_equal(n, 4);
	assert_int_equal(strlen(rows[2].type), EVENT_COUNTS_TYPE - 1);
	assert_int_equal(rows[2].spawned, 2);
	assert_string_equal(rows[3].type, "a?b");
}

static void counts_the_time_of_workers(void **state)
{
	struct event_counts *t CLEANUP(event_counts_freep) = event_counts_new(SLOW);
	struct program p;

	(void)state;
	make_program(&p);
	event_counts_begin(t, &p.s, 1000);
	/* It was parked in the snapshot, and its end of that is not seen. */
	add(t, TRACE_POLL_START, 3000, 7, "app::old", WORKER_TID);
	add(t, TRACE_PARK, 3500, 0, NULL, WORKER_TID);
	event_counts_advance(t, 4000);
	const struct tallied_worker *w = worker_of(t, 0, 0);
	assert_int_equal(w->parked_ns, 2500);
	assert_int_equal(w->busy_ns, 500);
	/* An event that is read later than it was. */
	add(t, TRACE_UNPARK, 3900, 0, NULL, WORKER_TID);
	event_counts_advance(t, 5000);
	w = worker_of(t, 0, 0);
	assert_int_equal(w->parked_ns, 2500);
	assert_int_equal(w->busy_ns, 1500);
	assert_int_equal(w->polls, 1);
	assert_int_equal(w->parks, 1);
	assert_int_equal(w->queue_len, 3);
	assert_true(w->has_queue);
	assert_int_equal(worker_of(t, 1, 0)->busy_ns, 4000);
	assert_false(event_counts_wants_look(t));
}

static void learns_workers_from_a_look(void **state)
{
	struct event_counts *t CLEANUP(event_counts_freep) = event_counts_new(SLOW);
	struct program p;
	size_t n;

	(void)state;
	make_program(&p);
	p.s.nthreads = 0;
	event_counts_begin(t, &p.s, 1000);
	add(t, TRACE_WORKER_START, 2000, 0, NULL, WORKER_TID);
	add(t, TRACE_POLL_START, 3000, 7, "app::old", WORKER_TID);
	assert_true(event_counts_wants_look(t));
	assert_null(worker_of(t, 0, 0));
	p.s.nthreads = 3;
	event_counts_look(t, &p.s, 4000);
	assert_false(event_counts_wants_look(t));
	event_counts_advance(t, 5000);
	assert_int_equal(worker_of(t, 0, 0)->polls, 1);
	assert_int_equal(worker_of(t, 0, 0)->busy_ns, 3000);
	/* The thread ends, and another runtime starts a worker on one of that tid. */
	add(t, TRACE_WORKER_STOP, 6000, 0, NULL, WORKER_TID);
	add(t, TRACE_WORKER_START, 7000, 0, NULL, WORKER_TID);
	assert_true(event_counts_wants_look(t));
	p.threads[0].runtime = 1;
	p.runtimes[1].workers_poll = true;
	p.s.nthreads = 1;
	event_counts_look(t, &p.s, 8000);
	event_counts_advance(t, 8500);
	assert_int_equal(worker_of(t, 0, 0)->busy_ns, 4000);
	/* Up to 5000 another thread was its worker. */
	assert_int_equal(worker_of(t, 1, 0)->busy_ns, 1000 + 1500);
	/* Without a snapshot nothing is known of queues. */
	event_counts_look(t, NULL, 9000);
	assert_false(worker_of(t, 0, 0)->has_queue);
	assert_false(event_counts_runtimes(t, &n)[0].exists);
	assert_int_equal(n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_tasks),
		cmocka_unit_test(counts_workers_alone),
		cmocka_unit_test(measures_polls),
		cmocka_unit_test(measures_delays),
		cmocka_unit_test(learns_a_type_from_a_poll),
		cmocka_unit_test(bounds_its_rows),
		cmocka_unit_test(cuts_names),
		cmocka_unit_test(counts_the_time_of_workers),
		cmocka_unit_test(learns_workers_from_a_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
