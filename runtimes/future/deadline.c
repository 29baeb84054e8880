/* Reads deadlines of timers (deadline.h). */
#include "runtimes/future/deadline.h"

#include <string.h>

#include "runtimes/common/instant.h"

/* Avoids stdio: it may run a million times. */
struct deadline_seconds deadline_seconds_text(uint64_t ns)
{
	uint64_t whole = ns / 1000000000;
	struct deadline_seconds ret;
	char *p = ret.text;

	*p++ = MARKED_IS_NUMBER;

	for (uint64_t unit = UINT64_C(10000000000); unit; unit /= 10) {
		if (whole >= unit || p != ret.text + 1 || unit == 1)
			*p++ = (char)('0' + whole / unit % 10);
	}
	if (whole < 10) {
		*p++ = '.';
		*p++ = (char)('0' + ns / 100000000 % 10);
	}
	memcpy(p, MARKED_CLOSE " seconds", sizeof(MARKED_CLOSE " seconds"));
	return ret;
}

struct error *deadline_read(const struct leaf *l, struct value instant, const char *unknown,
                            bool runs, struct deadline *ret)
{
	const struct collector *c = l->d->c;
	uint64_t due;

	TRY(instant_read(c->in, instant, &due));
	wait_int(l, "deadline_ns", (int64_t)due);
	*ret = (struct deadline){
		.unknown = unknown, .at_most = "", .at_least = "", .or_past = ""
	};
	if (unknown)
		return NULL;
	if (!c->clock.known) {
		ret->unknown = ", deadline known but not the time of the core";
		return NULL;
	}
	int64_t left = (int64_t)(due - c->clock.now_ns);
	wait_int(l, "remaining_ms", left / 1000000);
	wait_string(l, "now", c->clock.is_bound ? "lower bound" : "exact");
	ret->past = left < 0;
	ret->seconds = deadline_seconds_text(left < 0 ? (uint64_t)-left : (uint64_t)left);
	if (c->clock.is_bound) {
		ret->at_most = "at most ";
		ret->at_least = "at least ";
		/* The clock of a runtime that is stuck stands, however long ago that began. */
		if (!runs)
			ret->or_past = ", or overdue";
	}
	return NULL;
}

void deadline_phrase(const struct leaf *l, const char *name, const char *polled,
                     const struct deadline *due)
{
	if (due->unknown)
		wait_phrase(l, "%s%s%s", name, polled, due->unknown);
	else if (due->past)
		wait_words(l, name, polled, ", sleeping already happened ", due->at_least,
		           due->seconds.text, " ago", NULL);
	else
		wait_words(l, name, polled, ", sleeping ", due->at_most, due->seconds.text,
		           due->or_past, NULL);
}
