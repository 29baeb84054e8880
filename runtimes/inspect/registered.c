/* The runtimes and crates that asyncdbg knows, and the functions that classify types for each
 * folder. */
#include "runtimes/actix/actix.h"
#include "runtimes/async_executor/executor.h"
#include "runtimes/compio/compio.h"
#include "runtimes/future/future_class.h"
#include "runtimes/futures_executor/local_pool.h"
#include "runtimes/futures_executor/thread_pool.h"
#include "runtimes/leaves/leaves.h"
#include "runtimes/ownership/ownership.h"
#include "runtimes/tokio/tokio.h"

/* The order determines the order of output. A runtime on async-task is before async-executor; what
 * names the runtimes of another crate is behind it. */
static const struct runtime *const runtimes[] = {
	&tokio_table,    &actix_table, &local_pool_table, &thread_pool_table, &compio_table,
	&executor_table, NULL,
};

/* No two crates have rows for one type. */
static const struct crate_types *const crates[] = {
	&tokio_types,
	&local_pool_types,
	&thread_pool_types,
	&async_executor_types,
	&async_executor_task_types,
	&compio_types,
	&compio_executor_types,
	&async_broadcast_types,
	&async_channel_types,
	&async_io_types,
	&async_lock_types,
	&async_std_types,
	&bb8_types,
	&deadpool_types,
	&event_listener_types,
	&flume_types,
	&futures_lite_types,
	&futures_types,
	&h2_types,
	&hyper_types,
	&mobc_types,
	&piper_types,
	&quinn_types,
	&r2d2_types,
	&rustls_types,
	&sqlx_types,
	&tungstenite_types,
	&uring_types,
	&want_types,
	NULL,
};

static classify_fn *const classifiers[] = {
	future_classify,
	ownership_classify,
	NULL,
};

const struct registered registered_runtimes = { runtimes, crates, classifiers };
