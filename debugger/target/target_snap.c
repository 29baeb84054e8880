/*
 * target_snap() and target_peek(): copy memory and threads of one moment while the target is
 * stopped for as short as possible.
 */
#include <inttypes.h>

#include "debugger/base/clock.h"
#include "debugger/base/log.h"
#include "debugger/base/map.h"
#include "debugger/memory/page_cache.h"
#include "debugger/target/target.h"

enum {
	/*
	 * How many bytes of a stack to copy, from the stack pointer on: the warm-up walk saw the
	 * thread at the same stack pointer, at another one, or not at all.
	 */
	SEEN_STACK = 8 * 1024,
	MOVED_STACK = 16 * 1024,
	UNSEEN_STACK = 64 * 1024,
	STOP_COST_NS = 8000, /* measured: stopping one thread */
};

/* State of one target_snap(). */
struct snap {
	struct target *t;
	struct map seen; /* tid -> stack pointer during the last walk, 0 unknown */
	size_t bytes;    /* of the plan */
	bool limited;    /* the stop is limited: not all pages may be copied during it */
	uint64_t max_ns;
	uint64_t ahead_ns;   /* time of the copy before the stop */
	uint64_t slice_ns;   /* time of the slowest slice so far */
	uint64_t slice_from; /* start of the last slice; 0: none yet */
	bool whole;          /* all pages were copied during the stop, in which all stood still */
	bool compared;       /* the changes by the running threads are known already */
	struct error *err;
};

void target_exclude(struct target *t, pid_t tid)
{
	if (!target_is_excluded(t, tid))
		*vec_push(&t->excluded) = tid;
}

bool target_is_excluded(const struct target *t, pid_t tid)
{
	for (size_t i = 0; i < t->excluded.n; i++) {
		if (t->excluded.data[i] == tid)
			return true;
	}
	return false;
}

bool target_is_halted(const struct target *t)
{
	return t->ops->is_halted && t->ops->is_halted(t);
}

uint64_t target_max_pause(const struct target *t)
{
	uint64_t all = (uint64_t)t->nthreads * PAUSE_THREAD_NS;

	if (t->stop.options.has_max || !t->stop.options.brief)
		return t->stop.options.has_max ? t->stop.options.max_ns : 0;
	return all > PAUSE_NS ? all : PAUSE_NS;
}

bool target_slept_on(struct target *t, pid_t tid)
{
	return t->ops->slept_on && t->ops->slept_on(t, tid);
}

static uint64_t stack_pointer(const struct target *t, const struct thread *th)
{
	return th->has_regs ? th->regs.r[t->arch->sp] : 0;
}

/*
 * Records the stack pointers of the warm-up walk. If the walk lacked some registers of a thread,
 * the next walk may read a bit more of its stack: adds that to the plan.
 */
static void remember_stacks(struct snap *s)
{
	struct target *t = s->t;

	for (size_t i = 0; i < t->nthreads; i++) {
		const struct thread *th = &t->threads[i];
		uint64_t sp = stack_pointer(t, th);

		map_put(&s->seen, (uint64_t)th->tid, (void *)(uintptr_t)sp);
		if (sp && th->unknown_regs && !target_is_excluded(t, th->tid))
			page_cache_add(t->memory.cache, sp, SEEN_STACK);
	}
}

/* Adds the stacks that have moved since the warm-up walk: it has not used their pages. */
static void add_stacks(struct snap *s)
{
	struct target *t = s->t;

	for (size_t i = 0; i < t->nthreads; i++) {
		uint64_t sp = stack_pointer(t, &t->threads[i]);
		uint64_t seen = (uintptr_t)map_get(&s->seen, (uint64_t)t->threads[i].tid);

		if (sp && sp != seen)
			page_cache_add(t->memory.cache, sp, seen ? MOVED_STACK : UNSEEN_STACK);
	}
}

