/*
 * For tests: a child under the control of a tracer. Include it after cmocka.h. A failure ends the
 * test.
 */
#ifndef DEBUGGER_TEST_CONTROLLED_H
#define DEBUGGER_TEST_CONTROLLED_H

#include <string.h>

#include "debugger/live/tracer.h"

static inline void expect_ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

static inline void tracer_freep(struct tracer **tr)
{
	tracer_free(*tr);
}

/* The next event, whatever it is. */
static inline struct event next(struct tracer *tr)
{
	static const uint64_t long_enough = UINT64_C(60) * 1000000000;
	struct event e = { 0 };
	bool found = false;

	expect_ok(tracer_wait_event(tr, long_enough, &e, &found));
	assert_true(found);
	assert_int_not_equal(e.kind, EVENT_UNWATCHED);
	return e;
}

/* The next event that halts, or that is the last one. */
static inline struct event next_halt(struct tracer *tr)
{
	struct event e;

	do
		e = next(tr);
	while (!e.halted && e.kind != EVENT_EXIT && e.kind != EVENT_KILLED);
	return e;
}

static inline void go(struct tracer *tr, enum tracer_request_kind kind)
{
	struct tracer_request r = { .kind = kind };

	expect_ok(tracer_request(tr, &r));
}

/* Continues. The program may end while it is halted for an event that was queued before. */
static inline void go_unless_ended(struct tracer *tr)
{
	struct tracer_request r = { .kind = TRACER_CONTINUE };
	struct error *err CLEANUP(error_freep) = tracer_request(tr, &r);

	assert_true(!err || strstr(err->message, "has ended"));
}

/* Sets which signals halt it and which it does not receive; bit n - 1 is signal n. */
static inline void control(struct tracer *tr, uint64_t stop, uint64_t drop)
{
	struct tracer_request r = { .kind = TRACER_CONTROL, .control = { stop, drop } };

	expect_ok(tracer_request(tr, &r));
}

/* Attaches to a child, which is halted then. Free the tracer with tracer_free(). */
static inline struct tracer *attach(pid_t pid)
{
	struct tracer *tr = tracer_new();
	struct tracer_request r = { .kind = TRACER_ATTACH, .attach = { pid } };

	expect_ok(tracer_request(tr, &r));
	control(tr, 0, 0);
	go(tr, TRACER_HALT);
	return tr;
}

#endif
