/*
 * hyper 0.14 and 1: what their HTTP/1 connections do, and the channel for bodies. hyper 1.12.0 is
 * cited.
 *
 * A connection is the future proto::h1::dispatch::Dispatcher<D, Bs, I, T>. D is dispatch::Server,
 * which has the service's future in in_flight, or dispatch::Client. The states of both directions
 * of conn.state go from Init over Body to KeepAlive; when both are KeepAlive, and all is flushed,
 * they become Init, keep_alive becomes Idle and method None (conn.rs, State::idle()).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/values/show.h"
#include "runtimes/future/leaf.h"
#include "runtimes/future/object_walk.h"
#include "runtimes/leaves/leaves.h"
#include "runtimes/leaves/leaves_wait.h"

enum {
	MAX_BUFS = 64,   /* hyper queues at most 16 */
	MAX_METHOD = 16, /* bytes */
	MAX_PATH = 2048, /* bytes; longer ones are not shown */
	MAX_LINE = MAX_METHOD + MAX_PATH + 8,
	MAX_HEAD = 4096,     /* bytes before the value of a header */
	MAX_HEADERS = 4,     /* headers whose values are looked at */
	MAX_CANDIDATES = 16, /* requests in the variables of a service */
};

#define DISPATCHER "hyper::proto::h1::dispatch::Dispatcher"

enum {
	DISPATCH,
	IN_FLIGHT,
	IS_CLOSING,
	READING,
	WRITING,
	KEEP_ALIVE,
	METHOD,
	VERSION,
	READ_BUF,
	HEADERS,
	HEADERS_LEN,
	HEADERS_POS,
	QUEUE,
	HEAD_SECONDS,
	HEAD_NANOS,
	HEAD_TIMER,
	BODY_WAKER,
	BODY_ITEM,
	BODY_SENDER,
};

#define BODY_TYPE "hyper::body::chan::Receiver"

static const struct binding_row layout[] = {
	[DISPATCH] = { "hyper.dispatch", "type:" DISPATCHER, "dispatch", .optional = true },
	[IN_FLIGHT] = { "hyper.in_flight", "type:" DISPATCHER, "dispatch.in_flight.Some.0",
	                .optional = true },
	[IS_CLOSING] = { "hyper.is_closing", "type:" DISPATCHER, "is_closing", .optional = true },
	[READING] = { "hyper.reading", "type:" DISPATCHER, "conn.state.reading", .optional = true },
	[WRITING] = { "hyper.writing", "type:" DISPATCHER, "conn.state.writing", .optional = true },
	[KEEP_ALIVE] = { "hyper.keep_alive", "type:" DISPATCHER, "conn.state.keep_alive",
	                 .optional = true },
	[METHOD] = { "hyper.method", "type:" DISPATCHER, "conn.state.method.Some.0.0",
	             .optional = true },
	[VERSION] = { "hyper.version", "type:" DISPATCHER, "conn.state.version.0",
	              .optional = true },
	[READ_BUF] = { "hyper.read_buf", "type:" DISPATCHER, "conn.io.read_buf", .optional = true },
	[HEADERS] = { "hyper.headers", "type:" DISPATCHER, "conn.io.write_buf.headers.bytes",
	              .optional = true },
	[HEADERS_LEN] = { "hyper.headers.len", "type:" DISPATCHER,
	                  "conn.io.write_buf.headers.bytes.len", .optional = true },
	[HEADERS_POS] = { "hyper.headers.pos", "type:" DISPATCHER, "conn.io.write_buf.headers.pos",
	                  .optional = true },
	[QUEUE] = { "hyper.queue", "type:" DISPATCHER, "conn.io.write_buf.queue.bufs",
	            .optional = true },
	[HEAD_SECONDS] = { "hyper.head.seconds", "type:" DISPATCHER,
	                   "conn.state.h1_header_read_timeout.Some.0.secs", .optional = true },
	[HEAD_NANOS] = { "hyper.head.nanos", "type:" DISPATCHER,
	                 "conn.state.h1_header_read_timeout.Some.0.nanos", .optional = true },
	[HEAD_TIMER] = { "hyper.head.timer", "type:" DISPATCHER,
	                 "conn.state.h1_header_read_timeout_running", .optional = true },
	/* since 1.12; before, it is a channel of futures */
	[BODY_WAKER] = { "hyper.body.waker", "type:" BODY_TYPE, "shared.receiver_waker.waker",
	                 .optional = true },
	[BODY_ITEM] = { "hyper.body.item", "type:" BODY_TYPE, "shared.state.item.Some",
	                .optional = true },
	[BODY_SENDER] = { "hyper.body.sender", "type:" BODY_TYPE, "shared.state.sender_open",
	                  .optional = true },
	{ 0 },
};

