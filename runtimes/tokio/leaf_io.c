/*
 * Decodes waits for a file descriptor that is registered with tokio's I/O driver. Each registration
 * has a ScheduledIo, with one slot for a reader's waker, one for a writer's, and a list of futures
 * that wait for either (runtime/io/scheduled_io.rs).
 */
#include <inttypes.h>
#include <string.h>

#include "debugger/live/fd_info.h"
#include "dwarf/names/demangle.h"
#include "dwarf/values/unwrap_newtype.h"
#include "runtimes/common/waker.h"
#include "runtimes/future/io_direction.h"
#include "runtimes/future/leaf_fd.h"
#include "runtimes/tokio/tokio.h"
#include "runtimes/tokio/tokio_leaf.h"

enum {
	MAX_WAITERS = 1024,
	MAX_HOPS = 16,
	MAX_REFERENCES = 2, /* nested references in an async fn's self */
	MAX_FD = 1 << 24,
	MAX_REGISTRATIONS = 1 << 20, /* of one driver */
};

enum {
	READINESS_SCHEDULED,
	READINESS_INTEREST,
	READINESS_WAKER,
	REGISTRATION,
	FD,
	ASYNC_FD,
	IO_READINESS,
	IO_READER,
	IO_WRITER,
	IO_WAITERS,
	WAITER_WAKER,
	WAITER_INTEREST,
	WAITER_NEXT,
	IO_NEXT,
};

#define READINESS_TYPE    "tokio::runtime::io::scheduled_io::Readiness"
#define SCHEDULED_IO_TYPE "tokio::runtime::io::scheduled_io::ScheduledIo"
#define WAITER_TYPE       "tokio::runtime::io::scheduled_io::Waiter"
#define POLL_EVENTED_TYPE "tokio::io::poll_evented::PollEvented"
#define ASYNC_FD_TYPE     "tokio::io::async_fd::AsyncFd"

const struct binding_row leaf_io_layout[] = {
	[READINESS_SCHEDULED] = { "io.readiness.io", "type:" READINESS_TYPE, "scheduled_io",
	                          .optional = true },
	[READINESS_INTEREST] = { "io.readiness.interest", "type:" READINESS_TYPE, "waiter.interest",
	                         .optional = true },
	[READINESS_WAKER] = { "io.readiness.waker", "type:" READINESS_TYPE, "waiter.waker",
	                      .optional = true },
	/* an Arc<ScheduledIo>; up to 1.29 the Ref of a slab */
	[REGISTRATION] = { "io.registration", "type:" POLL_EVENTED_TYPE, "registration.shared",
	                   .optional = true },
	/* inside mio's IoSource | tokio's own type, of processes */
	[FD] = { "io.fd", "type:" POLL_EVENTED_TYPE, "io.Some.0.inner.inner | io.Some.0",
	         .optional = true },
	[ASYNC_FD] = { "io.async_fd", "type:" ASYNC_FD_TYPE, "inner.Some.0", .optional = true },
	[IO_READINESS] = { "io.readiness", "type:" SCHEDULED_IO_TYPE, "readiness",
	                   .optional = true },
	[IO_READER] = { "io.reader", "type:" SCHEDULED_IO_TYPE, "waiters.reader",
	                .optional = true },
	[IO_WRITER] = { "io.writer", "type:" SCHEDULED_IO_TYPE, "waiters.writer",
	                .optional = true },
	[IO_WAITERS] = { "io.waiters", "type:" SCHEDULED_IO_TYPE, "waiters.list.head.Some.0",
	                 .optional = true },
	[WAITER_WAKER] = { "io.waiter.waker", "type:" WAITER_TYPE, "waker", .optional = true },
	[WAITER_INTEREST] = { "io.waiter.interest", "type:" WAITER_TYPE, "interest",
	                      .optional = true },
	[WAITER_NEXT] = { "io.waiter.next", "type:" WAITER_TYPE, "pointers.next.Some.0",
	                  .optional = true },
	/* since 1.30 */
	[IO_NEXT] = { "io.next", "type:" SCHEDULED_IO_TYPE, "linked_list_pointers.next.Some.0",
	              .optional = true },
	{ 0 },
};

/*
 * Names of registered types as users know them. Other types are named by the last word of the type
 * inside.
 */
