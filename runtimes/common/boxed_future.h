/*
 * Futures in boxes. tokio puts a future of more than 16 KiB (2 KiB in debug builds) into a box when
 * it is spawned, so that its task has the type Pin<Box<T>>: BOX_FUTURE_THRESHOLD of
 * tokio/src/runtime/mod.rs, 1.54. Programs do so themselves too.
 */
#ifndef RUNTIMES_COMMON_BOXED_FUTURE_H
#define RUNTIMES_COMMON_BOXED_FUTURE_H

#include <stdbool.h>

struct type;

/* The future in a Pin<Box<T>>; NULL: the type is none, or T is a dyn Future or unknown. */
const struct type *boxed_future(const struct type *future);
/* The same by the name of the type. */
bool boxed_future_is_name(const char *type);

#endif
