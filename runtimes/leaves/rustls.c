/*
 * tokio-rustls: streams of TLS, also in their handshakes. tokio-rustls 0.26.6 and rustls 0.23.46
 * are cited.
 *
 * A stream has the socket in `io` and rustls' connection in `session` (tokio_rustls server.rs,
 * client.rs). It polls the socket with the waker of its task and has none of its own, so a wait for
 * it is a wait for its socket. The futures Accept and Connect have the stream until the handshake
 * is over, that is until data of the application may be sent and received (common_state.rs,
 * is_handshaking()).
 */
#include <string.h>

#include "runtimes/future/leaf.h"
#include "runtimes/leaves/leaves.h"

#define SERVER "tokio_rustls::server::TlsStream"
#define CLIENT "tokio_rustls::client::TlsStream"

enum { MAX_NAME = 256 }; /* bytes of a server's name: RFC 1035 allows 253 */

enum { IO, MAY_SEND, MAY_RECEIVE, SENT_CLOSE, RECEIVED_CLOSE, STATE, VERSION, NAME };

#define COMMON "session.inner.core.common_state."
#define ROW(of, key, stream, expr)                                                                 \
	{                                                                                          \
		"tls." of "." key, "type:" stream, expr, .optional = true                          \
	}
#define ROWS(of, stream, name)                                                                     \
	[IO] = ROW(of, "io", stream, "io"),                                                        \
	[MAY_SEND] = ROW(of, "may_send", stream, COMMON "may_send_application_data"),              \
	[MAY_RECEIVE] = ROW(of, "may_receive", stream, COMMON "may_receive_application_data"),     \
	[SENT_CLOSE] = ROW(of, "sent_close", stream, COMMON "has_sent_close_notify"),              \
	[RECEIVED_CLOSE] = ROW(of, "received_close", stream, COMMON "has_received_close_notify"),  \
	[STATE] = ROW(of, "state", stream, "state"),                                               \
	[VERSION] = ROW(of, "version", stream, COMMON "negotiated_version.Some.0"),                \
	[NAME] = ROW(of, "name", stream, name)

static const struct binding_row server_layout[] = {
	ROWS("server", SERVER, "session.inner.core.data.sni.Some.0"),
	{ 0 },
};

/* The name is in some states of the protocol. */
static const struct binding_row client_layout[] = {
	ROWS("client", CLIENT, "session.inner.core.state.Ok.0"),
	{ 0 },
};

static const struct binding_row *const bindings[] = { server_layout, client_layout, NULL };

/* The place at the end of a path; false where there is none. */
static bool rustls_place_at(const struct leaf *l, struct value from, const char *expr,
                            struct value *ret)
{
	const struct path *p = inspector_optional_path(l->d->c->in, from.type, expr);
	bool found = false;
	struct error *err = p ? path_eval(l->d->c->in->target, p, from, ret, &found) : NULL;
	bool ok = !err && found;

	error_free(err);
	return ok;
}

/* Whether a bool of the stream is true; `known` becomes false where it cannot be read. */
static bool rustls_yes(const struct leaf *l, const struct binding_row *row, bool *known)
{
	uint64_t number = 0;
	bool found = false;
	struct error *err = leaf_optional_uint(l, l->v, row->path, &number, &found);

	*known &= !err && found;
	error_free(err);
	return number != 0;
}

/* rustls 0.21 does not note it; the stream knows what it has shut down. */
static bool sent_close(const struct leaf *l, const struct binding_row *rows, bool *known)
{
	const char *name = NULL;
	struct value place;

	if (leaf_has_path(l, l->v.type, rows[SENT_CLOSE].path))
		return rustls_yes(l, &rows[SENT_CLOSE], known);
	if (rustls_place_at(l, l->v, rows[STATE].path, &place))
		error_free(value_enum_name(l->d->c->in->target, place, &name));
	*known &= name != NULL;
	return name && (strcmp(name, "WriteShutdown") == 0 || strcmp(name, "FullyShutdown") == 0);
}

/* NULL: unknown. */
static const char *rustls_phase(const struct leaf *l, const struct binding_row *rows)
{
	bool known = true;
	bool open =
		rustls_yes(l, &rows[MAY_SEND], &known) & rustls_yes(l, &rows[MAY_RECEIVE], &known);
	bool ends = rustls_yes(l, &rows[RECEIVED_CLOSE], &known) | sent_close(l, rows, &known);

	if (!known)
		return NULL;
	return ends ? "closing" : open ? "established" : "handshake";
}

