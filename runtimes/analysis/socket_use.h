/* Finds the waiters and the owners of each socket of the process. */
#ifndef RUNTIMES_ANALYSIS_SOCKET_USE_H
#define RUNTIMES_ANALYSIS_SOCKET_USE_H

#include "runtimes/model/model.h"

/* A future that is polled and waits for the socket. */
struct socket_waiter {
	const struct task *task;          /* owner of the future; NULL: thread blocks on it */
	const struct thread_info *thread; /* NULL when task is set */
	const struct wait *wait;
};

struct socket_use {
	const struct socket_info *socket;
	struct socket_waiter *waiters; /* tasks first; NULL none */
	size_t nwaiters;
	const struct holding **owners; /* in the snapshot's order; only with WANT_DESCRIPTORS */
	size_t nowners;
};

/* Returns one element for each socket of the snapshot, in the same order, in arena a. */
struct socket_use *socket_uses(struct arena *a, const struct snapshot *s);

#endif
