/*
 * A typed place in the target. Cheap to copy, owns nothing, reads when asked. Reading needs the
 * target stopped, or whatever target_read() can still answer.
 */
#ifndef DWARF_VALUES_VALUE_H
#define DWARF_VALUES_VALUE_H

#include "debugger/target/target.h"
#include "dwarf/types/type.h"

struct value {
	const struct type *type;
	uint64_t addr;
};

/*
 * The active variant of an ENUM. ERR_CORRUPT when the discriminant names none: the place does
 * not hold a value of that type.
 */
struct error *value_variant(struct target *t, struct value v, const struct variant **ret)
	MUST_CHECK;
/* The payload of the variant that value_variant() found. */
struct value value_payload(struct value v, const struct variant *variant);

/* The name of the active enumerator or variant, NULL when the number names none. */
struct error *value_enum_name(struct target *t, struct value v, const char **ret) MUST_CHECK;

/*
 * The number in a scalar, looked for below wrappers (UnsafeCell, AtomicUsize, NonZero, Id):
 * pointers count. ERR_LAYOUT when the type does not come down to one scalar.
 */
struct error *value_uint(struct target *t, struct value v, uint64_t *ret) MUST_CHECK;

/* The elements of `Box<[T]>`, `&[T]` or `Vec<T>`: their type, the first address, and how many. */
struct slice {
	const struct type *element;
	uint64_t addr, count;
};
struct error *value_slice(struct target *t, struct value v, struct slice *ret) MUST_CHECK;

/* What an Arc<T> or Rc<T> shares. ERR_LAYOUT when v is none. */
struct error *value_shared(struct target *t, struct value v, struct value *ret) MUST_CHECK;

/* A `String`, `&str` or `Box<str>` of at most max bytes, sanitised, in a. */
struct error *value_string(struct target *t, struct arena *a, struct value v, size_t max,
                           const char **ret) MUST_CHECK;

#endif
