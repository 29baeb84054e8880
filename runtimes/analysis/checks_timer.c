/* Checks whether timers fire: whether somebody turns the driver of their runtime. */
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/analysis/checks.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/wait_kind.h"

enum {
	MAX_LISTED = 8,
	LATE_MS = 100, /* tokio's wheel has ticks of 1 ms, and a worker turns it every 61 polls */
};

/* The overdue timers of a runtime. */
struct overdue {
	int64_t late_ms;    /* of the latest one */
	size_t ntasks;      /* tasks that wait for one */
	const char *first;  /* who waits: "task 5 (app::serve)" */
	bool is_sure;       /* one of them is certain to be in the timers of this runtime */
	bool is_blocked_on; /* a thread in block_on waits for one */
	const char *tasks[MAX_LISTED];
};

struct overdue_timers {
	struct checks *c;
	struct overdue *runtimes; /* by index */
	int64_t needed_ms;        /* overdue by less, a timer may yet have fired in time */
};

/* A task, or a thread in block_on, whose tree is searched. */
struct timer_owner {
	const struct task *task; /* NULL: the thread */
	const struct thread_info *thread;
	int runtime;
};

static const char *timer_owner_text(struct arena *a, const struct timer_owner *o)
{
	if (!o->task)
		return arena_printf(a, "thread #%u", o->thread->number);
	return checks_with_name(a, arena_printf(a, "task %s", o->task->id), o->task);
}

/*
 * A timer without a waker has fired already, and its task was polled since without polling it:
 * no driver is to blame.
 */
static bool is_overdue(const struct overdue_timers *o, const struct wait *w, int64_t *late_ms)
{
	int64_t remaining;

	if (strcmp(w->kind, "sleep") != 0 && strcmp(w->kind, "interval") != 0)
		return false;
	if (w->armed != WAKER_REGISTERED_YES || !wait_number(w, "remaining_ms", &remaining))
		return false;
	*late_ms = remaining < 0 ? -(remaining + 1) : 0;
	return *late_ms >= o->needed_ms;
}

static void add_overdue(struct overdue_timers *o, const struct timer_owner *owner,
                        const struct wait *w, int64_t late_ms)
{
	struct overdue *r;
	int64_t index;
	bool is_sure = wait_number(w, "runtime", &index);

	if (!is_sure)
		index = owner->runtime;
	if (index < 0 || (size_t)index >= o->c->s->nruntimes)
		return;
	r = &o->runtimes[index];
	if (late_ms > r->late_ms)
		r->late_ms = late_ms;
	if (!r->first || (is_sure && !r->is_sure))
		r->first = timer_owner_text(o->c->a, owner);
	r->is_sure |= is_sure;
	r->is_blocked_on |= !owner->task && is_sure;
	if (!owner->task)
		return;
	/* The timers of a task follow each other. */
	if (r->ntasks && r->ntasks <= MAX_LISTED && r->tasks[r->ntasks - 1] == owner->task->id)
		return;
	if (r->ntasks < MAX_LISTED)
		r->tasks[r->ntasks] = owner->task->id;
	r->ntasks++;
}

/* Adds the timers that a poll of the future reaches. */
static void search_timers(struct overdue_timers *o, const struct timer_owner *owner,
                          const struct future *f)
{
	int64_t late_ms;

	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch == BRANCH_POLLED)
			search_timers(o, owner, f->children[i]);
	}
	if (f->wait && f->wait->kind && is_overdue(o, f->wait, &late_ms))
		add_overdue(o, owner, f->wait, late_ms);
}

/* ---- who should turn the driver ---- */

/* Threads that drive a runtime. */
struct drivers {
	size_t all, stuck, polling; /* polling: those that are not stuck */
	const struct thread_info *first_stuck;
	const char *how; /* of the first one: "is blocked in std Mutex lock at 0x7f00" */
};

static struct drivers drivers_of(struct checks *c, const struct runtime_info *r)
{
	struct drivers ret = { 0 };

	for (size_t i = 0; i < c->s->nthreads; i++) {
		const struct thread_info *th = &c->s->threads[i];
		const char *how;

		if (!runtime_is_driven_by(r, th))
			continue;
		ret.all++;
		how = checks_thread_stuck(c, th);
		ret.polling += !how && th->task;
		if (!how)
			continue;
		if (ret.stuck++ == 0) {
			ret.first_stuck = th;
			ret.how = how;
		}
	}
	return ret;
}

