/* Rows for runtimes/future: what futures of tokio, tokio-util and tokio-stream poll and hold. */
#include "runtimes/tokio/tokio.h"

/* Futures for which the general rule finds too much or nothing. */
const struct combinator_row tokio_combinators[] = {
	{ .type = "tokio::time::timeout::Timeout",
	  .children = { { "value", "await", NULL }, { "delay", "deadline", NULL } } },
	{ .type = "tokio::task::coop::unconstrained::Unconstrained",
	  .children = { { "inner", "await", NULL } } },
	{ .type = "tokio::task::unconstrained::Unconstrained",
	  .children = { { "inner", "await", NULL } } },
	{ .type = "tokio::task::task_local::TaskLocalFuture",
	  .children = { { "future.Some.0", "await", NULL } } },
	{ .type = "tokio::task::local::RunUntil", .children = { { "future", "await", NULL } } },
	{ .type = "tokio_stream::stream_ext::timeout::Timeout",
	  .children = { { "stream", "await", NULL }, { "deadline", "deadline", NULL } },
	  .stream = true },
	{ .type = "tokio_stream::stream_map::StreamMap",
	  .children = { { "entries", "await", NULL } },
	  .stream = true,
	  .pairs = "entries" },
	{ 0 },
};

const struct sequence_row tokio_sequences[] = {
	SEQUENCE("tokio_stream::stream_ext::chain::Chain", "a.stream.Some.0", "b"),
	SEQUENCE("tokio_stream::stream_ext::then::Then", "future.Some.0", "stream"),
	{ 0 },
};