/* "TLS 1.3"; "TLS" before the peers have agreed. */
static const char *rustls_version(const struct leaf *l, const struct binding_row *rows, bool *known)
{
	const char *name = NULL;
	struct value place;

	*known = false;
	if (rustls_place_at(l, l->v, rows[VERSION].path, &place))
		error_free(value_enum_name(l->d->c->in->target, place, &name));
	if (!name || (strcmp(name, "TLSv1_2") != 0 && strcmp(name, "TLSv1_3") != 0))
		return "TLS";
	*known = true;
	return strcmp(name, "TLSv1_2") == 0 ? "TLS 1.2" : "TLS 1.3";
}

/* A path that leads to a String. */
static bool string_at(const struct leaf *l, struct value from, const char *expr, struct value *ret)
{
	return rustls_place_at(l, from, expr, ret) && type_is(ret->type, "alloc::string::String");
}

/* The text of a DnsName: a &str or a String; in rustls 0.21 a String. NULL: it cannot be read. */
static const char *dns_name(const struct leaf *l, struct value name)
{
	const char *text = NULL;
	struct value place;

	if (rustls_place_at(l, name, "0.Owned.0", &place) ||
	    rustls_place_at(l, name, "0.Borrowed.0", &place) || string_at(l, name, "0", &place) ||
	    string_at(l, name, "0.0", &place))
		error_free(value_string(l->d->c->in->target, l->d->c->a, place, MAX_NAME, &text));
	return text && *text ? text : NULL;
}

/* The name that the client has sent; NULL: none, or it is not kept. */
static const char *server_name(const struct leaf *l, const struct binding_row *rows)
{
	struct value place, state, name;

	if (!rustls_place_at(l, l->v, rows[NAME].path, &place))
		return NULL;
	if (rows == server_layout)
		return dns_name(l, place);
	if (leaf_dyn(l->d->c, place, &state) &&
	    (rustls_place_at(l, state, "server_name.DnsName.0", &name) ||
	     rustls_place_at(l, state, "input.server_name.DnsName.0", &name) ||
	     rustls_place_at(l, state, "next.input.server_name.DnsName.0", &name)))
		return dns_name(l, name);
	return NULL;
}

static void rustls_describe(const struct leaf *l, const struct binding_row *rows,
                            const char *socket)
{
	const char *role = rows == server_layout ? "server" : "client",
		   *doing = rustls_phase(l, rows);
	bool known;
	const char *protocol = rustls_version(l, rows, &known), *name = server_name(l, rows);

	wait_string(l, "tls_role", role);
	if (doing)
		wait_string(l, "tls_phase", doing);
	if (known)
		wait_string(l, "tls_version", protocol);
	if (name)
		wait_string(l, "tls_server_name", name);
	wait_phrase(l, "%s%s%s %s%s%s%s%s", socket, *socket ? ", " : "", protocol, role,
	            doing ? ", " : "", doing ? doing : "", name ? ", " : "", name ? name : "");
}

static struct error *rustls_decode(struct leaf *l, const struct binding_row *rows)
{
	struct value io, inner;
	struct leaf socket;
	const char *text;

	if (!rustls_place_at(l, l->v, rows[IO].path, &io))
		return error_new(ERR_LAYOUT, "it has no stream inside");
	if (!leaf_find_inside(l, io, &inner)) {
		rustls_describe(l, rows, "");
		return NULL;
	}
	TRY(leaf_decode_inside(l, inner, &socket, &text));
	leaf_copy_details(l, socket.w, NULL);
	l->w->kind = socket.w->kind;
	l->w->object = socket.w->object;
	l->w->armed = socket.w->armed;
	l->in_use = socket.in_use;
	l->vacant = socket.vacant;
	rustls_describe(l, rows, text);
	return NULL;
}

static struct error *rustls_decode_server(struct leaf *l)
{
	return rustls_decode(l, server_layout);
}

static struct error *rustls_decode_client(struct leaf *l)
{
	return rustls_decode(l, client_layout);
}

static const struct leaf_row leaves[] = {
	{ .type = SERVER,
	  .kind = "io",
	  .decode = rustls_decode_server,
	  .resource = true,
	  .whole = true },
	{ .type = CLIENT,
	  .kind = "io",
	  .decode = rustls_decode_client,
	  .resource = true,
	  .whole = true },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

const struct crate_types rustls_types = {
	.crate = "tokio-rustls",
	.path = "tokio_rustls::",
	.leaves = families,
	.leaf_bindings = bindings,
};
