/* Streams and sinks of futures-util that poll one thing after another: struct sequence_row. */
#include "runtimes/leaves/leaves.h"

#define STREAM     "futures_util::stream::stream::"
#define TRY_STREAM "futures_util::stream::try_stream::"
#define SINK       "futures_util::sink::"

#define LIMITED(of, where)                                                                         \
	{                                                                                          \
		.type = (of), .later = "stream", where                                             \
	}
#define ORDERED                                                                                    \
	.limit = "max", .futures = "in_progress_queue.in_progress_queue",                          \
	.outputs = "in_progress_queue.queued_outputs.data.len"
#define UNORDERED  .limit = "max", .futures = "in_progress_queue"
#define CONCURRENT .limit = "limit.Some.0", .futures = "futures"
#define FLATTENED  .limit = "limit.Some.0", .futures = "inner_streams", .done = "is_stream_done"

const struct sequence_row futures_sequences[] = {
	SEQUENCE(STREAM "all::All", "future.Some.0", "stream"),
	SEQUENCE(STREAM "any::Any", "future.Some.0", "stream"),
	SEQUENCE(STREAM "chain::Chain", "first.Some.0", "second"),
	SEQUENCE(STREAM "filter::Filter", "pending_fut.Some.0", "stream"),
	SEQUENCE(STREAM "filter_map::FilterMap", "pending.Some.0", "stream"),
	SEQUENCE(STREAM "flatten::Flatten", "next.Some.0", "stream"),
	SEQUENCE(STREAM "fold::Fold", "future.Some.0", "stream"),
	SEQUENCE(STREAM "for_each::ForEach", "future.Some.0", "stream"),
	/* An item that the sink has not taken yet: poll_ready() was pending. */
	SEQUENCE(STREAM "forward::Forward", "buffered_item.Some.0", "stream"),
	SEQUENCE(STREAM "scan::Scan", "future.Some.0", "stream"),
	SEQUENCE(STREAM "skip_while::SkipWhile", "pending_fut.Some.0", "stream"),
	SEQUENCE(STREAM "take_while::TakeWhile", "pending_fut.Some.0", "stream"),
	SEQUENCE(STREAM "then::Then", "future.Some.0", "stream"),
	SEQUENCE(TRY_STREAM "and_then::AndThen", "future.Some.0", "stream"),
	SEQUENCE(TRY_STREAM "or_else::OrElse", "future.Some.0", "stream"),
	SEQUENCE(TRY_STREAM "try_all::TryAll", "future.Some.0", "stream"),
	SEQUENCE(TRY_STREAM "try_any::TryAny", "future.Some.0", "stream"),
	SEQUENCE(TRY_STREAM "try_filter::TryFilter", "pending_fut.Some.0", "stream"),
	SEQUENCE(TRY_STREAM "try_filter_map::TryFilterMap", "pending.Some.0", "stream"),
	SEQUENCE(TRY_STREAM "try_flatten::TryFlatten", "next.Some.0", "stream"),
	SEQUENCE(TRY_STREAM "try_fold::TryFold", "future.Some.0", "stream"),
	SEQUENCE(TRY_STREAM "try_for_each::TryForEach", "future.Some.0", "stream"),
	SEQUENCE(TRY_STREAM "try_skip_while::TrySkipWhile", "pending_fut.Some.0", "stream"),
	SEQUENCE(TRY_STREAM "try_take_while::TryTakeWhile", "pending_fut.Some.0", "stream"),
	SEQUENCE(SINK "send_all::SendAll", "buffered.Some.0", "stream"),
	SEQUENCE(SINK "with::With", "state.Some.0", "sink"),
	LIMITED(STREAM "buffered::Buffered", ORDERED),
	LIMITED(STREAM "buffer_unordered::BufferUnordered", UNORDERED),
	LIMITED(STREAM "flatten_unordered::FlattenUnorderedWithFlowController", FLATTENED),
	LIMITED(STREAM "for_each_concurrent::ForEachConcurrent", CONCURRENT),
	LIMITED(TRY_STREAM "try_buffered::TryBuffered", ORDERED),
	LIMITED(TRY_STREAM "try_buffer_unordered::TryBufferUnordered", UNORDERED),
	LIMITED(TRY_STREAM "try_for_each_concurrent::TryForEachConcurrent", CONCURRENT),
	{ 0 },
};
