/*
 * h2, and hyper's use of it: HTTP/2 connections and their streams. h2 0.4.20 is cited.
 *
 * All streams of a connection are in a slab behind one lock (proto/streams/streams.rs, Inner). A
 * user's handle has an Arc of it and the stream's key: its index in the slab, and its id.
 */
#include <inttypes.h>
#include <string.h>

#include "runtimes/future/leaf.h"
#include "runtimes/leaves/leaves.h"

enum {
	MAX_STREAMS = 1 << 10, /* of a connection whose data is summed up */
};

#define CLIENT   "h2::client::Connection"
#define SERVER   "hyper::proto::h2::server::Server"
#define INNER    "h2::proto::streams::streams::Inner"
#define STREAM   "h2::proto::streams::stream::Stream"
#define RESPONSE "h2::client::ResponseFuture"
#define RECV     "h2::share::RecvStream"
#define SEND     "h2::share::SendStream"

enum {
	CLIENT_CONNECTION,
	SERVER_CONNECTION,
	INNER_SEND,
	INNER_RECV,
	INNER_WINDOW,
	INNER_ENTRIES,
	STREAM_ID,
	STREAM_STATE,
	STREAM_BUFFERED,
	STREAM_WINDOW,
	STREAM_OPENING,
	STREAM_SEND_TASK,
	STREAM_RECV_TASK,
	RESPONSE_REF,
	RECV_REF,
	SEND_REF,
};

static const struct binding_row layout[] = {
	/* later | 0.3.0 */
	[CLIENT_CONNECTION] = { "h2.client", "type:" CLIENT, "inner.inner | inner",
	                        .optional = true },
	[SERVER_CONNECTION] = { "h2.server", "type:" SERVER,
	                        "state.Serving.0.conn.connection.inner | "
	                        "state.Serving.0.conn.connection",
	                        .optional = true },
	[INNER_SEND] = { "h2.num_send", "type:" INNER, "counts.num_send_streams",
	                 .optional = true },
	[INNER_RECV] = { "h2.num_recv", "type:" INNER, "counts.num_recv_streams",
	                 .optional = true },
	[INNER_WINDOW] = { "h2.window", "type:" INNER, "actions.send.prioritize.flow.window_size.0",
	                   .optional = true },
	[INNER_ENTRIES] = { "h2.entries", "type:" INNER, "store.slab.entries", .optional = true },
	[STREAM_ID] = { "h2.stream.id", "type:" STREAM, "id.0", .optional = true },
	[STREAM_STATE] = { "h2.stream.state", "type:" STREAM, "state.inner", .optional = true },
	[STREAM_BUFFERED] = { "h2.stream.buffered", "type:" STREAM, "buffered_send_data",
	                      .optional = true },
	[STREAM_WINDOW] = { "h2.stream.window", "type:" STREAM, "send_flow.window_size.0",
	                    .optional = true },
	[STREAM_OPENING] = { "h2.stream.opening", "type:" STREAM, "is_pending_open",
	                     .optional = true },
	[STREAM_SEND_TASK] = { "h2.stream.send_task", "type:" STREAM, "send_task",
	                       .optional = true },
	[STREAM_RECV_TASK] = { "h2.stream.recv_task", "type:" STREAM, "recv_task",
	                       .optional = true },
	[RESPONSE_REF] = { "h2.response", "type:" RESPONSE, "inner", .optional = true },
	[RECV_REF] = { "h2.recv", "type:" RECV, "inner.inner", .optional = true },
	[SEND_REF] = { "h2.send", "type:" SEND, "inner.opaque", .optional = true },
	{ 0 },
};

static const struct binding_row *const bindings[] = { layout, NULL };

/* ---- connections ---- */

/* Totals of the streams of a connection. */
struct streams {
	uint64_t buffered; /* bytes of data that wait to be sent */
	int64_t pending;   /* streams that wait to be opened */
};

static struct error *add_stream(const struct leaf *l, struct value entry, struct streams *to)
{
	struct value stream;
	uint64_t buffered, opening;
	bool found;

