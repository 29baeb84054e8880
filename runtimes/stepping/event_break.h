/*
 * Breakpoints on events of tasks: they are numbered like those on places in the code, and halt
 * where the code of a runtime makes the event. The thread that halts causes it: of a wake the one
 * that wakes.
 */
#ifndef RUNTIMES_STEPPING_EVENT_BREAK_H
#define RUNTIMES_STEPPING_EVENT_BREAK_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

struct breakpoint;
struct breakpoint_place;
struct debuggee;
struct internal_hit;

enum event_break_kind {
	EVENT_BREAK_NONE,   /* the breakpoint is on a place */
	EVENT_BREAK_RESUME, /* a task is polled */
	EVENT_BREAK_WAKE, /* a task that slept is woken, or one that is polled is to be polled again
	                   */
	EVENT_BREAK_SPAWN, /* a task of a certain type of future is made */
	EVENT_BREAK_DONE,  /* a task has ended, by itself or aborted */
	EVENT_BREAK_DROP,  /* the future of a task is dropped before it has returned */
	/* Catches: of the program, not of a certain task. */
	EVENT_BREAK_PANIC,      /* a panic, before anything is unwound */
	EVENT_BREAK_TASK_PANIC, /* a panic that ends a task: only the runtime catches it */
	EVENT_BREAK_DEADLOCK,   /* a look from time to time has found a certain deadlock */
	EVENT_BREAK_NKINDS,
};

/* State of a breakpoint on an event. */
struct event_break;

/* "on-wake": the option, and the value of "event" in JSON. NULL for EVENT_BREAK_NONE. */
const char *event_break_name(enum event_break_kind kind);
bool event_break_is_catch(enum event_break_kind kind);

/*
 * ERR_USAGE if subject is nothing that such an event can have: of EVENT_BREAK_SPAWN it is a regular
 * expression, or a part of the type's name; of the others the id of a task.
 */
struct error *event_break_check(enum event_break_kind kind, const char *subject) MUST_CHECK;
/* subject was checked, and is copied. every_ns: of EVENT_BREAK_DEADLOCK, the time between looks. */
struct event_break *event_break_new(enum event_break_kind kind, const char *subject,
                                    uint64_t every_ns);
/* NULL is allowed. */
void event_break_free(struct event_break *e);

enum event_break_kind event_break_kind_of(const struct event_break *e);
/*
 * Text about the last hit: "task 12 is woken". by: the id of the task that the thread runs; NULL:
 * none. In the arena.
 */
const char *event_break_describe(const struct event_break *e, const char *by, struct arena *a);
/* The id of the task of the last hit; NULL: unknown. */
const char *event_break_task(const struct event_break *e);

/*
 * Finds the places of a breakpoint on an event in the program of its debuggee: bp->places and
 * bp->note, in bp->find_arena. A number of a task that is not there yet is looked for when tasks
 * are made. No place: the note says why; bp->pending: a library that is loaded may have one.
 */
struct error *event_break_find(struct breakpoint *bp) MUST_CHECK;
/* The next search is in the same program: what is known of its task holds. */
void event_break_keep(struct event_break *e);
/*
 * Whether a thread at a place causes the event: *counts. May find the places of its breakpoint
 * again: place is not valid afterwards.
 */
struct error *event_break_decide(const struct breakpoint_place *place,
                                 const struct internal_hit *hit, bool *counts) MUST_CHECK;

/* A task that a thread has just made. */
struct event_task {
	uint64_t header; /* its address; 0: none was made */
	uint64_t key;
	uint64_t poll;                  /* its poll function, whose first argument is the header */
	uint64_t table_offset, id_slot; /* as in struct probe_id */
	const struct type *future;      /* NULL: unknown */
	uint64_t future_at;             /* its address */
};

typedef struct error *event_spawn_fn(void *arg, uint64_t addr);
/*
 * Calls visit with each address at which the program's code makes a task, up to an error. *unseen:
 * why tasks may be made elsewhere, too; NULL: they are not. Reads the code once for a program.
 */
struct error *event_break_spawns(struct debuggee *d, event_spawn_fn *visit, void *arg,
                                 const char **unseen) MUST_CHECK;
/* The task that a thread makes which has come to such an address. */
struct error *event_break_spawned(struct debuggee *d, const struct internal_hit *hit,
                                  struct event_task *ret) MUST_CHECK;
/* Whether the task is still the one that its memory has. */
bool event_break_has_task(struct debuggee *d, const struct event_task *task);

/*
 * Lets the program be looked at for those of EVENT_BREAK_DEADLOCK that are enabled, the next time
 * that it runs.
 */
void deadlock_break_prepare(struct debuggee *d);

/* Forgets where the program's code makes events: it is another program, or gone. */
void event_break_forget(struct debuggee *d);

#endif
