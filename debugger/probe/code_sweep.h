/* A pass over the instructions of a function, in the order of their addresses. */
#ifndef DEBUGGER_PROBE_CODE_SWEEP_H
#define DEBUGGER_PROBE_CODE_SWEEP_H

#include <capstone/capstone.h>

#include "debugger/base/vec.h"
#include "debugger/probe/code_site.h"

struct sweep {
	csh handle;
	cs_insn *insn; /* the one that was read last */
	const uint8_t *next;
	size_t left;
	uint64_t address; /* of the next instruction */
};

/* False if the code is too long or there is no decoder; close it even then. */
bool code_sweep_open(struct sweep *s, const struct code_bytes *f);
void code_sweep_close(struct sweep *s);
/* False at the end, and at what is no instruction. */
bool code_sweep_next(struct sweep *s);

/* The number in DWARF of a register, or of the one that it is a part of; PROBE_NO_REGISTER: none.
 */
uint8_t code_sweep_number(csh handle, x86_reg reg);

/* The targets of direct jumps in a function. Free list. */
struct sweep_targets {
	VEC(uint64_t) list;
};

bool code_sweep_find_targets(const struct code_bytes *f, struct sweep_targets *t);
/* Whether a jump leads to an address from the first to the last of these. */
bool code_sweep_is_jumped_to(const struct sweep_targets *t, uint64_t from, uint64_t to);

enum { CODE_SWEEP_FLAGS = 1 << 16 };
/*
 * Finds the first cheap point from the next instruction on that runs exactly when the one that was
 * read has run, and where what is needed is as it was behind that: the registers whose bits are
 * set, by their numbers in DWARF (below 16), and with CODE_SWEEP_FLAGS the flags. The pass goes on
 * there. *address: link-time; *slow: none is cheap, and it is the next instruction. False: code
 * from elsewhere comes to that, too.
 */
bool code_sweep_behind(struct sweep *s, const struct sweep_targets *t, uint32_t needed,
                       uint64_t *address, bool *slow);

#endif
