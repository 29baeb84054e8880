/* A profile as it is written, and its formats: one file each. */
#ifndef COMMANDS_PROFILE_PROFILE_VIEW_H
#define COMMANDS_PROFILE_PROFILE_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "commands/out/out.h"
#include "runtimes/trace/cpu_profile.h"
#include "runtimes/trace/time_profile.h"
#include "runtimes/trace/trace.h"

struct profile_view {
	const struct profile_tree *tree;
	const struct answer *answer;       /* with a snapshot of the program */
	const struct out_options *options; /* of text, and of all names */
	uint64_t samples;                  /* how often it has looked; 0: it has seen all events */
	const struct trace_plan *plan;     /* NULL: it samples */
	const bool *wanted;                /* events, by enum trace_event */
	const char *backend;
	struct trace_totals totals;
	uint64_t when_ns;                   /* since 1970 UTC: when it began */
	uint64_t start, duration_ns;        /* start: CLOCK_MONOTONIC */
	uint64_t inexact_spans, inexact_ns; /* of time_profile_inexact() */
	uint64_t untracked;                 /* tasks that were too many to follow */
	unsigned cpu_hz;       /* samples in a second of what polls run; 0: none are wanted */
	const char *no_cpu;    /* why there are none, or which are missing; NULL: all are there */
	struct cpu_totals cpu; /* of them */
	const char *no_off;    /* why PROFILE_POLLING has PROFILE_OFF too; NULL: it has not */
};

/* Its name for people, sanitised, in arena a: "app::run at src/main.rs:12". */
const char *profile_view_name(struct arena *a, const struct profile_view *v,
                              const struct profile_node *node);
/* The same without its place: "app::run". */
const char *profile_view_function(struct arena *a, const struct profile_view *v,
                                  const struct profile_node *node);
/*
 * The node that follows in depth-first order, each before its children; of NULL the first one.
 * NULL: it was the last.
 */
struct profile_node *profile_view_next(const struct profile_view *v,
                                       const struct profile_node *node);

/* Whether there is a state to tell of. */
bool profile_view_has(const struct profile_view *v, enum profile_state state);

/* What a reader of the profile should know. */
enum profile_note {
	PROFILE_NOTE_LOST,
	PROFILE_NOTE_SAMPLES,
	PROFILE_NOTE_OFF,
	PROFILE_NOTE_UNTRACKED,
	PROFILE_NOTE_LATE,
	PROFILE_NOTE_NO_CPU,
	PROFILE_NOTE_CPU,
	PROFILE_NOTE_CPU_LOST,
	PROFILE_NOTE_CPU_CUT,
	PROFILE_NNOTES,
};
/* In arena a; NULL: it does not hold. */
const char *profile_view_note(struct arena *a, const struct profile_view *v,
                              enum profile_note note);

/* All buffer in f; the caller flushes it and looks for its errors. */
void profile_text_write(FILE *f, const struct profile_view *v);
/* For flame graphs: a line for each stack and state, "type;function at file:line;[waiting] US". */
void profile_folded_write(FILE *f, const struct profile_view *v);
/* For pprof; f is used by its descriptor alone. ERR_OS. */
struct error *profile_pprof_write(FILE *f, const struct profile_view *v) MUST_CHECK;
/* A page for a browser. */
void profile_html_write(FILE *f, const struct profile_view *v);
void profile_json_write(FILE *f, const struct profile_view *v, bool line);

#endif
