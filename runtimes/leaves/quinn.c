/*
 * quinn: connections and streams of QUIC. quinn 0.11.12 and quinn-proto 0.11.19 are cited.
 *
 * All handles of a connection share a ConnectionInner (connection.rs). Its state has a map from the
 * ids of streams to the wakers of the tasks that read them, and one for those that write. A task
 * that waits for a stream or a datagram is notified by a Notify instead: that future is below the
 * one that has the properties here.
 */
#include <inttypes.h>
#include <string.h>

#include "dwarf/values/hash_table.h"
#include "dwarf/values/show.h"
#include "runtimes/future/leaf.h"
#include "runtimes/leaves/leaves.h"

#define CONNECTION "quinn::connection::"
#define INNER      CONNECTION "ConnectionInner"
#define READ       "quinn::recv_stream::"
#define RECV       READ "RecvStream"
#define WRITE      "quinn::send_stream::"
#define SEND       WRITE "SendStream"

enum {
	MAX_STREAMS = 1 << 12, /* of a map that is searched */
};

struct quinn_connection {
	struct value state; /* in its lock */
	const char *role, *peer;
	bool locked, closed;
};

/* *found false: the path leads to no connection. */
static struct error *quinn_read_connection(const struct leaf *l, struct value from,
                                           const char *expr, struct quinn_connection *ret,
                                           bool *found)
{
	/* with the feature lock_tracking | without */
	static const char state_path[] = "state.value | state", futex_path[] = "state.futex",
			  side_path[] = "inner.side", remote_path[] = "inner.path.remote",
			  error_path[] = "error.Some";
	struct inspector *in = l->d->c->in;
	struct value place, inner;
	const char *side = NULL;
	uint64_t futex;
	bool there;

	*ret = (struct quinn_connection){ 0 };
	TRY(leaf_place(l, from, expr, &place, found));
	if (*found)
		TRY(leaf_strip_to(l, place, INNER, &inner, found));
	if (!*found)
		return NULL;
	TRY(leaf_place(l, inner, state_path, &ret->state, found));
	TRY(leaf_optional_uint(l, inner, futex_path, &futex, &there));
	ret->locked = !there || futex;
	TRY(leaf_place(l, ret->state, side_path, &place, &there));
	TRY(value_enum_name(in->target, place, &side));
	ret->role = side && strcmp(side, "Server") == 0 ? "server" : "client";
	TRY(leaf_place(l, ret->state, remote_path, &place, &there));
	ret->peer = show_value(in->target, in->di, &in->show, l->d->c->a, place, NULL);
	TRY(leaf_place(l, ret->state, error_path, &place, &ret->closed));
	*found = true;
	return NULL;
}

static void connection_details(const struct leaf *l, const struct quinn_connection *c,
                               const char *wants)
{
	wait_string(l, "quic_role", c->role);
	wait_string(l, "quic_peer", c->peer);
	wait_bool(l, "quic_closed", c->closed);
	if (wants)
		wait_string(l, "wants", wants);
}

/* "client, peer 127.0.0.1:443, closed" */
static const char *quinn_connection_text(const struct leaf *l, const struct quinn_connection *c)
{
	return leaf_text(l, "%s, peer " MARKED_ADDRESS("%s") "%s", c->role, c->peer,
	                 c->closed ? ", closed" : "");
}

/* ---- streams ---- */

/* The entry of that stream in the map at expr; *found false: it has none. */
static struct error *quinn_find_entry(const struct leaf *l, struct value state, const char *expr,
                                      uint64_t id, struct value *ret, bool *found)
{
	static const char mask_path[] = "bucket_mask", ctrl_path[] = "ctrl", items_path[] = "items",
			  key_path[] = "0";
	uint64_t mask, ctrl, items, key;
	struct hash_table table;
	struct value map;

	TRY(leaf_place(l, state, expr, &map, found));
	TRY(leaf_uint(l, map, mask_path, &mask));
	TRY(leaf_uint(l, map, ctrl_path, &ctrl));
	TRY(leaf_uint(l, map, items_path, &items));
	const struct type *element = type_param(map.type, "T");
	if (!element)
		return error_new(ERR_LAYOUT, "element type unknown");
	TRY(hash_table_open(&table, element, mask, ctrl, items));
	if (table.items > MAX_STREAMS)
		return error_new(ERR_CORRUPT, "more than %d streams have an entry", MAX_STREAMS);
	TRY(hash_table_next(l->d->c->in->target, &table, ret, found));
	while (*found) {
		TRY(leaf_uint(l, *ret, key_path, &key));
		if (key == id)
			return NULL;
		TRY(hash_table_next(l->d->c->in->target, &table, ret, found));
	}
	return NULL;
}