static const struct binding_row *const bindings[] = { layout, NULL };

/* ---- the state of a connection ---- */

/* Is there something at the end of the path? False where the type has no such path, too. */
static bool hyper_find(const struct leaf *l, struct value from, const char *expr, struct value *ret)
{
	const struct path *p = inspector_optional_path(l->d->c->in, from.type, expr);
	bool found = false;
	struct error *err = p ? path_eval(l->d->c->in->target, p, from, ret, &found) : NULL;
	bool ok = !err && found;

	error_free(err);
	return ok;
}

static bool hyper_number(const struct leaf *l, struct value from, const char *expr, uint64_t *ret)
{
	const struct path *p = inspector_optional_path(l->d->c->in, from.type, expr);
	bool found = false;
	struct error *err = p ? path_uint(l->d->c->in->target, p, from, ret, &found) : NULL;
	bool ok = !err && found;

	error_free(err);
	return ok;
}

/* The name of the active variant there; "" unknown. */
static const char *hyper_variant(const struct leaf *l, int row)
{
	const char *name = NULL;
	struct value place;

	if (!hyper_find(l, l->v, layout[row].path, &place))
		return "";
	error_free(value_enum_name(l->d->c->in->target, place, &name));
	return name ? name : "";
}

struct hyper_connection {
	bool server, serving; /* serving: the service's future is alive */
	bool between;         /* no request is in progress */
	struct value in_flight;
	const char *reading, *writing, *keep_alive;
	uint64_t received; /* bytes that are read and not yet parsed */
	uint64_t queued;   /* bytes to be written */
	bool has_queued;
	const char *method; /* of the request in progress; NULL unknown */
};

static bool hyper_is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static const char *phase_between(const struct hyper_connection *c)
{
	if (c->server && c->received)
		return "reading head";
	return hyper_is(c->keep_alive, "Idle") ? "idle" : "new";
}

/* NULL: unknown. */
static const char *hyper_phase(const struct leaf *l, const struct hyper_connection *c)
{
	uint64_t closing;

	if (hyper_number(l, l->v, layout[IS_CLOSING].path, &closing) && closing)
		return "closing";
	if (hyper_is(c->reading, "Closed") && hyper_is(c->writing, "Closed"))
		return "closing";
	if (hyper_is(c->reading, "") || hyper_is(c->writing, ""))
		return NULL;
	if (c->between)
		return phase_between(c);
	if (!c->server && hyper_is(c->writing, "Body"))
		return "writing";
	if (!c->server && c->has_queued && c->queued)
		return "writing";
	if (hyper_is(c->reading, "Body") || hyper_is(c->reading, "Continue"))
		return "reading body";
	if (!c->server)
		return hyper_is(c->reading, "Init") ? "waiting for the answer" : NULL;
	if (c->serving)
		return "waiting for the service";
	return "writing";
}

/* ---- bytes to be written ---- */

static bool hyper_bytes_len(const struct leaf *l, struct value buf, const char *expr, uint64_t *ret)
{
	struct value place;

	return hyper_find(l, buf, expr, &place) && type_is(place.type, "bytes::bytes::Bytes") &&
	       hyper_number(l, place, "len", ret);
}

/* A part of an HTTP message that is encoded in chunks: its size, data and end of line. */
static bool chunk_len(const struct leaf *l, struct value buf, uint64_t *ret)
{
	uint64_t len, pos, data, end;

	if (!hyper_number(l, buf, "kind.Chunked.0.a.a.len", &len) ||
	    !hyper_number(l, buf, "kind.Chunked.0.a.a.pos", &pos) ||
	    !hyper_bytes_len(l, buf, "kind.Chunked.0.a.b", &data) ||
	    !hyper_number(l, buf, "kind.Chunked.0.b.0.length", &end) || pos > len)
		return false;
	*ret = len - pos + data + end;
	return true;
}

/* Number of bytes that an EncodedBuf has left (h1/encode.rs); false: unknown. */
static bool encoded_len(const struct leaf *l, struct value buf, uint64_t *ret)
{
	uint64_t limit;

	if (hyper_bytes_len(l, buf, "kind.Limited.0.inner", ret) &&
	    hyper_number(l, buf, "kind.Limited.0.limit", &limit)) {
		*ret = *ret < limit ? *ret : limit;
		return true;
	}
	return hyper_bytes_len(l, buf, "kind.Exact.0", ret) || chunk_len(l, buf, ret) ||
	       hyper_number(l, buf, "kind.ChunkedEnd.0.0.length", ret);
}

