/* Leaves of core and futures_util that wait for nothing: Pending and Ready. */
#include "runtimes/future/leaf.h"

static struct error *decode_pending(struct leaf *l)
{
	wait_phrase(l, "pending forever: this future never completes");
	return NULL;
}

static struct error *decode_ready(struct leaf *l)
{
	wait_phrase(l, "ready: it waits for nothing");
	return NULL;
}

const struct leaf_row leaf_core_rows[] = {
	{ .type = "core::future::pending::Pending", .kind = "pending", .decode = decode_pending },
	{ .type = "futures_util::future::pending::Pending",
	  .kind = "pending",
	  .decode = decode_pending },
	{ .type = "core::future::ready::Ready", .kind = "ready", .decode = decode_ready },
	{ .type = "futures_util::future::ready::Ready", .kind = "ready", .decode = decode_ready },
	{ 0 },
};
