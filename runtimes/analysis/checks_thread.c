/* Checks of threads: workers that block instead of polling. */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/analysis/checks.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/wait_kind.h"

/* System calls that put a thread to sleep; others return at once where sockets do not block. */
static const char *const sleeping[] = {
	"nanosleep", "clock_nanosleep", "futex", "poll",  "ppoll", "select", "pselect6",
	"wait4",     "waitid",          "flock", "fsync", "pause", "msync",  "fdatasync",
};

/* Whether the wait may last long. */
static bool is_blocking(const struct wait *w)
{
	const char *name;

	if (!w || !w->kind || wait_is_running(w))
		return false;
	if (wait_kind_of(w)->target != WAIT_SYSCALL)
		return true;
	name = wait_text(w, "syscall");
	for (size_t i = 0; name && i < sizeof(sleeping) / sizeof(*sleeping); i++) {
		if (strcmp(name, sleeping[i]) == 0)
			return true;
	}
	return false;
}

/* Whether the thread polls tasks: a worker, or the thread that drives a current_thread runtime. */
static bool checks_thread_polls(const struct thread_info *th)
{
	return th->role == THREAD_WORKER || th->role == THREAD_BLOCK_ON;
}

const char *checks_thread_place(struct arena *a, const struct snapshot *s,
                                const struct thread_info *th)
{
	const struct task *task = th->task ? snapshot_task(s, th->task, th->number) : NULL;
	const struct future *f = future_leaf(task ? task->root : th->root);

	if (th->wait && wait_text(th->wait, "file"))
		return th->wait->phrase;
	return f && f->running && f->file_short ? arena_printf(a, "%s:%u", f->file_short, f->line)
	                                        : NULL;
}

struct look *checks_look(struct arena *a, const struct snapshot *s, size_t *n)
{
	struct look *list = NEW_ARRAY(a, struct look, s->nthreads + 1);

	*n = 0;
	for (size_t i = 0; i < s->nthreads; i++) {
		const struct thread_info *th = &s->threads[i];
		const struct task *task = th->task ? snapshot_task(s, th->task, th->number) : NULL;
		const char *place;

		if (!checks_thread_polls(th))
			continue;
		place = checks_thread_place(a, s, th);
		list[(*n)++] = (struct look){
			.tid = th->tid,
			.task = th->task ? arena_strdup(a, th->task) : NULL,
			.addr = task ? task->addr : 0,
			.wait = th->wait && th->wait->kind ? arena_strdup(a, th->wait->kind) : NULL,
			.object = th->wait ? th->wait->object : 0,
			.queue_len = th->has_queue ? th->queue_len : 0,
			.place = place ? arena_strdup(a, place) : NULL,
			.poll = th->poll,
			.has_poll = th->has_poll,
		};
	}
	return list;
}

uint64_t *checks_threadless(struct arena *a, const struct snapshot *s, size_t *n)
{
	uint64_t *list = NEW_ARRAY(a, uint64_t, s->nruntimes + 1);

	*n = 0;
	for (size_t i = 0; i < s->nruntimes; i++) {
		if (runtime_lacks_thread(&s->runtimes[i]))
			list[(*n)++] = s->runtimes[i].addr;
	}
	return list;
}

struct seen_runtimes checks_seen_runtimes(struct arena *a, const struct snapshot *s)
{
	uint64_t *addrs = NEW_ARRAY(a, uint64_t, s->nruntimes + 1);

	for (size_t i = 0; i < s->nruntimes; i++)
		addrs[i] = s->runtimes[i].addr;
	return (struct seen_runtimes){ addrs, s->nruntimes };
}

bool checks_met_late(const struct seen_runtimes *seen, const struct snapshot *s)
{
	for (size_t i = 0; i < s->nruntimes; i++) {
		bool was_seen = false;

		for (size_t j = 0; j < seen->n; j++)
			was_seen |= seen->addrs[j] == s->runtimes[i].addr;
		if (!was_seen && runtime_lacks_thread(&s->runtimes[i]))
			return true;
	}
	return false;
}

