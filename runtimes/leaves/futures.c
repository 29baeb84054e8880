/* The crates futures-util and futures-channel. */
#include "runtimes/future/leaf.h"
#include "runtimes/leaves/leaves.h"

static const struct leaf_row leaves[] = {
	{ .type = "futures_util::future::pending::Pending",
	  .kind = "pending",
	  .decode = leaf_decode_pending },
	{ .type = "futures_util::future::ready::Ready",
	  .kind = "ready",
	  .decode = leaf_decode_ready },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

const struct crate_types futures_types = {
	.path = "futures_",
	.leaves = families,
};
