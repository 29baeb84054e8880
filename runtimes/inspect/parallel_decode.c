#include "runtimes/inspect/parallel_decode.h"

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/parallel.h"
#include "debugger/base/progress.h"
#include "dwarf/module/debuginfo_clone.h"
#include "runtimes/tokio/local_set.h"

enum {
	FEW = 8,   /* new poll functions: not worth to be shared */
	AHEAD = 4, /* that one learns while the other learns of tokio what is known to the first */
};

struct assistant {
	struct inspector *in;
	bool ready;       /* its inspector knows what tokio looks like */
	struct map polls; /* that are its own: address -> NULL */
	/* Of the rehearsal or walk under way: */
	struct beside thread;
	struct target *twin;
	struct collector *of; /* whose tasks it reads */
	struct collector *c;
	sem_t shared; /* tasks is complete */
	task_poll_vec tasks;
};

bool assistant_knows(const struct inspector *in, uint64_t poll)
{
	return in->assistant && poll && map_has(&in->assistant->polls, poll);
}

/* ---- its thread ---- */

static void make_ready(struct assistant *a)
{
	if (!a->ready)
		tokio_detect(a->in);
	a->ready = true;
}

/* What the one has found that its tasks may refer to. Only read meanwhile. */
static void borrow(struct collector *c, const struct collector *of)
{
	c->stacks = of->stacks;
	c->tasks = of->tasks;
	c->wakers = of->wakers;
	c->now_ns = of->now_ns;
	c->now_known = of->now_known;
	c->now_is_bound = of->now_is_bound;
	c->clock_paused = of->clock_paused;
	c->out->threads = of->out->threads;
	c->out->nthreads = of->out->nthreads;
	c->out->ntasks = of->out->ntasks;
}

static void give_back(struct collector *c)
{
	c->tasks = c->wakers = (struct map){ 0 };
	c->out->threads = NULL;
	c->out->nthreads = c->out->ntasks = 0;
}

/* The program runs: one may have begun or ended meanwhile. */
static bool same_runtimes(const struct collector *a, const struct collector *b)
{
	bool same = a->ntokio_runtimes == b->ntokio_runtimes;

	for (size_t i = 0; same && i < a->ntokio_runtimes; i++)
		same = a->tokio_runtimes[i].shared == b->tokio_runtimes[i].shared;
	return same;
}

static void read_tasks(struct assistant *a)
{
	struct collector *c = a->c;
	struct target *t = a->twin;
	struct tokio_thread *threads = NEW_ARRAY(&c->scratch, struct tokio_thread, t->nthreads);
	struct tokio_runtime *runtimes;

	for (struct tokio *k = a->in->tokio; k; k = k->next)
		tokio_forget_vtables(k);
	borrow(c, a->of);
	tokio_read_threads(c, threads);
	tokio_find_runtimes(c, threads, &runtimes, &c->ntokio_runtimes);
	c->tokio_threads = threads;
	c->tokio_runtimes = runtimes;
	if (same_runtimes(c, a->of))
		tokio_decode_polls(c, a->tasks.data, a->tasks.n);
}

static void work(struct assistant *a)
{
	make_ready(a);
	while (sem_wait(&a->shared) != 0)
		;
	if (a->tasks.n)
		read_tasks(a);
}

static void *run(void *arg)
{
	progress_leave();
	work(arg);
	return NULL;
}

/* ---- a rehearsal ---- */

static struct assistant *open_assistant(struct inspector *in)
{
	struct assistant *a = calloc(1, sizeof(*a));

	if (!a || !(a->in = calloc(1, sizeof(*a->in))))
		out_of_memory();
	sem_init(&a->shared, 0, 0);
	a->in->target = in->target;
	a->in->unwinder = in->unwinder;
	a->in->own_build = in->own_build;
	a->in->secrets = in->secrets;
	a->in->di = debuginfo_twin(in->di, in->target);
	return a;
}

/* What the user says of it. */
enum wish { BY_SIZE, NEVER, ALWAYS };

static enum wish wish(void)
{
	const char *n = getenv("ASYNCDBG_JOBS");

	return !n ? BY_SIZE : strcmp(n, "1") == 0 ? NEVER : ALWAYS;
}

bool assistant_is_worth(const struct inspector *in, unsigned want)
{
	if (!(want & WANT_TASKS) || !in->tokio || wish() == NEVER)
		return false;
	return wish() == ALWAYS || (parallel_is_possible() && debuginfo_is_large(in->di));
}

static void read_from(struct assistant *a, struct target *t)
{
	a->in->target = t;
	a->in->di->target = t;
}

/* From here to part(): it has c's work to do with it, in a collector and with a target of its own.
 */
static void meet(struct assistant *a, struct collector *c)
{
	a->twin = target_twin(c->in->target);
	read_from(a, a->twin);
	a->of = c;
	a->in->roots = c->in->roots;
	a->c = collector_new(a->in, c->want, NULL);
	c->in->di->one_thread = a->in->di->one_thread = true;
}