/* While the state is locked, the absence of a waker means nothing. */
static struct error *quinn_arm(struct leaf *l, const struct quinn_connection *c, const char *expr,
                               uint64_t id)
{
	static const char waker_path[] = "1";
	struct value entry;
	bool found;

	TRY(quinn_find_entry(l, c->state, expr, id, &entry, &found));
	if (found)
		return leaf_arm_at(l, entry, waker_path);
	if (!c->locked)
		leaf_arm_none(l);
	return NULL;
}

/* Fills the wait of the stream v but for its phrase. */
static struct error *quinn_read_stream(struct leaf *l, struct value v, const char *wakers,
                                       const char *wants, struct quinn_connection *ret,
                                       uint64_t *id)
{
	static const char connection_path[] = "conn", id_path[] = "stream";
	bool found;

	TRY(quinn_read_connection(l, v, connection_path, ret, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has no connection");
	TRY(leaf_uint(l, v, id_path, id));
	TRY(quinn_arm(l, ret, wakers, *id));
	wait_int(l, "stream", (int64_t)*id);
	connection_details(l, ret, wants);
	return NULL;
}

static struct error *decode_recv_at(struct leaf *l, struct value stream, const char *words)
{
	static const char wakers_path[] = "blocked_readers.base.table";
	struct quinn_connection c;
	uint64_t id;

	TRY(quinn_read_stream(l, stream, wakers_path, "data", &c, &id));
	wait_phrase(l, "QUIC stream %" PRIu64 ", %s, %s", id, words, quinn_connection_text(l, &c));
	return NULL;
}

static struct error *quinn_decode_recv(struct leaf *l)
{
	return decode_recv_at(l, l->v, "more data or a reset");
}

/* The stream that a future refers to. */
static struct error *quinn_stream_of(const struct leaf *l, const char *type, struct value *ret)
{
	static const char stream_path[] = "stream";
	struct value place;
	bool found;

	TRY(leaf_place(l, l->v, stream_path, &place, &found));
	if (found)
		TRY(leaf_strip_to(l, place, type, ret, &found));
	return found ? NULL : error_new(ERR_CORRUPT, "it has no stream");
}

static struct error *quinn_decode_read(struct leaf *l)
{
	struct value stream;

	TRY(quinn_stream_of(l, RECV, &stream));
	return decode_recv_at(l, stream, "more data");
}

/* Describes how much the peer has not acknowledged, and how much more it takes. */
static struct error *quinn_describe_send(const struct leaf *l, const struct quinn_connection *c,
                                         uint64_t id, const char **ret)
{
	static const char streams_path[] = "inner.streams.send.base.table",
			  max_path[] = "1.Some.0.max_data",
			  offset_path[] = "1.Some.0.pending.offset",
			  unacked_path[] = "1.Some.0.pending.unacked_len";
	uint64_t max, offset, unacked;
	struct value entry;
	bool found;

	*ret = "";
	TRY(quinn_find_entry(l, c->state, streams_path, id, &entry, &found));
	if (found)
		TRY(leaf_optional_uint(l, entry, max_path, &max, &found));
	if (found)
		TRY(leaf_optional_uint(l, entry, offset_path, &offset, &found));
	if (found)
		TRY(leaf_optional_uint(l, entry, unacked_path, &unacked, &found));
	if (!found)
		return NULL; /* nothing was written to it */
	wait_int(l, "buffered", (int64_t)unacked);
	wait_int(l, "window", (int64_t)(max - offset));
	*ret = leaf_text(l, ", %" PRIu64 " bytes not acknowledged%s", unacked,
	                 max <= offset ? ", the window of the stream is full" : "");
	return NULL;
}

static struct error *decode_send_at(struct leaf *l, struct value stream)
{
	static const char wakers_path[] = "blocked_writers.base.table";
	struct quinn_connection c;
	const char *send;
	uint64_t id;

	TRY(quinn_read_stream(l, stream, wakers_path, "send", &c, &id));
	TRY(quinn_describe_send(l, &c, id, &send));
	wait_phrase(l, "QUIC stream %" PRIu64 ", to send%s, %s", id, send,
	            quinn_connection_text(l, &c));
	return NULL;
}

static struct error *quinn_decode_send(struct leaf *l)
{
	return decode_send_at(l, l->v);
}

/* In 0.10, and in early versions of 0.11, writing is a future of its own. */
static struct error *quinn_decode_write(struct leaf *l)
{
	struct value stream;

	TRY(quinn_stream_of(l, SEND, &stream));
	return decode_send_at(l, stream);
}

/* A wait until the peer stops a stream, which later versions leave to a Notify. */
static struct error *decode_stopped(struct leaf *l)
{
	static const char wakers_path[] = "stopped.base.table";
	struct quinn_connection c;
	struct value stream;
	const char *send;
	uint64_t id;

	TRY(quinn_stream_of(l, SEND, &stream));
	TRY(quinn_read_stream(l, stream, wakers_path, "stop", &c, &id));
	TRY(quinn_describe_send(l, &c, id, &send));
	wait_phrase(l, "QUIC stream %" PRIu64 ", until the peer stops it%s, %s", id, send,
	            quinn_connection_text(l, &c));
	return NULL;
}

#define READ_ROW(name)                                                                             \
	{                                                                                          \
		.type = READ name, .kind = "quic_stream", .decode = quinn_decode_read              \
	}

#define WRITE_ROW(name, function)                                                                  \
	{                                                                                          \
		.type = WRITE name, .kind = "quic_stream", .decode = function                      \
	}

static const struct leaf_row leaves[] = {
	READ_ROW("Read"),
	READ_ROW("ReadExact"),
	READ_ROW("ReadChunk"),
	READ_ROW("ReadChunks"),
	READ_ROW("ReadToEnd"),
	WRITE_ROW("Write", quinn_decode_write),
	WRITE_ROW("WriteAll", quinn_decode_write),
	WRITE_ROW("WriteChunk", quinn_decode_write),
	WRITE_ROW("WriteChunks", quinn_decode_write),
	WRITE_ROW("WriteAllChunks", quinn_decode_write),
	WRITE_ROW("Stopped", decode_stopped),
	{ .type = RECV, .kind = "quic_stream", .decode = quinn_decode_recv, .resource = true },
	{ .type = SEND, .kind = "quic_stream", .decode = quinn_decode_send, .resource = true },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

/* ---- what is below a connection ---- */

/* wants: the value of that detail and the words for it; NULL: the future drives the connection. */
static struct error *quinn_decode_connection(struct leaf *l, const char *wants)
{
	static const char connection_path[] = "conn | 0";
	struct quinn_connection c;
	bool found;

	TRY(quinn_read_connection(l, l->v, connection_path, &c, &found));
	if (!found)
		return NULL;
	connection_details(l, &c, wants);
	wait_phrase(l, "QUIC%s%s, %s", wants ? ", " : "", wants ? wants : "",
	            quinn_connection_text(l, &c));
	return NULL;
}

static struct error *decode_driver(struct leaf *l)
{
	return quinn_decode_connection(l, NULL);
}

static struct error *decode_handshake(struct leaf *l)
{
	return quinn_decode_connection(l, "handshake");
}

static struct error *decode_accept(struct leaf *l)
{
	return quinn_decode_connection(l, "stream of the peer");
}

static struct error *decode_open(struct leaf *l)
{
	return quinn_decode_connection(l, "room for a stream");
}

static struct error *decode_datagram(struct leaf *l)
{
	return quinn_decode_connection(l, "datagram");
}

static struct error *decode_send_datagram(struct leaf *l)
{
	return quinn_decode_connection(l, "room for a datagram");
}

#define PROPERTY(name, function)                                                                   \
	{                                                                                          \
		.type = CONNECTION name, .kind = "quic", .decode = function                        \
	}

static const struct leaf_row properties[] = {
	PROPERTY("ConnectionDriver", decode_driver),
	PROPERTY("Connecting", decode_handshake),
	PROPERTY("AcceptBi", decode_accept),
	PROPERTY("AcceptUni", decode_accept),
	PROPERTY("OpenBi", decode_open),
	PROPERTY("OpenUni", decode_open),
	PROPERTY("ReadDatagram", decode_datagram),
	PROPERTY("SendDatagram", decode_send_datagram),
	{ 0 },
};

#define NOTIFIED(name)                                                                             \
	{                                                                                          \
		.type = name, .children = { { "notify", "await", NULL } }                          \
	}

static const struct combinator_row combinators[] = {
	/* Connecting polls one of its two receivers. */
	{ .type = CONNECTION "Connecting", .children = { { "connected", "await", NULL } } },
	NOTIFIED(CONNECTION "AcceptBi"),
	NOTIFIED(CONNECTION "AcceptUni"),
	NOTIFIED(CONNECTION "OpenBi"),
	NOTIFIED(CONNECTION "OpenUni"),
	NOTIFIED(CONNECTION "ReadDatagram"),
	NOTIFIED(CONNECTION "SendDatagram"),
	NOTIFIED("quinn::endpoint::Accept"),
	{ 0 },
};

const struct crate_types quinn_types = {
	.crate = "quinn",
	.path = "quinn::",
	.leaves = families,
	.properties = properties,
	.combinators = combinators,
};
