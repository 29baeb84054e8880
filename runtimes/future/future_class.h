/* Fills the members of struct type_class that belong to this folder. */
#ifndef RUNTIMES_FUTURE_FUTURE_CLASS_H
#define RUNTIMES_FUTURE_FUTURE_CLASS_H

#include "runtimes/common/runtime.h"

classify_fn future_classify;

/* leaf.c: the row for a type, or for a resource; NULL when there is none. */
const struct leaf_row *leaf_find_row(const struct type *t, bool resource);
/* The row with the properties of a future; NULL: there is none. */
const struct leaf_row *leaf_find_properties(const struct type *t);

#endif
