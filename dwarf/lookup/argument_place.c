#include "dwarf/lookup/argument_place.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "dwarf/unwind/cfa_rule.h"

static bool find_first(Dwarf_Die *function, Dwarf_Die *ret)
{
	if (dwarf_child(function, ret) != 0)
		return false;
	do {
		if (dwarf_tag(ret) == DW_TAG_formal_parameter)
			return true;
	} while (dwarf_siblingof(ret, ret) == 0);
	return false;
}

/* The only operation of a location; NULL: there is none, or more. */
static const Dwarf_Op *only_operation(Dwarf_Die *die, unsigned name, uint64_t pc)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(die, name, &attr) ||
	    dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) != 1 || n != 1)
		return NULL;
	return ops;
}

static bool is_between(unsigned atom, unsigned first, unsigned last)
{
	return atom >= first && atom <= last;
}

/* Adds the frame base to an offset. */
static bool add_base(const struct function *f, Dwarf_Die *function, uint64_t addr,
                     struct argument_place *ret)
{
	const Dwarf_Op *base =
		only_operation(function, DW_AT_frame_base, addr - f->dm->module->bias);
	struct cfa_rule cfa;

	if (!base)
		return false;
	if (is_between(base->atom, DW_OP_reg0, DW_OP_reg31)) {
		ret->reg = base->atom - DW_OP_reg0;
		return true;
	}
	if (base->atom != DW_OP_call_frame_cfa || !cfa_rule_at(f->dm->di->target, addr, &cfa))
		return false;
	ret->reg = cfa.reg;
	ret->offset += cfa.offset;
	return true;
}

bool argument_place_at(const struct function *f, uint64_t addr, struct argument_place *ret)
{
	Dwarf_Die function, parameter;

	*ret = (struct argument_place){ 0 };
	if (!debuginfo_need(f->dm) || !f->dm->dwarf ||
	    !dwarf_offdie(f->dm->dwarf, f->die, &function) || !find_first(&function, &parameter))
		return false;
	const Dwarf_Op *op = only_operation(&parameter, DW_AT_location, addr - f->dm->module->bias);
	if (!op)
		return false;
	if (is_between(op->atom, DW_OP_reg0, DW_OP_reg31)) {
		ret->reg = op->atom - DW_OP_reg0;
		return true;
	}
	ret->in_memory = true;
	ret->offset = (int64_t)op->number;
	if (is_between(op->atom, DW_OP_breg0, DW_OP_breg31)) {
		ret->reg = op->atom - DW_OP_breg0;
		return true;
	}
	return op->atom == DW_OP_fbreg && add_base(f, &function, addr, ret);
}

bool argument_place_stays(const struct function *f)
{
	struct argument_place first, last;

	return f->high > f->low && argument_place_at(f, f->low, &first) && first.in_memory &&
	       argument_place_at(f, f->high - 1, &last) && last.in_memory;
}
