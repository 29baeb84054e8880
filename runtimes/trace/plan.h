/*
 * The plan of a trace: the places in the program's code where the events of its runtimes can be
 * seen, and the meaning of a hit there. It is made from debug info and machine code alone.
 */
#ifndef RUNTIMES_TRACE_PLAN_H
#define RUNTIMES_TRACE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/probe/probe_record.h"

struct code_map;
struct inspector;
struct module;
struct place_plan;
struct probe_id;
struct runtime;
struct worker_job_plan;

/* The events of a trace. The first eight have the names of tokio-dtrace's probes. */
enum trace_event {
	TRACE_SPAWN,
	TRACE_POLL_START,
	TRACE_POLL_END,
	TRACE_TERMINATE,
	TRACE_WORKER_START,
	TRACE_WORKER_STOP,
	TRACE_PARK,
	TRACE_UNPARK,
	TRACE_WAKE,
	TRACE_USDT, /* a static probe of the program's own: only where they are asked for */
	TRACE_NEVENTS,
};
/* "task-spawn". */
const char *trace_event_name(enum trace_event event);
bool trace_event_named(const char *name, enum trace_event *ret);

/* Kind of a task. */
enum trace_job {
	TRACE_TASK,     /* an async task */
	TRACE_BLOCKING, /* a job of a blocking pool */
	TRACE_WORKER,   /* the job of a blocking pool that runs a worker: no task of the program */
	TRACE_UNKNOWN_JOB,
	TRACE_NJOBS,
};

enum trace_role {
	TRACE_AT_POLL,   /* entry of a task's poll function */
	TRACE_AT_RETURN, /* code that runs when such a call, or that of TRACE_AT_PARK, returns */
	TRACE_AT_WAKE,
	TRACE_AT_WAKER,
	TRACE_AT_SPAWN,
	TRACE_AT_END,
	TRACE_AT_PARK, /* entry of a function in which a thread waits for work */
};

struct trace_point {
	enum trace_role role;
	const struct runtime *runtime;
	size_t copy; /* index of the copy of the runtime */
	const struct code_map *code;
	const bool *has; /* by enum trace_event: those of the runtime that its points show */
	const struct probe_id *id; /* the way to find the ids of its tasks */
	const char *function;      /* its name, without generics; NULL: unknown */
	const char *type;   /* of the future that it polls; NULL: unknown, or not TRACE_AT_POLL */
	enum trace_job job; /* of TRACE_AT_POLL */
	uint64_t size;      /* of that future, or of the one in the box that it is; 0: unknown */
	bool boxed;         /* the future is a box */
	bool shared;    /* the point is in a function that the named one leads to, and others too */
	uint64_t entry; /* of the function, or the address to which a call returns; link-time */
	unsigned parameter; /* of the function that has the task's header, 0 to 2 */
	uint64_t address;   /* of the point; link-time */
	uint64_t offset;    /* of the point, in the file */
	bool inside;        /* the point is not the function's entry, but within it */
	uint64_t stored_at; /* of one behind a store: the instruction; link-time; 0: of another */
	bool of_park;       /* of TRACE_AT_RETURN: only calls of TRACE_AT_PARK return there */
	/* Condition of TRACE_AT_PARK: calls count whose argument has this in its lower half. */
	bool has_none;
	uint32_t none;
	bool queues;                     /* of TRACE_AT_WAKER: as in struct probe_row */
	bool for_place;                  /* of TRACE_AT_SPAWN: as in struct probe_row */
	bool of_jobs;                    /* of TRACE_AT_SPAWN: as in struct probe_row */
	const char *never_through;       /* of TRACE_AT_SPAWN: as in struct probe_row */
	bool slow;                       /* the kernel needs a single step there */
	const struct place_plan *places; /* of TRACE_AT_POLL; NULL: where it sleeps stays unknown */
	const struct worker_job_plan *worker; /* of a TRACE_WORKER; NULL: which one is unknown */
	struct probe_point kernel;
};

struct trace_missing {
	enum trace_event event;
	const char *reason;
	const char *runtime; /* its name; NULL: of the whole program */
	bool never;          /* the runtime has no such event: nothing is missing */
};

/* A key that the events of a runtime's tasks do not have. */
struct trace_missing_key {
	enum trace_event event;
	const char *key, *reason, *runtime;
};

struct trace_plan {
	struct arena *arena;
	struct trace_point *points;
	size_t n;
	/* Events that the points show, each of them always, of one runtime at least. */
	bool has[TRACE_NEVENTS];
	struct trace_missing *missing;
	size_t nmissing;
	struct trace_missing_key *missing_keys;
	size_t nmissing_keys;
	/*
	 * Points show uses of wakers. Where the compiler has inlined the function too, as it may
	 * with LTO, some are not seen.
	 */
	bool has_wakers;
	/*
	 * Ends of polls of jobs of a blocking pool alone that are seen only by the thread's next
	 * event, though those of tasks are seen themselves. reason NULL: there are none.
	 */
	struct trace_missing late_job_ends;
	size_t nslow;    /* points that are slow */
	size_t left_out; /* points that would be slow, and were not wanted */
	bool late_ends;  /* some ends of polls are seen only by the thread's next event */
	bool nameless;   /* made without symbols and debug info: only polls are known */
};

/*
 * Makes the plan of all runtimes of the program that have probe points; in must have taken a
 * snapshot. slow: use points that need a single step. ret lives in a. ERR_NO_DEBUGINFO: its
 * functions cannot be found; ERR_LAYOUT: it has no runtime with such points; ERR_UNSUPPORTED:
 * another machine, or a layout file of another build.
 */
struct error *trace_plan_make(struct inspector *in, bool slow, struct arena *a,
                              struct trace_plan *ret) MUST_CHECK;

/* The code of a point, for a writer of probes outside of this folder. */
struct trace_point_code {
	const struct module *module;
	bool stripped; /* the module has no symbols: names are those of a layout file */
	/*
	 * A task's header has the address of a table at table_offset, and the table at id_slot the
	 * offset of the id from the header, and at poll_slot the poll function.
	 */
	uint64_t table_offset, id_slot, poll_slot;
};
struct trace_point_code trace_point_code(const struct trace_point *p);

/* Advice for a plan without names, for the end of a sentence. */
extern const char trace_plan_remedy[];

/* A plan without points, for the given reason. */
void trace_plan_without(struct arena *a, const char *reason, struct trace_plan *ret);

/*
 * Adds the points for an address, link-time in that module, to which calls of a TRACE_AT_POLL or
 * TRACE_AT_PARK return; plan->points may move. False: none was added, because they are there
 * already, or the code at the address cannot be used.
 */
bool trace_plan_add_return(struct trace_plan *plan, struct inspector *in,
                           const struct code_map *code, uint64_t address, bool slow);

#endif
