#include "commands/time/condition.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/base/interval.h"
#include "commands/base/words.h"
#include "commands/time/sink.h"
#include "debugger/base/clock.h"
#include "debugger/base/nearest.h"
#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"
#include "runtimes/timeline/timeline.h"
#include "runtimes/trace/trace_key.h"

/*
 * The scan for tasks that wait for a thread takes at most one part in so many of the time. Those
 * that are polled at last are seen by the event of that.
 */
enum { SCAN_SHARE = 50, SCAN_NS = 10 * 1000000 };

static const struct {
	const char *name, *example; /* NULL: it has no limit */
	bool is_time;
} rows[] = {
	[CONDITION_POLL] = { "poll", "poll>50ms", true },
	[CONDITION_RUNNABLE] = { "runnable", "runnable>100ms", true },
	[CONDITION_ALIVE] = { "alive", "alive>1000", false },
	[CONDITION_DEADLOCK] = { "deadlock", NULL, false },
	[CONDITION_DEATH] = { "death", NULL, false },
};
enum { NROWS = sizeof(rows) / sizeof(*rows) };

/* ---- parsing ---- */

static struct error *condition_unknown(const char *name)
{
	const char *names[NROWS], *shown[NROWS];

	for (size_t i = 0; i < NROWS; i++) {
		names[i] = rows[i].name;
		shown[i] = rows[i].example ? rows[i].example : rows[i].name;
	}
	return nearest_error("unknown condition", name, names, shown, NROWS);
}

static struct error *condition_read_limit(const char *text, struct condition *ret)
{
	double seconds;

	if (!rows[ret->kind].is_time)
		return words_number(text, "a number of tasks", UINT32_MAX, &ret->limit);
	TRY(interval_read(text, &seconds));
	ret->limit = (uint64_t)(seconds * 1e9);
	return ret->limit ? NULL : error_new(ERR_USAGE, "the limit must be above 0");
}

struct error *condition_read(const char *text, struct condition *ret)
{
	SCRATCH(tmp);
	size_t len = strcspn(text, ">");
	const char *name = arena_strndup(&tmp, text, len), *limit = text[len] ? text + len + 1 : "";
	size_t kind = 0;

	while (kind < NROWS && strcmp(rows[kind].name, name) != 0)
		kind++;
	if (kind == NROWS)
		return condition_unknown(name);
	*ret = (struct condition){ .kind = (enum condition_kind)kind, .text = text };
	if (!rows[kind].example)
		return text[len] ? error_new(ERR_USAGE, "%s has no limit", name) : NULL;
	if (!*limit)
		return error_new(ERR_USAGE,
		                 "%s needs a limit, in quotes, since > is a sign of the shell: "
		                 "'%s'",
		                 name, rows[kind].example);
	return error_wrap(condition_read_limit(limit, ret), "%s", text);
}

void condition_events(const struct condition *c, bool events[TRACE_NEVENTS])
{
	bool polls = c->kind == CONDITION_POLL || c->kind == CONDITION_RUNNABLE;
	bool tasks = c->kind == CONDITION_ALIVE || c->kind == CONDITION_RUNNABLE;

	events[TRACE_POLL_START] |= polls;
	events[TRACE_POLL_END] |= polls;
	events[TRACE_SPAWN] |= tasks;
	events[TRACE_TERMINATE] |= tasks;
	events[TRACE_WAKE] |= c->kind == CONDITION_RUNNABLE;
}

/* ---- evaluation ---- */

/* Task or number that met a condition. */
struct cause {
	uint64_t task, number; /* its id; ns, or tasks */
	const char *type;      /* lives as long as the trace */
	bool over;             /* the cause has ended */
};

struct watched_condition {
	const struct condition *condition;
	bool is, was; /* met now, and at the last look */
	bool between; /* met since then, and over */
	struct cause now, then;
};

struct condition_watch {
	struct watched_condition list[CONDITION_MAX];
	size_t n;
	const struct sink_filter *filter;
	struct timeline *timeline;
	uint64_t now;  /* of the look */
	uint64_t scan; /* the time at which the next scan of all tasks is due */
};

static void condition_span_ended(const struct task_span *span, void *arg);

static struct timeline *condition_timeline(struct condition_watch *w)
{
	return timeline_new(TIMELINE_SPANS | TIMELINE_CALLS, condition_span_ended, w);
}

struct condition_watch *condition_watch_new(const struct condition *list, size_t n,
                                            const struct sink_filter *filter)
{
	struct condition_watch *w = alloc_zeroed(sizeof(*w));

	w->filter = filter;
	for (size_t i = 0; i < n && i < CONDITION_MAX; i++)
		w->list[w->n++].condition = &list[i];
	w->timeline = condition_timeline(w);
	return w;
}

void condition_watch_free(struct condition_watch *w)
{
	if (!w)
		return;
	timeline_free(w->timeline);
	free(w);
}

void condition_watch_freep(struct condition_watch **w)
{
	condition_watch_free(*w);
}

void condition_watch_begin(struct condition_watch *w, const struct snapshot *s, uint64_t time)
{
	timeline_free(w->timeline);
	w->timeline = condition_timeline(w);
	timeline_begin(w->timeline, s, time);
	for (size_t i = 0; i < w->n; i++)
		w->list[i].between = false;
}

