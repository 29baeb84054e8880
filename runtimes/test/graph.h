/* For tests only: small programs made by hand, and what the graph says of them. */
#ifndef RUNTIMES_TEST_GRAPH_H
#define RUNTIMES_TEST_GRAPH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/graph/verdict.h"

struct program {
	struct snapshot s;
	VEC(struct task *) tasks;
	VEC(struct thread_info) threads;
	VEC(struct holding) holdings;
	struct graph *graph;
	struct verdicts *verdicts;
};

static inline void program_free(struct program *p)
{
	verdicts_free(p->verdicts);
	graph_free(p->graph);
	vec_free(&p->tasks);
	vec_free(&p->threads);
	vec_free(&p->holdings);
	arena_free(&p->s.arena);
}

#define PROGRAM(name) struct program name CLEANUP(program_free) = { 0 }

static inline struct future *make(struct program *p, const char *type, const char *edge)
{
	struct future *f = NEW(&p->s.arena, struct future);

	f->function = f->type = type;
	f->file_short = "src/x.rs";
	f->line = 12;
	f->edge = edge;
	f->await_point = -1;
	return f;
}

static inline void add_child(struct program *p, struct future *f, struct future *child)
{
	struct future **children = NEW_ARRAY(&p->s.arena, struct future *, f->nchildren + 1);

	for (unsigned i = 0; i < f->nchildren; i++)
		children[i] = f->children[i];
	children[f->nchildren++] = child;
	f->children = children;
}

/* An async fn that polls these, up to a NULL. */
#define calls(p, name, ...) calls_((p), (name), (struct future *const[]){ __VA_ARGS__, NULL })
static inline struct future *calls_(struct program *p, const char *name,
                                    struct future *const *children)
{
	struct future *f = make(p, name, "await");

	f->kind = FUTURE_ASYNC_FN;
	f->state = FUTURE_SUSPENDED;
	for (; *children; children++)
		add_child(p, f, *children);
	return f;
}

static inline struct future *as(struct future *f, const char *edge)
{
	f->edge = edge;
	return f;
}

static inline struct future *with(struct program *p, struct future *f, const char *key,
                                  enum detail_kind kind, int64_t number)
{
	struct wait *w = f->wait;

	if (!w->details)
		w->details = NEW_ARRAY(&p->s.arena, struct wait_detail, 16);
	w->details[w->ndetails++] =
		(struct wait_detail){ .key = key, .kind = kind, .number = number };
	return f;
}

static inline struct future *leaf(struct program *p, const char *kind, uint64_t object)
{
	struct future *f = make(p, "Leaf", "await");

	f->kind = FUTURE_OTHER;
	f->wait = NEW(&p->s.arena, struct wait);
	f->wait->kind = f->wait->phrase = kind;
	f->wait->object = f->wait->primitive = object;
	return f;
}

static inline struct future *sleeps(struct program *p)
{
	return leaf(p, "sleep", 0x51ee);
}

/* Queued for a lock at that place; 0: it was granted. */
static inline struct future *locks(struct program *p, const char *kind, uint64_t object,
                                   int64_t place)
{
	struct future *f = with(p, leaf(p, kind, object), "polled", DETAIL_BOOL, 1);

	with(p, f, "granted", DETAIL_BOOL, place == 0);
	return place ? with(p, f, "position", DETAIL_INT, place) : f;
}

/* Waits for a connection of a pool that has so many, all of which somebody has. */
static inline struct future *pools(struct program *p, uint64_t object, int64_t size)
{
	struct future *f = locks(p, "pool", object, 1);

	with(p, f, "size", DETAIL_INT, size);
	with(p, f, "max_size", DETAIL_INT, size);
	with(p, f, "idle", DETAIL_INT, 0);
	with(p, f, "in_use", DETAIL_INT, size);
	return with(p, f, "own_frames", DETAIL_INT, 2);
}

static inline struct future *held(struct future *f, enum branch branch)
{
	f->edge = "held";
	f->branch = branch;
	return f;
}