static const struct leaf_io_named {
	const char *type, *name;
	unsigned only; /* its only direction: IO_READS, IO_WRITES; 0: both */
} names[] = {
	{ "tokio::net::tcp::stream::TcpStream", "TcpStream", 0 },
	{ "tokio::net::tcp::listener::TcpListener", "TcpListener", IO_READS },
	{ "tokio::net::udp::UdpSocket", "UdpSocket", 0 },
	{ "tokio::net::unix::stream::UnixStream", "UnixStream", 0 },
	{ "tokio::net::unix::listener::UnixListener", "UnixListener", IO_READS },
	{ "tokio::net::unix::datagram::socket::UnixDatagram", "UnixDatagram", 0 },
	{ "tokio::net::unix::pipe::Sender", "pipe::Sender", IO_WRITES },
	{ "tokio::net::unix::pipe::Receiver", "pipe::Receiver", IO_READS },
	{ "tokio::process::ChildStdin", "ChildStdin", IO_WRITES },
	{ "tokio::process::ChildStdout", "ChildStdout", IO_READS },
	{ "tokio::process::ChildStderr", "ChildStderr", IO_READS },
	{ ASYNC_FD_TYPE, "AsyncFd", 0 },
};

/* Bits of Ready, and of Interest, which has the first two (io/ready.rs, io/interest.rs). */
enum {
	READABLE = 1,
	WRITABLE = 2,
	READ_CLOSED = 4,
	WRITE_CLOSED = 8,
	READY_BITS = 16,
};

/* NULL: it has no name of its own. */
static const struct leaf_io_named *find_name(const struct type *t)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (type_is(t, names[i].type))
			return &names[i];
	}
	return NULL;
}

static const char *leaf_io_resource_name(const struct leaf *l, const struct type *t)
{
	const struct leaf_io_named *named = find_name(t);

	if (named)
		return named->name;
	const struct type *inner = type_param(t, "E");
	const char *name = name_without_generics(l->d->c->a, type_name(inner ? inner : t));
	const char *last = strrchr(name, ':');
	return inspector_clean_name(l->d->c->a, last ? last + 1 : name);
}

/* Finds the PollEvented or AsyncFd that v is or wraps. */
static bool find_source(struct value v, struct value *ret)
{
	for (int hop = 0; v.type && hop < MAX_HOPS; hop++) {
		if (type_is(v.type, POLL_EVENTED_TYPE) || type_is(v.type, ASYNC_FD_TYPE)) {
			*ret = v;
			return true;
		}
		const struct member *m =
			type_kind(v.type) == TYPE_STRUCT ? type_single_member(v.type) : NULL;
		if (!m)
			return false;
		v = (struct value){ m->type, v.addr + m->offset };
	}
	return false;
}

/* The ScheduledIo behind an Arc, a NonNull or a slab's Ref. */
static struct error *follow_scheduled_io(const struct leaf *l, struct value v, struct value *ret)
{
	for (int hop = 0; v.type && hop < MAX_HOPS; hop++) {
		if (type_is(v.type, SCHEDULED_IO_TYPE)) {
			*ret = v;
			return NULL;
		}
		if (type_kind(v.type) == TYPE_POINTER) {
			TRY(target_read_uint(l->d->c->in->target, v.addr, 8, &v.addr));
			if (!v.addr)
				return error_new(ERR_CORRUPT, "its registration is null");
			v.type = type_target(v.type);
			continue;
		}
		/* A slab's Ref and Value have it in a member of that name. */
		const struct member *m = type_member(v.type, "value");
		m = m ? m : unwrap_newtype(v.type).member;
		if (!m)
			break;
		v = (struct value){ m->type, v.addr + m->offset };
	}
	return error_new(ERR_LAYOUT, "its registration leads to no ScheduledIo");
}

static struct error *source_io(const struct leaf *l, struct value source, struct value *ret)
{
	struct value shared;
	bool found;

