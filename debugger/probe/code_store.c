#include "debugger/probe/code_store.h"

#include "debugger/probe/code_sweep.h"
#include "debugger/probe/probe_record.h"

enum { NREGISTERS = 16, RAX = 0 };

/* Contents of the registers after a straight line of code, by their numbers in DWARF. */
struct known {
	uint64_t loaded[NREGISTERS]; /* an address of the module; 0: something else */
	bool returned[NREGISTERS];   /* the result of a call */
};

static uint8_t code_store_register_of(const struct sweep *s, const cs_x86_op *op)
{
	uint8_t n = op->type == X86_OP_REG && op->size == 8 ? code_sweep_number(s->handle, op->reg)
	                                                    : PROBE_NO_REGISTER;

	return n < NREGISTERS ? n : PROBE_NO_REGISTER;
}

/* The address of "lea distance(%rip), register"; 0: the instruction is another one. */
static uint64_t loaded_address(const struct sweep *s)
{
	const cs_x86 *x = &s->insn->detail->x86;

	if (s->insn->id != X86_INS_LEA || x->operands[1].mem.base != X86_REG_RIP ||
	    x->operands[1].mem.index != X86_REG_INVALID)
		return 0;
	return s->address + (uint64_t)x->operands[1].mem.disp;
}

/* Whether a callee may leave another value in a register. */
static bool is_lost_in_call(size_t reg)
{
	static const bool kept[NREGISTERS] = { [3] = true,  [6] = true,  [7] = true, [12] = true,
		                               [13] = true, [14] = true, [15] = true };

	return !kept[reg];
}

static void code_store_forget(struct known *k, uint8_t reg)
{
	if (reg >= NREGISTERS)
		return;
	k->loaded[reg] = 0;
	k->returned[reg] = false;
}

static void go_over_call(struct known *k)
{
	for (uint8_t i = 0; i < NREGISTERS; i++) {
		if (is_lost_in_call(i))
			code_store_forget(k, i);
	}
	k->returned[RAX] = true;
}

static void go_on(const struct sweep *s, struct known *k)
{
	const cs_x86 *x = &s->insn->detail->x86;
	bool moves = s->insn->id == X86_INS_MOV && x->op_count == 2;
	uint8_t to = moves || s->insn->id == X86_INS_LEA
	                     ? code_store_register_of(s, &x->operands[0])
	                     : PROBE_NO_REGISTER;
	uint8_t from = moves ? code_store_register_of(s, &x->operands[1]) : PROBE_NO_REGISTER;
	const struct known before = *k;
	cs_regs read, written;
	uint8_t nread, nwritten;

	if (cs_insn_group(s->handle, s->insn, CS_GRP_CALL)) {
		go_over_call(k);
		return;
	}
	if (cs_regs_access(s->handle, s->insn, read, &nread, written, &nwritten) != CS_ERR_OK) {
		*k = (struct known){ 0 };
		return;
	}
	for (uint8_t i = 0; i < nwritten; i++)
		code_store_forget(k, code_sweep_number(s->handle, (x86_reg)written[i]));
	if (to == PROBE_NO_REGISTER)
		return;
	k->loaded[to] = from != PROBE_NO_REGISTER ? before.loaded[from] : loaded_address(s);
	k->returned[to] = from != PROBE_NO_REGISTER && before.returned[from];
}

/* Fills instruction, stored, base and displacement; false: the instruction is none such. */
static bool read_store(const struct sweep *s, const struct known *k, struct code_store *ret)
{
	const cs_x86 *x = &s->insn->detail->x86;

	if (s->insn->id != X86_INS_MOV || x->op_count != 2 || x->operands[0].type != X86_OP_MEM ||
	    x->operands[0].size != 8)
		return false;
	const x86_op_mem *m = &x->operands[0].mem;
	uint8_t base = code_sweep_number(s->handle, m->base),
		from = code_store_register_of(s, &x->operands[1]);
	if (base >= NREGISTERS || from == PROBE_NO_REGISTER || m->index != X86_REG_INVALID ||
	    m->segment != X86_REG_INVALID || m->disp < INT32_MIN || m->disp > INT32_MAX)
		return false;
	*ret = (struct code_store){
		.instruction = s->insn->address,
		.stored = k->loaded[from],
		.base = base,
		.displacement = (int32_t)m->disp,
	};
	return ret->stored && k->returned[base];
}

/* Finds the site of a store in a pass of its own, from behind on, and visits it. */
static bool visit_site(const struct code_bytes *f, const struct sweep_targets *t,
                       struct code_store *store, uint64_t behind, code_store_fn *visit, void *arg)
{
	const struct code_bytes rest = { behind, f->bytes + (behind - f->address),
		                         f->len - (size_t)(behind - f->address) };
	struct sweep s;
	bool ok = code_sweep_open(&s, &rest);

	if (ok && code_sweep_behind(&s, t, 1U << store->base, &store->address, &store->slow))
		visit(store, arg);
	code_sweep_close(&s);
	return ok;
}

bool code_each_store(const struct code_bytes *function, code_store_fn *visit, void *arg)
{
	struct sweep_targets t = { 0 };
	struct known known = { 0 };
	struct code_store store;
	struct sweep s = { 0 };
	bool ok = code_sweep_find_targets(function, &t) && code_sweep_open(&s, function);

	while (ok && code_sweep_next(&s)) {
		bool leaves =
			s.insn->id == X86_INS_JMP || cs_insn_group(s.handle, s.insn, CS_GRP_RET);

		if (leaves || code_sweep_is_jumped_to(&t, s.insn->address, s.insn->address))
			known = (struct known){ 0 };
		if (read_store(&s, &known, &store))
			ok = visit_site(function, &t, &store, s.address, visit, arg);
		go_on(&s, &known);
	}
	code_sweep_close(&s);
	vec_free(&t.list);
	return ok;
}