static inline struct future *receives(struct program *p, uint64_t object, int64_t senders)
{
	struct future *f = with(p, leaf(p, "mpsc_recv", object), "senders", DETAIL_INT, senders);

	return with(p, f, "queued", DETAIL_INT, 0);
}

static inline struct task *add_task(struct program *p, uint64_t id, struct future *root)
{
	struct task *task = NEW(&p->s.arena, struct task);

	task->id = arena_uint(&p->s.arena, id);
	task->number = id;
	task->addr = 0x100000 + id * 0x100;
	task->state = TASK_IDLE;
	task->root = root;
	*vec_push(&p->tasks) = task;
	return task;
}

static inline struct future *joins(struct program *p, uint64_t id)
{
	return leaf(p, "join", 0x100000 + id * 0x100);
}

static inline struct thread_info *add_thread(struct program *p, enum thread_role role,
                                             struct future *root)
{
	struct thread_info *th = vec_push(&p->threads);

	*th = (struct thread_info){ .number = (unsigned)p->threads.n, .role = role, .root = root };
	return th;
}

/* What a task has of an object; NULL: the thread 1. */
static inline struct holding *holds(struct program *p, const struct task *task,
                                    enum holding_role role, const char *kind, uint64_t object)
{
	struct holding *h = vec_push(&p->holdings);

	*h = (struct holding){ .role = role, .kind = kind, .type = "Guard", .object = object };
	h->primitive = object;
	h->task = task;
	h->thread = task ? 0 : 1;
	h->future = task ? task->root : NULL;
	h->path = "guard";
	h->file_short = "src/x.rs";
	h->line = 41;
	h->declared = true;
	return h;
}

static inline struct holding *guards(struct program *p, const struct task *task, const char *kind,
                                     uint64_t object)
{
	return holds(p, task, HOLDING_LOCK, kind, object);
}

static inline void judge(struct program *p)
{
	static struct runtime_info runtime = { .kind = "tokio",
		                               .workers_poll = true,
		                               .workers = 1 };

	if (!p->s.nruntimes) {
		p->s.runtimes = &runtime;
		p->s.nruntimes = 1;
	}
	p->s.tasks = p->tasks.data;
	p->s.ntasks = p->tasks.n;
	p->s.threads = p->threads.data;
	p->s.nthreads = p->threads.n;
	p->s.holdings = p->holdings.data;
	p->s.nholdings = p->holdings.n;
	p->graph = graph_build(&p->s);
	p->verdicts = verdicts_find(p->graph);
}

/* "deadlock 1 2, behind 3; ..." of what was found; what is uncertain begins with '?',
 * what rests on sole candidates with '~'. */
static inline void assert_says(struct program *p, const char *expected)
{
	STR(s);

	judge(p);
	for (size_t i = 0; i < p->verdicts->n; i++) {
		const struct verdict *v = &p->verdicts->list[i];
		SCRATCH(tmp);

		str_printf(&s, "%s%s%s", s.len ? "; " : "",
		           v->certain                 ? ""
		           : v->trust == VERDICT_SOLE ? "~"
		                                      : "?",
		           verdict_kind_name(v->kind));
		for (size_t k = 0; k < v->nmembers; k++)
			str_printf(&s, "%s %s", k ? "," : "",
			           graph_participant_text(&tmp, &p->graph->nodes[v->members[k]]));
		for (size_t k = 0; k < v->nbehind && k < 4; k++)
			str_printf(&s, "%s %s", k ? "," : " <-",
			           graph_participant_text(&tmp, &p->graph->nodes[v->behind[k]]));
	}
	assert_string_equal(str_text(&s), expected);
}

static inline void assert_text(const struct program *p, size_t i, const char *expected)
{
	SCRATCH(tmp);

	assert_true(i < p->verdicts->n);
	assert_string_equal(verdict_text(&tmp, p->graph, &p->verdicts->list[i]), expected);
}

#endif