static void part(struct assistant *a, struct inspector *in)
{
	in->di->one_thread = a->in->di->one_thread = false;
	a->tasks.n = 0;
	a->in->roots = NULL;
	target_twin_join(a->twin);
	a->twin = NULL;
	read_from(a, in->target);
}

void assistant_begin(struct collector *c)
{
	struct inspector *in = c->in;

	if (!assistant_is_worth(in, c->want))
		return;
	if (!in->assistant)
		in->assistant = open_assistant(in);
	struct assistant *a = in->assistant;
	meet(a, c);
	a->c->rehearsal = a->c->by_poll = true;
	parallel_start(&a->thread, run, a);
}

/* The poll functions that nobody has asked for yet, ascending. */
static void find_new(const struct collector *c, address_vec *ret)
{
	for (size_t i = 0; i < c->polls.n; i++) {
		uint64_t poll = c->polls.data[i].poll;

		if (poll && (i == 0 || poll != c->polls.data[i - 1].poll) &&
		    !assistant_knows(c->in, poll) && !tokio_has_plan(c->in, poll))
			*vec_push(ret) = poll;
	}
}

/*
 * Where both will be done at one time; where a crate ends near it, there: both would have to look
 * through that crate.
 */
static size_t find_border(struct debuginfo *di, const address_vec *polls)
{
	size_t middle = (polls->n + (polls->n < FEW ? 0 : AHEAD)) / 2;

	for (size_t off = 0; off <= polls->n / 8; off++) {
		const uint64_t *before = &polls->data[middle - off], *behind = &polls->data[middle];

		if (middle > off && !debuginfo_same_crate(di, before[-1], before[0]))
			return middle - off;
		if (off && !debuginfo_same_crate(di, behind[off - 1], behind[off]))
			return middle + off;
	}
	return middle;
}

/* What comes behind is the assistant's: what lies side by side is described side by side. */
static void assign(struct collector *c, struct assistant *a)
{
	address_vec polls = { 0 };

	find_new(c, &polls);
	if (polls.n >= FEW || wish() == ALWAYS) {
		size_t first = find_border(c->in->di, &polls);

		LOG("inspect", "%zu of %zu poll functions are for a second thread", polls.n - first,
		    polls.n);
		for (size_t i = first; i < polls.n; i++)
			map_put(&a->polls, polls.data[i], NULL);
	}
	vec_free(&polls);
}

static void take_own(struct collector *c, struct assistant *a)
{
	size_t n = 0;

	for (size_t i = 0; i < c->polls.n; i++) {
		struct task_poll p = c->polls.data[i];

		if (assistant_knows(c->in, p.poll))
			*vec_push(&a->tasks) = p;
		else
			c->polls.data[n++] = p;
	}
	c->polls.n = n;
}

void assistant_share(struct collector *c)
{
	struct assistant *a = c->in->assistant;

	if (!a || !a->twin)
		return;
	assign(c, a);
	take_own(c, a);
	sem_post(&a->shared);
}

static void merge_leads(struct collector *c, const struct collector *its)
{
	for (size_t i = 0; i < its->leads.n; i++)
		*vec_push(&c->leads) = its->leads.data[i];
}

void assistant_wait(struct inspector *in)
{
	struct assistant *a = in->assistant;

	if (!a || !a->twin)
		return;
	if (a->thread.started)
		parallel_wait(&a->thread);
	else
		work(a); /* no thread could be had */
	for (size_t i = 0; i < a->c->local_sets.n; i++)
		local_set_add(a->of, &a->c->local_sets.data[i]);
	merge_leads(a->of, a->c);
	part(a, in);
}

void assistant_end(struct inspector *in)
{
	struct assistant *a = in->assistant;

	if (!a || !a->c)
		return;
	if (a->twin) { /* no list of tasks was walked */
		sem_post(&a->shared);
		assistant_wait(in);
	}
	give_back(a->c);
	snapshot_free(collector_finish(a->c));
	a->c = NULL;
	debuginfo_relax(a->in->di, 0);
}

void assistant_close(struct inspector *in)
{
	struct assistant *a = in->assistant;

	if (!a)
		return;
	if (in->facts.cache)
		debuginfo_absorb(in->di, a->in->di);
	inspector_close(a->in);
	map_free(&a->polls);
	vec_free(&a->tasks);
	sem_destroy(&a->shared);
	free(a);
	in->assistant = NULL;
}

void assistant_relax(struct inspector *in, size_t limit)
{
	struct assistant *a = in->assistant;
	bool both = a && !a->twin;

	debuginfo_relax(in->di, both ? limit / 2 : limit);
	if (both)
		debuginfo_relax(a->in->di, limit / 2);
}

/* ---- its turn ---- */

static struct tokio *its_tokio(const struct collector *c, const struct assistant *a,
                               const struct tokio *k)
{
	struct tokio *its = a->in->tokio;

	for (const struct tokio *other = c->in->tokio; other && other != k; other = other->next)
		its = its ? its->next : NULL;
	return its;
}

