/*
 * The crate async-io, of smol: timers (async-io 2.6, src/lib.rs). A timer is in the reactor while
 * it has an id; its waker there is a clone of the one beside the id.
 */
#include "runtimes/future/deadline.h"
#include "runtimes/leaves/leaves.h"

#define TIMER "async_io::Timer"

enum { TIMER_WHEN, TIMER_ID, TIMER_WAKER };

static const struct binding_row layout[] = {
	[TIMER_WHEN] = { "async_io.timer", "type:" TIMER, "when.Some.0", .optional = true },
	[TIMER_ID] = { "async_io.timer.id", "type:" TIMER, "id_and_waker.Some.0.0",
	               .optional = true },
	[TIMER_WAKER] = { "async_io.timer.waker", "type:" TIMER, "id_and_waker.Some.0.1",
	                  .optional = true },
	{ 0 },
};

static const struct binding_row *const bindings[] = { layout, NULL };

static struct error *decode_timer(struct leaf *l)
{
	struct value when, id;
	struct deadline due;
	bool set, registered;

	TRY(leaf_place(l, l->v, layout[TIMER_WHEN].path, &when, &set));
	TRY(leaf_place(l, l->v, layout[TIMER_ID].path, &id, &registered));
	wait_bool(l, "registered", registered);
	if (!set) {
		leaf_arm_none(l);
		wait_phrase(l, "timer that never fires");
		return NULL;
	}
	TRY(deadline_read(l, when, NULL, &due));
	if (registered)
		TRY(leaf_arm_at(l, l->v, layout[TIMER_WAKER].path));
	else
		leaf_arm_none(l);
	deadline_phrase(l, "timer", registered ? "" : ", never polled", &due);
	return NULL;
}

static const struct leaf_row leaves[] = {
	{ .type = TIMER, .kind = "sleep", .decode = decode_timer },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

const struct crate_types async_io_types = {
	.crate = "async-io",
	.path = "async_io::",
	.leaves = families,
	.leaf_bindings = bindings,
};
