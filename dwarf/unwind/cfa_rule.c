#include "dwarf/unwind/cfa_rule.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>

#include "debugger/target/module.h"
#include "debugger/target/target.h"
#include "dwarf/unwind/unwind.h"

/* DW_OP_bregN, or DW_OP_bregx with the register as its first operand. */
static bool read_rule(const Dwarf_Op *op, struct cfa_rule *ret)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		*ret = (struct cfa_rule){ op->atom - DW_OP_breg0, (int64_t)op->number };
	else if (op->atom == DW_OP_bregx && op->number < 64)
		*ret = (struct cfa_rule){ (unsigned)op->number, (int64_t)op->number2 };
	else
		return false;
	return true;
}

static bool find_rule(Dwarf_Frame *frame, struct cfa_rule *ret)
{
	Dwarf_Op *ops;
	size_t n;

	return dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 && read_rule(ops, ret);
}

/* The rules at an instruction; NULL: none. The caller frees them. */
static Dwarf_Frame *cfa_rule_frame_of(Dwarf_CFI *cfi, uint64_t pc)
{
	Dwarf_Frame *frame = NULL;

	return cfi && dwarf_cfi_addrframe(cfi, pc, &frame) == 0 ? frame : NULL;
}

static Dwarf_Frame *frame_at(const struct target *t, uint64_t pc)
{
	const struct module *m = module_at(t, pc);
	Dwarf_Addr bias; /* module_link_addr() has it */

	if (!m || !m->dwfl)
		return NULL;
	const uint64_t at = module_link_addr(m, pc).v;
	Dwarf_Frame *frame = cfa_rule_frame_of(dwfl_module_eh_cfi(m->dwfl, &bias), at);
	/* A program built with panic=abort and force-unwind-tables=no has .debug_frame alone. */
	return frame ? frame : cfa_rule_frame_of(dwfl_module_dwarf_cfi(m->dwfl, &bias), at);
}

bool cfa_rule_at(const struct target *t, uint64_t pc, struct cfa_rule *ret)
{
	Dwarf_Frame *frame = frame_at(t, pc);
	bool known = frame && find_rule(frame, ret);

	free(frame);
	return known;
}

/* No operation: the register has it; "DW_OP_call_frame_cfa DW_OP_plus_uconst N": it is in memory.
 */
static bool read_kept(const Dwarf_Op *ops, size_t n, int64_t *offset)
{
	*offset = 0;
	if (n == 0)
		return ops == NULL;
	*offset = n == 2 && ops[1].atom == DW_OP_plus_uconst ? (int64_t)ops[1].number : 0;
	return ops[0].atom == DW_OP_call_frame_cfa && *offset;
}

bool cfa_rule_kept(const struct target *t, uint64_t pc, unsigned reg, int64_t *offset)
{
	Dwarf_Frame *frame = frame_at(t, pc);
	Dwarf_Op memory[3], *ops = NULL;
	size_t n = 0;

	bool known = frame && dwarf_frame_register(frame, (int)reg, memory, &ops, &n) == 0 &&
	             read_kept(ops, n, offset);
	free(frame);
	return known;
}

uint64_t cfa_rule_in_frame(const struct target *t, const struct frame *frame)
{
	struct cfa_rule rule;

	if (!cfa_rule_at(t, frame->lookup_pc, &rule) || rule.reg >= t->arch->nregs ||
	    !(frame->known_regs >> rule.reg & 1))
		return 0;
	return frame->regs[rule.reg] + (uint64_t)rule.offset;
}
