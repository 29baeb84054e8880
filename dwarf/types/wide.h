/*
 * Wide pointers, and the types of the structs with an unsized tail that they lead to.
 *
 * rustc 1.95 describes a wide pointer as a struct of 16 bytes, { data_ptr, length } or { pointer,
 * vtable }. The target of its first member has the DIE of T for `&[T]`, of u8 for `&str`, and an
 * empty struct "dyn T" for a trait object. For any other pointee that struct's own DIE follows, in
 * which the unsized tail is the last member: `Dst<[u16]>` has `tail: u16` at 4 and a size of 4,
 * `Mutex<dyn T>` has `data: UnsafeCell<dyn T>` at 5, where it would be if the object had an
 * alignment of 1. Where the tail starts and how long it is only a pointer to it tells. The
 * functions here make a sized type for that, so that readers of values need not know about tails.
 */
#ifndef DWARF_TYPES_WIDE_H
#define DWARF_TYPES_WIDE_H

#include "dwarf/types/type.h"

enum wide_kind {
	WIDE_NONE,   /* no wide pointer */
	WIDE_SLICE,  /* to a [T] */
	WIDE_STR,    /* to a str */
	WIDE_DYN,    /* to a trait object */
	WIDE_STRUCT, /* to a struct with an unsized tail */
};

struct wide {
	enum wide_kind kind;
	bool has_vtable;            /* of dyn, also of a struct whose tail is one; else a length */
	uint64_t data, meta;        /* offsets of the address, and of the vtable or the length */
	const struct type *pointee; /* element, u8, dyn T, or the struct; NULL: unknown */
};

enum wide_kind type_wide_kind(const struct type *t);
/* The kind and the parts of a wide pointer; those of WIDE_NONE are all zero. */
struct wide type_wide(const struct type *t);

/* Is the type "dyn T", that of an object of which the debug info says nothing else? */
bool type_is_object(const struct type *t);

/* The object behind a trait object, as its vtable describes it. */
struct object_layout {
	const struct type *type; /* NULL: unknown; the tail is then of the type dyn T */
	uint64_t size, align;
};
/*
 * The type of a struct whose unsized tail is a [T] or str of count elements, or that object. NULL:
 * the debug info does not tell where the tail starts, or what it is. It lives as long as t.
 */
const struct type *type_with_slice(const struct type *t, uint64_t count);
const struct type *type_with_object(const struct type *t, const struct object_layout *object);

/* The sized type of a [T] or str itself; the kind is WIDE_SLICE or WIDE_STR. */
const struct type *type_of_slice(const struct type *element, enum wide_kind kind, uint64_t count);

/* How the elements of an array that type_with_slice() has made are shown. */
enum tail_text {
	TAIL_ELEMENTS, /* numbers or the like; also in any other type */
	TAIL_STR,
	TAIL_BYTES, /* of a str or a [u8]: rustc describes both alike where no generic tells them
	               apart */
};
enum tail_text type_tail_text(const struct type *t);

#endif
