/*
 * What frames hold of libraries to work with: locks of runtimes and their guards, ends of channels;
 * streams of the futures crate; buffers, collections and the like of crates that know no futures,
 * and what hyper's connections are made of.
 */
#ifndef RUNTIMES_COMMON_NON_FUTURE_TYPES_H
#define RUNTIMES_COMMON_NON_FUTURE_TYPES_H

#include "runtimes/common/runtime.h"

/*
 * Is a type of that name such a one, and so no future, by the tables of this file and of runtimes?
 * The streams are those of futures-util 0.3.28 to 0.3.34 for which it implements Stream and
 * not Future (src/stream). Of some crates, and of parts of hyper 0.14.32, 1.0.0 and 1.12.0, the
 * source has no implementation of Future, and no other crate may implement it for their types.
 * Saves a search of the debug info, which would be one of the whole crate where poll functions are
 * inlined.
 */
bool non_future_types_has(const struct runtime *const *runtimes, const char *type_name);

/* Does the path of a type of that name, generics cut, end so? */
bool non_future_types_path_ends_with(const char *type_name, const char *end);

#endif
