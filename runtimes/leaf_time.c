/* Waiting for time: tokio::time. */
#include <inttypes.h>

#include "runtimes/leaf.h"
#include "runtimes/tokio.h"

enum { SLEEP_DEADLINE };

const struct layout_row leaf_time_layout[] = {
	/* 1.49 to 1.52 | 1.26 to 1.48 | 1.53 | 1.13 to 1.25 */
	[SLEEP_DEADLINE] = { "sleep.deadline", "type:tokio::time::sleep::Sleep",
	                     "entry.Traditional.0.deadline | entry.deadline | deadline"
	                     " | inner.deadline",
	                     .optional = true },
	{ 0 },
};

static const char *seconds_text(struct decoder *d, uint64_t ns)
{
	if (ns < UINT64_C(10000000000))
		return arena_printf(d->c->a, "%" PRIu64 ".%" PRIu64 " seconds", ns / 1000000000,
		                    ns / 100000000 % 10);
	return arena_printf(d->c->a, "%" PRIu64 " seconds", ns / 1000000000);
}

static struct error *decode_sleep(struct leaf *l)
{
	struct collector *c = l->d->c;
	struct value deadline;
	uint64_t due;
	bool found;

	TRY(leaf_place(l, l->v, leaf_time_layout[SLEEP_DEADLINE].path, &deadline, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the sleep has no deadline");
	TRY(tokio_read_instant(c->in, deadline, &due));
	wait_int(l, "deadline_ns", (int64_t)due);
	if (c->clock_paused) {
		wait_phrase(l, "sleep future of a runtime whose clock may be paused"
		               " (tokio::time::pause)");
		return NULL;
	}
	if (!c->now_known) {
		wait_phrase(l, "sleep future, deadline known but not the time of the core");
		return NULL;
	}
	int64_t left = (int64_t)(due - c->now_ns);
	wait_int(l, "remaining_ms", left / 1000000);
	wait_string(l, "now", c->now_is_bound ? "lower bound" : "exact");
	const char *bound = c->now_is_bound ? " [by the last tick of the timers in the core]" : "";
	if (left < 0)
		wait_phrase(l, "sleep future, sleeping already happened %s ago%s",
		            seconds_text(l->d, (uint64_t)-left), bound);
	else
		wait_phrase(l, "sleep future, sleeping %s%s%s", c->now_is_bound ? "at most " : "",
		            seconds_text(l->d, (uint64_t)left), bound);
	return NULL;
}

const struct leaf_row leaf_time_rows[] = {
	{ .type = "tokio::time::sleep::Sleep", .kind = "sleep", .decode = decode_sleep },
	{ 0 },
};
