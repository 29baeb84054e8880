/* Decodes waits for time: tokio::time. */
#include <inttypes.h>
#include <string.h>

#include "runtimes/common/instant.h"
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
	/* The same for the Sleep inside. */
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

/* "18446744073 seconds", "3.2 seconds" */
struct seconds {
	char text[24];
};

/* Avoids stdio: it may run a million times. */
static struct seconds seconds_text(uint64_t ns)
{
	uint64_t whole = ns / 1000000000;
	struct seconds ret;
	char *p = ret.text;

	for (uint64_t unit = UINT64_C(10000000000); unit; unit /= 10) {
		if (whole >= unit || p != ret.text || unit == 1)
			*p++ = (char)('0' + whole / unit % 10);
	}
	if (whole < 10) {
		*p++ = '.';
		*p++ = (char)('0' + ns / 100000000 % 10);
	}
	memcpy(p, " seconds", sizeof(" seconds"));
	return ret;
}

/* A deadline relative to the current time. */
struct due {
	const char *unknown; /* why the distance is unknown; NULL when it is known */
	bool past;
	struct seconds seconds; /* distance from now */
	/*
	 * "" where the current time is known. Else it is a lower bound, from a core: "at most "
	 * goes before a future deadline, "at least " before a past one.
	 */
	const char *at_most, *at_least;
};

/* Reads the deadline that the path leads to, and fills the wait's details. */
static struct error *read_due(const struct leaf *l, const char *path, struct due *ret)
{
	struct collector *c = l->d->c;
	struct value deadline;
	uint64_t due;
	bool found;

	TRY(leaf_place(l, l->v, path, &deadline, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the %s has no deadline", l->w->kind);
	TRY(instant_read(c->in, deadline, &due));
	wait_int(l, "deadline_ns", (int64_t)due);
	*ret = (struct due){ .at_most = "", .at_least = "" };
	if (c->clock_paused) {
		ret->unknown = " of a runtime whose clock may be paused (tokio::time::pause)";
		return NULL;
	}
	if (!c->now_known) {
		ret->unknown = ", deadline known but not the time of the core";
		return NULL;
	}
	int64_t left = (int64_t)(due - c->now_ns);
	wait_int(l, "remaining_ms", left / 1000000);
	wait_string(l, "now", c->now_is_bound ? "lower bound" : "exact");
	ret->past = left < 0;
	ret->seconds = seconds_text(left < 0 ? (uint64_t)-left : (uint64_t)left);
	if (c->now_is_bound) {
		ret->at_most = "at most ";
		ret->at_least = "at least ";
	}
	return NULL;
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
static struct error *variant_at(const struct leaf *l, const char *path, const char **ret)
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
	TRY(variant_at(l, leaf_time_layout[SLEEP_TIMER].path, &variant));
	if (variant) {
		*ret = strcmp(variant, "Some") == 0;
		return NULL;
	}
	TRY(variant_at(l, leaf_time_layout[SLEEP_INITIAL].path, &variant));
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
	struct due due;
	bool registered, known;

	TRY(read_due(l, leaf_time_layout[SLEEP_DEADLINE].path, &due));
	TRY(sleep_is_registered(l, &registered, &known));
	if (known)
		wait_bool(l, "registered", registered);
	if (known && !registered)
		leaf_arm_none(l);
	else
		TRY(leaf_arm_at(l, l->v, leaf_time_layout[SLEEP_WAKER].path));
	const char *polled = known && !registered ? ", never polled" : "";
	if (due.unknown)
		wait_phrase(l, "sleep future%s%s", polled, due.unknown);
	else if (due.past)
		wait_words(l, "sleep future", polled, ", sleeping already happened ", due.at_least,
		           due.seconds.text, " ago", NULL);
	else
		wait_words(l, "sleep future", polled, ", sleeping ", due.at_most, due.seconds.text,
		           NULL);
	return NULL;
}

/* Decodes the Interval that the closure in tick()'s poll_fn has captured. */
static struct error *decode_interval(struct leaf *l)
{
	uint64_t seconds, nanos;
	struct due due;

	TRY(read_due(l, leaf_time_layout[INTERVAL_DEADLINE].path, &due));
	TRY(leaf_uint(l, l->v, leaf_time_layout[INTERVAL_SECONDS].path, &seconds));
	TRY(leaf_uint(l, l->v, leaf_time_layout[INTERVAL_NANOS].path, &nanos));
	if (nanos >= 1000000000 || seconds > INT64_MAX / 1000000000 - 1)
		return error_new(ERR_CORRUPT, "the interval's period is no duration");
	uint64_t period = seconds * 1000000000 + nanos;
	wait_int(l, "period_ns", (int64_t)period);
	TRY(leaf_arm_at(l, l->v, leaf_time_layout[INTERVAL_WAKER].path));
	const struct seconds every = seconds_text(period);
	if (due.unknown)
		wait_phrase(l, "interval of %s%s", every.text, due.unknown);
	else if (due.past)
		wait_phrase(l, "interval of %s, next tick was due %s%s ago", every.text,
		            due.at_least, due.seconds.text);
	else
		wait_phrase(l, "interval of %s, next tick in %s%s", every.text, due.at_most,
		            due.seconds.text);
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
