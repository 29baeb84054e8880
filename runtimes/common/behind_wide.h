/* Targets of wide pointers; types of objects are cached by the addresses of their vtables. */
#ifndef RUNTIMES_COMMON_BEHIND_WIDE_H
#define RUNTIMES_COMMON_BEHIND_WIDE_H

#include "dwarf/values/visit.h"
#include "runtimes/common/inspector.h"

/*
 * Follows a pointer of STEP_DYN or STEP_WIDE. slot: see lookup_vtable(). Of STEP_DYN ret->type is
 * NULL where no debug info tells the type of the object, and *exact says whether it is certain. Of
 * STEP_WIDE the value is the struct with its tail at its place; where *exact is false, the tail is
 * an object whose type is not known. ret->addr is 0 when the pointer is null.
 */
struct error *behind_wide(struct collector *c, struct value v, unsigned slot, struct value *ret,
                          bool *exact) MUST_CHECK;
/* A step of a walk (visit.h) that follows wide pointers so. All elements are visited. */
struct visit behind_wide_visit(struct collector *c, visit_fn *each, void *arg);

#endif
