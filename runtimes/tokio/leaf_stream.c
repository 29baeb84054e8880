/*
 * Decodes waits for an in-memory pipe, or for a thread that reads or writes a file: tokio::io,
 * tokio::fs.
 */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "dwarf/names/demangle.h"
#include "runtimes/common/waker.h"
#include "runtimes/future/io_direction.h"
#include "runtimes/future/leaf_fd.h"
#include "runtimes/tokio/tokio.h"
#include "runtimes/tokio/tokio_leaf.h"

enum {
	DUPLEX_READ_WAKER,
	DUPLEX_READ_LEN,
	DUPLEX_READ_MAX,
	DUPLEX_WRITE_WAKER,
	DUPLEX_WRITE_LEN,
	DUPLEX_WRITE_MAX,
	DUPLEX_OWNERS,
	SIMPLEX_READ_WAKER,
	SIMPLEX_WRITE_WAKER,
	SIMPLEX_LEN,
	SIMPLEX_MAX,
	BLOCKING_JOB,
	FILE_JOB,
	FILE_FD,
};

#define DUPLEX_TYPE   "tokio::io::util::mem::DuplexStream"
#define SIMPLEX_TYPE  "tokio::io::util::mem::SimplexStream"
#define BLOCKING_TYPE "tokio::io::blocking::Blocking"
#define FILE_TYPE     "tokio::fs::file::File"

const struct binding_row leaf_stream_layout[] = {
	[DUPLEX_READ_WAKER] = { "duplex.read.waker", "type:" DUPLEX_TYPE, "read.read_waker",
	                        .optional = true },
	[DUPLEX_READ_LEN] = { "duplex.read.len", "type:" DUPLEX_TYPE, "read.buffer.len",
	                      .optional = true },
	[DUPLEX_READ_MAX] = { "duplex.read.max", "type:" DUPLEX_TYPE, "read.max_buf_size",
	                      .optional = true },
	[DUPLEX_WRITE_WAKER] = { "duplex.write.waker", "type:" DUPLEX_TYPE, "write.write_waker",
	                         .optional = true },
	[DUPLEX_WRITE_LEN] = { "duplex.write.len", "type:" DUPLEX_TYPE, "write.buffer.len",
	                       .optional = true },
	[DUPLEX_WRITE_MAX] = { "duplex.write.max", "type:" DUPLEX_TYPE, "write.max_buf_size",
	                       .optional = true },
	/* references to one direction's buffer: one per end */
	[DUPLEX_OWNERS] = { "duplex.owners", "type:" DUPLEX_TYPE, "read.strong", .optional = true },
	[SIMPLEX_READ_WAKER] = { "simplex.read.waker", "type:" SIMPLEX_TYPE, "read_waker",
	                         .optional = true },
	[SIMPLEX_WRITE_WAKER] = { "simplex.write.waker", "type:" SIMPLEX_TYPE, "write_waker",
	                          .optional = true },
	[SIMPLEX_LEN] = { "simplex.len", "type:" SIMPLEX_TYPE, "buffer.len", .optional = true },
	[SIMPLEX_MAX] = { "simplex.max", "type:" SIMPLEX_TYPE, "max_buf_size", .optional = true },
	[BLOCKING_JOB] = { "stream.job", "type:" BLOCKING_TYPE, "state.Busy.0.raw",
	                   .optional = true },
	[FILE_JOB] = { "file.job", "type:" FILE_TYPE, "inner.c.state.Busy.0.raw",
	               .optional = true },
	[FILE_FD] = { "file.fd", "type:" FILE_TYPE, "std.inner", .optional = true },
	{ 0 },
};

/* ---- pipes in memory ---- */

/*
 * The directions that this task is woken for, as bits of io_direction.h; absent: those for which it
 * is known not to be woken.
 */
static struct error *slots(const struct leaf *l, unsigned read_row, unsigned write_row,
                           unsigned *ours, unsigned *absent)
{
	*ours = *absent = 0;
	for (unsigned bit = IO_READS; bit <= IO_WRITES; bit <<= 1) {
		unsigned row = bit == IO_READS ? read_row : write_row;
		enum waker_registered armed = WAKER_REGISTERED_UNKNOWN;
		struct value place;
		bool found, vacant;

		TRY(leaf_place(l, l->v, leaf_stream_layout[row].path, &place, &found));
		if (found)
			TRY(waker_stored(l->d->c, place, l->d->waker, &armed, &vacant));
		*ours |= armed == WAKER_REGISTERED_YES ? bit : 0;
		*absent |= armed == WAKER_REGISTERED_NO ? bit : 0;
	}
	return NULL;
}

/* Finds what it waits for: by its type, else, for a future that is polled, by the wakers. */
static struct error *interest(struct leaf *l, unsigned read_row, unsigned write_row, unsigned *ret,
                              bool *absent)
{
	unsigned ours, elsewhere;

	TRY(slots(l, read_row, write_row, &ours, &elsewhere));
	unsigned sure = l->d->direction.sure, meant = sure ? sure : IO_READS | IO_WRITES;
	*ret = sure ? sure : l->d->unpolled ? 0 : io_direction_woken(l->d, ours);
	*absent = (l->d->idle || l->d->unpolled) && (elsewhere & sure);
	l->w->armed = ours & meant                   ? WAKER_REGISTERED_YES
	              : (elsewhere & meant) == meant ? WAKER_REGISTERED_NO
	                                             : WAKER_REGISTERED_UNKNOWN;
	return NULL;
}

static const char *direction_name(unsigned bits)
{
	static const char *const names[] = { NULL, "readable", "writable", "readable or writable" };

	return names[bits & (IO_READS | IO_WRITES)];
}

