/*
 * For tests only: a hand-made snapshot of a small program. The
 * program: thread 1 blocks on main, worker 2 is parked, worker 3 runs task 5, blocking thread
 * 4 runs task 9, thread 5 belongs to no runtime. Task 4 sleeps.
 */
#ifndef RUNTIMES_TEST_SNAPSHOT_H
#define RUNTIMES_TEST_SNAPSHOT_H

#include <stdlib.h>
#include <string.h>

#include "runtimes/inspect/inspect.h"
#include "runtimes/model/model.h"

/* The type name of a documented example of name_short(). */
#define LONG_TYPE                                                                                  \
	"core::pin::Pin<alloc::boxed::Box<(dyn core::future::future::Future<Output=()> + "         \
	"core::marker::Send), alloc::alloc::Global>>"
#define LONG_TYPE_SHORT "Pin<Box<dyn Future<Output=()> + Send>>"

static inline struct future *make_future(struct arena *a, enum future_kind kind,
                                         const char *function, struct future *child)
{
	struct future *f = NEW(a, struct future);

	f->kind = kind;
	f->function = function;
	f->type = arena_printf(a, "%sType", function);
	f->await_point = -1;
	if (child) {
		f->children = NEW(a, struct future *);
		f->children[f->nchildren++] = child;
	}
	return f;
}

/* A coroutine suspended at FILE:line. */
static inline struct future *make_await(struct arena *a, const char *function, int point,
                                        const char *file, unsigned line, struct future *child)
{
	struct future *f = make_future(a, FUTURE_ASYNC_FN, function, child);

	f->state = FUTURE_SUSPENDED;
	f->await_point = point;
	f->file = arena_printf(a, "/build/%s", file);
	f->file_short = file;
	f->line = line;
	return f;
}

static inline struct future *make_sleep(struct arena *a)
{
	struct future *f = make_future(a, FUTURE_OTHER, "Sleep", NULL);
	struct wait *wait = NEW(a, struct wait);

	wait->kind = "sleep";
	wait->phrase = "sleep future, sleeping already happened 18 seconds ago";
	wait->object = 0x7f00;
	wait->armed = WAKER_REGISTERED_YES;
	wait->ndetails = 3;
	wait->details = NEW_ARRAY(a, struct wait_detail, 3);
	wait->details[0] =
		(struct wait_detail){ .key = "remaining_ms", .kind = DETAIL_INT, .number = -18000 };
	wait->details[1] =
		(struct wait_detail){ .key = "registered", .kind = DETAIL_BOOL, .number = 1 };
	wait->details[2] =
		(struct wait_detail){ .key = "syscall", .kind = DETAIL_STRING, .string = "futex" };
	f->wait = wait;
	f->addr = 0x5000;
	return f;
}

/* Children of a fork; those that are held must come last. */
static inline void make_fork(struct arena *a, struct future *f, size_t n,
                             struct future *const *children)
{
	f->children = (struct future **)arena_memdup(a, children, n * sizeof(*children));
	f->nchildren = n;
}

static inline struct future *make_edge(struct future *f, const char *edge, enum branch branch)
{
	f->edge = edge;
	f->branch = branch;
	return f;
}

/* A captured argument, a local variable, one that may be gone, and one without a value. */
static inline void make_locals(struct arena *a, struct future *f)
{
	f->nlocals = 4;
	f->locals = NEW_ARRAY(a, struct local, f->nlocals);
	f->locals[0] = (struct local){ .name = "n", .type = "u32", .value = "7", .addr = 0x5010 };
	f->locals[1] = (struct local){ .name = "req",
		                       .type = "app::Request",
		                       .value = "Request { uri: \"/x\" }",
		                       .addr = 0x5018,
		                       .argument = true };
	f->locals[2] = (struct local){
		.name = "old", .type = "alloc::string::String", .value = "\"a\"", .uncertain = true
	};
	f->locals[3] = (struct local){ .name = "buf", .type = "[u8; 4]", .problem = "unreadable" };
}

static inline struct task *make_task(struct arena *a, uint64_t id, unsigned runtime,
                                     enum task_state state, struct future *root)
{
	struct task *task = NEW(a, struct task);

