/* Decodes waits for time: tokio::time. */
#include <inttypes.h>
#include <string.h>

#include "runtimes/future/deadline.h"
#include "runtimes/tokio/tokio.h"
#include "runtimes/tokio/tokio_leaf.h"

enum {
	SLEEP_DEADLINE,
	SLEEP_TIMER,
	SLEEP_REGISTERED,
	SLEEP_INITIAL,
	SLEEP_WAKER,
	INTERVAL_DEADLINE,
	INTERVAL_WAKER,
	INTERVAL_SECONDS,
	INTERVAL_NANOS,
};

const struct binding_row leaf_time_layout[] = {
	/* 1.49 to 1.52 | 1.26 to 1.48 | 1.53 | 1.13 to 1.25 */
	[SLEEP_DEADLINE] = { "sleep.deadline", "type:tokio::time::sleep::Sleep",
	                     "entry.Traditional.0.deadline | entry.deadline | deadline"
	                     " | inner.deadline",
	                     .optional = true },
	/* 1.53: is there a timer in the wheel? */
	[SLEEP_TIMER] = { "sleep.timer", "type:tokio::time::sleep::Sleep", "timer",
	                  .optional = true },
	/* 1.49 to 1.52 | 1.26 to 1.48 */
	[SLEEP_REGISTERED] = { "sleep.registered", "type:tokio::time::sleep::Sleep",
	                       "entry.Traditional.0.registered | entry.registered",
	                       .optional = true },
	/* up to 1.25: None once it is registered */
	[SLEEP_INITIAL] = { "sleep.initial", "type:tokio::time::sleep::Sleep",
	                    "entry.initial_deadline", .optional = true },
	/* 1.53 | 1.49 to 1.52 | before */
	[SLEEP_WAKER] = { "sleep.waker", "type:tokio::time::sleep::Sleep",
	                  "timer.Traditional.0.inner.state.waker"
	                  " | entry.Traditional.0.inner.state.waker | entry.inner.state.waker",
	                  .optional = true },
	/* Paths to the Sleep inside an Interval. */
	[INTERVAL_DEADLINE] = { "interval.deadline", "type:tokio::time::interval::Interval",
	                        "delay.entry.Traditional.0.deadline | delay.entry.deadline"
	                        " | delay.deadline | delay.inner.deadline",
	                        .optional = true },
	[INTERVAL_WAKER] = { "interval.waker", "type:tokio::time::interval::Interval",
	                     "delay.timer.Traditional.0.inner.state.waker"
	                     " | delay.entry.Traditional.0.inner.state.waker"
	                     " | delay.entry.inner.state.waker",
	                     .optional = true },
	[INTERVAL_SECONDS] = { "interval.seconds", "type:tokio::time::interval::Interval",
	                       "period.secs", .optional = true },
	[INTERVAL_NANOS] = { "interval.nanos", "type:tokio::time::interval::Interval",
	                     "period.nanos", .optional = true },
	{ 0 },
};

/* Paths to the Handle of the runtime that has the timer: 1.53 | 1.49 to 1.52 | 1.26 to 1.48 */
static const char sleep_driver[] = "driver | entry.Traditional.0.driver | entry.driver";
static const char interval_driver[] =
	"delay.driver | delay.entry.Traditional.0.driver | delay.entry.driver";

/* Reads the deadline that the path leads to, and fills the wait's details. */
static struct error *read_due(const struct leaf *l, const char *path, struct deadline *ret)
{
	static const char paused[] = " of a runtime whose clock may be paused (tokio::time::pause)";
	struct value deadline;
	bool found;

