#include "runtimes/future/io_direction.h"

#include <string.h>

#include "debugger/base/str.h"

/*
 * A head that ends in "::" stands for all types of the module. Where member is not NULL, the row is
 * for what that member leads to.
 */
static const struct {
	const char *head, *member;
	enum io_says says;
} rows[] = {
	/* tokio's futures: src/io/util. */
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
	/* Halves: of a socket, and of what somebody else may have wrapped around it. */
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
	{ "tokio_stream::stream_ext::next::Next", NULL, IO_SAYS_READS },
	{ "tokio_stream::stream_ext::try_next::TryNext", NULL, IO_SAYS_READS },
	{ "futures_util::stream::stream::next::Next", NULL, IO_SAYS_READS },
	{ "futures_util::stream::try_stream::try_next::TryNext", NULL, IO_SAYS_READS },
	{ "futures_util::sink::feed::Feed", NULL, IO_SAYS_WRITES },
	{ "futures_util::sink::send::Send", NULL, IO_SAYS_WRITES },
	{ "futures_util::sink::flush::Flush", NULL, IO_SAYS_WRITES },
	{ "futures_util::sink::close::Close", NULL, IO_SAYS_WRITES },
	{ "futures_util::sink::send_all::SendAll", "sink", IO_SAYS_WRITES },
	{ "futures_util::sink::send_all::SendAll", "stream", IO_SAYS_READS },
	/* The same of the futures crate. */
	{ "futures_util::io::read::", NULL, IO_SAYS_READS },
	{ "futures_util::io::read_exact::", NULL, IO_SAYS_READS },
	{ "futures_util::io::read_line::", NULL, IO_SAYS_READS },
	{ "futures_util::io::read_to_end::", NULL, IO_SAYS_READS },
	{ "futures_util::io::read_to_string::", NULL, IO_SAYS_READS },
	{ "futures_util::io::read_until::", NULL, IO_SAYS_READS },
	{ "futures_util::io::read_vectored::", NULL, IO_SAYS_READS },
	{ "futures_util::io::fill_buf::", NULL, IO_SAYS_READS },
	{ "futures_util::io::lines::", NULL, IO_SAYS_READS },
	{ "futures_util::io::write::", NULL, IO_SAYS_WRITES },
	{ "futures_util::io::write_all::", NULL, IO_SAYS_WRITES },
	{ "futures_util::io::write_vectored::", NULL, IO_SAYS_WRITES },
	{ "futures_util::io::flush::", NULL, IO_SAYS_WRITES },
	{ "futures_util::io::close::", NULL, IO_SAYS_WRITES },
	{ "futures_util::io::buf_reader::BufReader", NULL, IO_PASSES_ON },
	{ "futures_util::io::buf_writer::BufWriter", NULL, IO_PASSES_ON },
	/* What std keeps things in. */
	{ "&", NULL, IO_PASSES_ON },
	{ "*", NULL, IO_PASSES_ON },
	{ "alloc::boxed::Box", NULL, IO_PASSES_ON },
	{ "alloc::sync::", NULL, IO_PASSES_ON },
	{ "alloc::rc::", NULL, IO_PASSES_ON },
	{ "core::pin::Pin", NULL, IO_PASSES_ON },
	{ "core::option::Option", NULL, IO_PASSES_ON },
	{ "core::cell::", NULL, IO_PASSES_ON },
	{ "core::ptr::", NULL, IO_PASSES_ON },
	{ "core::mem::", NULL, IO_PASSES_ON },
	{ "std::sync::", NULL, IO_PASSES_ON },
	{ "tokio::loom::std::", NULL, IO_PASSES_ON },
	{ "tokio::io::split::Inner", NULL, IO_PASSES_ON },
};

/* "a::b::" is the head of all in that module, "&" that of references, "a::B" of B and B<T>. */
static bool is_head(const char *name, const char *head)
{
	size_t n = strlen(head);
	char last = head[n - 1], next;

	if (!str_begins(name, head))
		return false;
	next = name[n];
	return last == ':' || last == '&' || last == '*' || next == '\0' || next == '<';
}

enum io_says io_says(const char *type_name, const char *member)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!is_head(type_name, rows[i].head))
			continue;
		if (!rows[i].member || (member && strcmp(member, rows[i].member) == 0))
			return rows[i].says;
	}
	return IO_SAYS_NOTHING;
}

unsigned io_direction(const struct reach *r, size_t index)
{
	const char *member = r->list[index].name;

	/* What led to each comes before it. */
	while (index) {
		size_t from = r->list[index].from;
		enum io_says says = io_says(type_name(r->list[from].v.type), member);

		if (says != IO_PASSES_ON)
			return (unsigned)says;
		member = r->list[from].name;
		index = from;
	}
	return 0;
}
