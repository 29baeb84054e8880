/*
 * Writes a trace for Perfetto, as its protobuf messages (protos/perfetto/trace of Perfetto 59: the
 * numbers of fields and constants are in perfetto.c). It is written as it goes: memory does not
 * grow with the trace. Events may come in any order of time; a reader sorts them.
 *
 * What this file knows are processes, threads, tracks and events, not what they mean.
 *
 * Every function that writes returns the first error of the file once (ERR_OS: a full disk), ends
 * the file behind the last whole packet where that is possible, and after that does nothing and
 * returns NULL: a part of a trace is a trace, too.
 */
#ifndef COMMANDS_PERFETTO_PERFETTO_H
#define COMMANDS_PERFETTO_PERFETTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/error.h"

struct perfetto;

/* A moment on three clocks, in ns. */
struct perfetto_clocks {
	uint64_t monotonic; /* the clock of all events */
	uint64_t boottime, realtime;
};
/* Reads the clocks. */
struct perfetto_clocks perfetto_clocks_now(void);

/*
 * Begins a trace of one process at the current place of fd, which is borrowed. Names are sanitised
 * here and below, and cut after 4096 bytes. *ret is owned by the caller until perfetto_close().
 */
struct error *perfetto_open(int fd, const struct perfetto_clocks *clocks, int pid,
                            const char *process, struct perfetto **ret) MUST_CHECK;

/* ---- tracks ---- */

/* The track of the process. Tracks are numbers, unique within the trace and never 0. */
enum { PERFETTO_PROCESS = 1 };

/* A thread's track. */
struct error *perfetto_add_thread(struct perfetto *p, int tid, const char *name, uint64_t *ret)
	MUST_CHECK;
/* A track of its own below another one, which may be PERFETTO_PROCESS: a group, or a task in it. */
struct error *perfetto_add_track(struct perfetto *p, uint64_t parent, const char *name,
                                 uint64_t *ret) MUST_CHECK;
/* A track of numbers below another one. unit: such as "tasks", NULL none. */
struct error *perfetto_add_counter(struct perfetto *p, uint64_t parent, const char *name,
                                   const char *unit, uint64_t *ret) MUST_CHECK;

/* ---- events ---- */

enum { PERFETTO_MAX_VALUES = 8 };

struct perfetto_value {
	const char *key;
	const char *text; /* NULL: the value is the number */
	int64_t number;
};

struct perfetto_event {
	uint64_t time; /* ns of CLOCK_MONOTONIC */
	uint64_t track;
	const char *name; /* NULL: none, as for an end */
	/*
	 * An arrow goes from the event that has an id as flow_out to the one that has it as
	 * flow_in; 0: none. An id is used for one arrow. Each event that has one must be a begin or
	 * an instant.
	 */
	uint64_t flow_out, flow_in;
	const struct perfetto_value *values; /* nvalues of them, at most PERFETTO_MAX_VALUES */
	size_t nvalues;
};

/*
 * Slices of a track nest. An end that no begin precedes, as of a poll that began before the trace,
 * is left out and counted. Its values are added to those of its begin.
 */
struct error *perfetto_begin(struct perfetto *p, const struct perfetto_event *e) MUST_CHECK;
struct error *perfetto_end(struct perfetto *p, const struct perfetto_event *e) MUST_CHECK;
struct error *perfetto_instant(struct perfetto *p, const struct perfetto_event *e) MUST_CHECK;
/* Ends all open slices, with these values: their further course is unknown. */
struct error *perfetto_end_all(struct perfetto *p, uint64_t time,
                               const struct perfetto_value *values, size_t nvalues) MUST_CHECK;
/* A new value of a counter. */
struct error *perfetto_count(struct perfetto *p, uint64_t time, uint64_t counter, int64_t value)
	MUST_CHECK;

/* ---- the end ---- */

/* Writes buffered packets, so that another program can read all up to here. */
struct error *perfetto_flush(struct perfetto *p) MUST_CHECK;
/* Ends all open slices, at the latest time seen or at time, whichever is later, and flushes. */
struct error *perfetto_finish(struct perfetto *p, uint64_t time) MUST_CHECK;

struct perfetto_counts {
	uint64_t events;    /* events that were accepted, the ends of perfetto_finish() too */
	uint64_t unmatched; /* ends that were left out */
	uint64_t bytes;     /* in the file, in whole packets */
	bool failed;        /* the file has less than that */
};
struct perfetto_counts perfetto_counts(const struct perfetto *p);

/* Frees it; buffered packets are lost without perfetto_finish(). NULL is allowed. */
void perfetto_close(struct perfetto *p);
/* For CLEANUP(perfetto_closep). */
void perfetto_closep(struct perfetto **p);

#endif
