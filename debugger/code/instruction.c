#include "debugger/code/instruction.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "debugger/base/arena.h"

struct instruction_reader {
	csh handle;
	cs_insn *insn;
};

struct error *instruction_reader_open(uint16_t machine, enum instruction_syntax syntax,
                                      struct instruction_reader **ret)
{
	struct instruction_reader *r;
	csh handle;

	if (machine != EM_X86_64 || cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
		return error_new(ERR_UNSUPPORTED,
		                 "the instructions of this machine cannot be disassembled");
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (syntax == SYNTAX_ATT)
		cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	r = calloc(1, sizeof(*r));
	if (!r)
		out_of_memory();
	r->handle = handle;
	r->insn = cs_malloc(handle);
	if (!r->insn)
		out_of_memory();
	*ret = r;
	return NULL;
}

/* Finds the address that an operand names. */
static void find_target(const struct instruction_reader *r, struct instruction *ret)
{
	const cs_x86 *x = &r->insn->detail->x86;
	bool is_branch = cs_insn_group(r->handle, r->insn, CS_GRP_JUMP) ||
	                 cs_insn_group(r->handle, r->insn, CS_GRP_CALL);

	for (uint8_t i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];

		if (op->type == X86_OP_IMM && is_branch) {
			ret->has_target = ret->is_branch = true;
			ret->target = (uint64_t)op->imm;
		} else if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP) {
			ret->has_target = true;
			ret->target = ret->addr + ret->size + (uint64_t)op->mem.disp;
		}
	}
}

static bool is_store(const struct instruction_reader *r)
{
	const cs_x86 *x = &r->insn->detail->x86;

	for (uint8_t i = 0; i < x->op_count; i++) {
		if (x->operands[i].type == X86_OP_MEM && (x->operands[i].access & CS_AC_WRITE))
			return true;
	}
	return false;
}

static bool is_in(const struct instruction_reader *r, unsigned group)
{
	return cs_insn_group(r->handle, r->insn, group);
}

static enum instruction_flow flow_of(const struct instruction_reader *r)
{
	if (is_in(r, CS_GRP_CALL))
		return FLOW_CALL;
	if (is_in(r, CS_GRP_JUMP))
		return r->insn->id == X86_INS_JMP ? FLOW_JUMP : FLOW_BRANCH;
	if (is_in(r, CS_GRP_RET) || is_in(r, CS_GRP_INT) || is_in(r, CS_GRP_IRET))
		return FLOW_END;
	return r->insn->id == X86_INS_UD2 || r->insn->id == X86_INS_HLT ? FLOW_END : FLOW_NEXT;
}

void instruction_read(struct instruction_reader *r, uint64_t addr, const uint8_t *bytes, size_t len,
                      struct instruction *ret)
{
	const uint8_t *next = bytes;
	uint64_t at = addr;
	size_t left = len;

	*ret = (struct instruction){ .addr = addr, .size = 1 };
	if (!cs_disasm_iter(r->handle, &next, &left, &at, r->insn) || !r->insn->size ||
	    r->insn->size > INSTRUCTION_BYTES) {
		ret->bad = true;
		snprintf(ret->text, sizeof(ret->text), ".byte 0x%02x", bytes[0]);
		return;
	}
	ret->size = r->insn->size;
	snprintf(ret->text, sizeof(ret->text), "%s%s%s", r->insn->mnemonic,
	         r->insn->op_str[0] ? " " : "", r->insn->op_str);
	find_target(r, ret);
	ret->flow = flow_of(r);
	ret->stores = is_store(r);
}

void instruction_reader_close(struct instruction_reader **r)
{
	if (!*r)
		return;
	cs_free((*r)->insn, 1);
	cs_close(&(*r)->handle);
	free(*r);
}