/* Whether there is time left to copy another slice and resume all threads. */
static bool has_time(void *arg)
{
	struct snap *s = arg;
	uint64_t now = clock_now_ns();
	uint64_t let_go = BASE_COST_NS + s->t->nthreads * RESUME_COST_NS;

	if (s->slice_from && clock_between(s->slice_from, now) > s->slice_ns)
		s->slice_ns = clock_between(s->slice_from, now);
	s->slice_from = now;
	return clock_between(s->t->stop.began, now) + s->slice_ns + let_go < s->max_ns;
}

/* Copies the pages during the stop. */
static void copy_now(void *arg)
{
	struct snap *s = arg;
	struct target *t = s->t;
	const struct page_copy how = { .settled = !t->stop.options.only,
		                       .go_on = s->limited ? has_time : NULL,
		                       .arg = s };

	add_stacks(s);
	if (!s->err)
		s->err = page_cache_copy(t->memory.cache, &how, target_read_batch, t, &s->whole);
	if (!t->stop.options.only || s->err)
		return;
	/* The comparison is made while the stack of the stopped thread cannot change. */
	s->err = page_cache_compare(t->memory.cache, target_read_batch, t);
	s->compared = true;
	s->whole = false;
}

/*
 * Copies the pages before the stop, for three reasons: it measures how long a copy takes; the bytes
 * are available if the stop is too short to copy all; and the later copy is faster with warm
 * CPU caches.
 */
static void target_snap_copy_ahead(void *arg)
{
	struct snap *s = arg;
	uint64_t start = clock_now_ns(), waited = clock_waited_ns();
	bool whole;

	s->err = page_cache_copy(s->t->memory.cache, &(struct page_copy){ 0 }, target_read_batch,
	                         s->t, &whole);
	/* The copy need not wait for a CPU during the stop: its priority is raised. */
	s->ahead_ns = clock_between(clock_between(waited, clock_waited_ns()), clock_since(start));
	s->slice_ns = s->bytes ? s->ahead_ns * COPY_SLICE / s->bytes : 0;
}

static struct error *stop_and_copy(struct snap *s)
{
	struct target *t = s->t;
	struct error *err;

	if (t->ops->stop_briefly) {
		const struct brief_stop stop = { s->max_ns, target_snap_copy_ahead, copy_now, s };

		err = t->ops->stop_briefly(t, &stop, &t->stop.copy);
	} else {
		target_snap_copy_ahead(s);
		err = t->ops->stop(t);
	}
	/* The copy may have failed, too, if the process has ended meanwhile. */
	if (err) {
		error_free(s->err);
		return err;
	}
	if (!t->ops->stop_briefly) {
		t->stop.copy.stopped = t->nthreads;
		copy_now(s);
		t->ops->resume(t);
		t->stop.copy.pause_ns = t->stop.pause_ns;
	}
	return s->err;
}

static bool target_snap_is_limited(const struct target *t)
{
	return t->stop.options.has_max || t->stop.options.brief;
}

/* Whether the options permit a stop, and it can succeed in the time they allow. */
static bool may_stop(const struct snap *s)
{
	const struct target *t = s->t;
	size_t n = t->stop.options.only ? 1 : t->nthreads;
	uint64_t cost = BASE_COST_NS + n * (STOP_COST_NS + REGS_COST_NS + RESUME_COST_NS);

	if (t->stop.options.never || t->stop.failed)
		return false;
	return !target_snap_is_limited(t) || cost < target_max_pause(t);
}

/*
 * Whether the stop ended before all pages were copied although they take less than half of the time
 * allowed: asyncdbg or the target's threads waited for a CPU meanwhile. Another stop may be
 * long enough; for more memory than can be copied none is.
 */
static bool was_held_up(const struct snap *s)
{
	return s->limited && !s->whole && !s->t->stop.options.only && s->ahead_ns < s->max_ns / 2;
}

/*
 * Tries a stop again where it took too long: under load a thread waits for a CPU before it
 * can stop. The target runs as long in between as it stood still.
 */
static struct error *try_stops(struct snap *s)
{
	struct copy *copy = &s->t->stop.copy;
	uint64_t pause_ns = 0;

