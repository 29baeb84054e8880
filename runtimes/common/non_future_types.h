/*
 * A list of common types that are not futures: locks of runtimes and their guards, channel ends,
 * streams of the futures crate, buffers, collections and the like of crates without futures, and
 * parts of hyper's connections.
 */
#ifndef RUNTIMES_COMMON_NON_FUTURE_TYPES_H
#define RUNTIMES_COMMON_NON_FUTURE_TYPES_H

#include "runtimes/common/runtime.h"

/*
 * Is a type of that name in the tables of this file or of crates, and so not a future? This
 * saves a search of the debug info, which would read the whole crate where poll functions are
 * inlined.
 *
 * The streams are those of futures-util 0.3.28 to 0.3.34 that implement Stream but not Future
 * (src/stream). The listed crates, and the listed parts of hyper 0.14.32, 1.0.0 and 1.12.0, have no
 * implementation of Future in their source, and no other crate may implement it for their types.
 */
bool non_future_types_has(const struct crate_types *const *crates, const char *type_name);

/*
 * Is it one of the streams of that list? All of them implement Stream. FuturesUnordered and
 * FuturesOrdered do so too.
 */
bool non_future_types_is_stream(const char *type_name);

/* Does the path of a type name, without generics, end with end? */
bool non_future_types_path_ends_with(const char *type_name, const char *end);

#endif