static const struct look *checks_thread_look_before(const struct checks *c,
                                                    const struct thread_info *th)
{
	for (size_t i = 0; i < c->nbefore; i++) {
		if (c->before[i].tid == th->tid)
			return &c->before[i];
	}
	return NULL;
}

/*
 * Whether the poll of the second look began before the first. A place says nothing of that: a proxy
 * that polls one task 25,000 times a second is found at the same line again and again.
 */
enum poll_age { POLL_ANEW, POLL_PERHAPS, POLL_SAME };

static enum poll_age checks_thread_poll_age(const struct look *before, const struct thread_info *th)
{
	if (before->has_poll && th->has_poll)
		return before->poll == th->poll ? POLL_SAME : POLL_ANEW;
	/* The call began in the poll of the first look, and nothing ends a poll inside a call. */
	return before->slept_on && before->wait && th->wait &&
	                       str_same(before->wait, th->wait->kind)
	               ? POLL_SAME
	               : POLL_PERHAPS;
}

/*
 * Whether the thread is blocked; with two snapshots: in the same wait in both. A healthy task that
 * sleeps for a moment in each of its polls is found in the same call, in another poll; without a
 * count of polls, a call that has no object must be one and the same.
 */
static bool checks_thread_is_blocked(const struct checks *c, const struct thread_info *th)
{
	const struct look *before;

	if (!checks_thread_polls(th) || !is_blocking(th->wait))
		return false;
	if (!c->two_looks)
		return true;
	before = checks_thread_look_before(c, th);
	if (!before || !str_same(before->wait, th->wait->kind) ||
	    before->object != th->wait->object || !str_same(before->task, th->task))
		return false;
	if (before->has_poll && th->has_poll)
		return before->poll == th->poll;
	return before->slept_on || th->wait->object;
}

static void checks_thread_of_task(struct checks *c, struct finding *f, const char *id)
{
	const char **tasks = NEW_ARRAY(c->a, const char *, 1);

	if (!id)
		return;
	tasks[0] = id;
	f->tasks = tasks;
	f->ntasks = f->all_tasks = 1;
}

static const char *running(struct arena *a, const struct thread_info *th)
{
	return th->task ? arena_printf(a, " polling task %s", th->task) : "";
}

void checks_blocked_worker(struct checks *c, const struct check *check)
{
	for (size_t i = 0; i < c->s->nthreads; i++) {
		const struct thread_info *th = &c->s->threads[i];

		if (!checks_thread_is_blocked(c, th))
			continue;
		struct finding *f = checks_add_finding(
			c, check, SEVERITY_WARNING, "thread #%u%s is blocked in %s%s", th->number,
			running(c->a, th), th->wait->phrase ? th->wait->phrase : th->wait->kind,
			c->two_looks ? ", seen twice" : "");
		f->more = arena_printf(c->a, "thread %u", th->number);
		checks_thread_of_task(c, f, th->task);
	}
}

const char *checks_thread_stuck(struct checks *c, const struct thread_info *th)
{
	const struct look *before = c->two_looks ? checks_thread_look_before(c, th) : NULL;

	if (checks_thread_is_blocked(c, th))
		return arena_printf(c->a, "is blocked in %s",
		                    th->wait->phrase ? th->wait->phrase : th->wait->kind);
	if (!before || !th->task || !checks_thread_polls(th) || !str_same(before->task, th->task) ||
	    checks_thread_poll_age(before, th) != POLL_SAME)
		return NULL;
	return arena_printf(c->a, "is in one poll of task %s", th->task);
}