/* rows NULL: it is unknown which buffer is meant. */
static struct error *describe_pipe(const struct leaf *l, const char *name, unsigned bits,
                                   const unsigned *rows, const char *other_end, bool absent)
{
	const char *direction = direction_name(bits), *buffered = "";
	uint64_t len, max;

	wait_string(l, "resource", name);
	if (direction)
		wait_string(l, "direction", direction);
	if (absent)
		wait_bool(l, "registered", false);
	if (rows) {
		TRY(leaf_uint(l, l->v, leaf_stream_layout[rows[0]].path, &len));
		TRY(leaf_uint(l, l->v, leaf_stream_layout[rows[1]].path, &max));
		wait_int(l, "buffered", (int64_t)len);
		wait_int(l, "capacity", (int64_t)max);
		buffered = leaf_text(l, ", %" PRIu64 " of %" PRIu64 " bytes buffered", len, max);
	}
	wait_phrase(l, "%s%s%s%s%s%s", name, direction ? " " : "", direction ? direction : "",
	            buffered, other_end, absent ? ", not registered for it" : "");
	return NULL;
}

static struct error *decode_duplex(struct leaf *l)
{
	static const unsigned reads[] = { DUPLEX_READ_LEN, DUPLEX_READ_MAX },
			      writes[] = { DUPLEX_WRITE_LEN, DUPLEX_WRITE_MAX };
	uint64_t owners;
	bool known, absent;
	unsigned bits;

	TRY(interest(l, DUPLEX_READ_WAKER, DUPLEX_WRITE_WAKER, &bits, &absent));
	TRY(leaf_optional_uint(l, l->v, leaf_stream_layout[DUPLEX_OWNERS].path, &owners, &known));
	if (known)
		wait_bool(l, "other_end_alive", owners > 1);
	const char *other = !known ? "" : owners > 1 ? ", other end alive" : ", other end dropped";
	return describe_pipe(l, "DuplexStream", bits,
	                     bits & IO_READS ? reads
	                     : bits          ? writes
	                                     : NULL,
	                     other, absent);
}

static struct error *decode_simplex(struct leaf *l)
{
	static const unsigned rows[] = { SIMPLEX_LEN, SIMPLEX_MAX };
	unsigned bits;
	bool absent;

	TRY(interest(l, SIMPLEX_READ_WAKER, SIMPLEX_WRITE_WAKER, &bits, &absent));
	return describe_pipe(l, "SimplexStream", bits, rows, "", absent);
}

/* ---- jobs of the blocking pool ---- */

/* The id of the job whose JoinHandle is there; NULL when there is none. */
static struct error *job_id(struct leaf *l, unsigned row, const char **ret)
{
	struct collector *c = l->d->c;
	struct error *err = NULL;
	struct tokio_header h;
	struct value place;
	uint64_t raw;
	bool found;

	*ret = NULL;
	TRY(leaf_place(l, l->v, leaf_stream_layout[row].path, &place, &found));
	if (!found)
		return NULL;
	TRY(value_uint(c->in->target, place, &raw));
	for (struct tokio *k = tokio_of(c->in)->copies; k; k = k->next) {
		error_free(err);
		err = tokio_read_header(c->in->target, k, raw, &h);
		if (!err) {
			*ret = arena_printf(c->a, "%" PRIu64, h.id);
			err = leaf_task_arm(l, k, &h);
			break;
		}
	}
	return err;
}

/* where: "", or further text. */
static struct error *leaf_stream_describe_job(struct leaf *l, const char *name, const char *where,
                                              unsigned row)
{
	TRY(job_id(l, row, &l->w->task));
	wait_string(l, "resource", name);
	wait_bool(l, "busy", l->w->task != NULL);
	/* Only its owner polls the resource, and polls nothing else until the job is done. */
	l->in_use = l->w->task != NULL;
	if (!l->w->task)
		leaf_arm_none(l);
	if (l->w->task)
		wait_phrase(l, "%s%s, used by a job of the blocking pool " MARKED_LIST("(task %s)"),
		            name, where, l->w->task);
	else
		wait_phrase(l, "%s%s, at rest", name, where);
	return NULL;
}

static struct error *decode_blocking(struct leaf *l)
{
	const struct type *inner = type_param(l->v.type, "T");
	const char *name = inner ? name_without_generics(l->d->c->a, type_name(inner)) : "a file";
	const char *last = strrchr(name, ':');

	return leaf_stream_describe_job(l, inspector_clean_name(l->d->c->a, last ? last + 1 : name),
	                                "", BLOCKING_JOB);
}

static struct error *decode_file(struct leaf *l)
{
	const char *where = "";
	uint64_t fd;
	bool known;

	TRY(leaf_optional_uint(l, l->v, leaf_stream_layout[FILE_FD].path, &fd, &known));
	if (known && fd <= INT_MAX)
		where = leaf_fd_describe(l, (int)fd);
	return leaf_stream_describe_job(l, "File", where, FILE_JOB);
}

const struct leaf_row leaf_stream_rows[] = {
	{ .type = DUPLEX_TYPE,
	  .kind = "duplex",
	  .decode = decode_duplex,
	  .resource = true,
	  .directed = true },
	{ .type = SIMPLEX_TYPE,
	  .kind = "duplex",
	  .decode = decode_simplex,
	  .resource = true,
	  .directed = true },
	{ .type = BLOCKING_TYPE, .kind = "blocking", .decode = decode_blocking, .resource = true },
	{ .type = FILE_TYPE, .kind = "blocking", .decode = decode_file, .resource = true },
	{ 0 },
};