	TRY(leaf_place(l, entry, "Occupied.0", &stream, &found));
	if (!found)
		return NULL;
	TRY(leaf_uint(l, stream, layout[STREAM_BUFFERED].path, &buffered));
	TRY(leaf_uint(l, stream, layout[STREAM_OPENING].path, &opening));
	to->buffered += buffered;
	to->pending += opening != 0;
	return NULL;
}

static struct error *sum_streams(const struct leaf *l, struct value inner, struct streams *ret,
                                 bool *known)
{
	struct value entries;
	struct slice slice;
	bool found;

	*ret = (struct streams){ 0 };
	TRY(leaf_place(l, inner, layout[INNER_ENTRIES].path, &entries, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has no streams");
	TRY(value_slice(l->d->c->in->target, entries, &slice));
	*known = slice.count <= MAX_STREAMS;
	for (uint64_t i = 0; *known && i < slice.count; i++) {
		uint64_t addr = slice.addr + i * type_size(slice.element);

		TRY(add_stream(l, (struct value){ slice.element, addr }, ret));
	}
	return NULL;
}

static struct error *h2_decode_connection(struct leaf *l, const char *role, int row)
{
	struct value connection, inner;
	uint64_t send, recv, window;
	struct streams streams;
	bool found, known;

	TRY(leaf_place(l, l->v, layout[row].path, &connection, &found));
	if (!found)
		return NULL; /* a server that is still in the handshake */
	TRY(leaf_place(l, connection, "streams.inner", &inner, &found));
	if (found)
		TRY(leaf_strip_to(l, inner, INNER, &inner, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has no streams");
	TRY(leaf_uint(l, inner, layout[INNER_SEND].path, &send));
	TRY(leaf_uint(l, inner, layout[INNER_RECV].path, &recv));
	TRY(leaf_uint(l, inner, layout[INNER_WINDOW].path, &window));
	TRY(sum_streams(l, inner, &streams, &known));
	const char *phase = send + recv ? "active" : "idle";
	int64_t left = (int32_t)window; /* it may be negative */

	wait_string(l, "http_role", role);
	wait_string(l, "http_version", "HTTP/2");
	wait_string(l, "http_phase", phase);
	wait_int(l, "http_streams", (int64_t)(send + recv));
	wait_int(l, "http_window", left);
	if (known) {
		wait_int(l, "http_pending", streams.pending);
		wait_int(l, "http_queued", (int64_t)streams.buffered);
	}
	bool has_queued = known && streams.buffered;
	wait_phrase(l, "HTTP/2 %s, %s, %" PRIu64 " stream%s%s%s", role, phase, send + recv,
	            send + recv == 1 ? "" : "s",
	            has_queued ? leaf_text(l, ", %" PRIu64 " bytes of data to be written",
	                                   streams.buffered)
	                       : "",
	            has_queued && left <= 0 ? ", the window of the connection is full" : "");
	return NULL;
}

static struct error *h2_decode_client(struct leaf *l)
{
	return h2_decode_connection(l, "client", CLIENT_CONNECTION);
}

static struct error *h2_decode_server(struct leaf *l)
{
	return h2_decode_connection(l, "server", SERVER_CONNECTION);
}

static const struct leaf_row properties[] = {
	{ .type = CLIENT, .kind = "http", .decode = h2_decode_client },
	{ .type = SERVER, .kind = "http", .decode = h2_decode_server },
	{ 0 },
};

/* ---- streams ---- */

/* The stream of a handle: its slot in the slab must be occupied by the same id. */
static struct error *find_stream(const struct leaf *l, struct value handle, struct value *ret)
{
	struct value inner, entries;
	uint64_t index, id, own;
	struct slice slice;
	bool found;

	TRY(leaf_place(l, handle, "inner", &inner, &found));
	if (found)
		TRY(leaf_strip_to(l, inner, INNER, &inner, &found));
	if (found)
		TRY(leaf_place(l, inner, layout[INNER_ENTRIES].path, &entries, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it leads to no connection");
	TRY(leaf_uint(l, handle, "key.index.0", &index));
	TRY(leaf_uint(l, handle, "key.stream_id.0", &id));
	TRY(value_slice(l->d->c->in->target, entries, &slice));
	if (index >= slice.count)
		return error_new(ERR_CORRUPT, "its connection has no such stream");
	const struct value entry = { slice.element, slice.addr + index * type_size(slice.element) };
	TRY(leaf_place(l, entry, "Occupied.0", ret, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "its stream is gone");
	TRY(leaf_uint(l, *ret, layout[STREAM_ID].path, &own));
	return own == id ? NULL : error_new(ERR_CORRUPT, "its stream is another one");
}

static const char *stream_state(const struct leaf *l, struct value stream)
{
	static const struct {
		const char *name, *word;
	} states[] = {
		{ "Idle", "idle" },
		{ "ReservedLocal", "reserved" },
		{ "ReservedRemote", "reserved" },
		{ "Open", "open" },
		{ "HalfClosedLocal", "half closed (local)" },
		{ "HalfClosedRemote", "half closed (remote)" },
		{ "Closed", "closed" },
	};
	const char *name = NULL;
	struct value place;
	bool found = false;
	struct error *err = leaf_place(l, stream, layout[STREAM_STATE].path, &place, &found);

	if (!err && found)
		err = value_enum_name(l->d->c->in->target, place, &name);
	error_free(err);
	for (size_t i = 0; name && i < sizeof(states) / sizeof(*states); i++) {
		if (strcmp(name, states[i].name) == 0)
			return states[i].word;
	}
	return NULL;
}

/* Describes the data that is queued for the peer, and whether its window lets it go. */
static struct error *h2_describe_send(const struct leaf *l, struct value stream, const char **ret)
{
	uint64_t buffered, window;

	TRY(leaf_uint(l, stream, layout[STREAM_BUFFERED].path, &buffered));
	TRY(leaf_uint(l, stream, layout[STREAM_WINDOW].path, &window));
	int64_t left = (int32_t)window;
	wait_int(l, "buffered", (int64_t)buffered);
	wait_int(l, "window", left);
	*ret = leaf_text(l, ", %" PRIu64 " bytes to be written%s", buffered,
	                 buffered && left <= 0 ? ", the window of the stream is full" : "");
	return NULL;
}

static struct error *h2_decode_stream(struct leaf *l, int ref, int task, const char *wants,
                                      const char *words)
{
	struct value handle, stream;
	const char *send = "";
	uint64_t id;
	bool found;

	TRY(leaf_place(l, l->v, layout[ref].path, &handle, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has no stream");
	TRY(find_stream(l, handle, &stream));
	TRY(leaf_uint(l, stream, layout[STREAM_ID].path, &id));
	TRY(leaf_arm_at(l, stream, layout[task].path));
	l->w->object = stream.addr;
	wait_int(l, "stream", (int64_t)id);
	wait_string(l, "wants", wants);
	const char *state = stream_state(l, stream);
	if (state)
		wait_string(l, "stream_state", state);
	if (task == STREAM_SEND_TASK)
		TRY(h2_describe_send(l, stream, &send));
	wait_phrase(l, "HTTP/2 stream %" PRIu64 ", %s%s%s%s", id, words, send, state ? ", " : "",
	            state ? state : "");
	return NULL;
}

static struct error *decode_response(struct leaf *l)
{
	return h2_decode_stream(l, RESPONSE_REF, STREAM_RECV_TASK, "answer", "the answer");
}

static struct error *h2_decode_recv(struct leaf *l)
{
	return h2_decode_stream(l, RECV_REF, STREAM_RECV_TASK, "data", "more data");
}

static struct error *h2_decode_send(struct leaf *l)
{
	return h2_decode_stream(l, SEND_REF, STREAM_SEND_TASK, "send", "to send");
}

static const struct leaf_row leaves[] = {
	{ .type = RESPONSE, .kind = "http_stream", .decode = decode_response },
	{ .type = RECV, .kind = "http_stream", .decode = h2_decode_recv, .resource = true },
	{ .type = SEND, .kind = "http_stream", .decode = h2_decode_send, .resource = true },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

const struct crate_types h2_types = {
	.crate = "h2",
	.path = "h2::",
	.leaves = families,
	.properties = properties,
	.leaf_bindings = bindings,
};
