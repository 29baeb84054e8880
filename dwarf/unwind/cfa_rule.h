/* How the canonical frame address (CFA) follows from the registers at an instruction. */
#ifndef DWARF_UNWIND_CFA_RULE_H
#define DWARF_UNWIND_CFA_RULE_H

#include <stdbool.h>
#include <stdint.h>

struct frame;
struct target;

/* CFA = register (DWARF number) + offset. */
struct cfa_rule {
	unsigned reg;
	int64_t offset;
};

/*
 * The rule at a run-time address, by .eh_frame or else .debug_frame. False if none covers it, or if
 * it is no sum of a register and a constant. Reads no memory of the target.
 */
bool cfa_rule_at(const struct target *t, uint64_t pc, struct cfa_rule *ret);
/*
 * Where the value that a register had before the call of the function is kept at an instruction of
 * it: at CFA + *offset; *offset 0: in the register itself. False: unknown, or elsewhere.
 */
bool cfa_rule_kept(const struct target *t, uint64_t pc, unsigned reg, int64_t *offset);
/*
 * The CFA of one frame, by the rule at its lookup_pc and its registers, where the next outer frame
 * is not known: a thread that has come to a breakpoint is not unwound. 0: there is no such rule, or
 * its register is not known. Reads no memory of the target.
 */
uint64_t cfa_rule_in_frame(const struct target *t, const struct frame *frame);

#endif
