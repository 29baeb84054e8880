/* Streams and sinks of futures-util that poll one thing after another: struct sequence_row. */
#include "runtimes/leaves/leaves.h"

#define STREAM     "futures_util::stream::stream::"
#define TRY_STREAM "futures_util::stream::try_stream::"
#define SINK       "futures_util::sink::"

const struct sequence_row futures_sequences[] = {
	{ STREAM "all::All", "future.Some.0", "stream" },
	{ STREAM "any::Any", "future.Some.0", "stream" },
	{ STREAM "chain::Chain", "first.Some.0", "second" },
	{ STREAM "filter::Filter", "pending_fut.Some.0", "stream" },
	{ STREAM "filter_map::FilterMap", "pending.Some.0", "stream" },
	{ STREAM "flatten::Flatten", "next.Some.0", "stream" },
	{ STREAM "fold::Fold", "future.Some.0", "stream" },
	{ STREAM "for_each::ForEach", "future.Some.0", "stream" },
	/* An item that the sink has not taken yet: poll_ready() was pending. */
	{ STREAM "forward::Forward", "buffered_item.Some.0", "stream" },
	{ STREAM "scan::Scan", "future.Some.0", "stream" },
	{ STREAM "skip_while::SkipWhile", "pending_fut.Some.0", "stream" },
	{ STREAM "take_while::TakeWhile", "pending_fut.Some.0", "stream" },
	{ STREAM "then::Then", "future.Some.0", "stream" },
	{ TRY_STREAM "and_then::AndThen", "future.Some.0", "stream" },
	{ TRY_STREAM "or_else::OrElse", "future.Some.0", "stream" },
	{ TRY_STREAM "try_all::TryAll", "future.Some.0", "stream" },
	{ TRY_STREAM "try_any::TryAny", "future.Some.0", "stream" },
	{ TRY_STREAM "try_filter::TryFilter", "pending_fut.Some.0", "stream" },
	{ TRY_STREAM "try_filter_map::TryFilterMap", "pending.Some.0", "stream" },
	{ TRY_STREAM "try_flatten::TryFlatten", "next.Some.0", "stream" },
	{ TRY_STREAM "try_fold::TryFold", "future.Some.0", "stream" },
	{ TRY_STREAM "try_for_each::TryForEach", "future.Some.0", "stream" },
	{ TRY_STREAM "try_skip_while::TrySkipWhile", "pending_fut.Some.0", "stream" },
	{ TRY_STREAM "try_take_while::TryTakeWhile", "pending_fut.Some.0", "stream" },
	{ SINK "send_all::SendAll", "buffered.Some.0", "stream" },
	{ SINK "with::With", "state.Some.0", "sink" },
	{ 0 },
};
