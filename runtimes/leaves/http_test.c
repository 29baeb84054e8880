/* Tests of hyper, h2, want and quinn: connections, streams and bodies of HTTP and QUIC. */
#include "runtimes/future/leaf.h"
#include "runtimes/model/wait_kind.h"
#include "runtimes/test/futures.h"

#define H1 "hyper::proto::h1::dispatch::"

static struct futures open_http(void)
{
	return futures_open_file("testdata/unit/http.elf");
}

/* What a connection is set to; NULL: a method of None. */
struct h1 {
	bool server, serving, closing;
	const char *reading, *writing, *keep_alive, *method, *version;
	uint64_t received;
	const char *phrase, *phase; /* phase NULL: none is stated */
};

static struct value set_up_type(struct futures *f, const struct h1 *c, const char *type)
{
	struct value v = futures_value(f, type, FUTURES_ROOT);
	struct value method = futures_member(v, "conn.state.method");

	if (c->method) {
		method = futures_variant(f, method, "Some");
		futures_poke(f, method, "__0.__0", strcmp(c->method, "Get") != 0);
	} else {
		futures_variant(f, method, "None");
	}
	futures_variant(f, futures_member(v, "conn.state.reading"), c->reading);
	futures_variant(f, futures_member(v, "conn.state.writing"), c->writing);
	uint64_t keep_alive = strcmp(c->keep_alive, "Idle") != 0;
	futures_poke(f, v, "conn.state.keep_alive", keep_alive);
	futures_poke(f, v, "conn.state.version.__0", strcmp(c->version, "Http10") != 0);
	futures_poke(f, v, "conn.io.read_buf.len", c->received);
	futures_poke(f, v, "is_closing", c->closing);
	if (c->server)
		futures_variant(f, futures_member(v, "dispatch.in_flight"),
		                c->serving ? "Some" : "None");
	return v;
}

static struct value set_up(struct futures *f, const struct h1 *c)
{
	return set_up_type(f, c,
	                   c->server ? H1 "Dispatcher<" H1 "Server<u64>>"
	                             : H1 "Dispatcher<" H1 "Client<u64>>");
}

#define SERVER .server = true
#define IDLE   .keep_alive = "Idle"
#define BUSY   .keep_alive = "Busy"
#define V11    .version = "Http11"

