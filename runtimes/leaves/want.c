/*
 * want: a Giver waits until its Taker wants a value. hyper's clients wait so for a connection that
 * takes another request (want 0.3.2, lib.rs).
 */
#include "runtimes/future/leaf.h"
#include "runtimes/leaves/leaves.h"

#define GIVER "want::Giver"

enum { GIVER_STATE, GIVER_TASK };

static const struct binding_row layout[] = {
	[GIVER_STATE] = { "want.state", "type:" GIVER, "inner.state", .optional = true },
	[GIVER_TASK] = { "want.task", "type:" GIVER, "inner.task.value", .optional = true },
	{ 0 },
};

static const struct binding_row *const bindings[] = { layout, NULL };

static struct error *decode_giver(struct leaf *l)
{
	enum { IDLE, WANT, GIVE, CLOSED };
	static const char *const words[] = { "not wanted yet", "wanted", "not wanted yet",
		                             "its taker is gone" };
	uint64_t state;

	TRY(leaf_uint(l, l->v, layout[GIVER_STATE].path, &state));
	if (state > CLOSED)
		return error_new(ERR_CORRUPT, "its state is none of those of want::Giver");
	TRY(leaf_arm_at(l, l->v, layout[GIVER_TASK].path));
	wait_bool(l, "is_wanted", state == WANT);
	wait_bool(l, "taker_alive", state != CLOSED);
	wait_phrase(l, "want::Giver, %s", words[state]);
	return NULL;
}

static const struct leaf_row leaves[] = {
	{ .type = GIVER, .kind = "want", .decode = decode_giver, .resource = true },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

const struct crate_types want_types = {
	.crate = "want",
	.path = "want::",
	.leaves = families,
	.leaf_bindings = bindings,
};
