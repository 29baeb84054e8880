/* Rate of a breakpoint's hits, and how long the program stands still for them. */
#ifndef RUNTIMES_HITS_HIT_RATE_H
#define RUNTIMES_HITS_HIT_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* The hits since begin_ns. All zeros: they begin with the next one. */
struct hit_rate {
	uint64_t begin_ns, n, cost_ns;
	bool reported; /* it was worth a warning, which is given once */
};

/* A measured rate that is worth a warning. */
struct hit_cost {
	uint64_t per_second;
	unsigned percent; /* of the time that the program stood still for it; at most 100 */
};

/* Forgets the hits. now_ns: the time, of CLOCK_MONOTONIC. */
void hit_rate_begin(struct hit_rate *r, uint64_t now_ns);
/*
 * Adds n hits that have cost so much; now_ns: of CLOCK_MONOTONIC, behind them. True once: in at
 * least a second there were at least 10 of them, and they have cost a tenth of that time.
 */
bool hit_rate_add(struct hit_rate *r, uint64_t now_ns, uint64_t n, uint64_t cost_ns,
                  struct hit_cost *ret);

#endif