	task->id = arena_printf(a, "%llu", (unsigned long long)id);
	task->number = id;
	task->runtime = runtime;
	task->addr = 0x9000 + id * 0x100;
	task->state = state;
	task->root = root;
	task->type = root ? root->type : NULL;
	return task;
}

static inline struct runtime_info make_runtime(unsigned index, bool workers_poll, size_t ntasks)
{
	return (struct runtime_info){
		.index = index,
		.kind = "tokio",
		.flavor = workers_poll ? "multi_thread" : "current_thread",
		.workers_poll = workers_poll,
		.addr = 0x4000 + index,
		.workers = workers_poll ? 2 : 1,
		.ntasks = ntasks,
		.has_inject = true,
		.inject_len = 7,
	};
}

static inline void make_threads(struct snapshot *s)
{
	struct arena *a = &s->arena;
	struct thread_info *th = NEW_ARRAY(a, struct thread_info, 5);

	s->threads = th;
	s->nthreads = 5;
	for (unsigned i = 0; i < 5; i++)
		th[i] = (struct thread_info){
			.number = i + 1, .tid = 28406 + (pid_t)i, .name = "demo", .worker = -1
		};
	th[0].role = THREAD_BLOCK_ON;
	th[0].state = "parked";
	th[0].root = make_await(a, "tokio_tcp::main", 1, "src/main.rs", 14,
	                        make_await(a, "tokio::net::TcpListener::accept", 0,
	                                   ".../tcp/listener.rs", 188, NULL));
	th[1].role = th[2].role = THREAD_WORKER;
	th[1].has_queue = th[2].has_queue = true;
	th[1].worker = 0;
	th[1].queue_len = 3;
	th[1].state = "parked";
	th[2].worker = 1;
	th[2].queue_len = 4;
	th[2].state = "running task 5";
	th[2].task = "5";
	th[3].role = THREAD_BLOCKING;
	th[3].task = "9";
	th[3].job = "app::main::{closure#0}";
	th[4].runtime = -1;
}

static inline struct snapshot *make_snapshot(void)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	struct arena *a = &s->arena;
	struct runtime_crate *crate = NEW(a, struct runtime_crate);

	*crate = (struct runtime_crate){ "tokio", "1.53.1" };
	s->target = (struct target_info){
		.kind = "live",
		.pid = 28406,
		.command = "tokio_tcp",
		.exe = "/srv/tokio_tcp",
		.build_id = "abcdef0123456789",
		.arch = "x86-64",
		.rustc = "1.95.0",
		.crates = crate,
		.ncrates = 1,
	};
	s->complete = true;
	s->reading.pause_ns = 412345;
	s->nruntimes = 1;
	s->runtimes = NEW_ARRAY(a, struct runtime_info, 2);
	s->runtimes[0] = make_runtime(0, true, 2);
	make_threads(s);

	struct future *running = make_await(a, "tokio_tcp::serve", -1, "src/serve.rs", 9, NULL);
	running->state = FUTURE_STATE_NONE;
	running->running = true;
	s->ntasks = 2;
	s->tasks = NEW_ARRAY(a, struct task *, 3);
	s->tasks[0] = make_task(a, 4, 0, TASK_IDLE,
	                        make_await(a, "tokio_tcp::main::{async_block#0}", 1, "src/main.rs",
	                                   21, make_sleep(a)));
	s->tasks[1] = make_task(a, 5, 0, TASK_RUNNING, running);
	s->tasks[1]->thread = 3;
	snapshot_number_frames(s);
	return s;
}

/* Lists the job that thread 4 runs. */
static inline void add_running_job(struct snapshot *s)
{
	s->jobs = NEW(&s->arena, struct job);
	s->njobs = 1;
	*s->jobs = (struct job){ .id = "9", .thread = 4, .function = s->threads[3].job };
}

static inline void add_note(struct snapshot *s, const char *note)
{
	const char **notes = NEW_ARRAY(&s->arena, const char *, s->nnotes + 1);

	for (size_t i = 0; i < s->nnotes; i++)
		notes[i] = s->notes[i];
	notes[s->nnotes++] = note;
	s->notes = notes;
}

static inline void free_snapshot(struct snapshot **s)
{
	arena_free(&(*s)->arena);
	free(*s);
}

#define SNAPSHOT(name) struct snapshot *name CLEANUP(free_snapshot) = make_snapshot()

#endif
