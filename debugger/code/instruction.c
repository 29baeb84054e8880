#include "debugger/code/instruction.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
		                 "instructions of this machine cannot be disassembled");
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

static bool instruction_is_in(const struct instruction_reader *r, unsigned group)
{
	return cs_insn_group(r->handle, r->insn, group);
}

static enum instruction_flow flow_of(const struct instruction_reader *r)
{
	if (instruction_is_in(r, CS_GRP_CALL))
		return FLOW_CALL;
	if (instruction_is_in(r, CS_GRP_JUMP))
		return r->insn->id == X86_INS_JMP ? FLOW_JUMP : FLOW_BRANCH;
	if (instruction_is_in(r, CS_GRP_RET) || instruction_is_in(r, CS_GRP_INT) ||
	    instruction_is_in(r, CS_GRP_IRET))
		return FLOW_END;
	return r->insn->id == X86_INS_UD2 || r->insn->id == X86_INS_HLT ? FLOW_END : FLOW_NEXT;
}

/* ---- registers and memory ---- */

enum { NO_REGISTER = 32, WORD = 8, ENTRY = 4 };

/* The general registers of x86-64 in the order of their DWARF numbers, and their lower parts. */
static const x86_reg general[16][5] = {
	{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
	{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
	{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
	{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
	{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
	{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
	{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL },
	{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL },
	{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
	{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
	{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B },
	{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B },
	{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B },
	{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B },
	{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B },
	{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B },
};

static unsigned instruction_general_number(unsigned reg)
{
	for (unsigned i = 0; i < 16; i++) {
		for (unsigned j = 0; j < 5; j++) {
			if (reg != X86_REG_INVALID && general[i][j] == reg)
				return i;
		}
	}
	return NO_REGISTER;
}

static void find_memory(const struct instruction_reader *r, struct instruction *ret)
{
	const cs_x86 *x = &r->insn->detail->x86;
	bool is_lea = r->insn->id == X86_INS_LEA;

	for (uint8_t i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];

		if (op->type != X86_OP_MEM || r->insn->id == X86_INS_NOP)
			continue;
		ret->memory = (struct instruction_memory){
			.is_there = true,
			.reads = !is_lea && (op->access & CS_AC_READ || !op->access),
			.writes = !is_lea && (op->access & CS_AC_WRITE || !op->access),
			.base = instruction_general_number(op->mem.base),
			.offset = op->mem.disp,
			.size = op->size,
		};
		ret->memory.is_entry = op->mem.base == X86_REG_INVALID &&
		                       op->mem.index != X86_REG_INVALID && op->mem.scale == WORD;
		/* capstone 4 says that movups to memory reads it. */
		if (i == 0 && (strncmp(r->insn->mnemonic, "mov", 3) == 0 ||
		               strncmp(r->insn->mnemonic, "vmov", 4) == 0)) {
			ret->memory.reads = false;
			ret->memory.writes = true;
		}
		ret->memory.is_simple = ret->memory.base != NO_REGISTER &&
		                        op->mem.index == X86_REG_INVALID &&
		                        op->mem.segment == X86_REG_INVALID;
	}
}

static void find_changes(const struct instruction_reader *r, struct instruction *ret)
{
	cs_regs read, written;
	uint8_t nread, nwritten;

	if (cs_regs_access(r->handle, r->insn, read, &nread, written, &nwritten) != CS_ERR_OK) {
		ret->changes = UINT16_MAX;
		return;
	}
	for (uint8_t i = 0; i < nwritten; i++) {
		unsigned number = instruction_general_number(written[i]);

		if (number != NO_REGISTER)
			ret->changes |= UINT32_C(1) << number;
	}
}

static bool is_table_entry(const cs_x86_op *op)
{
	return op->type == X86_OP_MEM && instruction_general_number(op->mem.base) != NO_REGISTER &&
	       op->mem.index != X86_REG_INVALID && op->mem.scale == ENTRY && !op->mem.disp &&
	       op->mem.segment == X86_REG_INVALID;
}

/* The two operands of a move or an addition. ret->memory is known. */
static void find_move(const struct instruction_reader *r, const cs_x86_op *to,
                      const cs_x86_op *from, struct instruction *ret)
{
	bool is_mov = r->insn->id == X86_INS_MOV || r->insn->id == X86_INS_MOVABS;

	ret->to = to->type == X86_OP_REG ? instruction_general_number(to->reg) : NO_REGISTER;
	ret->from = from->type == X86_OP_REG ? instruction_general_number(from->reg) : NO_REGISTER;
	ret->number = from->type == X86_OP_IMM ? from->imm : 0;
	if (r->insn->id == X86_INS_LEA && ret->memory.is_simple)
		ret->move = MOVE_ADDRESS;
	else if (is_mov && to->type == X86_OP_MEM && from->type == X86_OP_IMM)
		ret->move = MOVE_PUT;
	else if (to->size != WORD || (to->type == X86_OP_REG && ret->to == NO_REGISTER) ||
	         (from->type == X86_OP_REG && ret->from == NO_REGISTER))
		return;
	else if (r->insn->id == X86_INS_ADD && to->type == X86_OP_REG && from->type == X86_OP_IMM)
		ret->move = MOVE_ADD;
	else if (r->insn->id == X86_INS_ADD && to->type == X86_OP_REG && from->type == X86_OP_REG)
		ret->move = MOVE_SUM;
	else if (r->insn->id == X86_INS_MOVSXD && is_table_entry(from))
		ret->move = MOVE_ENTRY;
	else if (!is_mov || from->type == X86_OP_IMM)
		ret->move = MOVE_OTHER;
	else if (to->type == X86_OP_MEM)
		ret->move = MOVE_STORE;
	else
		ret->move = from->type == X86_OP_MEM ? MOVE_LOAD : MOVE_COPY;
}

static void find_effects(const struct instruction_reader *r, struct instruction *ret)
{
	const cs_x86 *x = &r->insn->detail->x86;

	find_memory(r, ret);
	find_changes(r, ret);
	if (x->op_count == 2)
		find_move(r, &x->operands[0], &x->operands[1], ret);
	ret->is_push = r->insn->id == X86_INS_PUSH;
	ret->is_pop = r->insn->id == X86_INS_POP;
	if (x->op_count == 1 && (ret->is_push || ret->flow == FLOW_JUMP || ret->flow == FLOW_CALL))
		ret->from = x->operands[0].type == X86_OP_REG
		                    ? instruction_general_number(x->operands[0].reg)
		                    : NO_REGISTER;
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
	find_effects(r, ret);
}

void instruction_reader_close(struct instruction_reader **r)
{
	if (!*r)
		return;
	cs_free((*r)->insn, 1);
	cs_close(&(*r)->handle);
	free(*r);
}
