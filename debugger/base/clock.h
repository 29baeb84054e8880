/* The monotonic clock, and time without a CPU. */
#ifndef DEBUGGER_BASE_CLOCK_H
#define DEBUGGER_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A time: ns of CLOCK_MONOTONIC. It is no number, so that nobody subtracts two: events are read
 * later than they happen, in an order that is not quite theirs, and an unsigned difference that
 * wraps is 18446744073.7 s.
 */
struct moment {
	uint64_t ns;
};

static inline struct moment moment_at(uint64_t ns)
{
	return (struct moment){ ns };
}

static inline bool moment_before(struct moment a, struct moment b)
{
	return a.ns < b.ns;
}

static inline bool moment_same(struct moment a, struct moment b)
{
	return a.ns == b.ns;
}

static inline struct moment moment_later(struct moment a, struct moment b)
{
	return a.ns > b.ns ? a : b;
}

/* Time from one moment to another, in ns; 0 if the second is not later. */
uint64_t moment_between(struct moment from, struct moment to);

/* The time now, in ns of CLOCK_MONOTONIC. */
uint64_t clock_now_ns(void);
/* Difference of two times; 0 if the second is not later: unsigned numbers would wrap. */
uint64_t clock_between(uint64_t from, uint64_t to);
/* Time since then, in ns of CLOCK_MONOTONIC. */
uint64_t clock_since(uint64_t time);
/* How long the calling thread has waited for a CPU since it began, in ns; 0: unknown. */
uint64_t clock_waited_ns(void);

#endif
