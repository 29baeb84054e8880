/* The table of types that are not futures (non_future_types.h). */
#include "runtimes/common/non_future_types.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"

/*
 * Prefixes of names: crates, modules and types without futures. Where another crate may have the
 * same name, only specific types are listed. From the sources of bytes 1.12, hashbrown 0.17, http
 * 0.2.12 and 1.5, http-body-util 0.1.5, httparse 1.10, hyper 0.14.32, 1.0.0 and 1.12, hyper-util
 * 0.1.21, indexmap 2.14, lock_api 0.4.14, once_cell 1.21, parking_lot 0.12.5, serde_json 1.0.154,
 * slab 0.4.12, smallvec 1.16, socket2 0.5.10 and 0.6.5.
 */
static const char *const non_futures[] = {
	"bytes::bytes::Bytes",
	"bytes::bytes_mut::BytesMut",
	"hashbrown::",
	"http::byte_str::",
	"http::extensions::Extensions",
	"http::header::map::",
	"http::header::name::",
	"http::header::value::",
	"http::method::",
	"http::request::Parts",
	"http::response::Parts",
	"http::status::",
	"http::uri::",
	"http::version::",
	"http_body_util::empty::",
	"http_body_util::full::",
	"httparse::",
	"hyper::body::",
	"hyper::common::buf::",
	"hyper::error::",
	"hyper::ext::",
	"hyper::proto::h1::conn::",
	"hyper::proto::h1::decode::",
	"hyper::proto::h1::dispatch::Client",
	"hyper::proto::h1::dispatch::SenderDropGuard",
	"hyper::proto::h1::dispatch::Server",
	"hyper::proto::h1::encode::",
	"hyper::proto::h1::io::",
	"hyper::service::util::",
	"hyper::upgrade::Pending",
	"indexmap::",
	"lock_api::",
	"once_cell::",
	"parking_lot::",
	"serde_json::",
	"slab::Slab",
	"smallvec::SmallVec",
	"socket2::",
};

static const char futures_streams[] = "futures_util::stream::";
static const char *const streams[] = {
	"empty::Empty",
	"futures_ordered::FuturesOrdered",
	"futures_unordered::FuturesUnordered",
	"iter::Iter",
	"once::Once",
	"pending::Pending",
	"poll_fn::PollFn",
	"poll_immediate::PollImmediate",
	"repeat::Repeat",
	"repeat_with::RepeatWith",
	"select::Select",
	"select_all::SelectAll",
	"select_with_strategy::SelectWithStrategy",
	"stream::buffer_unordered::BufferUnordered",
	"stream::buffered::Buffered",
	"stream::catch_unwind::CatchUnwind",
	"stream::chain::Chain",
	"stream::chunks::Chunks",
	"stream::cycle::Cycle",
	"stream::enumerate::Enumerate",
	"stream::filter::Filter",
	"stream::filter_map::FilterMap",
	"stream::flatten::Flatten",
	"stream::fuse::Fuse",
	"stream::map::Map",
	"stream::peek::Peekable",
	"stream::ready_chunks::ReadyChunks",
	"stream::scan::Scan",
	"stream::skip::Skip",
	"stream::skip_while::SkipWhile",
	"stream::split::SplitStream",
	"stream::take::Take",
	"stream::take_until::TakeUntil",
	"stream::take_while::TakeWhile",
	"stream::then::Then",
	"stream::zip::Zip",
	"try_stream::and_then::AndThen",
	"try_stream::into_stream::IntoStream",
	"try_stream::or_else::OrElse",
	"try_stream::try_buffer_unordered::TryBufferUnordered",
	"try_stream::try_buffered::TryBuffered",
	"try_stream::try_chunks::TryChunks",
	"try_stream::try_filter::TryFilter",
	"try_stream::try_filter_map::TryFilterMap",
	"try_stream::try_flatten::TryFlatten",
	"try_stream::try_ready_chunks::TryReadyChunks",
	"try_stream::try_skip_while::TrySkipWhile",
	"try_stream::try_take_while::TryTakeWhile",
	"try_stream::try_unfold::TryUnfold",
	"unfold::Unfold",
};

bool non_future_types_path_ends_with(const char *type_name, const char *end)
{
	size_t len = qualified_base_len(type_name), wanted = strlen(end);

	return len >= wanted && strncmp(type_name + len - wanted, end, wanted) == 0;
}

bool non_future_types_is_stream(const char *type_name)
{
	const char *path = type_name + sizeof(futures_streams) - 1;
	size_t len;

	if (!str_begins(type_name, futures_streams))
		return false;
	len = qualified_base_len(path);
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		if (strlen(streams[i]) == len && memcmp(path, streams[i], len) == 0)
			return true;
	}
	return false;
}

static bool is_of_crate(const struct crate_types *crate, const char *type_name)
{
	if (runtime_begins_with_one(type_name, crate->non_future_modules))
		return true;
	if (!crate->non_future_ends || !str_begins(type_name, crate->path))
		return false;
	for (const char *const *end = crate->non_future_ends; *end; end++) {
		if (non_future_types_path_ends_with(type_name, *end))
			return true;
	}
	return false;
}

bool non_future_types_has(const struct crate_types *const *crates, const char *type_name)
{
	if (non_future_types_is_stream(type_name) || str_begins_with_any(type_name, non_futures))
		return true;
	for (; *crates; crates++) {
		if (is_of_crate(*crates, type_name))
			return true;
	}
	return false;
}
