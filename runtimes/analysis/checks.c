#include "runtimes/analysis/checks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/analysis/view.h"

enum { MAX_LISTED = 8 };

const char *severity_name(enum severity severity)
{
	static const char *const names[] = {
		[SEVERITY_INFO] = "info",
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_ERROR] = "error",
	};

	return names[severity];
}

struct finding *checks_add_finding(struct checks *c, const struct check *check,
                                   enum severity severity, const char *format, ...)
{
	struct finding *f = vec_push(&c->found);
	va_list args;

	va_start(args, format);
	*f = (struct finding){ .check = check->name,
		               .severity = severity,
		               .text = arena_vprintf(c->a, format, args) };
	va_end(args);
	return f;
}

static void list_members(struct finding *f, const char **tasks, const struct graph *g,
                         const struct verdict *v)
{
	for (size_t i = 0; i < v->nmembers; i++) {
		const struct task *task = g->nodes[v->members[i]].task;

		f->all_tasks += task != NULL;
		if (task && f->ntasks < MAX_LISTED)
			tasks[f->ntasks++] = task->id;
	}
}

const char *checks_with_name(struct arena *a, const char *text, const struct task *task)
{
	const char *name = task ? task_name(task) : NULL;

	return name ? arena_printf(a, "%s (%s)", text, name) : text;
}

static void verdict_finding(struct checks *c, const struct check *check,
                            const struct verdict_group *alike)
{
	const struct graph *g = c->v->graph;
	const struct verdict *v = &c->v->list[alike->list[0]];
	const char **tasks = NEW_ARRAY(c->a, const char *, MAX_LISTED);
	bool possible = v->trust == VERDICT_POSSIBLE;
	STR(text);

	str_append(&text, possible ? "possibly, " : "");
	str_append(&text, verdict_text(c->a, g, v));
	if (alike->nbehind)
		str_printf(&text, "; %zu more behind%s", alike->nbehind,
		           alike->n > 1 ? " this and similar ones" : "");

	struct finding *f = checks_add_finding(
		c, check, possible ? SEVERITY_WARNING : SEVERITY_ERROR, "%s", str_text(&text));
	f->possible = possible;
	f->more = "async deadlocks";
	f->doubts = v->doubts;
	f->ndoubts = v->ndoubts;
	f->count = alike->n;
	f->others = verdict_group_others(c->a, c->v, alike);
	f->tasks = tasks;
	for (size_t i = 0; i < alike->n; i++)
		list_members(f, tasks, g, &c->v->list[alike->list[i]]);
}

static void verdicts_of(struct checks *c, const struct check *check, enum verdict_kind kind)
{
	if (!c->alikes) {
		struct verdict_groups *alikes = NEW(c->a, struct verdict_groups);

		verdict_groups_make(c->a, c->v, alikes);
		c->alikes = alikes;
	}
	for (size_t i = 0; i < c->alikes->n; i++) {
		const struct verdict_group *alike = &c->alikes->list[i];

		if (c->v->list[alike->list[0]].kind == kind)
			verdict_finding(c, check, alike);
	}
}

static void check_deadlock(struct checks *c, const struct check *check)
{
	verdicts_of(c, check, VERDICT_DEADLOCK);
}

static void check_futurelock(struct checks *c, const struct check *check)
{
	verdicts_of(c, check, VERDICT_FUTURELOCK);
	checks_unpolled_owner(c, check);
}

static void check_lost(struct checks *c, const struct check *check)
{
	verdicts_of(c, check, VERDICT_LOST);
	checks_no_waker(c, check);
}

const struct check checks_table[] = {
	{ "deadlock", "tasks that wait for each other", true, check_deadlock },
	{ "futurelock", "tasks that wait for a future of their own, which they do not poll", true,
	  check_futurelock },
	{ "no-waker", "tasks that nothing can wake", true, check_lost },
	{ "blocked-worker", "workers that sleep or wait in a call instead of polling", false,
	  checks_blocked_worker },
	{ "long-poll", "workers in the same poll at two looks", true, checks_long_poll },
	{ "starved-queue", "tasks that are ready, but not polled by any worker", false,
	  checks_starved_queue },
	{ "timer-overdue", "timers that are due, in a runtime that nobody drives", true,
	  checks_timer_overdue },
	{ "panicked-task", "tasks with a future that has panicked", false, checks_panicked },
	{ "closed-channel-wait", "tasks await on a channel whose other end is gone", true,
	  checks_closed_channel },
	{ "huge-future", "tasks whose future is 16 KiB or larger", false, checks_huge_future },
	{ "many-identical", "more than 1000 tasks, most of them at one place", false,
	  checks_identical },
	{ 0 },
};

static const struct finding *worst_first(struct checks *c)
{
	struct finding *sorted = NEW_ARRAY(c->a, struct finding, c->found.n);
	size_t n = 0;

	for (int severity = SEVERITY_ERROR; severity >= SEVERITY_INFO; severity--) {
		for (size_t i = 0; i < c->found.n; i++) {
			if ((int)c->found.data[i].severity == severity)
				sorted[n++] = c->found.data[i];
		}
	}
	return sorted;
}

static struct error *run_all(struct checks *c)
{
	for (const struct check *row = checks_table; row->name; row++) {
		TRY(interrupt_check());
		row->run(c, row);
	}
	return NULL;
}

struct error *checks_run(struct checks *c, struct checks_result *ret)
{
	struct error *err = run_all(c);

	*ret = (struct checks_result){
		.snapshot = c->s,
		.found = worst_first(c),
		.nfound = c->found.n,
		.skipped = arena_memdup(c->a, c->skipped.data,
		                        c->skipped.n * sizeof(*c->skipped.data)),
		.nskipped = c->skipped.n,
	};
	vec_free(&c->found);
	vec_free(&c->skipped);
	return err;
}