/* The same threads and runtimes, with the assistant's tokio. */
static void translate(struct collector *c, struct assistant *a)
{
	size_t nthreads = c->in->target->nthreads;
	struct tokio_thread *threads =
		arena_memdup(&c->scratch, c->tokio_threads, nthreads * sizeof(*threads));
	struct tokio_runtime *runtimes = arena_memdup(&c->scratch, c->tokio_runtimes,
	                                              c->ntokio_runtimes * sizeof(*runtimes));

	for (size_t i = 0; i < nthreads; i++) {
		if (threads[i].tokio)
			threads[i].tokio = its_tokio(c, a, threads[i].tokio);
	}
	for (size_t i = 0; i < c->ntokio_runtimes; i++)
		runtimes[i].tokio = its_tokio(c, a, runtimes[i].tokio);
	c->its_threads = threads;
	c->its_runtimes = runtimes;
	for (struct tokio *k = a->in->tokio; k; k = k->next)
		tokio_forget_vtables(k);
}

/* ---- its part of a walk ---- */

bool assistant_walks(const struct collector *c)
{
	const struct assistant *a = c->in->assistant;
	unsigned alone = WANT_LOCALS | WANT_HOLDINGS;

	return a && !a->twin && (c->want & WANT_TASKS) && !(c->want & alone) && !c->question &&
	       (a->polls.n >= FEW || wish() == ALWAYS);
}

static void walk_own(struct assistant *a)
{
	tokio_decode_listed(a->c, a->tasks.data, a->tasks.n);
}

static void *walk(void *arg)
{
	progress_leave();
	walk_own(arg);
	return NULL;
}

void assistant_walk(struct collector *c)
{
	struct assistant *a = c->in->assistant;

	take_own(c, a);
	if (!c->its_threads)
		translate(c, a);
	meet(a, c);
	borrow(a->c, c);
	a->c->tokio_threads = c->its_threads;
	a->c->tokio_runtimes = c->its_runtimes;
	a->c->ntokio_runtimes = c->ntokio_runtimes;
	if (!parallel_start(&a->thread, walk, a))
		walk_own(a);
}

/* Those of no task were met before all others. */
static bool was_met_before(const struct local_set *a, const struct local_set *b)
{
	return a->task && b->task ? tokio_compare_tasks(a->task, b->task) < 0 : !a->task && b->task;
}

/* In the order in which one would have met them. */
static void merge_local_sets(struct collector *c, const struct collector *its)
{
	VEC(struct local_set) mine = { 0 };
	size_t j = 0;

	for (size_t i = 0; i < c->local_sets.n; i++)
		*vec_push(&mine) = c->local_sets.data[i];
	c->local_sets.n = 0;
	for (size_t i = 0; i < mine.n; i++) {
		while (j < its->local_sets.n &&
		       was_met_before(&its->local_sets.data[j], &mine.data[i]))
			local_set_add(c, &its->local_sets.data[j++]);
		local_set_add(c, &mine.data[i]);
	}
	while (j < its->local_sets.n)
		local_set_add(c, &its->local_sets.data[j++]);
	vec_free(&mine);
}

void assistant_end_walk(struct collector *c)
{
	struct assistant *a = c->in->assistant;
	struct collector *its = a->c;

	parallel_wait(&a->thread);
	merge_local_sets(c, its);
	merge_leads(c, its);
	for (size_t i = 0; i < its->nodes.capacity; i++) {
		if (its->nodes.slots[i].key)
			map_put(&c->nodes, its->nodes.slots[i].key, its->nodes.slots[i].value);
	}
	c->some_held |= its->some_held;
	c->nreached += its->nreached;
	c->waiters += its->waiters;
	c->out->complete &= its->out->complete;
	give_back(its);
	arena_adopt(c->a, its->a);
	snapshot_free(collector_finish(its));
	a->c = NULL;
	part(a, c->in);
}

static void enter(struct collector *c, struct assistant *a, struct assistant_turn *turn)
{
	if (!c->its_threads)
		translate(c, a);
	*turn = (struct assistant_turn){ c->in, c->vtables, c->tokio_threads, c->tokio_runtimes };
	c->in = a->in;
	c->vtables = c->its_vtables;
	c->tokio_threads = c->its_threads;
	c->tokio_runtimes = c->its_runtimes;
}

struct tokio *assistant_enter(struct collector *c, struct tokio *k, uint64_t poll,
                              struct assistant_turn *turn)
{
	struct assistant *a = c->in->assistant;
	struct tokio *its = assistant_knows(c->in, poll) ? its_tokio(c, a, k) : NULL;

	turn->in = NULL;
	if (!its || a->twin)
		return k;
	enter(c, a, turn);
	return its;
}

void assistant_enter_type(struct collector *c, const struct type *t, struct assistant_turn *turn)
{
	struct assistant *a = c->in->assistant;

	turn->in = NULL;
	if (a && !a->twin && c->tokio_threads && type_module(t)->di == a->in->di)
		enter(c, a, turn);
}

void assistant_leave(struct collector *c, struct assistant_turn *turn)
{
	if (!turn->in)
		return;
	c->its_vtables = c->vtables;
	c->in = turn->in;
	c->vtables = turn->vtables;
	c->tokio_threads = turn->threads;
	c->tokio_runtimes = turn->runtimes;
}
