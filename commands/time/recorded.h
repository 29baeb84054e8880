/* A file that a flight recorder wrote, as an answer. */
#ifndef COMMANDS_TIME_RECORDED_H
#define COMMANDS_TIME_RECORDED_H

#include "commands/out/out.h"

/* File written by a flight recorder. */
struct recorded {
	const char *path;
	const char *when;            /* the condition: "poll>50ms" */
	const char *why;             /* a clause */
	uint64_t events, lost;       /* events in the file, and missing in it */
	uint64_t duration_ns;        /* from its first event on */
	const char *snapshot, *core; /* files; NULL: there is none */
	int signal;                  /* the signal that ended the program; 0: none, or unknown */
};

void part_recorded(struct out *o, const struct recorded *what);

#endif
