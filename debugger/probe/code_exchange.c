#include "debugger/probe/code_exchange.h"

#include <capstone/capstone.h>
#include <string.h>

#include "debugger/base/vec.h"

/* One pass over the instructions of a function. */
struct sweep {
	csh handle;
	cs_insn *insn;
	const uint8_t *next;
	size_t left;
	uint64_t address; /* of the next instruction */
};

static bool sweep_open(struct sweep *s, const struct code_bytes *f)
{
	*s = (struct sweep){ .next = f->bytes, .left = f->len, .address = f->address };
	if (f->len > CODE_MAX_FUNCTION || cs_open(CS_ARCH_X86, CS_MODE_64, &s->handle) != CS_ERR_OK)
		return false;
	cs_option(s->handle, CS_OPT_DETAIL, CS_OPT_ON);
	s->insn = cs_malloc(s->handle);
	return s->insn != NULL;
}

static void sweep_close(struct sweep *s)
{
	if (s->insn)
		cs_free(s->insn, 1);
	if (s->handle)
		cs_close(&s->handle);
}

static bool sweep_next(struct sweep *s)
{
	return cs_disasm_iter(s->handle, &s->next, &s->left, &s->address, s->insn);
}

/* The number in DWARF of a register, or of the one that it is a part of; PROBE_NO_REGISTER: none.
 */
static uint8_t number_of(csh handle, x86_reg reg)
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

/* Fills the operands of "lock cmpxchg register, memory"; false: the instruction is another one. */
static bool read_exchange(const struct sweep *s, struct probe_exchange *ret)
{
	const cs_x86 *x = &s->insn->detail->x86;

	if (s->insn->id != X86_INS_CMPXCHG || x->prefix[0] != X86_PREFIX_LOCK || x->op_count != 2 ||
	    x->operands[0].type != X86_OP_MEM || x->operands[0].size != 8 ||
	    x->operands[1].type != X86_OP_REG || x->addr_size != 8)
		return false;
	const x86_op_mem *m = &x->operands[0].mem;
	*ret = (struct probe_exchange){
		.used = 1,
		.base = number_of(s->handle, m->base),
		.index = number_of(s->handle, m->index),
		.scale = (uint8_t)m->scale,
		.source = number_of(s->handle, x->operands[1].reg),
		.displacement = (int32_t)m->disp,
	};
	return m->segment == X86_REG_INVALID && m->disp >= INT32_MIN && m->disp <= INT32_MAX &&
	       ret->base != PROBE_NO_REGISTER && ret->source != PROBE_NO_REGISTER &&
	       (m->index == X86_REG_INVALID || ret->index != PROBE_NO_REGISTER);
}

/* Whether the instruction leaves the flags and what an exchange has used as they are. */
static bool keeps(const struct sweep *s, const struct probe_exchange *x)
{
	enum { RAX = 0 };
	cs_regs read, written;
	uint8_t nread, nwritten;

	if (cs_insn_group(s->handle, s->insn, CS_GRP_JUMP) ||
	    cs_insn_group(s->handle, s->insn, CS_GRP_CALL) ||
	    cs_insn_group(s->handle, s->insn, CS_GRP_RET) ||
	    cs_insn_group(s->handle, s->insn, CS_GRP_INT) ||
	    cs_regs_access(s->handle, s->insn, read, &nread, written, &nwritten) != CS_ERR_OK)
		return false;
	for (uint8_t i = 0; i < nwritten; i++) {
		uint8_t reg = number_of(s->handle, (x86_reg)written[i]);

		if (written[i] == X86_REG_EFLAGS ||
		    (reg != PROBE_NO_REGISTER &&
		     (reg == RAX || reg == x->base || reg == x->index || reg == x->source)))
			return false;
	}
	return true;
}

/* The targets of jumps within a function. */
struct targets {
	VEC(uint64_t) list;
};

static bool find_targets(const struct code_bytes *f, struct targets *t)
{
	struct sweep s;
	bool ok = sweep_open(&s, f);

	while (ok && sweep_next(&s)) {
		const cs_x86 *x = &s.insn->detail->x86;

		if (cs_insn_group(s.handle, s.insn, CS_GRP_JUMP) && x->op_count == 1 &&
		    x->operands[0].type == X86_OP_IMM)
			*vec_push(&t->list) = (uint64_t)x->operands[0].imm;
	}
	sweep_close(&s);
	return ok;
}

static bool is_jumped_to(const struct targets *t, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < t->list.n; i++) {
		if (t->list.data[i] >= from && t->list.data[i] <= to)
			return true;
	}
	return false;
}

/* Sets the point behind the exchange that s has read; s goes on there. False: there is none. */
static bool find_site(struct sweep *s, const struct targets *t, struct code_exchange *x)
{
	uint64_t behind = s->address;

	x->address = behind;
	x->slow = true;
	for (int i = 0; i < CODE_MAX_STEPS && sweep_next(s); i++) {
		if (is_jumped_to(t, behind, s->insn->address))
			break;
		if (code_is_emulated(s->insn->bytes, s->insn->size)) {
			x->address = s->insn->address;
			x->slow = false;
			return true;
		}
		if (!keeps(s, &x->operands))
			return true;
	}
	return !is_jumped_to(t, behind, behind);
}

bool code_each_exchange(const struct code_bytes *function, code_exchange_fn *visit, void *arg)
{
	struct targets t = { 0 };
	struct sweep s;
	bool ok = find_targets(function, &t) && sweep_open(&s, function);

	while (ok && sweep_next(&s)) {
		struct code_exchange x = { .instruction = s.insn->address };

		if (read_exchange(&s, &x.operands) && find_site(&s, &t, &x))
			visit(&x, arg);
	}
	if (ok)
		sweep_close(&s);
	vec_free(&t.list);
	return ok;
}

bool code_each_direct_call(const struct code_bytes *function, code_direct_fn *visit, void *arg)
{
	struct sweep s;
	bool ok = sweep_open(&s, function);

	while (ok && sweep_next(&s)) {
		const cs_x86 *x = &s.insn->detail->x86;

		if (cs_insn_group(s.handle, s.insn, CS_GRP_CALL) && x->op_count == 1 &&
		    x->operands[0].type == X86_OP_IMM)
			visit(s.insn->address, (uint64_t)x->operands[0].imm, arg);
	}
	sweep_close(&s);
	return ok;
}
