#include "runtimes/connection.h"

#include <stddef.h>

#include "debugger/base/str.h"
#include "dwarf/qualified.h"

/* By src/client/conn, src/proto and src/server/conn of hyper, src/rt and src/server/conn of
 * hyper-util. */
static const struct {
	const char *type;
	enum connection_part part;
} table[] = {
	{ "hyper::client::conn::Connection", CONNECTION_FUTURE },
	{ "hyper::client::conn::http1::Connection", CONNECTION_FUTURE },
	{ "hyper::client::conn::http1::upgrades::UpgradeableConnection", CONNECTION_FUTURE },
	{ "hyper::client::conn::http2::Connection", CONNECTION_FUTURE },
	{ "hyper::proto::h1::dispatch::Dispatcher", CONNECTION_FUTURE },
	{ "hyper::proto::h2::client::ClientTask", CONNECTION_FUTURE },
	{ "hyper::proto::h2::server::H2Stream", CONNECTION_FUTURE },
	{ "hyper::proto::h2::server::Server", CONNECTION_FUTURE },
	{ "hyper::server::conn::Connection", CONNECTION_FUTURE },
	{ "hyper::server::conn::http1::Connection", CONNECTION_FUTURE },
	{ "hyper::server::conn::http1::UpgradeableConnection", CONNECTION_FUTURE },
	{ "hyper::server::conn::http1::upgrades::UpgradeableConnection", CONNECTION_FUTURE },
	{ "hyper::server::conn::http2::Connection", CONNECTION_FUTURE },
	{ "hyper::server::conn::upgrades::UpgradeableConnection", CONNECTION_FUTURE },
	{ "hyper::service::util::ServiceFn", CONNECTION_TOOL },
	{ "hyper::upgrade::Pending", CONNECTION_TOOL },
	{ "hyper_util::rt::tokio::TokioIo", CONNECTION_TOOL },
	{ "hyper_util::server::conn::auto::Connection", CONNECTION_FUTURE },
	{ "hyper_util::server::conn::auto::UpgradeableConnection", CONNECTION_FUTURE },
};

/* Modules without other futures. */
static const char *const tool_modules[] = {
	"hyper::body::", "hyper::common::buf::", "hyper::error::",
	"hyper::ext::",  "hyper::proto::h1::",
};

enum connection_part connection_part(const char *type_name)
{
	if (!str_begins(type_name, "hyper"))
		return CONNECTION_NONE;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (qualified_is(type_name, table[i].type))
			return table[i].part;
	}
	return str_begins_with_any(type_name, tool_modules) ? CONNECTION_TOOL : CONNECTION_NONE;
}