static bool queued_bytes(const struct leaf *l, uint64_t *ret)
{
	struct inspector *in = l->d->c->in;
	uint64_t len, pos, n, one;
	struct value queue, buf;

	if (!hyper_number(l, l->v, layout[HEADERS_LEN].path, &len) ||
	    !hyper_number(l, l->v, layout[HEADERS_POS].path, &pos) || pos > len ||
	    !hyper_find(l, l->v, layout[QUEUE].path, &queue))
		return false;
	*ret = len - pos;
	struct error *err = show_length(in->target, &in->show, queue, &n);
	bool ok = !err && n <= MAX_BUFS;
	error_free(err);
	for (uint64_t i = 0; ok && i < n; i++) {
		err = show_index(in->target, &in->show, queue, i, &buf);
		ok = !err && encoded_len(l, buf, &one);
		error_free(err);
		*ret += ok ? one : 0;
	}
	return ok;
}

/* ---- method and path ---- */

/* Methods that http knows have a variant each (http 1.5.0, method.rs); others are not shown. */
static const char *method_name(const char *name)
{
	static const char *const methods[] = { "OPTIONS", "GET",     "POST",  "PUT",  "DELETE",
		                               "HEAD",    "CONNECT", "TRACE", "PATCH" };

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		if (strcasecmp(methods[i], name) == 0)
			return methods[i];
	}
	return NULL;
}

/* Places of http::request::Parts in what the service's future has or leads to. */
struct requests {
	struct value list[MAX_CANDIDATES];
	size_t n;
};

static bool visit_request(const struct reached *at, size_t index, void *arg)
{
	struct requests *r = arg;

	(void)index;
	if (!type_is(at->v.type, "http::request::Parts"))
		return true;
	if (r->n < MAX_CANDIDATES)
		r->list[r->n++] = at->v;
	return false;
}

/* The buffer into which the connection reads. */
struct read_buf {
	uint64_t ptr, data; /* the first byte not parsed; its shared allocation */
};

/* A part of what was read: bytes::Bytes. */
struct hyper_part {
	uint64_t ptr, len, data;
};

static bool read_part(const struct leaf *l, struct value bytes, struct hyper_part *ret)
{
	return hyper_number(l, bytes, "ptr", &ret->ptr) &&
	       hyper_number(l, bytes, "len", &ret->len) &&
	       hyper_number(l, bytes, "data", &ret->data);
}

/* Is it in the allocation that the connection reads into, before what is not yet parsed? */
static bool is_in_use(const struct hyper_part *p, const struct read_buf *buf, size_t after)
{
	return p->data == buf->data && p->ptr < buf->ptr && buf->ptr - p->ptr > p->len + after;
}

static bool memory_is(const struct leaf *l, uint64_t addr, const char *expected, size_t n)
{
	char text[MAX_LINE];
	struct error *err = target_read(l->d->c->in->target, addr, text, n);
	bool ok = !err && memcmp(text, expected, n) == 0;

	error_free(err);
	return ok;
}

/* Is the line in memory before the value of a header, in the same head? */
static bool is_before(const struct leaf *l, uint64_t addr, const char *line, size_t n)
{
	char text[MAX_HEAD];
	bool ok = false;

	/* The page before may be missing. */
	for (size_t size = sizeof(text); !ok && size > n && addr > size; size /= 2) {
		struct error *err = target_read(l->d->c->in->target, addr - size, text, size);

		if (!err) {
			const char *at = memmem(text, size, line, n);

			ok = at && !memmem(at, size - (size_t)(at - text), "\r\n\r\n", 4);
		}
		error_free(err);
	}
	return ok;
}

/*
 * Is the request line in the head of which the headers are parts? The path of 0.14 and 1.0 is a
 * copy, which is not in it.
 */
static bool is_in_head(const struct leaf *l, struct value parts, const struct read_buf *buf,
                       const char *line, size_t n, bool *certain)
{
	struct value entries, bytes;
	struct slice list;
	struct hyper_part part;

	if (!hyper_find(l, parts, "headers.entries", &entries))
		return false;
	struct error *err = value_slice(l->d->c->in->target, entries, &list);
	uint64_t count = err ? 0 : list.count < MAX_HEADERS ? list.count : MAX_HEADERS;
	error_free(err);
	for (uint64_t i = 0; i < count; i++) {
		struct value entry = { list.element, list.addr + i * type_size(list.element) };

		if (!hyper_find(l, entry, "value.inner", &bytes) || !read_part(l, bytes, &part) ||
		    !is_before(l, part.ptr, line, n))
			continue;
		*certain = is_in_use(&part, buf, 0);
		return true;
	}
	return false;
}

