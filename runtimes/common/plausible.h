/*
 * Does the memory at a place look like a value of its type? Used to find a future on a stack, where
 * the compiler records no address for it. Enums must have a variant that exists, bools must be 0 or
 * 1, references and Arcs must point at readable memory.
 */
#ifndef RUNTIMES_COMMON_PLAUSIBLE_H
#define RUNTIMES_COMMON_PLAUSIBLE_H

#include "dwarf/values/value.h"

bool plausible_value(struct target *t, struct value v);

/*
 * Checks the references inside a value that point back into it. A future that was polled refers to
 * its own locals; from a wrong address these references do not point at values of their types. This
 * is evidence, not proof: of several locals of one name DWARF describes only one.
 */
enum self_reference {
	SELF_REFERENCE_WRONG, /* a reference does not point at a value of its type */
	SELF_REFERENCE_NONE,
	SELF_REFERENCE_RIGHT,
};
enum self_reference plausible_self_references(struct target *t, struct value v);

#endif
