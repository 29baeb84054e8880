/* Verdicts about jobs of blocking pools: who waits for a thread that never becomes free. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtimes/test/graph.h"

enum { FIRST_JOB = 50, MUTEX = 0xa0 };

/* A runtime with two workers and a blocking pool of that many threads, all of which are busy. */
static struct runtime_info *add_pool(struct program *p, uint64_t threads, uint64_t queued)
{
	struct runtime_info *r = NEW(&p->s.arena, struct runtime_info);

	*r = (struct runtime_info){
		.kind = "tokio",
		.flavor = "multi_thread",
		.workers_poll = true,
		.workers = 2,
		.blocking_threads = threads,
		.blocking_queued = queued,
		.has_blocking = true,
		.blocking_limit = threads,
		.has_limit = true,
	};
	p->s.runtimes = r;
	p->s.nruntimes = 1;
	p->s.jobs = NEW_ARRAY(&p->s.arena, struct job, threads + queued);
	for (unsigned i = 0; i < r->workers; i++)
		add_thread(p, THREAD_WORKER, NULL)->state = "parked";
	return r;
}

static struct job *add_job(struct program *p)
{
	struct job *job = &p->s.jobs[p->s.njobs];
	uint64_t id = FIRST_JOB + p->s.njobs++;

	job->id = arena_uint(&p->s.arena, id);
	job->addr = 0x100000 + id * 0x100;
	job->function = "app::job";
	return job;
}

/* A job that runs on a thread of its own and blocks on that future. */
static struct thread_info *run_job(struct program *p, struct future *root)
{
	struct job *job = add_job(p);
	struct thread_info *th = add_thread(p, THREAD_BLOCKING, root);

	th->job = job->function;
	job->thread = th->number;
	return th;
}

static struct future *joins_job(struct program *p, uint64_t id)
{
	return with(p, joins(p, id), "ahead", DETAIL_INT, 0);
}

/* Both threads of the pool block on a job that is queued behind them, and a task awaits one. */
static void make_knot(struct program *p)
{
	add_pool(p, 2, 2);
	run_job(p, calls(p, "first", joins_job(p, 52)));
	run_job(p, joins_job(p, 53));
	add_job(p);
	add_job(p)->ahead = 1;
	add_task(p, 1, calls(p, "outer", joins_job(p, 53)));
}

static void all_threads_wait_for_queued_jobs(void **state)
{
	PROGRAM(p);

	(void)state;
	make_knot(&p);
	assert_says(&p, "deadlock thread #3, thread #4, blocking job 52, blocking job 53 <- "
	                "task 1");
	assert_text(&p, 0,
	            "thread #3 waits for blocking job 52 to end; blocking job 52 is queued for a "
	            "thread of the blocking pool of runtime 0, all of which are waiting");
}

/* Each of these lets some thread take the jobs. */
enum way_out {
	SLEEPS,    /* a running job ends by itself */
	LIMIT,     /* the pool may start another thread */
	NO_LIMIT,  /* whether it may is not known */
	IDLE,      /* a thread is idle */
	BETWEEN,   /* a thread is between two jobs */
	HANDED,    /* a worker became a thread of the pool: block_in_place */
	UNLISTED,  /* the queue has a job that was not read */
	UNSTOPPED, /* the program ran meanwhile */
	ELSEWHERE, /* the pool of the job is not known */
	NWAYS,
};

static void some_thread_may_take_them(void **state)
{
	(void)state;
	for (enum way_out way = SLEEPS; way < NWAYS; way++) {
		PROGRAM(p);

		make_knot(&p);
		if (way == SLEEPS)
			p.threads.data[3].root = sleeps(&p);
		p.s.runtimes[0].blocking_limit += way == LIMIT;
		p.s.runtimes[0].has_limit = way != NO_LIMIT;
		p.s.runtimes[0].blocking_idle = way == IDLE;
		p.s.runtimes[0].blocking_threads += way == BETWEEN;
		p.s.runtimes[0].blocking_limit += way == BETWEEN;
		if (way == HANDED)
			add_thread(&p, THREAD_WORKER, NULL)->state = "running";
		p.s.runtimes[0].blocking_queued += way == UNLISTED;
		p.s.reading.how = way == UNSTOPPED ? READ_RUNNING : READ_STOPPED;
		for (size_t i = 2; way == ELSEWHERE && i < 4; i++)
			p.s.jobs[i].runtime = -1;
		assert_says(&p, "");
	}
}

/* A thread of the pool waits for a native lock whose holder awaits a queued job. */
static void through_a_lock(void **state)
{
	PROGRAM(p);
	struct thread_info *th;
	struct wait *wait = NEW(&p.s.arena, struct wait);
	struct task *task;

	(void)state;
	add_pool(&p, 1, 1);
	th = run_job(&p, NULL);
	*wait = (struct wait){ .kind = "std_mutex", .object = MUTEX, .primitive = MUTEX };
	th->wait = wait;
	add_job(&p);
	task = add_task(&p, 1, calls(&p, "holder", joins_job(&p, 51)));
	guards(&p, task, "std_mutex", MUTEX);
	assert_says(&p, "deadlock task 1, thread #3, blocking job 51");
}

/* A task that joins a set of jobs waits for any of them. */
static void sets_of_jobs(void **state)
{
	(void)state;
	for (unsigned free_one = 0; free_one < 2; free_one++) {
		static const char *const ids[] = { "50", "51" };
		PROGRAM(p);
		struct future *set;

		add_pool(&p, 1, 1);
		set = leaf(&p, "join_set", 0x5e7);
		with(&p, set, "tasks", DETAIL_LIST, 0);
		set->wait->details[0].list = ids;
		set->wait->details[0].nlist = 2;
		with(&p, set, "tasks_in_set", DETAIL_INT, 2);
		with(&p, set, "finished", DETAIL_INT, 0);
		run_job(&p, free_one ? sleeps(&p) : joins_job(&p, 51));
		add_job(&p);
		add_task(&p, 1, calls(&p, "all", set));
		assert_says(&p, free_one ? "" : "deadlock thread #3, blocking job 51 <- task 1");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_threads_wait_for_queued_jobs),
		cmocka_unit_test(some_thread_may_take_them),
		cmocka_unit_test(through_a_lock),
		cmocka_unit_test(sets_of_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