	TRY(leaf_place(l, source, leaf_io_layout[REGISTRATION].path, &shared, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has no registration");
	leaf_driver_met(l, source, "registration.handle");
	return follow_scheduled_io(l, shared, ret);
}

struct error *leaf_io_arm_read(struct leaf *l, struct value v)
{
	struct value io;

	TRY(source_io(l, v, &io));
	return leaf_arm_at(l, io, leaf_io_layout[IO_READER].path);
}

/* ---- wakers of a registration ---- */

/* A slot for one direction's waker. */
struct leaf_io_slot {
	bool known, vacant;
	enum waker_registered armed;
};

static struct error *is_our_waker(const struct leaf *l, struct value place, bool *ret)
{
	struct waker w;

	TRY(waker_read(l->d->c, place, &w));
	*ret = w.vtable && l->d->waker && w.data == l->d->waker;
	return NULL;
}

static struct error *leaf_io_read_slot(const struct leaf *l, struct value io, const char *path,
                                       struct leaf_io_slot *ret)
{
	struct value place;

	*ret = (struct leaf_io_slot){ 0 };
	TRY(leaf_place(l, io, path, &place, &ret->known));
	if (!ret->known)
		return NULL;
	return waker_stored(l->d->c, place, l->d->waker, &ret->armed, &ret->vacant);
}

/* Called with a Waiter and the place of its waker. */
typedef struct error *waiter_fn(const struct leaf *l, struct value waiter, struct value waker,
                                void *arg);

/* Calls fn for the futures in the list of waiters. */
static struct error *each_waiter(const struct leaf *l, struct value io, waiter_fn *fn, void *arg)
{
	struct value waiter, place;
	bool found;

	TRY(leaf_place(l, io, leaf_io_layout[IO_WAITERS].path, &waiter, &found));
	for (int i = 0; found && i < MAX_WAITERS; i++) {
		if (type_kind(waiter.type) != TYPE_POINTER && !type_is(waiter.type, WAITER_TYPE)) {
			const struct member *m = type_single_member(waiter.type);
			if (!m)
				return NULL;
			waiter = (struct value){ m->type, waiter.addr + m->offset };
			continue;
		}
		TRY(leaf_place(l, waiter, leaf_io_layout[WAITER_WAKER].path, &place, &found));
		if (!found)
			break;
		TRY(fn(l, waiter, place, arg));
		TRY(leaf_place(l, waiter, leaf_io_layout[WAITER_NEXT].path, &waiter, &found));
	}
	return NULL;
}

static struct error *add_our_interest(const struct leaf *l, struct value waiter, struct value waker,
                                      void *arg)
{
	uint64_t *ret = arg, interest = 0;
	bool ours;

	TRY(is_our_waker(l, waker, &ours));
	if (ours)
		TRY(leaf_uint(l, waiter, leaf_io_layout[WAITER_INTEREST].path, &interest));
	*ret |= interest;
	return NULL;
}

/* Readiness that a future waits for at a registration. */
struct interest {
	uint64_t bits; /* as those of Interest; 0 unknown, or nothing */
	bool absent;   /* it is known that this task is not woken for it */
};

/*
 * Fills w->armed and vacant where the direction is unknown: any slot may be meant. bits: this
 * task's interest in the list of waiters.
 */
static struct error *arm_by_any(struct leaf *l, struct value io, const struct leaf_io_slot *reader,
                                const struct leaf_io_slot *writer, uint64_t bits)
{
	struct value waiter;
	bool waits;

	TRY(leaf_place(l, io, leaf_io_layout[IO_WAITERS].path, &waiter, &waits));
	l->vacant = reader->vacant && writer->vacant && !waits;
	if (bits || reader->armed == WAKER_REGISTERED_YES || writer->armed == WAKER_REGISTERED_YES)
		l->w->armed = WAKER_REGISTERED_YES;
	else if (!waits && reader->armed == WAKER_REGISTERED_NO &&
	         writer->armed == WAKER_REGISTERED_NO)
		l->w->armed = WAKER_REGISTERED_NO;
	return NULL;
}

/*
 * Finds what this task waits for. The type of the future decides; the slots are used only where the
 * type does not tell. A slot is filled when its direction is not ready (tokio 1.54,
 * poll_readiness() in scheduled_io.rs) and emptied when it gets ready: one that is full although
 * ready is left from an earlier wait. A future that is not polled now may have filled no slot.
 */
static struct error *our_interest(struct leaf *l, struct value io, unsigned known,
                                  struct interest *ret)
{
	uint64_t ready, listed = 0;
	struct leaf_io_slot reader, writer;

	*ret = (struct interest){ .bits = known };
	TRY(leaf_io_read_slot(l, io, leaf_io_layout[IO_READER].path, &reader));
	TRY(leaf_io_read_slot(l, io, leaf_io_layout[IO_WRITER].path, &writer));
	if (!known)
		TRY(each_waiter(l, io, add_our_interest, &listed));
	TRY(arm_by_any(l, io, &reader, &writer, listed));
	if (known) {
		const struct leaf_io_slot *s = known == IO_READS ? &reader : &writer;

		l->w->armed = s->armed;
		ret->absent = (l->d->idle || l->d->unpolled) && s->armed == WAKER_REGISTERED_NO;
		return NULL;
	}
	TRY(leaf_uint(l, io, leaf_io_layout[IO_READINESS].path, &ready));
	ret->bits = listed;
	if (reader.armed == WAKER_REGISTERED_YES && !(ready & (READABLE | READ_CLOSED)))
		ret->bits |= READABLE;
	if (writer.armed == WAKER_REGISTERED_YES && !(ready & (WRITABLE | WRITE_CLOSED)))
		ret->bits |= WRITABLE;
	ret->bits = io_direction_woken(l->d, (unsigned)ret->bits);
	if (l->d->unpolled)
		ret->bits = 0;
	return NULL;
}

/* ---- description ---- */

static struct error *add_readiness(const struct leaf *l, struct value io)
{
	static const char *const words[] = { "readable",     "writable", "read closed",
		                             "write closed", "priority", "error" };
	enum { NWORDS = sizeof(words) / sizeof(words[0]) };
	const char **list = NEW_ARRAY(l->d->c->a, const char *, NWORDS);
	uint64_t bits;
	size_t n = 0;

	TRY(leaf_uint(l, io, leaf_io_layout[IO_READINESS].path, &bits));
	bits &= (UINT64_C(1) << READY_BITS) - 1;
	/* 4 and 8 are closed ends; 16 is priority, since 1.29; 32 is an error, since 1.32. */
	for (size_t i = 0; i < NWORDS; i++) {
		if (bits >> i & 1)
			list[n++] = words[i];
	}
	wait_list(l, "readiness", list, n);
	return NULL;
}

/* Is the type just a descriptor: a File, an OwnedFd, a RawFd? */
static bool leaf_io_is_descriptor(const struct type *t)
{
	for (int hop = 0; t && hop < MAX_HOPS; hop++) {
		if (type_kind(t) == TYPE_INT || type_is(t, "std::os::fd::owned::OwnedFd") ||
		    type_is(t, "std::os::fd::owned::BorrowedFd"))
			return type_size(t) == sizeof(int);
		const struct member *m = type_kind(t) == TYPE_STRUCT ? type_single_member(t) : NULL;
		t = m ? m->type : NULL;
	}
	return false;
}

static bool read_fd(const struct leaf *l, struct value v, int *ret)
{
	uint64_t number;

	if (!leaf_io_is_descriptor(v.type))
		return false;
	struct error *err = value_uint(l->d->c->in->target, v, &number);
	bool ok = !err && number <= MAX_FD;

	error_free(err);
	if (ok)
		*ret = (int)number;
	return ok;
}

/*
 * Finds the descriptor. For a user's object in an AsyncFd only the object knows it, but since 1.30
 * the token that epoll has of it is the address of its ScheduledIo.
 */
static bool find_fd(const struct leaf *l, const struct value *source, struct value io, int *ret)
{
	bool is_async_fd = source && type_is(source->type, ASYNC_FD_TYPE);
	struct value place;
	bool found = false;

	if (source) {
		struct error *err =
			leaf_place(l, *source, leaf_io_layout[is_async_fd ? ASYNC_FD : FD].path,
		                   &place, &found);
		found = !err && found && read_fd(l, place, ret);
		error_free(err);
	}
	return found || fd_info_by_epoll_data(l->d->c->in->target, io.addr, ret);
}

/* source is NULL where the owner of the registration is unknown. */
static struct error *leaf_io_describe(const struct leaf *l, const char *name,
                                      const struct value *source, struct value io,
                                      const struct interest *interest)
{
	const char *what = leaf_fd_interest((unsigned)interest->bits), *where = "", *queue = "";
	int fd;

	if (l->w->armed == WAKER_REGISTERED_YES && !l->d->strict)
		*vec_push(&l->d->c->opaque.registrations) =
			(struct known_registration){ l->d->waker, io.addr };
	wait_string(l, "resource", name);
	if (what)
		wait_string(l, "direction", what);
	if (interest->absent)
		wait_bool(l, "registered", false);
	TRY(add_readiness(l, io));
	if (find_fd(l, source, io, &fd)) {
		where = leaf_fd_describe(l, fd);
		queue = interest->bits & WRITABLE ? leaf_fd_send_queue(l, fd) : "";
	}
	wait_phrase(l, "%s%s%s%s%s%s", name, what ? " " : "", what ? what : "", where, queue,
	            interest->absent ? ", not registered for it" : "");
	return NULL;
}

/* ---- resources with poll functions ---- */

static struct error *decode_resource(struct leaf *l)
{
	const struct leaf_io_named *named = find_name(l->v.type);
	struct interest interest;
	struct value source, io;

	if (!find_source(l->v, &source))
		return error_new(ERR_LAYOUT, "%s has no registration", type_name(l->v.type));
	TRY(source_io(l, source, &io));
	TRY(our_interest(l, io, named && named->only ? named->only : l->d->direction.sure,
	                 &interest));
	return leaf_io_describe(l, leaf_io_resource_name(l, l->v.type), &source, io, &interest);
}

/* ---- the future of an async fn ---- */

/* Does the value, or what it refers to, have that ScheduledIo? Then it becomes *holder. */
static bool holds_io(const struct leaf *l, struct value v, uint64_t io, struct value *holder,
                     struct value *source)
{
	for (int hop = 0; type_kind(v.type) == TYPE_POINTER; hop++) {
		const struct type *target = type_target(v.type);

		if (!target || hop == MAX_REFERENCES)
			return false;
		struct error *err = target_read_uint(l->d->c->in->target, v.addr, 8, &v.addr);
		if (err || !v.addr) {
			error_free(err);
			return false;
		}
		v.type = target;
	}
	struct value found;

	if (!find_source(v, source))
		return false;
	struct error *err = source_io(l, *source, &found);
	bool holds = !err && found.addr == io;

	error_free(err);
	*holder = v;
	return holds;
}

/* Finds the member of an async fn around the leaf that has the registration: mostly self. */
static bool find_holder(const struct leaf *l, uint64_t io, struct value *holder,
                        struct value *source)
{
	for (const struct ancestor *a = l->d->above; a; a = a->up) {
		struct value v = a->v;
		const struct variant *active;
		size_t n;

		if (type_kind(v.type) == TYPE_ENUM) {
			struct error *err = value_variant(l->d->c->in->target, v, &active);
			if (err) {
				error_free(err);
				continue;
			}
			v = value_payload(v, active);
		}
		const struct member *members = type_members(v.type, &n);
		for (size_t i = 0; i < n; i++) {
			struct value member = { members[i].type, v.addr + members[i].offset };
			if (member.type && holds_io(l, member, io, holder, source))
				return true;
		}
	}
	return false;
}

static struct error *decode_readiness(struct leaf *l)
{
	struct value scheduled, io, holder, source;
	struct interest interest = { 0 };
	bool found;

	TRY(leaf_place(l, l->v, leaf_io_layout[READINESS_SCHEDULED].path, &scheduled, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has no registration");
	TRY(follow_scheduled_io(l, scheduled, &io));
	TRY(leaf_uint(l, l->v, leaf_io_layout[READINESS_INTEREST].path, &interest.bits));
	TRY(leaf_arm_at(l, l->v, leaf_io_layout[READINESS_WAKER].path));
	if (!find_holder(l, io.addr, &holder, &source))
		return leaf_io_describe(l, "I/O", NULL, io, &interest);
	l->w->object = holder.addr;
	return leaf_io_describe(l, leaf_io_resource_name(l, holder.type), &source, io, &interest);
}

/* ---- all registrations of a driver ---- */

/* Arguments of report_waiter(). */
struct leaf_io_report {
	struct registration r;
	registration_fn *fn;
	void *arg;
};

static void leaf_io_report(struct leaf_io_report *to, struct waker w, unsigned interest)
{
	to->r.waker = w.data;
	to->r.interest = interest;
	if (w.vtable)
		to->fn(&to->r, to->arg);
}

static struct error *report_waiter(const struct leaf *l, struct value waiter, struct value waker,
                                   void *arg)
{
	struct waker w;
	uint64_t interest;

	TRY(waker_read(l->d->c, waker, &w));
	TRY(leaf_uint(l, waiter, leaf_io_layout[WAITER_INTEREST].path, &interest));
	leaf_io_report(arg, w, (unsigned)interest);
	return NULL;
}

static struct error *report_slot(const struct leaf *l, struct value io, const char *path,
                                 unsigned interest, struct leaf_io_report *to)
{
	struct value place;
	struct waker w = { 0 };
	bool found;

	TRY(leaf_place(l, io, path, &place, &found));
	if (found)
		TRY(waker_read(l->d->c, place, &w));
	leaf_io_report(to, w, interest);
	return NULL;
}

/* A waker in the slot of a direction that is ready is left from an earlier wait. */
static struct error *report_io(const struct leaf *l, struct value io, struct leaf_io_report *to)
{
	uint64_t ready;

	to->r.v = io;
	TRY(leaf_uint(l, io, leaf_io_layout[IO_READINESS].path, &ready));
	if (!(ready & (READABLE | READ_CLOSED)))
		TRY(report_slot(l, io, leaf_io_layout[IO_READER].path, READABLE, to));
	if (!(ready & (WRITABLE | WRITE_CLOSED)))
		TRY(report_slot(l, io, leaf_io_layout[IO_WRITER].path, WRITABLE, to));
	return each_waiter(l, io, report_waiter, to);
}

/*
 * Reads a driver's list of all registrations (runtime/io/registration_set.rs). An empty one has no
 * head; nor has a driver that is disabled, or of a version with a slab. A list that was damaged may
 * have a cycle.
 */
static struct error *report_list(struct collector *c, const struct tokio_runtime *r,
                                 struct map *seen, struct leaf_io_report *to)
{
	struct decoder d = { .c = c, .runtime = NO_RUNTIME };
	const struct leaf l = { .d = &d };
	struct value io;
	bool found;

	TRY(bindings_eval(c->in->target, &r->tokio->layout, r->flavor->registrations, r->handle,
	                  &io, &found));
	for (int i = 0; found && i < MAX_REGISTRATIONS; i++) {
		TRY(follow_scheduled_io(&l, io, &io));
		if (!map_put(seen, io.addr, to))
			break;
		TRY(report_io(&l, io, to));
		TRY(leaf_place(&l, io, leaf_io_layout[IO_NEXT].path, &io, &found));
	}
	return NULL;
}

/* A list that cannot be read to its end tells what it has before that. */
void tokio_registrations(struct collector *c, registration_fn *fn, void *arg)
{
	const struct tokio_walk *walk = tokio_walk(c);
	struct leaf_io_report to = { .fn = fn, .arg = arg };
	struct map seen = { 0 };

	for (size_t i = 0; i < walk->nruntimes; i++)
		error_free(report_list(c, &walk->runtimes[i], &seen, &to));
	map_free(&seen);
}

#define RESOURCE(name)                                                                             \
	{                                                                                          \
		.type = (name), .kind = "io", .decode = decode_resource, .resource = true,         \
		.directed = true                                                                   \
	}

const struct leaf_row leaf_io_rows[] = {
	{ .type = READINESS_TYPE, .kind = "io", .decode = decode_readiness },
	RESOURCE("tokio::net::tcp::stream::TcpStream"),
	RESOURCE("tokio::net::tcp::listener::TcpListener"),
	RESOURCE("tokio::net::udp::UdpSocket"),
	RESOURCE("tokio::net::unix::stream::UnixStream"),
	RESOURCE("tokio::net::unix::listener::UnixListener"),
	RESOURCE("tokio::net::unix::datagram::socket::UnixDatagram"),
	RESOURCE("tokio::net::unix::pipe::Sender"),
	RESOURCE("tokio::net::unix::pipe::Receiver"),
	RESOURCE("tokio::process::ChildStdin"),
	RESOURCE("tokio::process::ChildStdout"),
	RESOURCE("tokio::process::ChildStderr"),
	RESOURCE(ASYNC_FD_TYPE),
	RESOURCE(POLL_EVENTED_TYPE),
	{ 0 },
};