static void test_h1(void **state)
{
	static const struct h1 cases[] = {
		{ SERVER, .reading = "Init", .writing = "Init", BUSY, V11,
		  .phrase = "HTTP/1 server, new", .phase = "new" },
		{ SERVER, .reading = "Init", .writing = "Init", IDLE, V11,
		  .phrase = "HTTP/1.1 server, idle", .phase = "idle" },
		{ SERVER, .reading = "Init", .writing = "Init", IDLE, V11, .received = 9,
		  .phrase = "HTTP/1.1 server, reading head", .phase = "reading head" },
		{ SERVER, .serving = true, .reading = "KeepAlive", .writing = "Init", BUSY,
		  .method = "Post", .version = "Http10",
		  .phrase = "HTTP/1.0 server, waiting for the service, POST",
		  .phase = "waiting for the service" },
		{ SERVER, .serving = true, .reading = "Body", .writing = "Init", BUSY,
		  .method = "Post", V11, .phrase = "HTTP/1.1 server, reading body, POST",
		  .phase = "reading body" },
		{ SERVER, .reading = "KeepAlive", .writing = "Body", BUSY, .method = "Get", V11,
		  .phrase = "HTTP/1.1 server, writing, GET", .phase = "writing" },
		/* A method is left behind when a connection is closed. */
		{ SERVER, .reading = "Closed", .writing = "Closed", BUSY, .method = "Get", V11,
		  .phrase = "HTTP/1.1 server, closing", .phase = "closing" },
		{ SERVER, .closing = true, .reading = "Init", .writing = "KeepAlive", BUSY,
		  .method = "Get", V11, .phrase = "HTTP/1.1 server, closing", .phase = "closing" },
		{ .reading = "Init",
		  .writing = "Init",
		  IDLE,
		  V11,
		  .phrase = "HTTP/1.1 client, idle",
		  .phase = "idle" },
		{ .reading = "Init",
		  .writing = "Body",
		  BUSY,
		  .method = "Post",
		  V11,
		  .phrase = "HTTP/1.1 client, writing, POST",
		  .phase = "writing" },
		{ .reading = "Init",
		  .writing = "KeepAlive",
		  BUSY,
		  .method = "Get",
		  V11,
		  .phrase = "HTTP/1.1 client, waiting for the answer, GET",
		  .phase = "waiting for the answer" },
		{ .reading = "Body",
		  .writing = "KeepAlive",
		  BUSY,
		  .method = "Get",
		  V11,
		  .phrase = "HTTP/1.1 client, reading body, GET",
		  .phase = "reading body" },
		{ .reading = "KeepAlive",
		  .writing = "KeepAlive",
		  BUSY,
		  .method = "Get",
		  V11,
		  .phrase = "HTTP/1.1 client" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct futures f = open_http();
		const struct future *future = futures_decode(&f, set_up(&f, &cases[i]));

		assert_non_null(future->properties);
		assert_string_equal(future->properties->kind, "http");
		assert_string_equal(future->properties->phrase, cases[i].phrase);
		assert_string_equal(wait_text(future->properties, "http_role"),
		                    cases[i].server ? "server" : "client");
		const char *phase = wait_text(future->properties, "http_phase");
		assert_true(!phase == !cases[i].phase);
		if (phase)
			assert_string_equal(phase, cases[i].phase);
		assert_null(wait_text(future->properties, "http_path"));
		futures_close(&f);
	}
}

enum {
	HEAD = FUTURES_OTHER + 0x200,
	COPY = FUTURES_OTHER + 0x800,
	HEADERS = FUTURES_OTHER + 0xa00,
	READ = 77, /* the allocation that the connection reads into */
};

/* A request whose path is a part of what was read, or a copy of that. */
struct sent {
	const char *head, *copy; /* copy NULL: the path is in the head */
	uint64_t data;           /* the allocation of the head */
	const char *path;        /* as it is shown; NULL: it is not */
	bool uncertain;
};

static void poke_bytes(struct futures *f, struct value bytes, uint64_t ptr, size_t len,
                       uint64_t data)
{
	futures_poke(f, bytes, "ptr", ptr);
	futures_poke(f, bytes, "len", len);
	futures_poke(f, bytes, "data", data);
}

static void send_request(struct futures *f, struct value v, const struct sent *sent)
{
	const char *path = strchr(sent->head, '/'), *host = strstr(sent->head, "Host: ");
	struct value parts = futures_member(v, "dispatch.in_flight");
	uint64_t at = HEAD + (uint64_t)(path - sent->head);

	parts = futures_member(futures_variant(f, parts, "Some"), "__0.parts");
	target_fake_poke(f->fixture.target, HEAD, sent->head, strlen(sent->head));
	if (sent->copy)
		target_fake_poke(f->fixture.target, at = COPY, sent->copy, strlen(sent->copy));
	poke_bytes(f, futures_member(parts, "uri.path_and_query.data.bytes"), at,
	           strcspn(sent->copy ? sent->copy : path, " "), sent->copy ? 0 : sent->data);
	futures_poke(f, parts, "uri.path_and_query.query", 2);
	struct value entries = futures_member(parts, "headers.entries");
	struct value header = { must_find(&f->fixture, "http::Bucket"), HEADERS };
	futures_poke(f, entries, "data_ptr", HEADERS);
	futures_poke(f, entries, "length", 1);
	uint64_t value = host ? HEAD + (uint64_t)(host - sent->head) + 6 : FUTURES_HOLE;
	poke_bytes(f, futures_member(header, "value.inner"), value, 1, sent->data);
	futures_poke(f, v, "conn.io.read_buf.ptr", HEAD + strlen(sent->head));
	futures_poke(f, v, "conn.io.read_buf.data", READ);
}

static void test_h1_path(void **state)
{
	static const struct h1 serving = { SERVER,
		                           .serving = true,
		                           .reading = "KeepAlive",
		                           .writing = "Init",
		                           BUSY,
		                           .method = "Get",
		                           V11 };
	static const char head[] = "GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n";
	static const struct sent cases[] = {
		{ head, NULL, READ, "/a", false },
		{ head, NULL, READ + 1, "/a", true },
		{ head, "/a?b", READ, "/a", false },
		{ head, "/a?b", READ + 1, "/a", true },
		/* Another request's path, a header that is nowhere, in another head. */
		{ head, "/c?b", READ, NULL, false },
		{ "GET /a?b HTTP/1.1\r\n\r\n", "/a?b", READ, NULL, false },
		{ "GET /a?b HTTP/1.1\r\n\r\nGET /c HTTP/1.1\r\nHost: x\r\n", "/a?b", READ, NULL,
		  false },
		{ "PUT /a?b HTTP/1.1\r\nHost: x\r\n\r\n", "/a?b", READ, NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct futures f = open_http();
		struct value v =
			set_up_type(&f, &serving, H1 "Dispatcher<" H1 "Server<http::Service>>");

		send_request(&f, v, &cases[i]);
		const struct future *future = futures_decode(&f, v);
		assert_non_null(future->properties);
		const char *path = wait_text(future->properties, "http_path");
		assert_true(!path == !cases[i].path);
		if (path)
			assert_string_equal(path, cases[i].path);
		assert_int_equal(wait_yes(future->properties, "http_path_uncertain"),
		                 cases[i].uncertain);
		futures_close(&f);
	}
}

/* A connection at FUTURES_OTHER with two slots for streams, the second one of which is free. */
static struct value h2_inner(struct futures *f)
{
	struct value inner = futures_value(f, "h2::proto::streams::streams::Inner", FUTURES_OTHER);
	const struct type *entry = must_find(&f->fixture, "h2::proto::streams::streams::Entry");
	uint64_t slots = FUTURES_OTHER + 0x400;
	struct value entries = futures_member(inner, "store.slab.entries");

	futures_poke(f, entries, "data_ptr", slots);
	futures_poke(f, entries, "length", 2);
	futures_poke(f, inner, "counts.num_send_streams", 1);
	futures_poke(f, inner, "actions.send.prioritize.flow.window_size.__0", 0);
	struct value stream = futures_variant(f, (struct value){ entry, slots }, "Occupied");
	futures_poke(f, stream, "__0.id.__0", 7);
	futures_variant(f, futures_member(stream, "__0.state.inner"), "HalfClosedLocal");
	futures_poke(f, stream, "__0.buffered_send_data", 1234);
	futures_poke(f, stream, "__0.send_flow.window_size.__0", (uint32_t)-5);
	futures_poke(f, stream, "__0.is_pending_open", 1);
	futures_variant(f, (struct value){ entry, slots + type_size(entry) }, "Vacant");
	return inner;
}

static void test_h2_connection(void **state)
{
	struct futures f = open_http();
	struct value v = futures_value(&f, "h2::client::Connection", FUTURES_ROOT);
	int64_t n;

	(void)state;
	futures_poke(&f, v, "inner.inner.streams.inner", h2_inner(&f).addr);
	const struct future *future = futures_decode(&f, v);
	assert_non_null(future->properties);
	assert_string_equal(future->properties->phrase,
	                    "HTTP/2 client, active, 1 stream, 1234 bytes of data to be written, "
	                    "the window of the connection is full");
	assert_true(wait_number(future->properties, "http_pending", &n));
	assert_int_equal(n, 1);
	futures_close(&f);
}

static void test_h2_stream(void **state)
{
	struct futures f = open_http();
	struct value v = futures_value(&f, "h2::client::ResponseFuture", FUTURES_ROOT);

	(void)state;
	futures_poke(&f, v, "inner.inner", h2_inner(&f).addr);
	futures_poke(&f, v, "inner.key.stream_id.__0", 7);
	futures_expect(&f, v, "http_stream", "HTTP/2 stream 7, the answer, half closed (local)");
	/* The slot is used again by another stream, is free, or there is none. */
	futures_poke(&f, v, "inner.key.stream_id.__0", 9);
	futures_expect_problem(&f, v, "its stream is another one");
	futures_poke(&f, v, "inner.key.index.__0", 1);
	futures_expect_problem(&f, v, "its stream is gone");
	futures_poke(&f, v, "inner.key.index.__0", 2);
	futures_expect_problem(&f, v, "its connection has no such stream");
	futures_close(&f);
}

static void test_want(void **state)
{
	static const char *const phrases[] = { "want::Giver, not wanted yet", "want::Giver, wanted",
		                               "want::Giver, not wanted yet",
		                               "want::Giver, its taker is gone" };
	struct futures f = open_http();
	struct value v = futures_value(&f, "want::Giver", FUTURES_ROOT);
	struct value inner = futures_value(&f, "want::Inner", FUTURES_OTHER);

	(void)state;
	futures_poke(&f, v, "inner", inner.addr);
	for (uint64_t i = 0; i < 4; i++) {
		futures_poke(&f, inner, "state", i);
		futures_expect(&f, v, "want", phrases[i]);
	}
	futures_poke(&f, inner, "state", 4);
	futures_expect_problem(&f, v, "its state is none of those of want::Giver");
	futures_close(&f);
}

#define WEBSOCKET "tokio_tungstenite::"

static void test_websocket(void **state)
{
	struct futures f = open_http();
	struct value v = futures_value(&f, WEBSOCKET "WebSocketStream<u64>", FUTURES_ROOT);
	struct value proxy = futures_value(&f, WEBSOCKET "WakerProxy", FUTURES_OTHER);

	(void)state;
	futures_poke(&f, v, "inner.socket.read_waker_proxy", proxy.addr);
	futures_poke(&f, v, "inner.socket.write_waker_proxy", proxy.addr);
	futures_poke(&f, v, "inner.context.role", 1);
	futures_expect(&f, v, "websocket", "websocket, client, active");
	futures_poke(&f, v, "inner.context.role", 0);
	futures_poke(&f, v, "inner.context.state", 2);
	futures_poke(&f, v, "inner.context.frame.out_buffer.len", 77);
	futures_expect(&f, v, "websocket",
	               "websocket, server, closed by the peer, 77 bytes to be written");
	futures_poke(&f, v, "inner.socket.read_waker_proxy", FUTURES_HOLE);
	futures_expect_problem(&f, v, "0x9000000");
	futures_close(&f);
}

/* ---- quinn ---- */

#define QUIC_MAP (FUTURES_OTHER + 0x800)

/* A connection at FUTURES_OTHER of which the future at FUTURES_ROOT is. */
static struct value quic_connection(struct futures *f, const char *side)
{
	struct value inner = futures_value(f, "quinn::connection::ConnectionInner", FUTURES_OTHER);
	struct value state = futures_member(inner, "state.value");

	futures_poke(f, state, "inner.path.remote", 4433);
	futures_poke(f, state, "inner.side", strcmp(side, "Server") == 0);
	futures_variant(f, futures_member(state, "error"), "None");
	return inner;
}

/* Makes the map a table of two buckets before at; the second one is that stream's. */
static struct value quic_entry(struct futures *f, struct value map, uint64_t at, uint64_t id)
{
	static const unsigned char control[] = { 0xff, 0x12 };
	struct value table = futures_member(map, "base.table");
	const struct type *element = type_param(table.type, "T");
	struct value entry = { element, at - 2 * type_size(element) };

	futures_poke(f, table, "bucket_mask", 1);
	futures_poke(f, table, "ctrl", at);
	futures_poke(f, table, "items", 1);
	target_fake_poke(f->fixture.target, at, control, sizeof(control));
	futures_poke(f, entry, "__0.__0", id);
	return entry;
}

static void test_quic_read(void **state)
{
	struct futures f = open_http();
	struct value v = futures_value(&f, "quinn::recv_stream::ReadToEnd", FUTURES_ROOT);
	struct value stream =
		futures_value(&f, "quinn::recv_stream::RecvStream", FUTURES_ROOT + 64);
	struct value inner = quic_connection(&f, "Server");
	struct value readers = futures_member(inner, "state.value.blocked_readers");

	(void)state;
	futures_poke(&f, v, "stream", stream.addr);
	futures_poke(&f, stream, "conn.__0", inner.addr);
	futures_poke(&f, stream, "stream.__0", 9);
	quic_entry(&f, readers, QUIC_MAP, 9);
	futures_expect(&f, v, "quic_stream", "QUIC stream 9, more data, server, peer 4433");
	assert_int_equal(futures_decode(&f, v)->wait->armed,
	                 WAKER_REGISTERED_NO); /* a waker without vtable */
	/* Another stream has the entry: none is stored, but for one that is not seen yet. */
	futures_poke(&f, stream, "stream.__0", 13);
	assert_int_equal(futures_decode(&f, v)->wait->armed, WAKER_REGISTERED_NO);
	futures_poke(&f, inner, "state.futex", 1);
	assert_int_equal(futures_decode(&f, v)->wait->armed, WAKER_REGISTERED_UNKNOWN);
	futures_poke(&f, readers, "base.table.items", 3);
	futures_expect_problem(&f, v, "buckets");
	futures_poke(&f, stream, "conn.__0", 0);
	futures_expect_problem(&f, v, "it has no connection");
	futures_close(&f);
}

static void test_quic_send(void **state)
{
	struct futures f = open_http();
	struct value v = futures_value(&f, "quinn::send_stream::SendStream", FUTURES_ROOT);
	struct value inner = quic_connection(&f, "Client");
	struct value send = futures_value(&f, "quinn::proto::Send", FUTURES_OTHER + 0xc00);
	struct future future = { 0 };
	struct decoder d = { .c = f.c };

	(void)state;
	futures_poke(&f, v, "conn.__0", inner.addr);
	futures_poke(&f, v, "stream.__0", 4);
	struct value entry = quic_entry(&f, futures_member(inner, "state.value.inner.streams.send"),
	                                QUIC_MAP, 4);
	target_fake_poke(f.fixture.target, futures_member(entry, "__1").addr, &send.addr, 8);
	futures_poke(&f, send, "max_data", 1000);
	futures_poke(&f, send, "pending.offset", 1000);
	futures_poke(&f, send, "pending.unacked_len", 77);
	futures_variant(&f, futures_member(inner, "state.value.error"), "Some");
	quic_entry(&f, futures_member(inner, "state.value.blocked_writers"), QUIC_MAP + 0x100, 4);
	leaf_decode_resource(&d, v, &future);
	assert_string_equal(future.wait->phrase,
	                    "QUIC stream 4, to send, 77 bytes not acknowledged, the window of the "
	                    "stream is full, client, peer 4433, closed");
	futures_close(&f);
}

/* The futures of quinn 0.10. */
static void test_quic_write(void **state)
{
	static const char *const types[] = { "quinn::send_stream::WriteAll",
		                             "quinn::send_stream::Stopped" };
	static const char *const maps[] = { "blocked_writers", "stopped" };
	static const char *const phrases[] = {
		"QUIC stream 4, to send, client, peer 4433",
		"QUIC stream 4, until the peer stops it, client, peer 4433",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct futures f = open_http();
		struct value v = futures_value(&f, types[i], FUTURES_ROOT);
		struct value stream =
			futures_value(&f, "quinn::send_stream::SendStream", FUTURES_ROOT + 64);
		struct value inner = quic_connection(&f, "Client");
		struct value state_of = futures_member(inner, "state.value");

		futures_poke(&f, v, "stream", stream.addr);
		futures_poke(&f, stream, "conn.__0", inner.addr);
		futures_poke(&f, stream, "stream.__0", 4);
		quic_entry(&f, futures_member(state_of, "inner.streams.send"), QUIC_MAP, 8);
		/* It is looked for in the map of that kind of waiters. */
		quic_entry(&f, futures_member(state_of, maps[i]), QUIC_MAP + 0x100, 4);
		futures_expect(&f, v, "quic_stream", phrases[i]);
		futures_poke(&f, inner, "state.futex", 1);
		assert_int_equal(futures_decode(&f, v)->wait->armed, WAKER_REGISTERED_NO);
		quic_entry(&f, futures_member(state_of, maps[i]), QUIC_MAP + 0x100, 8);
		assert_int_equal(futures_decode(&f, v)->wait->armed, WAKER_REGISTERED_UNKNOWN);
		futures_poke(&f, v, "stream", 0);
		futures_expect_problem(&f, v, "it has no stream");
		futures_close(&f);
	}
}

static void test_quic_driver(void **state)
{
	struct futures f = open_http();
	struct value v = futures_value(&f, "quinn::connection::ConnectionDriver", FUTURES_ROOT);

	(void)state;
	futures_poke(&f, v, "__0.__0", quic_connection(&f, "Server").addr);
	const struct future *future = futures_decode(&f, v);
	assert_non_null(future->properties);
	assert_string_equal(future->properties->phrase, "QUIC, server, peer 4433");
	futures_close(&f);
}

/* A stream whose socket is of an unknown type. */
static void test_tls(void **state)
{
	struct futures f = open_http();
	struct value v = futures_value(&f, "tokio_rustls::server::TlsStream<u64>", FUTURES_ROOT);
	struct value common = futures_member(v, "session.inner.core.common_state");

	(void)state;
	futures_variant(&f, futures_member(v, "session.inner.core.data.sni"), "None");
	futures_variant(&f, futures_member(common, "negotiated_version"), "None");
	futures_expect(&f, v, "io", "TLS server, handshake");
	futures_poke(&f, common, "may_send_application_data", 1);
	futures_expect(&f, v, "io", "TLS server, handshake");
	futures_poke(&f, common, "may_receive_application_data", 1);
	futures_expect(&f, v, "io", "TLS server, established");
	futures_poke(&f, common, "has_sent_close_notify", 1);
	futures_expect(&f, v, "io", "TLS server, closing");
	futures_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_h1),         cmocka_unit_test(test_h1_path),
		cmocka_unit_test(test_quic_write), cmocka_unit_test(test_h2_connection),
		cmocka_unit_test(test_h2_stream),  cmocka_unit_test(test_want),
		cmocka_unit_test(test_websocket),  cmocka_unit_test(test_quic_read),
		cmocka_unit_test(test_quic_send),  cmocka_unit_test(test_quic_driver),
		cmocka_unit_test(test_tls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
