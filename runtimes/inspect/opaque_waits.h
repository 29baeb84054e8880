/*
 * Waits of futures that cannot be entered: a stream of OpenSSL has its TcpStream behind a pointer
 * to C. The I/O drivers know the descriptors for which they call the wakers of such futures.
 *
 * A registration does not prove that the future waits for it now: a read that was given up leaves
 * its waker there. So the wait says no more than where the waker is.
 */
#ifndef RUNTIMES_INSPECT_OPAQUE_WAITS_H
#define RUNTIMES_INSPECT_OPAQUE_WAITS_H

#include "runtimes/common/runtime.h"

/* Fills those of c->opaque_waits whose wakers a driver of one of the n runtimes has. */
void opaque_waits_explain(struct collector *c, const struct runtime *const *runtimes, size_t n);

#endif
