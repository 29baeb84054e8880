/*
 * Futures in boxes. tokio puts a future of more than 16 KiB (2 KiB in debug builds) into a box when
 * it is spawned, so that its task has the type Pin<Box<T>>: BOX_FUTURE_THRESHOLD of
 * tokio/src/runtime/mod.rs, 1.54. Programs do so themselves too.
 */
#ifndef RUNTIMES_COMMON_BOXED_FUTURE_H
#define RUNTIMES_COMMON_BOXED_FUTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/base/error.h"
#include "dwarf/values/value.h"

struct inspector;

/* The future in a Pin<Box<T>>; NULL: the type is none, or T is a dyn Future or unknown. */
const struct type *boxed_future(const struct type *future);

/* A future, and the value in which it lies. */
struct boxed_place {
	struct value v;
	struct value base; /* of a future in a box: what the box has; else as it was given */
	bool may_read;     /* the memory has the future, and not what comes before or after it */
	uint64_t glue;     /* of a trait object: the function that drops it; 0: none, or unknown */
};

/*
 * Goes from a future to the one that is ready when it is, and is dropped with it: through boxes,
 * trait objects in them, and tracing's spans. ERR_STATE: a box must be followed and cannot be.
 */
struct error *boxed_future_follow(struct inspector *in, struct boxed_place *p) MUST_CHECK;

#endif
