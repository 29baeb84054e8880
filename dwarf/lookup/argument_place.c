#include "dwarf/lookup/argument_place.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "dwarf/unwind/cfa_rule.h"

bool argument_place_first_die(Dwarf_Die *function, Dwarf_Die *ret)
{
	if (dwarf_child(function, ret) != 0)
		return false;
	do {
		if (dwarf_tag(ret) == DW_TAG_formal_parameter)
			return true;
	} while (dwarf_siblingof(ret, ret) == 0);
	return false;
}

/* The operations of a location; false: there is none at that link-time address, or more than one.
 */
static bool argument_place_read_operations(Dwarf_Die *die, unsigned name, uint64_t pc,
                                           Dwarf_Op **ops, size_t *n)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) &&
	       dwarf_getlocation_addr(&attr, pc, ops, n, 1) == 1;
}

static bool argument_place_is_between(unsigned atom, unsigned first, unsigned last)
{
	return atom >= first && atom <= last;
}

/*
 * Number that a frame base adds to its first operation; false: it is something else. A large frame
 * has DW_OP_consts and DW_OP_plus.
 */
static bool read_sum(const Dwarf_Op *ops, size_t n, uint64_t *ret)
{
	bool is_constant = n == 3 && (ops[1].atom == DW_OP_consts || ops[1].atom == DW_OP_constu);

	*ret = n > 1 ? ops[1].number : 0;
	if (is_constant && ops[2].atom == DW_OP_minus)
		*ret = -*ret;
	else if (n != 1 && !(n == 2 && ops[1].atom == DW_OP_plus_uconst))
		return is_constant && ops[2].atom == DW_OP_plus;
	return true;
}

/* Adds the frame base to an offset. */
static bool add_base(const struct function *f, Dwarf_Die *function, uint64_t addr,
                     struct argument_place *ret)
{
	struct cfa_rule cfa;
	Dwarf_Op *base;
	uint64_t sum;
	size_t n;

	if (!argument_place_read_operations(function, DW_AT_frame_base, addr - f->dm->module->bias,
	                                    &base, &n) ||
	    !read_sum(base, n, &sum))
		return false;
	ret->offset = (int64_t)((uint64_t)ret->offset + sum);
	if (n == 1 && argument_place_is_between(base->atom, DW_OP_reg0, DW_OP_reg31)) {
		ret->reg = base->atom - DW_OP_reg0;
		return true;
	}
	if (base->atom != DW_OP_call_frame_cfa || !cfa_rule_at(f->dm->di->target, addr, &cfa))
		return false;
	ret->reg = cfa.reg;
	ret->offset += cfa.offset;
	return true;
}

/* The place of a parameter of the function, or of one that is inlined into it. */
static bool argument_place_read(const struct function *f, Dwarf_Die *function, Dwarf_Die *parameter,
                                uint64_t addr, struct argument_place *ret)
{
	Dwarf_Op *op;
	size_t n;

	if (!argument_place_read_operations(parameter, DW_AT_location, addr - f->dm->module->bias,
	                                    &op, &n) ||
	    !n)
		return false;
	if (n == 1 && argument_place_is_between(op->atom, DW_OP_reg0, DW_OP_reg31)) {
		ret->reg = op->atom - DW_OP_reg0;
		return true;
	}
	if (n > 2 || (n == 2 && op[1].atom != DW_OP_stack_value))
		return false;
	ret->in_memory = n == 1;
	ret->offset = (int64_t)op->number;
	if (argument_place_is_between(op->atom, DW_OP_breg0, DW_OP_breg31)) {
		ret->reg = op->atom - DW_OP_breg0;
		return true;
	}
	return op->atom == DW_OP_fbreg && add_base(f, function, addr, ret);
}

static bool argument_place_read_function(const struct function *f, Dwarf_Die *ret)
{
	return debuginfo_need(f->dm) && f->dm->dwarf && dwarf_offdie(f->dm->dwarf, f->die, ret);
}

bool argument_place_at(const struct function *f, uint64_t addr, struct argument_place *ret)
{
	Dwarf_Die function, parameter;

	*ret = (struct argument_place){ 0 };
	return argument_place_read_function(f, &function) &&
	       argument_place_first_die(&function, &parameter) &&
	       argument_place_read(f, &function, &parameter, addr, ret);
}

bool argument_place_inlined_at(const struct function *f, Dwarf_Off site, uint64_t addr,
                               struct argument_place *ret)
{
	Dwarf_Die function, call, parameter;

	*ret = (struct argument_place){ 0 };
	return argument_place_read_function(f, &function) &&
	       dwarf_offdie(f->dm->dwarf, site, &call) &&
	       argument_place_first_die(&call, &parameter) &&
	       argument_place_read(f, &function, &parameter, addr, ret);
}

static bool find_named(Dwarf_Die *function, const char *name, Dwarf_Die *ret)
{
	if (dwarf_child(function, ret) != 0)
		return false;
	do {
		const char *own = dwarf_diename(ret);

		if (dwarf_tag(ret) == DW_TAG_formal_parameter && own && strcmp(own, name) == 0)
			return true;
	} while (dwarf_siblingof(ret, ret) == 0);
	return false;
}

/* The register of the piece that begins at offset. */
static bool find_piece(const Dwarf_Op *ops, size_t n, uint64_t offset, unsigned *reg)
{
	uint64_t at = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_register = argument_place_is_between(ops[i].atom, DW_OP_reg0, DW_OP_reg31);

		if (is_register && at == offset) {
			*reg = ops[i].atom - DW_OP_reg0;
			return true;
		}
		if (ops[i].atom == DW_OP_piece)
			at += ops[i].number;
		else if (!is_register)
			return false;
	}
	return false;
}

bool argument_place_part(const struct function *f, const char *name, uint64_t offset, unsigned *reg)
{
	Dwarf_Die function, parameter;
	Dwarf_Op *ops;
	size_t n;

	return argument_place_read_function(f, &function) &&
	       find_named(&function, name, &parameter) &&
	       argument_place_read_operations(&parameter, DW_AT_location,
	                                      f->low - f->dm->module->bias, &ops, &n) &&
	       find_piece(ops, n, offset, reg);
}

bool argument_place_stays(const struct function *f)
{
	struct argument_place first, last;

	return f->high > f->low && argument_place_at(f, f->low, &first) && first.in_memory &&
	       argument_place_at(f, f->high - 1, &last) && last.in_memory;
}
