/*
 * The crate futures-lite: futures that poll two others, and those of functions (futures-lite 2.6
 * and 1.13, src/future.rs).
 */
#include "runtimes/future/leaf.h"
#include "runtimes/leaves/leaves.h"

#define LITE "futures_lite::future::"
#define IO   "futures_lite::io::"

static struct error *futures_lite_decode_yield(struct leaf *l)
{
	wait_phrase(l, "yielded to other tasks, will be polled again");
	return NULL;
}

static const struct leaf_row leaves[] = {
	{ .type = LITE "YieldNow", .kind = "yield", .decode = futures_lite_decode_yield },
	/* Version 1.x has its own Pending and Ready; later they are core's. */
	{ .type = LITE "Pending", .kind = "pending", .decode = leaf_decode_pending },
	{ .type = LITE "Ready", .kind = "ready", .decode = leaf_decode_ready },
	{ .type = "futures_lite::stream::Pending",
	  .kind = "pending",
	  .decode = leaf_decode_pending },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

static const struct combinator_row combinators[] = {
	{ .type = LITE "Or",
	  .children = { { "future1", "select arm 0", NULL },
	                { "future2", "select arm 1", NULL } } },
	/* Race polls the one or the other first, at random. */
	{ .type = LITE "Race",
	  .children = { { "future1", "select arm 0", NULL },
	                { "future2", "select arm 1", NULL } } },
	/* CatchUnwind has its future in an AssertUnwindSafe. */
	{ .type = LITE "CatchUnwind", .children = { { "inner.0", "await", NULL } } },
	/* An arm that has ended is None, or in 1.x has its output. */
	{ .type = LITE "Zip",
	  .children = { { "future1.Some.0 | future1", "join arm 0", NULL },
	                { "future2.Some.0 | future2", "join arm 1", NULL } } },
	{ .type = LITE "TryZip",
	  .children = { { "future1.Some.0 | future1", "join arm 0", NULL },
	                { "future2.Some.0 | future2", "join arm 1", NULL } } },
	{ 0 },
};

#define READS(name)                                                                                \
	{                                                                                          \
		IO name, NULL, IO_SAYS_READS                                                       \
	}
#define WRITES(name)                                                                               \
	{                                                                                          \
		IO name, NULL, IO_SAYS_WRITES                                                      \
	}

/* src/io.rs */
static const struct io_row directions[] = {
	READS("FillBuf"),
	READS("Lines"),
	READS("ReadExactFuture"),
	READS("ReadFuture"),
	READS("ReadLineFuture"),
	READS("ReadToEndFuture"),
	READS("ReadToStringFuture"),
	READS("ReadUntilFuture"),
	READS("ReadVectoredFuture"),
	READS("Split"),
	WRITES("CloseFuture"),
	WRITES("FlushFuture"),
	WRITES("WriteAllFuture"),
	WRITES("WriteFuture"),
	WRITES("WriteVectoredFuture"),
	{ IO "BufReader", NULL, IO_PASSES_ON },
	{ IO "BufWriter", NULL, IO_PASSES_ON },
	{ 0 },
};

static const struct sequence_row sequences[] = {
	SEQUENCE("futures_lite::stream::FlatMap", "inner_stream.Some.0", "stream"),
	SEQUENCE("futures_lite::stream::Flatten", "inner_stream.Some.0", "stream"),
	SEQUENCE("futures_lite::stream::Then", "future.Some.0", "stream"),
	{ 0 },
};

const struct crate_types futures_lite_types = {
	.crate = "futures-lite",
	.path = "futures_lite::",
	.leaves = families,
	.combinators = combinators,
	.sequences = sequences,
	.directions = directions,
	.poll_fn = LITE "PollFn",
};
