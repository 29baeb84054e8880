#include "runtimes/future/io_direction.h"

#include <stdint.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/common/type_class.h"

static const struct io_row rows[] = {
	{ "futures_util::stream::stream::next::Next", NULL, IO_TAKES_ITEMS },
	{ "futures_util::stream::try_stream::try_next::TryNext", NULL, IO_TAKES_ITEMS },
	{ "futures_util::sink::feed::Feed", NULL, IO_GIVES_ITEMS },
	{ "futures_util::sink::send::Send", NULL, IO_GIVES_ITEMS },
	{ "futures_util::sink::flush::Flush", NULL, IO_GIVES_ITEMS },
	{ "futures_util::sink::close::Close", NULL, IO_GIVES_ITEMS },
	{ "futures_util::sink::send_all::SendAll", "sink", IO_GIVES_ITEMS },
	{ "futures_util::sink::send_all::SendAll", "stream", IO_TAKES_ITEMS },
	/* Futures of the futures crate. */
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
	/* Containers and pointers of std. */
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
};

/* Heads: "a::b::" matches all types of that module, "&" references, "a::B" the types B and B<T>. */
static bool is_head(const char *name, const char *head)
{
	size_t n = strlen(head);
	char last = head[n - 1], next;

	if (!str_begins(name, head))
		return false;
	next = name[n];
	return last == ':' || last == '&' || last == '*' || next == '\0' || next == '<';
}

static const struct io_row *io_direction_find(const struct io_row *list, size_t n,
                                              const char *type_name, const char *member)
{
	for (size_t i = 0; i < n && list[i].head; i++) {
		if (is_head(type_name, list[i].head) &&
		    (!list[i].member || (member && strcmp(member, list[i].member) == 0)))
			return &list[i];
	}
	return NULL;
}

static const struct io_row *find_row(const struct crate_types *const *crates, const char *type_name,
                                     const char *member)
{
	const struct io_row *row =
		io_direction_find(rows, sizeof(rows) / sizeof(rows[0]), type_name, member);

	for (; *crates && !row; crates++) {
		if ((*crates)->directions)
			row = io_direction_find((*crates)->directions, SIZE_MAX, type_name, member);
	}
	return row;
}

enum io_direction_of io_direction_of(const struct crate_types *const *crates, const char *type_name,
                                     const char *member)
{
	const struct io_row *row = find_row(crates, type_name, member);

	return row ? row->says : IO_SAYS_NOTHING;
}

struct io_direction io_direction(const struct reach *r, size_t index)
{
	const char *member = r->list[index].name;
	bool known = type_class_of(r->list[index].v.type)->rows.resource->directed;

	/* The index `from` is always smaller, so the loop ends. */
	while (index) {
		size_t from = r->list[index].from;
		const struct type *t = r->list[from].v.type;
		const struct io_row *row = find_row(crates_of(t), type_name(t), member);

		if (row && row->says != IO_PASSES_ON) {
			unsigned bits = (unsigned)row->says & (IO_READS | IO_WRITES);
			bool bytes = row->says == (enum io_direction_of)bits;

			return (struct io_direction){ .sure = known ? bits : 0,
				                      .meant = known || bytes ? bits : 0 };
		}
		known &= row != NULL;
		member = r->list[from].name;
		index = from;
	}
	return (struct io_direction){ 0 };
}

unsigned io_direction_wanted(const struct type *t)
{
	return (unsigned)io_direction_of(crates_of(t), type_name(t), NULL) & (IO_READS | IO_WRITES);
}

unsigned io_direction_woken(const struct decoder *d, unsigned woken)
{
	return woken & d->direction.meant ? woken & d->direction.meant : woken;
}