/*
 * Reads the path of a request, without the query, which may have secrets. A variable may have been
 * moved out, and then refers to memory that may be used again for another request. So the request
 * line must be around the path, with the method of the request in progress. *certain: it is not
 * freed, because it is in the allocation that the connection reads into, before what is not yet
 * parsed.
 */
static const char *request_path(const struct leaf *l, const struct hyper_connection *c,
                                const struct read_buf *buf, struct value parts, bool *certain)
{
	size_t before = strlen(c->method) + 1, whole;
	static const char after[] = " HTTP/1.";
	char line[MAX_LINE];
	struct value bytes;
	struct hyper_part path;
	uint64_t query;

	if (!hyper_find(l, parts, "uri.path_and_query.data.bytes", &bytes) ||
	    !read_part(l, bytes, &path) ||
	    !hyper_number(l, parts, "uri.path_and_query.query", &query) || !path.len ||
	    path.len > MAX_PATH || path.ptr < before)
		return NULL;
	memcpy(line, c->method, before - 1);
	line[before - 1] = ' ';
	struct error *err = target_read(l->d->c->in->target, path.ptr, line + before, path.len);
	bool ok = !err;
	error_free(err);
	memcpy(line + before + path.len, after, strlen(after));
	whole = before + path.len + strlen(after);
	if (ok && memory_is(l, path.ptr - before, line, whole))
		*certain = is_in_use(&path, buf, strlen(after));
	else if (!ok || !is_in_head(l, parts, buf, line, whole, certain))
		return NULL;
	return str_clean(l->d->c->a, line + before, query < path.len ? query : path.len);
}

/* The path of the request in progress of a server; NULL: it is in no variable. */
static const char *hyper_find_path(const struct leaf *l, const struct hyper_connection *c,
                                   bool *certain)
{
	struct requests requests = { .n = 0 };
	const char *found = NULL;
	struct read_buf buf;
	struct value place;
	struct reach reach;

	if (!c->serving || !c->method || !hyper_find(l, l->v, layout[READ_BUF].path, &place) ||
	    !hyper_number(l, place, "ptr", &buf.ptr) || !hyper_number(l, place, "data", &buf.data))
		return NULL;
	object_walk_near(l->d->c, c->in_flight, visit_request, &requests, &reach);
	for (size_t i = 0; i < requests.n && !found; i++)
		found = request_path(l, c, &buf, requests.list[i], certain);
	return found;
}

/*
 * The path of the request whose head a client has not sent: it is in the buffer of heads, which is
 * cleared when it is sent (io.rs, WriteBuf). NULL: not known.
 */
static const char *unsent_path(const struct leaf *l, const struct hyper_connection *c)
{
	size_t before = strlen(c->method) + 1, path;
	char line[MAX_METHOD + MAX_PATH];
	uint64_t len, n;
	struct value head;
	struct slice bytes;

	if (!hyper_number(l, l->v, layout[HEADERS_LEN].path, &len) || len <= before ||
	    !hyper_find(l, l->v, layout[HEADERS].path, &head))
		return NULL;
	n = len < sizeof(line) ? len : sizeof(line);
	struct error *err = value_slice(l->d->c->in->target, head, &bytes);
	if (!err)
		err = target_read(l->d->c->in->target, bytes.addr, line, n);
	bool ok = !err && memcmp(line, c->method, before - 1) == 0 && line[before - 1] == ' ';
	error_free(err);
	for (path = before; ok && path < n && !strchr(" ?\r\n", line[path]);)
		path++;
	if (!ok || path == before || path == n || !memchr("? ", line[path], 2))
		return NULL;
	return str_clean(l->d->c->a, line + before, path - before);
}

/* ---- properties ---- */