/* Why the driver does not turn; NULL: it is not known, or the next moment may turn it. */
static const char *why_not_driven(struct checks *c, const struct runtime_info *r,
                                  const struct drivers *d)
{
	if (d->all == 0)
		return arena_printf(c->a, "no thread drives runtime %u", r->index);
	/* A worker that polls other tasks turns the driver between them. */
	if (d->stuck == 0 || d->polling)
		return NULL;
	if (d->all == 1)
		return arena_printf(c->a, "thread #%u, which drives runtime %u, %s",
		                    d->first_stuck->number, r->index, d->how);
	if (d->stuck == d->all)
		return arena_printf(c->a, "all %zu workers of runtime %u are stuck: thread #%u %s",
		                    d->all, r->index, d->first_stuck->number, d->how);
	return arena_printf(c->a, "thread #%u, a worker of runtime %u, %s, and the others are idle",
	                    d->first_stuck->number, r->index, d->how);
}

static void report_overdue(struct checks *c, const struct check *check,
                           const struct runtime_info *r, const struct overdue *o)
{
	struct drivers d = drivers_of(c, r);
	const char *why = why_not_driven(c, r, &d);
	double late = (double)(o->late_ms / 100) / 10;
	/* Somebody may enter the runtime later, unless a thread waits for its timer now. */
	bool certain = c->two_looks && o->is_sure && (d.all || o->is_blocked_on);
	const char *maybe = certain ? "" : "possibly, ";
	struct finding *f;

	if (!why)
		return;
	enum severity severity = certain ? SEVERITY_ERROR : SEVERITY_WARNING;
	if (o->ntasks + o->is_blocked_on < 2)
		f = checks_add_finding(c, check, severity,
		                       "%sthe timer of %s was due %g s ago and has not fired: %s",
		                       maybe, o->first, late, why);
	else
		f = checks_add_finding(c, check, severity,
		                       "%stimers of %zu tasks were due up to %g s ago and have not "
		                       "fired: %s; the first is that of %s",
		                       maybe, o->ntasks, late, why, o->first);
	f->possible = !certain;
	f->ntasks = o->ntasks < MAX_LISTED ? o->ntasks : MAX_LISTED;
	f->tasks = arena_memdup(c->a, o->tasks, f->ntasks * sizeof(*f->tasks));
	f->all_tasks = o->ntasks;
	f->more = d.first_stuck ? arena_printf(c->a, "thread %u", d.first_stuck->number)
	                        : "info threads";
}

/*
 * A timer that is overdue by more than the time between two looks was overdue at both: a deadline
 * does not change, and a timer that is set anew to a time in the past fires at the next turn.
 */
void checks_timer_overdue(struct checks *c, const struct check *check)
{
	struct overdue_timers o = {
		.c = c,
		.runtimes = NEW_ARRAY(c->a, struct overdue, c->s->nruntimes + 1),
		.needed_ms = LATE_MS + (c->two_looks ? (int64_t)(c->interval * 1000) : 0),
	};

	if (c->suspended) {
		*vec_push(&c->skipped) = "timer-overdue: the process is suspended, by a signal or "
					 "its cgroup, so no timer fires";
		return;
	}
	for (size_t i = 0; i < c->s->ntasks; i++) {
		const struct task *task = c->s->tasks[i];
		struct timer_owner owner = { task, NULL, (int)task->runtime };

		if (task->state == TASK_IDLE && !task->changed && task->root)
			search_timers(&o, &owner, task->root);
	}
	for (size_t i = 0; i < c->s->nthreads; i++) {
		const struct thread_info *th = &c->s->threads[i];
		struct timer_owner owner = { NULL, th, th->runtime };

		if (th->role == THREAD_BLOCK_ON && th->root && !th->root->running && !th->task)
			search_timers(&o, &owner, th->root);
	}
	for (size_t i = 0; i < c->s->nruntimes; i++) {
		if (o.runtimes[i].first)
			report_overdue(c, check, &c->s->runtimes[i], &o.runtimes[i]);
	}
}
