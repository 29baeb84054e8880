#include "dwarf/unwind/cfa_rule.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>

#include "debugger/target/module.h"
#include "debugger/target/target.h"

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

bool cfa_rule_at(const struct target *t, uint64_t pc, struct cfa_rule *ret)
{
	const struct module *m = module_at(t, pc);
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = m && m->dwfl ? dwfl_module_eh_cfi(m->dwfl, &bias) : NULL;
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame) != 0)
		return false;
	bool known = dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 && read_rule(ops, ret);
	free(frame);
	return known;
}
