/* A profile as it is written, and its formats: one file each. */
#ifndef COMMANDS_PROFILE_PROFILE_VIEW_H
#define COMMANDS_PROFILE_PROFILE_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "commands/out/out.h"
#include "runtimes/timeline/cpu_profile.h"
#include "runtimes/timeline/time_profile.h"
#include "runtimes/trace/trace.h"

struct profile_view {
	const struct profile_tree *tree;
	const struct answer *answer;       /* with a snapshot of the program */
	const struct out_options *options; /* of text, and of all names */
	uint64_t samples;                  /* the number of looks; 0: all events were seen */
	const struct trace_plan *plan;     /* NULL: it samples */
	const bool *wanted;                /* events, by enum trace_event */
	const char *backend;
	struct trace_totals totals;
	uint64_t when_ns;                   /* since 1970 UTC: when it began */
	uint64_t start, duration_ns;        /* start: CLOCK_MONOTONIC */
	uint64_t inexact_spans, inexact_ns; /* of time_profile_inexact() */
	uint64_t untracked;                 /* tasks that were too many to follow */
	unsigned cpu_hz;                    /* samples of polls in a second; 0: none are wanted */
	const char
		*no_cpu; /* the reason why samples are missing, all or some; NULL: all are there */
	struct cpu_totals cpu; /* totals of these samples */
	const char *
		no_off; /* the reason why PROFILE_POLLING includes PROFILE_OFF; NULL: it does not */
};

/* The node's name for people, sanitised, in arena a: "app::run at src/main.rs:12". */
const char *profile_view_name(struct arena *a, const struct profile_view *v,
                              const struct profile_node *node);
/* The node's name without its place: "app::run". */
const char *profile_view_function(struct arena *a, const struct profile_view *v,
                                  const struct profile_node *node);
/*
 * The node that follows in depth-first order, each before its children; of NULL the first one.
 * NULL: it was the last.
 */
struct profile_node *profile_view_next(const struct profile_view *v,
                                       const struct profile_node *node);

/* Whether the profile can have time in a state. */
bool profile_view_has(const struct profile_view *v, enum profile_state state);

/* Caveats about the profile for its reader. */
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
/* The text of a note, in arena a; NULL: it does not apply. */
const char *profile_view_note(struct arena *a, const struct profile_view *v,
                              enum profile_note note);

/* The formats. All of them buffer in f; the caller flushes it and checks it for errors. */
void profile_text_write(FILE *f, const struct profile_view *v);
/*
 * Folded stacks for flame graphs: a line for each stack and state, "type;function at
 * file:line;[waiting] US".
 */
void profile_folded_write(FILE *f, const struct profile_view *v);
/* Format of pprof; f is used by its descriptor alone. ERR_OS. */
struct error *profile_pprof_write(FILE *f, const struct profile_view *v) MUST_CHECK;
/* A page for a browser. */
void profile_html_write(FILE *f, const struct profile_view *v);
void profile_json_write(FILE *f, const struct profile_view *v, bool line);

#endif