static void hyper_read_connection(const struct leaf *l, struct hyper_connection *c)
{
	struct value place;

	*c = (struct hyper_connection){ .reading = hyper_variant(l, READING),
		                        .writing = hyper_variant(l, WRITING),
		                        .keep_alive = hyper_variant(l, KEEP_ALIVE) };
	c->server = hyper_find(l, l->v, layout[DISPATCH].path, &place) &&
	            type_is(place.type, "hyper::proto::h1::dispatch::Server");
	c->serving = c->server && hyper_find(l, l->v, layout[IN_FLIGHT].path, &c->in_flight);
	if (hyper_find(l, l->v, layout[READ_BUF].path, &place) &&
	    !hyper_number(l, place, "len", &c->received))
		c->received = 0;
	c->has_queued = queued_bytes(l, &c->queued);
	c->between = hyper_is(c->reading, "Init") && hyper_is(c->writing, "Init") && !c->serving;
	if (!c->between)
		c->method = method_name(hyper_variant(l, METHOD));
}

/* Before the first message hyper assumes that its peer knows HTTP/1.1. */
static const char *hyper_version(const struct leaf *l, const struct hyper_connection *c)
{
	const char *name = hyper_variant(l, VERSION);

	if (c->between && !hyper_is(c->keep_alive, "Idle"))
		return "HTTP/1";
	return hyper_is(name, "Http11")   ? "HTTP/1.1"
	       : hyper_is(name, "Http10") ? "HTTP/1.0"
	                                  : "HTTP/1";
}

static void add_path(const struct leaf *l, const char *path, bool certain)
{
	wait_string(l, "http_path", path);
	if (!certain)
		wait_bool(l, "http_path_uncertain", true);
}

/*
 * The time that a server gives the head of a request, while its timer runs (conn.rs,
 * poll_read_head()); the timer is a child of the connection's. A suffix for the phrase.
 */
static const char *add_head_timeout(const struct leaf *l)
{
	uint64_t seconds, nanos, runs, ms;

	if (!hyper_number(l, l->v, layout[HEAD_TIMER].path, &runs) || !runs ||
	    !hyper_number(l, l->v, layout[HEAD_SECONDS].path, &seconds) ||
	    !hyper_number(l, l->v, layout[HEAD_NANOS].path, &nanos) || seconds > UINT32_MAX)
		return "";
	ms = seconds * 1000 + nanos / 1000000;
	wait_int(l, "http_head_timeout_ms", (int64_t)ms);
	return leaf_text(l, ", head within %" PRIu64 ".%" PRIu64 " seconds", ms / 1000,
	                 ms % 1000 / 100);
}

static struct error *decode_h1(struct leaf *l)
{
	struct hyper_connection c;

	hyper_read_connection(l, &c);
	const char *role = c.server ? "server" : "client", *http = hyper_version(l, &c);
	bool certain = false;
	const char *doing = hyper_phase(l, &c), *path = hyper_find_path(l, &c, &certain);

	if (!c.server && c.method && (path = unsent_path(l, &c)))
		certain = true;

	wait_string(l, "http_role", role);
	wait_string(l, "http_version", http);
	if (doing)
		wait_string(l, "http_phase", doing);
	bool has_request = doing && c.method && !hyper_is(doing, "closing");
	if (has_request)
		wait_string(l, "http_method", c.method);
	if (has_request && path)
		add_path(l, path, certain);
	const char *queued = "";
	if (c.has_queued) {
		wait_int(l, "http_queued", (int64_t)c.queued);
		if (c.queued)
			queued = leaf_text(l, ", %" PRIu64 " bytes to be written", c.queued);
	}
	const char *request =
		has_request ? leaf_text(l, ", %s%s%s%s", c.method, path ? " " : "",
	                                path ? path : "", path && !certain ? " (perhaps)" : "")
			    : "";
	wait_phrase(l, "%s %s%s%s%s%s%s", http, role, doing ? ", " : "", doing ? doing : "",
	            request, queued, c.server ? add_head_timeout(l) : "");
	return NULL;
}

static const struct leaf_row properties[] = {
	{ .type = DISPATCHER, .kind = "http", .decode = decode_h1 },
	{ 0 },
};

/* ---- bodies ---- */

static struct error *decode_body(struct leaf *l)
{
	struct value item;
	uint64_t open;

	TRY(leaf_arm_at(l, l->v, layout[BODY_WAKER].path));
	TRY(leaf_uint(l, l->v, layout[BODY_SENDER].path, &open));
	leaves_describe_body(l, hyper_find(l, l->v, layout[BODY_ITEM].path, &item), open);
	return NULL;
}

static const struct leaf_row leaves[] = {
	{ .type = BODY_TYPE, .kind = "http_body", .decode = decode_body, .resource = true },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

const struct crate_types hyper_types = {
	.crate = "hyper",
	.path = "hyper::",
	.leaves = families,
	.properties = properties,
	.leaf_bindings = bindings,
};
