/* Breakpoints on events, for event_break.c and the files of events that are not of a task alone. */
#ifndef RUNTIMES_STEPPING_EVENT_BREAK_PRIVATE_H
#define RUNTIMES_STEPPING_EVENT_BREAK_PRIVATE_H

#include <regex.h>

#include "debugger/base/vec.h"
#include "runtimes/stepping/event_break.h"

struct breakpoint_place;
struct code_map;
struct inspector;
struct module;
struct trace_point;
struct type;

enum { DROP_MAX_HOLDERS = 4 };

/* An enum that holds the future of a task, in one variant: once that has ended, in none. */
struct drop_holder {
	const struct type *type;
	uint64_t offset; /* from event_break.base */
	const char *variant;
};

struct event_break {
	enum event_break_kind kind;
	const char *subject; /* of EVENT_BREAK_SPAWN what a type is to match, else the task's id */
	bool has_regex;      /* subject is one, and is compiled */
	regex_t regex;
	uint64_t key;                /* of the task: trace_key.h */
	uint64_t header;             /* its address; 0: it is not there yet */
	const struct module *module; /* module whose code polls it; NULL: not found yet */
	bool keeps;                  /* header and over hold in the next search */
	bool over;                   /* it has ended: its address may be that of another one */
	const char *task;            /* of the last hit; in hit_arena, as type and message */
	const char *type;            /* of its future; NULL: unknown */
	const struct code_map *std;  /* of a panic: the module that has rust_panic() */
	const char
		*message; /* of a panic or a deadlock, NULL: unknown; of a drop: in which state */
	/* Drops only: the coroutine of the future, in the memory of the task or in a box. */
	uint64_t future;
	uint64_t base; /* address of the task, or of the box */
	const struct type *future_type;
	struct drop_holder holders[DROP_MAX_HOLDERS];
	size_t nholders;
	uint64_t every_ns;      /* of a deadlock: between looks */
	VEC(const char *) seen; /* deadlocks that were reported, as texts; in arena */
	struct arena arena, hit_arena;
};

/* EVENT_BREAK_PANIC and EVENT_BREAK_TASK_PANIC: event_break_find() and event_break_decide(). */
struct error *panic_break_find(struct breakpoint *bp) MUST_CHECK;
struct error *panic_break_decide(struct breakpoint *bp, const struct internal_hit *hit,
                                 bool *counts) MUST_CHECK;

/*
 * EVENT_BREAK_DROP of a task that is there, which has that poll function: the places, in
 * bp->find_arena. Where drops are not seen, the note says so.
 */
struct error *drop_break_find(struct breakpoint *bp, const struct trace_point *poll, uint64_t entry,
                              struct breakpoint_place **ret, size_t *n) MUST_CHECK;
/*
 * Whether a thread at one of them drops the future, with that first argument. Only the first drop
 * counts, and not one of a future that has returned or panicked.
 */
bool drop_break_decide(struct event_break *e, struct inspector *in, uint64_t argument);

#endif
