/*
 * Does a place look like a value of its type? For finding a future on a stack, where the
 * compiler keeps no record of its address: enums must hold a variant that exists, bools 0 or 1,
 * references and Arcs must lead somewhere.
 */
#ifndef RUNTIMES_COMMON_PLAUSIBLE_H
#define RUNTIMES_COMMON_PLAUSIBLE_H

#include "dwarf/values/value.h"

bool plausible_value(struct target *t, struct value v);

/*
 * What the references inside a value that lead back into it say: a future that was polled refers
 * to its own locals, and a place some bytes off does not meet them. Evidence, no proof: of
 * locals of one name DWARF describes only one.
 */
enum self_reference {
	SELF_REFERENCE_WRONG, /* one meets no value of the type that it refers to */
	SELF_REFERENCE_NONE,
	SELF_REFERENCE_RIGHT,
};
enum self_reference plausible_self_references(struct target *t, struct value v);

#endif
