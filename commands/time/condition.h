/*
 * Conditions under which the flight recorder writes its file: `poll>50ms`. They are parsed here,
 * and those that events show are evaluated.
 */
#ifndef COMMANDS_TIME_CONDITION_H
#define COMMANDS_TIME_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "runtimes/trace/trace.h"

struct sink_filter;
struct snapshot;

enum condition_kind {
	CONDITION_POLL,     /* a poll of a task runs, or has run, as long as the limit */
	CONDITION_RUNNABLE, /* a task waits for a thread as long as the limit */
	CONDITION_ALIVE,    /* more tasks exist than the limit */
	CONDITION_DEADLOCK, /* `check` finds one; no event shows it */
	CONDITION_DEATH,    /* a signal has ended the program; no event shows it */
};

struct condition {
	enum condition_kind kind;
	const char *text; /* as it was typed; borrowed */
	uint64_t limit;   /* ns, or tasks */
};

enum { CONDITION_MAX = 16 /* conditions that are watched at a time */ };

/* ERR_USAGE. text must outlive *ret. */
struct error *condition_read(const char *text, struct condition *ret) MUST_CHECK;
/* Adds the events that show it. */
void condition_events(const struct condition *c, bool events[TRACE_NEVENTS]);

/* ---- evaluation ---- */

struct condition_watch;

/*
 * list: n of them, at most CONDITION_MAX. Polls and waits are those of the tasks that the filter
 * has. Both are borrowed. Never NULL.
 */
struct condition_watch *condition_watch_new(const struct condition *list, size_t n,
                                            const struct sink_filter *filter);
/* NULL is allowed. */
void condition_watch_free(struct condition_watch *w);
void condition_watch_freep(struct condition_watch **w);

/*
 * Supplies the tasks that exist: the snapshot and the time are those of timeline_begin(). Earlier
 * state is forgotten.
 */
void condition_watch_begin(struct condition_watch *w, const struct snapshot *s, uint64_t time);
void condition_watch_add(struct condition_watch *w, const struct trace_item *item);
/* Events were lost: state that depends on the last event of a task or thread is unknown. */
void condition_watch_lost(struct condition_watch *w, uint64_t time);

/*
 * Call it every few milliseconds, when all events before now (ns, CLOCK_MONOTONIC) were added. The
 * first condition that is met now and was not at the last call, or was in between; NULL: none. Then
 * *why, in arena a, is a clause: "task 7 (app::handle) has been polled for 51.2 ms".
 */
const struct condition *condition_watch_look(struct condition_watch *w, uint64_t now,
                                             struct arena *a, const char **why);

#endif
