/*
 * Reads LocalFutureObj (futures-task 0.3, src/future_obj.rs): the boxed future of a task, in
 * LocalPool as it is and in ThreadPool inside a FutureObj.
 */
#ifndef RUNTIMES_FUTURES_EXECUTOR_FUTURE_OBJECT_H
#define RUNTIMES_FUTURES_EXECUTOR_FUTURE_OBJECT_H

#include "runtimes/common/inspector.h"

enum { FUTURE_OBJECT_POLL = 3 /* slot of a vtable: drop, size, align, then poll */ };

/* The future that it owns, and the vtable that tells the future's type. */
struct error *future_object_read(struct collector *c, struct value object, uint64_t *data,
                                 uint64_t *vtable) MUST_CHECK;
/* The address of the future's poll function; 0 unknown. */
uint64_t future_object_poll(struct collector *c, struct value object);
/*
 * Fills type and size of a task, and its tree if no thread runs it: wakers of the task have its
 * address as their data. Fails if no debug info describes the vtable.
 */
struct error *future_object_decode(struct collector *c, struct task *task, struct value object)
	MUST_CHECK;
/* future_object_decode() for a task whose future is being polled: type and size alone. */
struct error *future_object_describe(struct collector *c, struct task *task, uint64_t vtable)
	MUST_CHECK;

#endif
