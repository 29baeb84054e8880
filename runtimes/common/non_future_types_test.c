#include "runtimes/common/non_future_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_names(void **state)
{
	static const struct {
		const char *name;
		bool non_future;
	} rows[] = {
		{ "tokio::sync::rwlock::RwLock<alloc::vec::Vec<u32>>", true },
		{ "tokio::sync::mutex::OwnedMutexGuard<app::run::{async_fn_env#0}>", true },
		{ "tokio::sync::mpsc::bounded::Receiver<u8>", true },
		{ "tokio::sync::oneshot::Sender<u8>", true },
		{ "tokio::sync::batch_semaphore::Semaphore", true },
		{ "futures_util::stream::stream::map::Map<app::S, app::F>", true },
		{ "futures_util::stream::iter::Iter<core::ops::range::Range<u8>>", true },
		{ "bytes::bytes_mut::BytesMut", true },
		{ "hashbrown::map::HashMap<u64, app::run::{async_fn_env#0}>", true },
		{ "hyper::proto::h1::dispatch::Server<app::S, app::B>", true },
		{ "hyper::service::util::ServiceFn<app::F, app::R>", true },
		/* Futures. */
		{ "hyper::proto::h1::dispatch::Dispatcher<app::D, app::B, app::I, app::T>", false },
		{ "hyper::upgrade::OnUpgrade", false },
		{ "futures_util::stream::stream::next::Next<app::S>", false },
		{ "futures_util::stream::stream::map::Mapped<app::S>", false },
		{ "futures_util::future::future::map::Map<app::F, app::G>", false },
		{ "tokio::sync::oneshot::Receiver<u8>", false },
		{ "tokio::sync::notify::Notified", false },
		{ "tokio::sync::batch_semaphore::Acquire", false },
		{ "tokio::sync::broadcast::Recv<u8>", false },
		{ "tokio::time::timeout::Timeout<tokio::sync::mutex::Mutex<u8>>", false },
		/* Types of other crates. */
		{ "app::Mutex<u8>", false },
		{ "http::client::Request", false },
		{ "bytes::Copy<app::R>", false },
		{ "http_body_util::combinators::collect::Collect<app::B>", false },
		{ "tokio_util::sync::Sender", false },
		{ "core::option::Option<tokio::sync::mutex::Mutex<u8>>", false },
		{ "tokio::", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(non_future_types_has(registered_runtimes.crates, rows[i].name),
		                 rows[i].non_future);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
