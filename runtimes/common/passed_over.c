#include "runtimes/common/passed_over.h"

#include "debugger/base/clock.h"

/* The moment between a grant and the wake-up takes less, unless the thread loses its CPU. */
#define BETWEEN_LOOKS_NS UINT64_C(20000000)

/* Does the program run between two looks? */
static bool runs_between(const struct collector *c)
{
	const struct target *t = c->in->target;

	return t->ops->stop && !target_is_halted(t) && t->clock.known && !c->warm_up && !c->few;
}

bool passed_over_note(struct collector *c, uint64_t key)
{
	uint64_t now = c->in->target->clock.monotonic_ns, first;

	if (!runs_between(c))
		return false;
	first = (uintptr_t)map_get(&c->in->passed_over, key);
	if (first == 0 || first > now)
		first = now;
	map_put(&c->passed_over, key, (void *)(uintptr_t)first);
	bool certain = clock_between(first, now) >= BETWEEN_LOOKS_NS;
	c->in->look_again |= !certain;
	return certain;
}

void passed_over_keep(struct collector *c)
{
	if (runs_between(c)) {
		map_free(&c->in->passed_over);
		c->in->passed_over = c->passed_over;
		c->passed_over = (struct map){ 0 };
	}
	map_free(&c->passed_over);
}
