/*
 * The place where a task went to sleep: the chain of async functions that await each other, each
 * with its line. The states of nested coroutines lie in the task's own memory, and in boxes. A copy
 * of the few bytes that have them, taken when a poll has ended, tells the chain without a look at
 * the stack. A trait object, or one box too many, ends the chain: its type is the last that is
 * known.
 */
#ifndef RUNTIMES_PLACES_PLACE_H
#define RUNTIMES_PLACES_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "debugger/probe/probe_record.h"

struct inspector;
struct task_types;

struct trace_frame {
	const char *function; /* without generics: "app::run" */
	const char *file;     /* of the await; NULL: unknown */
	unsigned line;        /* 0: unknown */
	bool library;         /* file does not belong to the program's own code */
	const char *path; /* the whole path of file, which may not be its alone; NULL: unknown */
};

/*
 * Text that tells the file of a frame from all others: its path, else the file as it is shown,
 * which files of two crates may share. NULL: unknown.
 */
const char *trace_place_file(const struct trace_frame *f);

/* A place; equal places of one plan are the same object. */
struct trace_place {
	uint64_t number;                  /* from 1, of all places of a trace */
	const struct trace_frame *frames; /* outermost first; may be none */
	size_t nframes;
	const char *leaf; /* type of what the last one awaits; NULL: unknown */
	bool yields;      /* the task has only let others run; of a trace's own places */
	/*
	 * The chain goes on from the last frame, as far as types tell: what that awaits was not
	 * copied, or could not be. leaf is NULL.
	 */
	bool cut;
};

/* The innermost frame of the program's own code, else the innermost one; NULL: there is none. */
const struct trace_frame *trace_place_own(const struct trace_place *place);

struct place_plan;

/* The places of a trace. All zeros: none yet. */
struct places {
	struct map known; /* hash of a plan and its states -> struct trace_place */
	size_t n;
};

enum { PLACE_MAX = 1 << 20 /* places of a trace; further ones are not known */ };

/*
 * Plans what to copy of objects that have a future of that type at its offset, and fills pieces and
 * npieces of point. NULL: nothing of it can be known. Lives in a.
 */
const struct place_plan *place_plan_make(struct inspector *in, struct arena *a,
                                         const struct task_types *types, struct probe_point *point);
/* The place that a copy tells; NULL: none, or the copy is not whole. Frames live in a. */
const struct trace_place *place_of(struct places *places, struct inspector *in, struct arena *a,
                                   const struct place_plan *plan, const unsigned char *copy,
                                   size_t len);
void places_free(struct places *places);

#endif
