/* Waiting for other tasks to give something up or send something: tokio::sync. */
#include "runtimes/leaf.h"

const struct layout_row leaf_sync_layout[] = {
	{ 0 },
};

const struct leaf_row leaf_sync_rows[] = {
	{ 0 },
};
