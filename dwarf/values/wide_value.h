/* Targets of wide pointers, as values of sized types (types/wide.h). */
#ifndef DWARF_VALUES_WIDE_VALUE_H
#define DWARF_VALUES_WIDE_VALUE_H

#include "dwarf/values/value.h"

/* A wide pointer as it was read. */
struct wide_value {
	struct wide wide;
	uint64_t data, meta;  /* the address, and the vtable or the length */
	uint64_t size, align; /* of the object, where meta is a vtable */
};
/*
 * Reads a wide pointer, and what its vtable says of the object. ERR_CORRUPT where that is no size
 * and alignment.
 */
struct error *wide_value_read(struct target *t, struct value v, struct wide_value *ret) MUST_CHECK;
/*
 * The value behind a WIDE_STRUCT pointer, with the tail at its place. object: the concrete type of
 * the trait object at the end; NULL: unknown, or the tail is a slice. ERR_LAYOUT where the debug
 * info does not tell what the tail is or where it starts.
 */
struct error *wide_value_struct(const struct wide_value *w, const struct type *object,
                                struct value *ret) MUST_CHECK;
/*
 * Target of a wide pointer of any kind but to a [T] or str: an object, or a struct with the tail at
 * its place. *found is false when it is null, or when no debug info tells the type of the object of
 * a WIDE_DYN.
 */
struct error *wide_value_behind(struct target *t, struct value v, struct value *ret, bool *found)
	MUST_CHECK;

#endif
