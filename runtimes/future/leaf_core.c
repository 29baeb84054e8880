/* Leaves of core that wait for nothing: Pending and Ready. */
#include "runtimes/future/leaf.h"

struct error *leaf_decode_pending(struct leaf *l)
{
	leaf_arm_none(l);
	wait_phrase(l, "pending forever: this future never completes");
	return NULL;
}

struct error *leaf_decode_ready(struct leaf *l)
{
	leaf_arm_none(l);
	wait_phrase(l, "ready: it waits for nothing");
	return NULL;
}

const struct leaf_row leaf_core_rows[] = {
	{ .type = "core::future::pending::Pending",
	  .kind = "pending",
	  .decode = leaf_decode_pending },
	{ .type = "core::future::ready::Ready", .kind = "ready", .decode = leaf_decode_ready },
	{ 0 },
};
