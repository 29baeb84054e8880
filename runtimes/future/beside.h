/*
 * What a future polls beside the futures that it holds: sockets, ends of channels, and what keeps
 * its waker until somebody else uses it.
 *
 * Evidence decides what is shown. The task's own waker lies in it: the edge is "waits". Or the
 * future owns it, and whose waker lies in it is not known: it may be polled, and the edge is
 * "holds".
 */
#ifndef RUNTIMES_FUTURE_BESIDE_H
#define RUNTIMES_FUTURE_BESIDE_H

#include "runtimes/future/future.h"

/*
 * Adds leaves for that behind f's children, the futures in v. What those wait for is not told
 * again. region: how many of the collector's regions there were when f's own was noted, that one
 * included; those behind it are of the futures below f.
 */
void beside_add(struct decoder *d, struct value v, struct future *f, size_t region);

/* Of list, that which no child of f waits for. Returns how many. */
size_t beside_keep_new(const struct future *f, struct future **list, size_t n);

#endif