	TRY(leaf_place(l, l->v, path, &deadline, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the %s has no deadline", l->w->kind);
	return deadline_read(l, deadline, l->d->c->clock.paused ? paused : NULL,
	                     l->d->c->clock.timers_run, ret);
}

/* Resolves a path that this version may not have. */
static struct error *optional_place(const struct leaf *l, const char *path, struct value *ret,
                                    bool *found)
{
	const struct path *p = inspector_optional_path(l->d->c->in, l->v.type, path);

	*found = false;
	return p ? path_eval(l->d->c->in->target, p, l->v, ret, found) : NULL;
}

/* The variant at that path; NULL where this version has no such member. */
static struct error *leaf_time_variant_at(const struct leaf *l, const char *path, const char **ret)
{
	struct value place;
	bool found;

	*ret = NULL;
	TRY(optional_place(l, path, &place, &found));
	return found ? value_enum_name(l->d->c->in->target, place, ret) : NULL;
}

/* Has it been polled, and so been put into the timer wheel? */
static struct error *sleep_is_registered(const struct leaf *l, bool *ret, bool *known)
{
	const char *variant;
	uint64_t number;

	*known = true;
	TRY(leaf_time_variant_at(l, leaf_time_layout[SLEEP_TIMER].path, &variant));
	if (variant) {
		*ret = strcmp(variant, "Some") == 0;
		return NULL;
	}
	TRY(leaf_time_variant_at(l, leaf_time_layout[SLEEP_INITIAL].path, &variant));
	if (variant) {
		*ret = strcmp(variant, "None") == 0;
		return NULL;
	}
	TRY(leaf_optional_uint(l, l->v, leaf_time_layout[SLEEP_REGISTERED].path, &number, known));
	*ret = *known && number == 1;
	return NULL;
}

static struct error *decode_sleep(struct leaf *l)
{
	struct deadline due;
	bool registered, known;

	TRY(read_due(l, leaf_time_layout[SLEEP_DEADLINE].path, &due));
	TRY(sleep_is_registered(l, &registered, &known));
	if (known)
		wait_bool(l, "registered", registered);
	if (known && !registered)
		leaf_arm_none(l);
	else
		TRY(leaf_arm_at(l, l->v, leaf_time_layout[SLEEP_WAKER].path));
	if (registered)
		leaf_driver_met(l, l->v, sleep_driver);
	/* Only a timer that is due raises the question who should have fired it. */
	if (registered && !due.unknown && due.past)
		leaf_driver_of_timer(l, sleep_driver);
	const char *polled = known && !registered ? ", never polled" : "";
	deadline_phrase(l, "sleep future", polled, &due);
	return NULL;
}

/* Decodes the Interval that the closure in tick()'s poll_fn has captured. */
static struct error *decode_interval(struct leaf *l)
{
	uint64_t seconds, nanos;
	struct deadline due;

	TRY(read_due(l, leaf_time_layout[INTERVAL_DEADLINE].path, &due));
	TRY(leaf_uint(l, l->v, leaf_time_layout[INTERVAL_SECONDS].path, &seconds));
	TRY(leaf_uint(l, l->v, leaf_time_layout[INTERVAL_NANOS].path, &nanos));
	if (nanos >= 1000000000 || seconds > INT64_MAX / 1000000000 - 1)
		return error_new(ERR_CORRUPT, "the interval's period is not a duration");
	uint64_t period = seconds * 1000000000 + nanos;
	wait_int(l, "period_ns", (int64_t)period);
	TRY(leaf_arm_at(l, l->v, leaf_time_layout[INTERVAL_WAKER].path));
	leaf_driver_met(l, l->v, interval_driver);
	if (!due.unknown && due.past)
		leaf_driver_of_timer(l, interval_driver);
	const struct deadline_seconds every = deadline_seconds_text(period);
	if (due.unknown)
		wait_phrase(l, "interval of %s%s", every.text, due.unknown);
	else if (due.past)
		wait_phrase(l, "interval of %s, next tick was due %s%s ago", every.text,
		            due.at_least, due.seconds.text);
	else
		wait_phrase(l, "interval of %s, next tick in %s%s%s", every.text, due.at_most,
		            due.seconds.text, due.or_past);
	return NULL;
}

const struct leaf_row leaf_time_rows[] = {
	{ .type = "tokio::time::sleep::Sleep", .kind = "sleep", .decode = decode_sleep },
	{ .type = "tokio::time::interval::Interval",
	  .kind = "interval",
	  .decode = decode_interval,
	  .resource = true },
	{ 0 },
};
