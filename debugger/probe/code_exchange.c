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

/* Registers that a point behind an exchange reads, and the flags, which have its result. */
static uint32_t needed_by(const struct probe_exchange *x)
{
	enum { RAX = 0 };
	uint32_t ret = CODE_SWEEP_FLAGS | 1U << RAX | 1U << x->base | 1U << x->source;

	return x->index == PROBE_NO_REGISTER ? ret : ret | 1U << x->index;
}

bool code_each_exchange(const struct code_bytes *function, code_exchange_fn *visit, void *arg)
{
	struct sweep_targets t = { 0 };
	struct sweep s;
	bool ok = code_sweep_find_targets(function, &t) && code_sweep_open(&s, function);

	while (ok && code_sweep_next(&s)) {
		struct code_exchange x = { .instruction = s.insn->address };

		if (read_exchange(&s, &x.operands) &&
		    code_sweep_behind(&s, &t, needed_by(&x.operands), &x.address, &x.slow))
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