/* The bits are those of Interest (tokio 1.54, src/io/interest.rs). */
const struct io_row tokio_directions[] = {
	/* src/io/util */
	{ "tokio::io::util::read::", NULL, IO_SAYS_READS },
	{ "tokio::io::util::read_buf::", NULL, IO_SAYS_READS },
	{ "tokio::io::util::read_exact::", NULL, IO_SAYS_READS },
	{ "tokio::io::util::read_int::", NULL, IO_SAYS_READS },
	{ "tokio::io::util::read_line::", NULL, IO_SAYS_READS },
	{ "tokio::io::util::read_to_end::", NULL, IO_SAYS_READS },
	{ "tokio::io::util::read_to_string::", NULL, IO_SAYS_READS },
	{ "tokio::io::util::read_until::", NULL, IO_SAYS_READS },
	{ "tokio::io::util::fill_buf::", NULL, IO_SAYS_READS },
	{ "tokio::io::util::lines::", NULL, IO_SAYS_READS },
	{ "tokio::io::util::split::", NULL, IO_SAYS_READS },
	{ "tokio::io::util::write::", NULL, IO_SAYS_WRITES },
	{ "tokio::io::util::write_all::", NULL, IO_SAYS_WRITES },
	{ "tokio::io::util::write_all_buf::", NULL, IO_SAYS_WRITES },
	{ "tokio::io::util::write_buf::", NULL, IO_SAYS_WRITES },
	{ "tokio::io::util::write_int::", NULL, IO_SAYS_WRITES },
	{ "tokio::io::util::write_vectored::", NULL, IO_SAYS_WRITES },
	{ "tokio::io::util::flush::", NULL, IO_SAYS_WRITES },
	{ "tokio::io::util::shutdown::", NULL, IO_SAYS_WRITES },
	{ "tokio::io::util::copy::Copy", "reader", IO_SAYS_READS },
	{ "tokio::io::util::copy::Copy", "writer", IO_SAYS_WRITES },
	{ "tokio::io::util::copy_buf::CopyBuf", "reader", IO_SAYS_READS },
	{ "tokio::io::util::copy_buf::CopyBuf", "writer", IO_SAYS_WRITES },
	/* Halves of a socket, or of any stream. */
	{ "tokio::net::tcp::split::ReadHalf", NULL, IO_SAYS_READS },
	{ "tokio::net::tcp::split::WriteHalf", NULL, IO_SAYS_WRITES },
	{ "tokio::net::tcp::split_owned::OwnedReadHalf", NULL, IO_SAYS_READS },
	{ "tokio::net::tcp::split_owned::OwnedWriteHalf", NULL, IO_SAYS_WRITES },
	{ "tokio::net::unix::split::ReadHalf", NULL, IO_SAYS_READS },
	{ "tokio::net::unix::split::WriteHalf", NULL, IO_SAYS_WRITES },
	{ "tokio::net::unix::split_owned::OwnedReadHalf", NULL, IO_SAYS_READS },
	{ "tokio::net::unix::split_owned::OwnedWriteHalf", NULL, IO_SAYS_WRITES },
	{ "tokio::io::split::ReadHalf", NULL, IO_SAYS_READS },
	{ "tokio::io::split::WriteHalf", NULL, IO_SAYS_WRITES },
	{ "tokio::io::join::Join", "reader", IO_SAYS_READS },
	{ "tokio::io::join::Join", "writer", IO_SAYS_WRITES },
	/* Buffers. */
	{ "tokio::io::util::buf_reader::BufReader", NULL, IO_PASSES_ON },
	{ "tokio::io::util::buf_writer::BufWriter", NULL, IO_PASSES_ON },
	{ "tokio::io::util::buf_stream::BufStream", NULL, IO_PASSES_ON },
	{ "tokio::io::util::take::Take", NULL, IO_SAYS_READS },
	{ "tokio::io::util::chain::Chain", NULL, IO_SAYS_READS },
	/* A codec works on bytes in memory. */
	{ "tokio_util::codec::framed::Framed", NULL, IO_PASSES_ON },
	{ "tokio_util::codec::framed_impl::FramedImpl", NULL, IO_PASSES_ON },
	{ "tokio_util::codec::framed_read::FramedRead", NULL, IO_SAYS_READS },
	{ "tokio_util::codec::framed_write::FramedWrite", NULL, IO_SAYS_WRITES },
	{ "tokio_util::io::reader_stream::ReaderStream", NULL, IO_SAYS_READS },
	{ "tokio_util::compat::Compat", NULL, IO_PASSES_ON },
	{ "tokio_stream::stream_ext::next::Next", NULL, IO_TAKES_ITEMS },
	{ "tokio_stream::stream_ext::try_next::TryNext", NULL, IO_TAKES_ITEMS },
	{ "tokio::loom::std::", NULL, IO_PASSES_ON },
	{ "tokio::io::split::Inner", NULL, IO_PASSES_ON },
	{ 0 },
};

const char *const tokio_pollers[] = { "tokio::", "tokio_util::", "tokio_stream::", NULL };

/*
 * Ends of names of types that are no futures. tokio names its futures for what they wait for
 * (Notified, Acquire); channels of many values are received from by async fns.
 */
const char *const tokio_non_future_ends[] = {
	"Barrier", "DuplexStream", "Guard",  "LinkedList", "Mutex",    "Notify",     "Permit",
	"RwLock",  "Semaphore",    "Sender", "Waiter",     "Waitlist", "WeakSender", NULL
};
const char *const tokio_non_future_modules[] = { "tokio::loom::", "tokio::sync::mpsc::",
	                                         "tokio::sync::watch::",
	                                         "hyper_util::rt::tokio::TokioIo", NULL };

/* Behind these types lie the runtime and all its tasks: searches stop here. */
const char *const tokio_boundaries[] = {
	"tokio::runtime::task::",       "tokio::runtime::scheduler::",
	"tokio::runtime::handle::",     "tokio::runtime::driver::",
	"tokio::runtime::blocking::",   "tokio::task::local::",
	"tokio::runtime::time::handle", NULL,
};

const char *const tokio_lists[] = { "tokio::sync::", "tokio::time::", "tokio::runtime::",
	                            "tokio::util::", NULL };
