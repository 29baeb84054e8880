/*
 * Where a Rust function leaves what it returns, by the type alone. The ABI of Rust is the
 * compiler's own (rustc_ty_utils/src/abi.rs, rustc_abi/src/layout.rs): a scalar is in the first
 * register of results, a pair of scalars in the first two, each of them alone. All else is in
 * registers as it is in memory, if it is small, or in memory, of which the first register has the
 * address.
 */
#ifndef DWARF_FRAME_RESULT_PLACE_H
#define DWARF_FRAME_RESULT_PLACE_H

#include <stdint.h>

#include "debugger/arch/arch.h"
#include "dwarf/types/type.h"

enum result_kind {
	RESULT_UNKNOWN,   /* in a vector register, or it depends on the compiler's version */
	RESULT_NOTHING,   /* it has no size */
	RESULT_REGISTERS, /* of its parts */
	RESULT_MEMORY,
	/* Two words, up to rustc 1.76 in memory, later in registers. */
	RESULT_EITHER,
};

struct result_place {
	enum result_kind kind;
	unsigned nparts; /* of RESULT_REGISTERS and, for its registers, of RESULT_EITHER */
	struct {
		uint64_t offset, size; /* in the value; at most 8 bytes, the nth register has it */
	} parts[2];
};

/* Where a value of that type is when a function has just returned it. */
void result_place(const struct type *t, struct result_place *ret);
/* The register of the nth part, by its DWARF number; the first one has the address, too. */
unsigned result_place_register(unsigned n);

#endif