	for (unsigned tries = 1;; tries++) {
		s->slice_from = 0;
		TRY(stop_and_copy(s));
		pause_ns += copy->pause_ns;
		copy->tries = tries;
		if (copy->pause_ns > copy->longest_ns)
			copy->longest_ns = copy->pause_ns;
		if ((copy->stopped > 0 && !was_held_up(s)) || tries == PAUSE_TRIES)
			break;
		TRY(interrupt_sleep((double)copy->pause_ns / 1e9));
		target_forget_threads(s->t);
	}
	copy->pause_ns = pause_ns;
	return NULL;
}

static struct error *snap(struct snap *s)
{
	struct target *t = s->t;
	bool stops = may_stop(s);
	size_t nexcluded = t->excluded.n;

	s->bytes = page_cache_plan(t->memory.cache, t->stop.misses > 0);
	remember_stacks(s);
	s->limited = target_snap_is_limited(t);
	s->max_ns = target_max_pause(t);
	target_forget_threads(t);
	t->stop.copy = (struct copy){ .how = COPY_RUNNING };
	if (stops)
		TRY(try_stops(s));
	/* Do not try again in later rounds: it would take as long. */
	t->stop.failed = stops && t->stop.copy.stopped == 0;
	if (t->stop.copy.stopped > 0) {
		t->stop.copy.how = s->whole ? COPY_STOPPED : COPY_LIMITED;
	} else {
		if (t->ops->peek)
			TRY(t->ops->peek(t));
		add_stacks(s);
		target_snap_copy_ahead(s);
		TRY(s->err);
	}
	if (!s->whole && !s->compared)
		TRY(page_cache_compare(t->memory.cache, target_read_batch, t));
	if ((t->stop.copy.stopped == 0 || t->stop.options.only) && t->ops->recheck)
		t->ops->recheck(t);
	LOG("snap", "%zu bytes, %zu threads stopped, %zu spared, %" PRIu64 " us%s", s->bytes,
	    t->stop.copy.stopped, nexcluded, t->stop.copy.pause_ns / 1000,
	    s->whole ? "" : ", not whole");
	return NULL;
}

/* Whether the thread pointers of at least half of the threads are known. */
static bool knows_enough(const struct target *t)
{
	size_t known = 0;

	for (size_t i = 0; i < t->nthreads; i++)
		known += t->threads[i].regs.thread_pointer != 0;
	return known * 2 >= t->nthreads;
}

static void nothing(void *arg)
{
	(void)arg;
}

/* A brief stop that only reads registers. */
static struct error *stop_for_registers(struct target *t)
{
	const struct brief_stop stop = { .max_ns = target_max_pause(t), .act = nothing };

	target_forget_threads(t);
	TRY(t->ops->stop_briefly(t, &stop, &t->stop.copy));
	t->stop.copy.longest_ns = t->stop.copy.pause_ns;
	t->stop.copy.tries = 1;
	return t->stop.copy.stopped == 0 && t->ops->peek ? t->ops->peek(t) : NULL;
}

struct error *target_peek(struct target *t)
{
	bool may_stop_it = !t->stop.options.never && !t->stop.options.only &&
	                   !(t->stop.options.has_max && t->stop.options.max_ns == 0);

	if (!t->ops->stop)
		return NULL;
	t->stop.copy = (struct copy){ 0 };
	t->excluded.n = 0;
	t->stop.failed = false;
	target_forget_threads(t);
	if (t->ops->peek)
		TRY(t->ops->peek(t));
	if (t->ops->stop_briefly && may_stop_it && !knows_enough(t))
		TRY(stop_for_registers(t));
	target_invalidate(t);
	return NULL;
}

void target_keep_plan(struct target *t)
{
	if (t->memory.cache)
		page_cache_use_planned(t->memory.cache);
}

struct error *target_snap(struct target *t, bool stop_all)
{
	struct snap s = { .t = t };
	struct error *err;

	if (!t->ops->stop)
		return NULL;
	if (stop_all || t->stop.options.all)
		t->excluded.n = 0;
	err = snap(&s);
	t->stop.copy.bytes = page_cache_take(t->memory.cache);
	map_free(&s.seen);
	t->stop.frozen = true;
	return err;
}
