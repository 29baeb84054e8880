/*
 * Comparisons that the tracer thread makes by itself (struct tracer_filter), so that a thread which
 * does not match passes a breakpoint without anything else: those of a scalar that is reached from
 * a register by offsets and loads alone.
 */
#ifndef RUNTIMES_QUERY_FRAME_FILTER_H
#define RUNTIMES_QUERY_FRAME_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/live/tracer.h"

struct inspector;

/* A number, or with is_bool 0 or 1. */
struct frame_filter_literal {
	bool is_bool, negative; /* negative: it is - number */
	uint64_t number;
};

/*
 * Fills reg, nloads, offset, size, value and is_signed of a filter that compares expression, as
 * frame_value() finds it at that pc, with a literal; order and differs are the caller's. False: it
 * is no such scalar, or cannot have that value. A thread that has no value matches.
 */
bool frame_filter(struct inspector *in, uint64_t pc, const char *expression,
                  const struct frame_filter_literal *literal, struct tracer_filter *ret);

#endif
