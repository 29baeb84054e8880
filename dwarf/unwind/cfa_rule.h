/* How the canonical frame address (CFA) follows from the registers at an instruction. */
#ifndef DWARF_UNWIND_CFA_RULE_H
#define DWARF_UNWIND_CFA_RULE_H

#include <stdbool.h>
#include <stdint.h>

struct target;

/* CFA = register (DWARF number) + offset. */
struct cfa_rule {
	unsigned reg;
	int64_t offset;
};

/*
 * The rule at a run-time address, by .eh_frame. False if none covers it, or if it is no sum of a
 * register and a constant. Reads no memory of the target.
 */
bool cfa_rule_at(const struct target *t, uint64_t pc, struct cfa_rule *ret);

#endif
