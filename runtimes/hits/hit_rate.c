#include "runtimes/hits/hit_rate.h"

#include "debugger/base/clock.h"

enum { WINDOW_NS = 1000000000, MIN_HITS = 10, MIN_PERCENT = 10 };

void hit_rate_begin(struct hit_rate *r, uint64_t now_ns)
{
	*r = (struct hit_rate){ .begin_ns = now_ns, .reported = r->reported };
}

bool hit_rate_add(struct hit_rate *r, uint64_t now_ns, uint64_t n, uint64_t cost_ns,
                  struct hit_cost *ret)
{
	/* The time of the first hits belongs to what is measured. */
	if (!r->begin_ns)
		hit_rate_begin(r, clock_between(cost_ns, now_ns));
	r->n += n;
	r->cost_ns += cost_ns;
	uint64_t gone = clock_between(r->begin_ns, now_ns);

	if (r->reported || gone < WINDOW_NS)
		return false;
	double seconds = (double)gone / WINDOW_NS, share = (double)r->cost_ns / (double)gone * 100;
	*ret = (struct hit_cost){ .per_second = (uint64_t)((double)r->n / seconds + 0.5),
		                  .percent = share > 100 ? 100 : (unsigned)(share + 0.5) };
	r->reported = r->n >= MIN_HITS && ret->percent >= MIN_PERCENT;
	r->begin_ns = 0;
	return r->reported;
}
