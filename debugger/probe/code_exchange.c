#include "debugger/probe/code_exchange.h"

#include "debugger/probe/code_sweep.h"

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
		.base = code_sweep_number(s->handle, m->base),
		.index = code_sweep_number(s->handle, m->index),
		.scale = (uint8_t)m->scale,
		.source = code_sweep_number(s->handle, x->operands[1].reg),
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
		uint8_t reg = code_sweep_number(s->handle, (x86_reg)written[i]);

		if (written[i] == X86_REG_EFLAGS ||
		    (reg != PROBE_NO_REGISTER &&
		     (reg == RAX || reg == x->base || reg == x->index || reg == x->source)))
			return false;
	}
	return true;
}

/* Sets the point behind the exchange that s has read; s goes on there. False: there is none. */
static bool find_site(struct sweep *s, const struct sweep_targets *t, struct code_exchange *x)
{
	uint64_t behind = s->address;

	x->address = behind;
	x->slow = true;
	for (int i = 0; i < CODE_MAX_STEPS && code_sweep_next(s); i++) {
		if (code_sweep_is_jumped_to(t, behind, s->insn->address))
			break;
		if (code_is_emulated(s->insn->bytes, s->insn->size)) {
			x->address = s->insn->address;
			x->slow = false;
			return true;
		}
		if (!keeps(s, &x->operands))
			return true;
	}
	return !code_sweep_is_jumped_to(t, behind, behind);
}

bool code_each_exchange(const struct code_bytes *function, code_exchange_fn *visit, void *arg)
{
	struct sweep_targets t = { 0 };
	struct sweep s;
	bool ok = code_sweep_find_targets(function, &t) && code_sweep_open(&s, function);

	while (ok && code_sweep_next(&s)) {
		struct code_exchange x = { .instruction = s.insn->address };

		if (read_exchange(&s, &x.operands) && find_site(&s, &t, &x))
			visit(&x, arg);
	}
	if (ok)
		code_sweep_close(&s);
	vec_free(&t.list);
	return ok;
}

bool code_each_direct_call(const struct code_bytes *function, code_direct_fn *visit, void *arg)
{
	struct sweep s;
	bool ok = code_sweep_open(&s, function);

	while (ok && code_sweep_next(&s)) {
		const cs_x86 *x = &s.insn->detail->x86;

		if (cs_insn_group(s.handle, s.insn, CS_GRP_CALL) && x->op_count == 1 &&
		    x->operands[0].type == X86_OP_IMM)
			visit(s.insn->address, (uint64_t)x->operands[0].imm, arg);
	}
	code_sweep_close(&s);
	return ok;
}