void checks_long_poll(struct checks *c, const struct check *check)
{
	if (!c->two_looks) {
		*vec_push(&c->skipped) =
			c->stands_still
				? "long-poll: the process is stopped, so no poll makes progress"
				: "long-poll: it needs two looks at a live process";
		return;
	}
	for (size_t i = 0; i < c->s->nthreads; i++) {
		const struct thread_info *th = &c->s->threads[i];
		const struct look *before =
			checks_thread_polls(th) ? checks_thread_look_before(c, th) : NULL;
		const char *place = checks_thread_place(c->a, c->s, th);

		if (!before || !th->task || !str_same(before->task, th->task))
			continue;
		const struct task *task = snapshot_task(c->s, th->task, th->number);
		if (!task || task->addr != before->addr)
			continue;
		enum poll_age age = checks_thread_poll_age(before, th);
		if (age == POLL_ANEW)
			continue;
		bool same = place && str_same(place, before->place);
		struct finding *f = checks_add_finding(
			c, check, SEVERITY_WARNING,
			"thread #%u polls task %s in two looks %g s apart%s%s%s", th->number,
			th->task, c->interval, same ? ", both times at " : "", same ? place : "",
			age == POLL_SAME ? ", in the same poll"
					 : "; it may have been polled again meanwhile");
		f->possible = age != POLL_SAME;
		f->more = arena_printf(c->a, "thread %u", th->number);
		checks_thread_of_task(c, f, th->task);
	}
}

/* Counts the threads that poll for the runtime, and those of them that are blocked. */
static void count_workers(const struct checks *c, const struct runtime_info *r, size_t *all,
                          size_t *blocked)
{
	*all = *blocked = 0;
	for (size_t i = 0; i < c->s->nthreads; i++) {
		const struct thread_info *th = &c->s->threads[i];

		if (!runtime_is_driven_by(r, th))
			continue;
		++*all;
		*blocked += checks_thread_is_blocked(c, th);
	}
}

/*
 * Whether a pool has had jobs and no thread at both looks. At one look its first thread may be
 * being made; when none can be made, tokio 1.53 leaves the job in the queue without a word.
 */
static bool lacks_thread(const struct checks *c, const struct runtime_info *r)
{
	bool before = false;

	for (size_t i = 0; c->two_looks && i < c->nthreadless; i++)
		before |= r->addr && c->threadless[i] == r->addr;
	return before && runtime_lacks_thread(r);
}

void checks_starved_queue(struct checks *c, const struct check *check)
{
	for (size_t i = 0; i < c->s->nruntimes; i++) {
		const struct runtime_info *r = &c->s->runtimes[i];

		if (!lacks_thread(c, r))
			continue;
		checks_add_finding(c, check, SEVERITY_ERROR,
		                   "%" PRIu64
		                   " blocking job%s in the queue of runtime %u, of which the pool "
		                   "has no thread in two looks %g s apart: none could be made",
		                   r->blocking_queued, r->blocking_queued == 1 ? "" : "s", r->index,
		                   c->interval)
			->more = "runtimes";
	}
	for (size_t i = 0; i < c->s->nruntimes; i++) {
		const struct runtime_info *r = &c->s->runtimes[i];
		size_t all, blocked;

		count_workers(c, r, &all, &blocked);
		if (all && blocked == all && r->has_inject && r->inject_len)
			checks_add_finding(
				c, check, SEVERITY_ERROR,
				"%" PRIu64 " task%s in the queue of runtime %u, and %s",
				r->inject_len, r->inject_len == 1 ? "" : "s", r->index,
				all == 1 ? "its only worker is blocked"
					 : arena_printf(c->a, "all its %zu workers are blocked",
			                                all))
				->more = "info threads";
	}
	for (size_t i = 0; i < c->s->nthreads; i++) {
		const struct thread_info *th = &c->s->threads[i];
		const struct look *before = c->two_looks ? checks_thread_look_before(c, th) : NULL;

		if (th->role != THREAD_WORKER || !th->has_queue || !th->queue_len ||
		    !checks_thread_is_blocked(c, th) ||
		    (c->two_looks && (!before || !before->queue_len)))
			continue;
		checks_add_finding(c, check, SEVERITY_WARNING,
		                   "%" PRIu64
		                   " task%s in the queue of thread #%u, which is blocked",
		                   th->queue_len, th->queue_len == 1 ? "" : "s", th->number)
			->more = arena_printf(c->a, "thread %u", th->number);
	}
}
