/* A poll that takes long, as an answer. */
#ifndef COMMANDS_TIME_STALL_H
#define COMMANDS_TIME_STALL_H

#include "commands/out/out.h"

struct trace_item;

/* A poll that takes long. */
struct stall {
	const struct trace_item *item; /* its start, or its end */
	uint64_t ns;                   /* its duration so far */
	bool over;                     /* the poll has ended */
	bool before;                   /* the poll began before the trace: it has run longer */
	/*
	 * Number of looks in a row at which the task was polled, without a trace; ns passed from
	 * the first to the last. Between two looks another poll may have begun. 0: seen by a trace.
	 */
	unsigned looks;
};

/* Called before the stack of its thread, if that is shown. */
void part_stall(struct out *o, const struct stall *stall);

#endif
