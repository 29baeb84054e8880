/* Tests that the tracer makes by itself at a breakpoint with a condition: see frame_filter.h. */
#ifndef RUNTIMES_HITS_PREDICATE_FILTER_H
#define RUNTIMES_HITS_PREDICATE_FILTER_H

#include "debugger/live/tracer.h"
#include "runtimes/hits/predicate.h"

struct inspector;

/* Place at which the condition is evaluated. */
struct predicate_place {
	struct inspector *in;
	uint64_t pc;
	/* A test whether the thread runs the task with that number; false: there is none. */
	bool (*number_filter)(void *arg, uint64_t number, struct tracer_filter *ret);
	void *arg;
};

/*
 * Finds a test without which the condition is not true: where it fails, the whole condition need
 * not be evaluated. Of the two sides of && one is enough. False: there is none.
 */
bool predicate_filter(const struct predicate_place *at, const struct predicate *p,
                      struct tracer_filter *ret);

#endif
