#include "debugger/probe/code_sweep.h"

#include <string.h>

#include "debugger/probe/probe_record.h"

bool code_sweep_open(struct sweep *s, const struct code_bytes *f)
{
	*s = (struct sweep){ .next = f->bytes, .left = f->len, .address = f->address };
	if (f->len > CODE_MAX_FUNCTION || cs_open(CS_ARCH_X86, CS_MODE_64, &s->handle) != CS_ERR_OK)
		return false;
	cs_option(s->handle, CS_OPT_DETAIL, CS_OPT_ON);
	s->insn = cs_malloc(s->handle);
	return s->insn != NULL;
}

void code_sweep_close(struct sweep *s)
{
	if (s->insn)
		cs_free(s->insn, 1);
	if (s->handle)
		cs_close(&s->handle);
}

bool code_sweep_next(struct sweep *s)
{
	return cs_disasm_iter(s->handle, &s->next, &s->left, &s->address, s->insn);
}

uint8_t code_sweep_number(csh handle, x86_reg reg)
{
	static const char *const parts[][5] = {
		{ "rax", "eax", "ax", "al", "ah" },    { "rdx", "edx", "dx", "dl", "dh" },
		{ "rcx", "ecx", "cx", "cl", "ch" },    { "rbx", "ebx", "bx", "bl", "bh" },
		{ "rsi", "esi", "si", "sil", "sil" },  { "rdi", "edi", "di", "dil", "dil" },
		{ "rbp", "ebp", "bp", "bpl", "bpl" },  { "rsp", "esp", "sp", "spl", "spl" },
		{ "r8", "r8d", "r8w", "r8b", "r8b" },  { "r9", "r9d", "r9w", "r9b", "r9b" },
		{ "r10", "r10d", "r10w", "r10b", "" }, { "r11", "r11d", "r11w", "r11b", "" },
		{ "r12", "r12d", "r12w", "r12b", "" }, { "r13", "r13d", "r13w", "r13b", "" },
		{ "r14", "r14d", "r14w", "r14b", "" }, { "r15", "r15d", "r15w", "r15b", "" },
	};
	const char *name = cs_reg_name(handle, reg);

	for (uint8_t i = 0; name && i < sizeof(parts) / sizeof(*parts); i++) {
		for (size_t k = 0; k < 5; k++) {
			if (strcmp(parts[i][k], name) == 0)
				return i;
		}
	}
	return PROBE_NO_REGISTER;
}

bool code_sweep_find_targets(const struct code_bytes *f, struct sweep_targets *t)
{
	struct sweep s;
	bool ok = code_sweep_open(&s, f);

	while (ok && code_sweep_next(&s)) {
		const cs_x86 *x = &s.insn->detail->x86;

		if (cs_insn_group(s.handle, s.insn, CS_GRP_JUMP) && x->op_count == 1 &&
		    x->operands[0].type == X86_OP_IMM)
			*vec_push(&t->list) = (uint64_t)x->operands[0].imm;
	}
	code_sweep_close(&s);
	return ok;
}

bool code_sweep_is_jumped_to(const struct sweep_targets *t, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < t->list.n; i++) {
		if (t->list.data[i] >= from && t->list.data[i] <= to)
			return true;
	}
	return false;
}

/* Whether the instruction leaves the needed registers as they are, and the next one follows it. */
static bool keeps(const struct sweep *s, uint32_t needed)
{
	cs_regs read, written;
	uint8_t nread, nwritten;

	if (cs_insn_group(s->handle, s->insn, CS_GRP_JUMP) ||
	    cs_insn_group(s->handle, s->insn, CS_GRP_CALL) ||
	    cs_insn_group(s->handle, s->insn, CS_GRP_RET) ||
	    cs_insn_group(s->handle, s->insn, CS_GRP_INT) ||
	    cs_regs_access(s->handle, s->insn, read, &nread, written, &nwritten) != CS_ERR_OK)
		return false;
	for (uint8_t i = 0; i < nwritten; i++) {
		uint8_t reg = code_sweep_number(s->handle, (x86_reg)written[i]);
		uint32_t changed = written[i] == X86_REG_EFLAGS ? CODE_SWEEP_FLAGS
		                   : reg != PROBE_NO_REGISTER   ? 1U << reg
		                                                : 0;

		if (needed & changed)
			return false;
	}
	return true;
}

bool code_sweep_behind(struct sweep *s, const struct sweep_targets *t, uint32_t needed,
                       uint64_t *address, bool *slow)
{
	uint64_t behind = s->address;

	*address = behind;
	*slow = true;
	for (int i = 0; i < CODE_MAX_STEPS && code_sweep_next(s); i++) {
		if (code_sweep_is_jumped_to(t, behind, s->insn->address))
			break;
		if (code_is_emulated(s->insn->bytes, s->insn->size)) {
			*address = s->insn->address;
			*slow = false;
			return true;
		}
		if (!keeps(s, needed))
			return true;
	}
	return !code_sweep_is_jumped_to(t, behind, behind);
}
