#include "runtimes/connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_parts(void **state)
{
	static const struct {
		const char *name;
		enum connection_part part;
	} rows[] = {
		{ "hyper::proto::h1::dispatch::Dispatcher<app::D, app::B, app::I, app::T>",
		  CONNECTION_FUTURE },
		{ "hyper::server::conn::http1::Connection<app::I, app::S>", CONNECTION_FUTURE },
		{ "hyper_util::server::conn::auto::Connection<app::I, app::S, app::E>",
		  CONNECTION_FUTURE },
		{ "hyper::proto::h1::dispatch::Server<app::S, app::B>", CONNECTION_TOOL },
		{ "hyper::proto::h2::server::Server<app::T, app::S, app::B>", CONNECTION_FUTURE },
		{ "hyper::service::util::ServiceFn<app::F, app::R>", CONNECTION_TOOL },
		{ "hyper::proto::h1::io::Buffered<app::T, app::B>", CONNECTION_TOOL },
		{ "hyper_util::rt::tokio::TokioIo<tokio::net::tcp::stream::TcpStream>",
		  CONNECTION_TOOL },
		/* Others of their names. */
		{ "hyper::proto::h1::dispatch::DispatcherOf<app::D>", CONNECTION_TOOL },
		{ "hyper::server::conn::http1::ConnectionOf<app::D>", CONNECTION_NONE },
		{ "hyper::proto::h2::client::Conn<app::T>", CONNECTION_NONE },
		{ "hyper::client::pool::Connection", CONNECTION_NONE },
		{ "hyperlocal::server::conn::http1::Connection", CONNECTION_NONE },
		{ "app::ServiceFn", CONNECTION_NONE },
		{ "hyper", CONNECTION_NONE },
		{ "", CONNECTION_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(connection_part(rows[i].name), rows[i].part);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_parts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