/* Reports to all conditions of a kind that something has taken that long. */
static void condition_offer(struct condition_watch *w, enum condition_kind kind,
                            const struct cause *cause)
{
	if (kind != CONDITION_ALIVE && !sink_filter_has(w->filter, cause->task, cause->type))
		return;
	/* A time counts from the limit on, a number of tasks only above it. */
	uint64_t beyond = kind == CONDITION_ALIVE;

	for (size_t i = 0; i < w->n; i++) {
		struct watched_condition *c = &w->list[i];

		if (c->condition->kind != kind || cause->number < c->condition->limit + beyond)
			continue;
		if (cause->over && !c->between) {
			c->between = true;
			c->then = *cause;
		} else if (!cause->over && (!c->is || cause->number > c->now.number)) {
			c->is = true;
			c->now = *cause;
		}
	}
}

static void offer_runnable(struct condition_watch *w, const struct task_span *span,
                           struct moment to)
{
	const struct cause cause = {
		.task = span->task,
		.type = span->type,
		.number = moment_between(span->began, to),
		.over = !span->open,
	};

	if (span->doing == DOING_RUNNABLE && span->job == TRACE_TASK)
		condition_offer(w, CONDITION_RUNNABLE, &cause);
}

static void condition_span_ended(const struct task_span *span, void *arg)
{
	offer_runnable(arg, span, span->to);
}

static void span_open(const struct task_span *span, void *arg)
{
	struct condition_watch *w = arg;

	offer_runnable(w, span, moment_at(w->now));
}

static void offer_alive(struct condition_watch *w, bool over)
{
	condition_offer(w, CONDITION_ALIVE,
	                &(struct cause){ .number = timeline_alive_of(w->timeline, TRACE_TASK),
	                                 .over = over });
}

void condition_watch_add(struct condition_watch *w, const struct trace_item *item)
{
	timeline_add(w->timeline, item);
	if (item->event == TRACE_SPAWN)
		offer_alive(w, true);
	if (item->event != TRACE_POLL_END || item->job != TRACE_TASK || item->late)
		return;
	condition_offer(w, CONDITION_POLL,
	                &(struct cause){ item->task, item->poll_ns, item->type, true });
}

void condition_watch_lost(struct condition_watch *w, uint64_t time)
{
	timeline_lost(w->timeline, time);
	for (size_t i = 0; i < w->n; i++) {
		/* The event that has ended it may be among those that were lost. */
		if (w->list[i].condition->kind == CONDITION_RUNNABLE)
			w->list[i].between = false;
	}
}

static void call_open(struct timeline_call *call, void *arg)
{
	const struct trace_item *start = &call->start;
	struct condition_watch *w = arg;
	const struct cause cause = {
		.task = start->task,
		.type = start->type,
		.number = clock_between(start->time, w->now),
	};

	if (start->event == TRACE_POLL_START && start->job == TRACE_TASK)
		condition_offer(w, CONDITION_POLL, &cause);
}

static bool has_kind(const struct condition_watch *w, enum condition_kind kind)
{
	for (size_t i = 0; i < w->n; i++) {
		if (w->list[i].condition->kind == kind)
			return true;
	}
	return false;
}

/* Whether all tasks are looked at now: there may be very many. */
static bool scan(struct condition_watch *w)
{
	if (!has_kind(w, CONDITION_RUNNABLE) || w->now < w->scan)
		return false;
	uint64_t start = clock_now_ns();
	timeline_each_task(w->timeline, span_open, w);
	uint64_t pause = clock_since(start) * SCAN_SHARE;
	w->scan = w->now + (pause > SCAN_NS ? pause : SCAN_NS);
	return true;
}

static const char *describe(const struct condition *c, const struct cause *cause, struct arena *a)
{
	const char *name = name_short(a, cause->type ? cause->type : "unknown type"), *does;
	double ms = (double)cause->number / 1e6;

	if (c->kind == CONDITION_ALIVE)
		return arena_printf(a, "%" PRIu64 " tasks %s", cause->number,
		                    cause->over ? "existed" : "exist");
	if (c->kind == CONDITION_POLL)
		does = cause->over ? "was polled" : "has been polled";
	else
		does = cause->over ? "was runnable" : "has been runnable";
	return arena_printf(a, "task %s (%s) %s for %.1f ms", trace_key_text(a, cause->task), name,
	                    does, ms);
}

const struct condition *condition_watch_look(struct condition_watch *w, uint64_t now,
                                             struct arena *a, const char **why)
{
	const struct condition *found = NULL;

	w->now = now;
	for (size_t i = 0; i < w->n; i++)
		w->list[i].is = false;
	timeline_each_call(w->timeline, call_open, w);
	bool scanned = scan(w);
	offer_alive(w, false);
	for (size_t i = 0; i < w->n; i++) {
		struct watched_condition *c = &w->list[i];

		/* Between two scans nothing new is known. */
		if (c->condition->kind == CONDITION_RUNNABLE && !scanned)
			c->is = c->was;
		bool met = !c->was && (c->is || c->between);
		if (met && !found) {
			found = c->condition;
			*why = describe(found, c->is ? &c->now : &c->then, a);
		}
		c->was = c->is;
		c->between = false;
	}
	return found;
}
