/*
 * tokio-tungstenite: streams of websockets. tokio-tungstenite 0.24.0 (compat.rs) and tungstenite
 * 0.24.0 are cited.
 *
 * The socket is inside an AllowStd. Its wakers are two proxies, one for reads and one for writes of
 * the socket; each wakes the task that reads messages, or does the handshake (read_waker), and the
 * one that sends messages (write_waker). An operation stores its waker in both proxies.
 */
#include <inttypes.h>
#include <string.h>

#include "runtimes/common/waker.h"
#include "runtimes/future/leaf.h"
#include "runtimes/leaves/leaves.h"

#define STREAM "tokio_tungstenite::WebSocketStream"
#define SOCKET "tokio_tungstenite::compat::AllowStd"

enum {
	STREAM_SOCKET,
	STREAM_ROLE,
	STREAM_STATE,
	STREAM_BUFFERED,
	READS_READ,
	READS_WRITE,
	WRITES_READ,
	WRITES_WRITE,
};

static const struct binding_row layout[] = {
	[STREAM_SOCKET] = { "websocket.socket", "type:" STREAM, "inner.socket", .optional = true },
	[STREAM_ROLE] = { "websocket.role", "type:" STREAM, "inner.context.role",
	                  .optional = true },
	[STREAM_STATE] = { "websocket.state", "type:" STREAM, "inner.context.state",
	                   .optional = true },
	[STREAM_BUFFERED] = { "websocket.buffered", "type:" STREAM,
	                      "inner.context.frame.out_buffer.len", .optional = true },
	[READS_READ] = { "websocket.reads.read", "type:" SOCKET,
	                 "read_waker_proxy.read_waker.waker", .optional = true },
	[READS_WRITE] = { "websocket.reads.write", "type:" SOCKET,
	                  "read_waker_proxy.write_waker.waker", .optional = true },
	[WRITES_READ] = { "websocket.writes.read", "type:" SOCKET,
	                  "write_waker_proxy.read_waker.waker", .optional = true },
	[WRITES_WRITE] = { "websocket.writes.write", "type:" SOCKET,
	                   "write_waker_proxy.write_waker.waker", .optional = true },
	{ 0 },
};

static const struct binding_row *const bindings[] = { layout, NULL };

/* Fills w->armed and vacant from all four slots. */
static struct error *tungstenite_arm(struct leaf *l, struct value socket)
{
	static const int slots[] = { READS_READ, READS_WRITE, WRITES_READ, WRITES_WRITE };
	bool all_vacant = true, all_no = true, any_yes = false;

	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
		l->w->armed = WAKER_REGISTERED_UNKNOWN;
		l->vacant = false;
		TRY(leaf_arm_at(l, socket, layout[slots[i]].path));
		any_yes |= l->w->armed == WAKER_REGISTERED_YES;
		all_no &= l->w->armed == WAKER_REGISTERED_NO;
		all_vacant &= l->vacant;
	}
	l->w->armed = any_yes  ? WAKER_REGISTERED_YES
	              : all_no ? WAKER_REGISTERED_NO
	                       : WAKER_REGISTERED_UNKNOWN;
	l->vacant = all_vacant;
	return NULL;
}

/*
 * Adds what is known of the stream below the messages, an AllowStd: its socket, TLS. Returns a
 * suffix for the phrase.
 */
static const char *describe_socket(const struct leaf *l, struct value socket)
{
	static const char *const keys[] = { "resource",  "fd",          "descriptor",
		                            "local",     "peer",        "tls_role",
		                            "tls_phase", "tls_version", "tls_server_name",
		                            NULL };
	const struct member *stream = type_member(socket.type, "inner");
	const char *text;
	struct value inner;
	struct leaf below;

	if (!stream || !stream->type ||
	    !leaf_find_inside(l, (struct value){ stream->type, socket.addr + stream->offset },
	                      &inner))
		return "";
	struct error *err = leaf_decode_inside(l, inner, &below, &text);
	bool ok = !err;
	error_free(err);
	if (!ok || !*text)
		return "";
	leaf_copy_details(l, below.w, keys);
	return leaf_text(l, ", %s", text);
}

static struct error *decode_socket(struct leaf *l)
{
	TRY(tungstenite_arm(l, l->v));
	wait_phrase(l, "websocket handshake%s", describe_socket(l, l->v));
	return NULL;
}

/* The name of the enumerator there; NULL unknown. */
static const char *tungstenite_word_at(const struct leaf *l, const char *path)
{
	const char *name = NULL;
	struct value place;
	bool found = false;
	struct error *err = leaf_place(l, l->v, path, &place, &found);

	if (!err && found)
		err = value_enum_name(l->d->c->in->target, place, &name);
	error_free(err);
	return name;
}

static const char *state_word(const char *name)
{
	static const struct {
		const char *name, *word;
	} states[] = {
		{ "Active", "active" },
		{ "ClosedByUs", "closed by this end" },
		{ "ClosedByPeer", "closed by the peer" },
		{ "CloseAcknowledged", "closed by both ends" },
		{ "Terminated", "ended" },
	};

	for (size_t i = 0; name && i < sizeof(states) / sizeof(*states); i++) {
		if (strcmp(name, states[i].name) == 0)
			return states[i].word;
	}
	return NULL;
}

static struct error *tungstenite_decode_stream(struct leaf *l)
{
	const char *role = tungstenite_word_at(l, layout[STREAM_ROLE].path);
	const char *state = state_word(tungstenite_word_at(l, layout[STREAM_STATE].path)),
		   *text = "";
	struct value socket;
	uint64_t buffered;
	bool found;

	TRY(leaf_place(l, l->v, layout[STREAM_SOCKET].path, &socket, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has no socket");
	TRY(tungstenite_arm(l, socket));
	if (role)
		role = strcmp(role, "Server") == 0 ? "server" : "client";
	if (role)
		wait_string(l, "websocket_role", role);
	if (state)
		wait_string(l, "websocket_state", state);
	TRY(leaf_optional_uint(l, l->v, layout[STREAM_BUFFERED].path, &buffered, &found));
	if (found) {
		wait_int(l, "buffered", (int64_t)buffered);
		if (buffered)
			text = leaf_text(l, ", %" PRIu64 " bytes to be written", buffered);
	}
	wait_phrase(l, "websocket%s%s%s%s%s%s", role ? ", " : "", role ? role : "",
	            state ? ", " : "", state ? state : "", text, describe_socket(l, socket));
	return NULL;
}

static const struct leaf_row leaves[] = {
	{ .type = STREAM,
	  .kind = "websocket",
	  .decode = tungstenite_decode_stream,
	  .resource = true },
	{ .type = SOCKET, .kind = "websocket", .decode = decode_socket, .resource = true },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

const struct crate_types tungstenite_types = {
	.crate = "tokio-tungstenite",
	.path = "tokio_tungstenite::",
	.leaves = families,
	.leaf_bindings = bindings,
};
