/*
 * A typed place in the target. Cheap to copy; it owns nothing and reads memory on demand. Reading
 * needs a stopped target, or one whose target_read() still works.
 */
#ifndef DWARF_VALUES_VALUE_H
#define DWARF_VALUES_VALUE_H

#include "debugger/target/target.h"
#include "dwarf/types/type.h"
#include "dwarf/types/wide.h"

struct value {
	const struct type *type;
	uint64_t addr;
};

/*
 * The active variant of an ENUM. ERR_CORRUPT when the discriminant matches no variant: the place
 * does not contain a value of that type.
 */
struct error *value_variant(struct target *t, struct value v, const struct variant **ret)
	MUST_CHECK;
/* The payload of the variant that value_variant() returned. */
struct value value_payload(struct value v, const struct variant *variant);

/* The name of the active enumerator or variant; NULL when the number matches none. */
struct error *value_enum_name(struct target *t, struct value v, const char **ret) MUST_CHECK;

/*
 * The number in a scalar, also inside wrappers (UnsafeCell, AtomicUsize, NonZero, Id). Pointers
 * count as scalars. ERR_LAYOUT when the type does not contain exactly one scalar.
 */
struct error *value_uint(struct target *t, struct value v, uint64_t *ret) MUST_CHECK;

/*
 * The elements of `Box<[T]>`, `&[T]` or `Vec<T>`: their type, the address of the first, and their
 * number.
 */
struct slice {
	const struct type *element;
	uint64_t addr, count;
};
struct error *value_slice(struct target *t, struct value v, struct slice *ret) MUST_CHECK;

/*
 * The value that an Arc<T> or Rc<T> shares, also of an unsized T. ERR_LAYOUT when v is neither, or
 * where the debug info does not tell what T is.
 */
struct error *value_shared(struct target *t, struct value v, struct value *ret) MUST_CHECK;

/* The text of a `String`, `&str` or `Box<str>` of at most max bytes, sanitised, in a. */
struct error *value_string(struct target *t, struct arena *a, struct value v, size_t max,
                           const char **ret) MUST_CHECK;

#endif
