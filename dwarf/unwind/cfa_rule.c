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

static bool find_rule(Dwarf_CFI *cfi, uint64_t pc, struct cfa_rule *ret)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc, &frame) != 0)
		return false;
	bool known = dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 && read_rule(ops, ret);
	free(frame);
	return known;
}

bool cfa_rule_at(const struct target *t, uint64_t pc, struct cfa_rule *ret)
{
	const struct module *m = module_at(t, pc);
	Dwarf_Addr bias; /* module_link_addr() has it */

	if (!m || !m->dwfl)
		return false;
	const uint64_t at = module_link_addr(m, pc).v;
	/* A program built with panic=abort and force-unwind-tables=no has .debug_frame alone. */
	return find_rule(dwfl_module_eh_cfi(m->dwfl, &bias), at, ret) ||
	       find_rule(dwfl_module_dwarf_cfi(m->dwfl, &bias), at, ret);
}

uint64_t cfa_rule_in_frame(const struct target *t, const struct frame *frame)
{
	struct cfa_rule rule;

	if (!cfa_rule_at(t, frame->lookup_pc, &rule) || rule.reg >= t->arch->nregs ||
	    !(frame->known_regs >> rule.reg & 1))
		return 0;
	return frame->regs[rule.reg] + (uint64_t)rule.offset;
}
