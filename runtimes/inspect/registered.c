/* The runtimes that asyncdbg knows, and the functions that classify types for each folder. */
#include "runtimes/future/future_class.h"
#include "runtimes/futures_executor/local_pool.h"
#include "runtimes/holding/holding.h"
#include "runtimes/tokio/tokio.h"

/* The order determines the order of output. */
static const struct runtime *const runtimes[] = {
	&tokio_table,
	&local_pool_table,
	NULL,
};

static classify_fn *const classifiers[] = {
	future_classify,
	holding_classify,
	NULL,
};

const struct registered registered_runtimes = { runtimes, classifiers };
