/*
 * Effects of optimised code on a variable that it keeps at one place of the frame in the whole
 * scope, such as one whose address it passes on. The bytes there need not be the value of the
 * variable:
 *
 * - The variable may not be set yet, and others may have had the bytes before. The ways from the
 *   entry of the function to the instruction decide that, as in code_flow.h.
 * - LLVM keeps a value that a loop changes in a register, and leaves out a store if another one
 *   comes before all reads, or there are no more. Then the next access is a store, or none follows.
 *   A read proves that the bytes are right.
 *
 * Addresses in registers are followed through the code, and places are counted from the CFA.
 */
#ifndef DWARF_FRAME_SLOT_FLOW_H
#define DWARF_FRAME_SLOT_FLOW_H

#include "dwarf/frame/code_flow.h"

struct slot_flow;

struct slot {
	unsigned base; /* DWARF number of the register that the frame base is */
	struct flow_place place;
	uint64_t block; /* as in struct flow_variable */
	bool (*is_in)(uint64_t pc, uint64_t block, void *arg);
	void *arg;
	/*
	 * Inlined calls inside of it whose argument or capture is at the same place: it has the
	 * value of this variable. But a store there in between shows that this one is not set yet.
	 */
	const uint64_t *inner;
	size_t ninner;
	/*
	 * A block inside of it has a `let` at the same place, as `second` of `let mut second =
	 * first;`. A store may be to either variable.
	 */
	bool is_merged;
	/*
	 * Whether a store at an address (inside: of the block) may be to another variable that LLVM
	 * has given the same bytes, of which nothing tells: if this variable was not set before, it
	 * need not be set behind it.
	 */
	bool (*is_of_another)(uint64_t pc, bool inside, void *arg);
};

struct slot_answer {
	bool unset; /* there may be a way to the instruction on which it was not set */
	bool stale; /* a register may have a newer value, which the code need not store */
};

/* Reads the code of an optimised function. NULL: it cannot be read. For slot_flow_free(). */
struct slot_flow *slot_flow_read(struct debuginfo *di, const struct function *f);
void slot_flow_free(struct slot_flow *flow); /* allows NULL */
/* pc: a run-time address. */
struct slot_answer slot_flow_ask(struct slot_flow *flow, const struct slot *slot, uint64_t pc);

#endif
