/* A trace; for trace.c and trace_events.c. */
#ifndef RUNTIMES_TRACE_TRACE_PRIVATE_H
#define RUNTIMES_TRACE_TRACE_PRIVATE_H

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "debugger/probe/probe.h"
#include "dwarf/module/code_map.h"
#include "runtimes/common/inspector.h"
#include "runtimes/trace/id_set.h"
#include "runtimes/trace/task_lives.h"
#include "runtimes/trace/trace.h"
#include "runtimes/trace/trace_threads.h"

/* The time that a trace covers; ns, CLOCK_MONOTONIC. */
struct trace_interval {
	uint64_t placed;    /* all points were in place */
	uint64_t known;     /* trace_seed_from_snapshot() was called; 0: it was not */
	uint64_t end;       /* before the first point was removed; 0: none is */
	uint64_t detach_ns; /* how long that took */
	bool detached;
	bool behind;      /* the buffer was not read to its end */
	uint64_t read_to; /* the latest event that was read */
};

/* Events that the buffer had no room for. */
struct trace_losses {
	uint64_t seen, reported, at_end; /* at_end: up to the interval's end */
	bool early; /* reported before the place of the loss among the events was read */
};

struct trace {
	struct inspector *in;
	struct trace_options options;
	struct trace_plan plan;
	struct trace_statics statics;
	struct probes *probes;
	uint64_t bias;    /* of a program that was executed later: see trace_executed() */
	bool is_mapped;   /* the program lies at its run-time addresses, also with a bias of 0 */
	size_t nattached; /* points, of the plan */
	size_t nframes; /* number of calls that lead to spawns, which the kernel's program knows */
	struct map polls;  /* run-time address of a poll function -> its point's index + 1 */
	struct map ends;   /* run-time addresses to which polls return */
	struct map tables; /* run-time address of a table -> index + 1 of its poll function */
	struct trace_threads threads;
	struct map libraries;    /* module that is no executable -> path of its descriptor */
	VEC(int) files;          /* descriptors of these libraries */
	struct map sites;        /* run-time address of a Location -> struct source_place */
	struct map ways;         /* hash of the calls that led to a spawn -> struct source_place */
	struct map types;        /* run-time address of a table -> type of its tasks */
	struct id_set seen;      /* tasks whose spawn was passed on, or that existed before */
	struct task_lives lives; /* tasks whose ids are addresses */
	const bool *has;         /* of the runtime of the record at hand */
	struct trace_interval interval;
	struct trace_losses losses;
	uint64_t spawned; /* id of the task that spawned_on has spawned just now */
	pid_t spawned_on;
	VEC(uint64_t) returns; /* run-time addresses of calls that return to new places */
	struct places places;
	struct trace_totals totals;
	trace_item_fn *visit;
	void *arg;
	struct arena arena;
};

/* Static probes have the indices from here on. */
enum { FIRST_STATIC = PROBE_MAX_POINTS / 2 };

/* The distance of run-time addresses from those of the file. */
uint64_t trace_load_bias(const struct trace *t, const struct code_map *code);
/*
 * The run-time address of a point. 0: unknown until the program is executed. One that is linked at
 * its own addresses has a bias of 0, as rustc -C relocation-model=static makes it.
 */
uint64_t trace_point_address(const struct trace *t, const struct trace_point *p);
/* Decodes a record of the kernel, and passes it on; arg: the trace. False: to stop. */
bool trace_take(const struct probe_record *r, const unsigned char *copy, void *arg);

#endif
