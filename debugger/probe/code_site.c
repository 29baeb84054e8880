#include "debugger/probe/code_site.h"

#include <capstone/capstone.h>
#include <string.h>

/* A decoder, and the instruction that it has read last. */
struct code_site_reader {
	csh handle;
	cs_insn *insn;
	const uint8_t *next;
	size_t left;
	uint64_t address;
};

static bool code_site_reader_open(struct code_site_reader *r)
{
	*r = (struct code_site_reader){ 0 };
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &r->handle) != CS_ERR_OK)
		return false;
	cs_option(r->handle, CS_OPT_DETAIL, CS_OPT_ON);
	r->insn = cs_malloc(r->handle);
	return r->insn != NULL;
}

static void code_site_reader_close(struct code_site_reader *r)
{
	if (r->insn)
		cs_free(r->insn, 1);
	if (r->handle)
		cs_close(&r->handle);
}

static bool code_site_reader_seek(struct code_site_reader *r, const struct code_bytes *f,
                                  uint64_t address)
{
	if (address < f->address || address - f->address >= f->len)
		return false;
	r->address = address;
	r->next = f->bytes + (address - f->address);
	r->left = f->len - (size_t)(address - f->address);
	return true;
}

static bool code_site_reader_next(struct code_site_reader *r)
{
	return cs_disasm_iter(r->handle, &r->next, &r->left, &r->address, r->insn);
}

bool code_is_emulated(const uint8_t *bytes, size_t len)
{
	if (!len)
		return false;
	uint8_t first = bytes[0];

	if (first >= 0x50 && first <= 0x57)
		return len == 1;
	if (first == 0x41 && len == 2)
		return bytes[1] >= 0x50 && bytes[1] <= 0x57;
	if (first == 0x67 && len == 6) /* a call through the GOT that the linker has made direct */
		return bytes[1] == 0xe8;
	if (first == 0x90)
		return len == 1;
	if (first == 0xe8 || first == 0xe9)
		return len == 5;
	if (first == 0xeb || (first >= 0x70 && first <= 0x7f))
		return len == 2;
	return first == 0x0f && len == 6 && bytes[1] >= 0x80 && bytes[1] <= 0x8f;
}

static bool is_emulated(const cs_insn *insn)
{
	return code_is_emulated(insn->bytes, insn->size);
}

static bool code_site_in_group(const struct code_site_reader *r, unsigned group)
{
	return cs_insn_group(r->handle, r->insn, group);
}

/* The address that a direct jump leads to; false for other instructions. */
static bool code_site_jump_target(const struct code_site_reader *r, uint64_t *ret)
{
	const cs_x86 *x = &r->insn->detail->x86;

	if (!code_site_in_group(r, CS_GRP_JUMP) || x->op_count != 1 ||
	    x->operands[0].type != X86_OP_IMM)
		return false;
	*ret = (uint64_t)x->operands[0].imm;
	return true;
}

static bool code_site_is_part_of(x86_reg reg, const x86_reg *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (reg == parts[i])
			return true;
	}
	return false;
}

static bool code_site_is_stack_pointer(x86_reg reg)
{
	static const x86_reg parts[] = { X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL };

	return code_site_is_part_of(reg, parts, sizeof(parts) / sizeof(*parts));
}

/* The number of the argument that a register has at an entry, as a bit; 0: none. */
static unsigned code_site_argument_bit(x86_reg reg)
{
	static const x86_reg parts[][5] = {
		{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, X86_REG_RDI },
		{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, X86_REG_RSI },
		{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
		{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
	};

	for (unsigned i = 0; i < 4; i++) {
		if (code_site_is_part_of(reg, parts[i], 5))
			return 1U << i;
	}
	return 0;
}

/* Bits of the arguments that the instruction writes, and whether it writes the stack pointer. */
static bool code_site_writes(const struct code_site_reader *r, unsigned *arguments, bool *stack)
{
	cs_regs read, written;
	uint8_t nread, nwritten;

	*arguments = 0;
	*stack = false;
	if (cs_regs_access(r->handle, r->insn, read, &nread, written, &nwritten) != CS_ERR_OK)
		return false;
	for (uint8_t i = 0; i < nwritten; i++) {
		*arguments |= code_site_argument_bit(written[i]);
		*stack |= code_site_is_stack_pointer(written[i]);
	}
	return true;
}

/* Whether the instruction may change what a function has returned. */
static bool writes_result(const struct code_site_reader *r)
{
	static const x86_reg parts[] = { X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL };
	cs_regs read, written;
	uint8_t nread, nwritten;
	bool found = false;

	if (cs_regs_access(r->handle, r->insn, read, &nread, written, &nwritten) != CS_ERR_OK)
		return true;
	for (uint8_t i = 0; i < nwritten; i++)
		found |= code_site_is_part_of(written[i], parts, sizeof(parts) / sizeof(*parts));
	return found;
}

/* How the instruction moves the stack pointer; false: not by a constant. */
static bool stack_move(const struct code_site_reader *r, int32_t *ret)
{
	const cs_x86 *x = &r->insn->detail->x86;

	if (r->insn->id == X86_INS_POP && x->op_count == 1 && x->operands[0].type == X86_OP_REG &&
	    !code_site_is_stack_pointer(x->operands[0].reg)) {
		*ret = x->operands[0].size;
		return *ret == 8;
	}
	if ((r->insn->id != X86_INS_ADD && r->insn->id != X86_INS_SUB) || x->op_count != 2 ||
	    x->operands[0].type != X86_OP_REG || x->operands[0].reg != X86_REG_RSP ||
	    x->operands[1].type != X86_OP_IMM || x->operands[1].imm > INT32_MAX / 2 ||
	    x->operands[1].imm < INT32_MIN / 2)
		return false;
	*ret = (int32_t)x->operands[1].imm * (r->insn->id == X86_INS_ADD ? 1 : -1);
	return true;
}

/* An instruction after which the next one need not run. */
static bool code_site_ends_block(const struct code_site_reader *r)
{
	return code_site_in_group(r, CS_GRP_JUMP) || code_site_in_group(r, CS_GRP_CALL) ||
	       code_site_in_group(r, CS_GRP_RET) || code_site_in_group(r, CS_GRP_INT) ||
	       code_site_in_group(r, CS_GRP_IRET) || r->insn->id == X86_INS_UD2 ||
	       r->insn->id == X86_INS_HLT;
}

/* "mov" from one register of an argument to another: the bit of the target; 0: it is no such. */
static unsigned moved_to(const struct code_site_reader *r, unsigned from)
{
	const cs_x86 *x = &r->insn->detail->x86;

	if (r->insn->id != X86_INS_MOV || x->op_count != 2 || x->operands[0].type != X86_OP_REG ||
	    x->operands[1].type != X86_OP_REG || x->operands[1].size != 8 ||
	    code_site_argument_bit(x->operands[1].reg) != from)
		return 0;
	return code_site_argument_bit(x->operands[0].reg);
}

/* A walk along a straight line of code, and where the argument is meanwhile. */
struct code_site_walk {
	bool tracks, over_calls;
	unsigned bits;  /* of the registers that have the argument */
	bool leaked;    /* the address of slot was taken: a callee may change it */
	bool has_slot;  /* the stack has it too: */
	int64_t slot;   /* distance from the stack pointer where the walk began */
	int64_t delta;  /* of the stack pointer */
	bool no_result; /* %rax may have changed */
};

static unsigned moved_to_any(const struct code_site_reader *r, unsigned bits)
{
	unsigned to = 0;

	for (unsigned bit = 1; bit <= 4; bit <<= 1)
		to |= bits & bit ? moved_to(r, bit) : 0;
	return to;
}

/* Follows the effect of the instruction on the stack slot of the argument. */
static void track_slot(const struct code_site_reader *r, struct code_site_walk *w)
{
	const cs_x86 *x = &r->insn->detail->x86;

	for (uint8_t i = 0; i < x->op_count; i++) {
		const cs_x86_op *to = &x->operands[i];
		int64_t at = w->delta + to->mem.disp;

		bool leaks = r->insn->id == X86_INS_LEA;

		if (to->type != X86_OP_MEM || !code_site_is_stack_pointer(to->mem.base) ||
		    !(leaks || (to->access & CS_AC_WRITE)))
			continue;
		bool meets = w->has_slot &&
		             (to->mem.index != X86_REG_INVALID ||
		              (at < w->slot + 8 && w->slot < at + (leaks ? 1 : to->size)));
		w->leaked |= meets && leaks;
		w->has_slot &= !meets || leaks;
		if (r->insn->id == X86_INS_MOV && i == 0 && to->size == 8 &&
		    to->mem.index == X86_REG_INVALID && x->operands[1].type == X86_OP_REG &&
		    (code_site_argument_bit(x->operands[1].reg) & w->bits) && !w->has_slot) {
			w->has_slot = true;
			w->slot = at;
		}
	}
}

/* Goes over the instruction that r has read; false if the line ends or the argument is lost. */
static bool walk_on(const struct code_site_reader *r, struct code_site_walk *w)
{
	unsigned lost, to = moved_to_any(r, w->bits);
	bool stack;
	int32_t move = 0;

	w->no_result |= code_site_in_group(r, CS_GRP_CALL) || writes_result(r);
	if (code_site_in_group(r, CS_GRP_CALL)) {
		w->bits = 0; /* the registers of arguments are free in a call */
		return w->over_calls && (!w->tracks || (w->has_slot && !w->leaked));
	}
	if (code_site_ends_block(r) || !code_site_writes(r, &lost, &stack) ||
	    (stack && !stack_move(r, &move)))
		return false;
	if (w->tracks) {
		track_slot(r, w);
		w->bits = (w->bits & ~lost) | to;
		if (!w->bits && !w->has_slot)
			return false;
	}
	w->delta += move;
	return w->delta < INT32_MAX / 2 && w->delta > INT32_MIN / 2;
}

static unsigned lowest(unsigned bits)
{
	return bits & 1 ? 0 : bits & 2 ? 1 : 2;
}

/* Walks from r's place to the first emulated instruction. */
static bool code_site_walk(struct code_site_reader *r, struct code_site_walk *w,
                           struct code_site *site)
{
	for (int i = 0; i < CODE_MAX_STEPS && code_site_reader_next(r); i++) {
		if (is_emulated(r->insn)) {
			*site = (struct code_site){
				.address = r->insn->address,
				.stack_delta = (int32_t)w->delta,
				.argument = w->bits ? lowest(w->bits) : CODE_ON_STACK,
				.stack_slot = w->has_slot ? (int32_t)w->slot : 0,
				.has_result = !w->no_result,
			};
			return true;
		}
		if (!walk_on(r, w))
			return false;
	}
	return false;
}

bool code_leads_to_return(const struct code_bytes *function, uint64_t address, int32_t *stack_delta,
                          bool *keeps_result)
{
	struct code_site_walk w = { 0 };
	struct code_site_reader r;
	bool found = false,
	     ok = code_site_reader_open(&r) && code_site_reader_seek(&r, function, address);

	for (int i = 0; ok && i < CODE_MAX_STEPS && code_site_reader_next(&r); i++) {
		if (r.insn->id == X86_INS_RET && r.insn->detail->x86.op_count == 0) {
			*stack_delta = (int32_t)w.delta + 8;
			*keeps_result = !w.no_result;
			found = true;
			break;
		}
		ok = walk_on(&r, &w);
	}
	code_site_reader_close(&r);
	return found;
}

/* The address of the pointer of a "jmp *distance(%rip)"; 0: it is none. */
static uint64_t jump_slot(const struct code_site_reader *r)
{
	const cs_x86 *x = &r->insn->detail->x86;

	if (r->insn->id != X86_INS_JMP || x->op_count != 1 || x->operands[0].type != X86_OP_MEM ||
	    x->operands[0].mem.base != X86_REG_RIP || x->operands[0].mem.index != X86_REG_INVALID)
		return 0;
	return r->address + (uint64_t)x->operands[0].mem.disp;
}

/* Goes over an instruction: which registers still have the argument, as bits; 0: none. */
static unsigned still_in(const struct code_site_reader *r, unsigned bits)
{
	unsigned written, to = moved_to_any(r, bits);
	bool stack;

	if (code_site_ends_block(r) || !code_site_writes(r, &written, &stack) || stack)
		return 0;
	return (bits & ~written) | to;
}

bool code_tail_jump(const struct code_bytes *function, unsigned argument, struct code_tail *ret)
{
	unsigned bits = 1U << argument;
	struct code_site_reader r;
	bool found = false, ok = code_site_reader_open(&r) &&
	                         code_site_reader_seek(&r, function, function->address);

	for (int i = 0; ok && i < CODE_MAX_STEPS && code_site_reader_next(&r); i++) {
		*ret = (struct code_tail){ .argument = lowest(bits), .slot = jump_slot(&r) };
		found = ret->slot ||
		        (r.insn->id == X86_INS_JMP && code_site_jump_target(&r, &ret->target));
		if (found)
			break;
		bits = still_in(&r, bits);
		ok = bits & 7;
	}
	code_site_reader_close(&r);
	return found;
}

bool code_is_tail_jump_thunk(const struct code_bytes *function)
{
	struct code_site_reader r;
	bool found = false, ok = code_site_reader_open(&r) &&
	                         code_site_reader_seek(&r, function, function->address);

	for (int i = 0; ok && i < CODE_MAX_STEPS && code_site_reader_next(&r); i++) {
		const cs_x86 *x = &r.insn->detail->x86;
		unsigned written;
		bool stack;

		found = r.insn->id == X86_INS_JMP && x->op_count == 1 &&
		        x->operands[0].type != X86_OP_IMM;
		if (found || code_site_ends_block(&r) || !code_site_writes(&r, &written, &stack) ||
		    stack)
			break;
	}
	code_site_reader_close(&r);
	return found;
}

/* Whether an instruction lets what follows it run, or goes on at a fixed place of the function. */
static bool goes_on(struct code_site_reader *r, const struct code_bytes *f)
{
	uint64_t target;

	if (r->insn->id == X86_INS_JMP)
		return code_site_jump_target(r, &target) && code_site_reader_seek(r, f, target);
	return !code_site_in_group(r, CS_GRP_JUMP) && !code_site_in_group(r, CS_GRP_RET) &&
	       !code_site_in_group(r, CS_GRP_IRET) && !code_site_in_group(r, CS_GRP_INT);
}

bool code_never_returns(const struct code_bytes *function)
{
	struct code_site_reader r;
	bool stops = false, ok = code_site_reader_open(&r) &&
	                         code_site_reader_seek(&r, function, function->address);

	for (int i = 0; ok && !stops && i < CODE_MAX_STEPS; i++) {
		ok = code_site_reader_next(&r);
		bool last = ok && !r.left && code_site_in_group(&r, CS_GRP_CALL);
		stops = ok && (last || r.insn->id == X86_INS_UD2);
		ok = ok && (stops || goes_on(&r, function));
	}
	code_site_reader_close(&r);
	return stops;
}

/* Whether a jump within the function leads into (from, to]. */
static bool is_jumped_into(struct code_site_reader *r, const struct code_bytes *f, uint64_t from,
                           uint64_t to)
{
	uint64_t target;

	if (f->len > CODE_MAX_FUNCTION || !code_site_reader_seek(r, f, f->address))
		return true;
	while (code_site_reader_next(r)) {
		if (code_site_jump_target(r, &target) && target > from && target <= to)
			return true;
	}
	return false;
}

/* Code that loops over a site: from where jumps lead into (entry, site] to the last of them. */
struct code_site_loop {
	uint64_t begin, end;
};

/* False: there is none, or the function is too large. */
static bool find_loop(struct code_site_reader *r, const struct code_bytes *f, uint64_t site,
                      struct code_site_loop *ret)
{
	uint64_t target;

	*ret = (struct code_site_loop){ .begin = UINT64_MAX };
	if (f->len > CODE_MAX_FUNCTION || !code_site_reader_seek(r, f, f->address))
		return false;
	while (code_site_reader_next(r)) {
		if (!code_site_jump_target(r, &target) || target <= f->address || target > site)
			continue;
		ret->begin = target < ret->begin ? target : ret->begin;
		ret->end = r->insn->address;
	}
	return ret->end > site;
}

/*
 * Whether the register of an argument is never written up to the end of the loop, nor the stack
 * pointer moved within it, and no jump leads there from behind it.
 */
static bool is_kept(struct code_site_reader *r, const struct code_bytes *f,
                    const struct code_site *site, const struct code_site_loop *loop)
{
	uint64_t target;
	unsigned written;
	bool stack;

	if (site->argument == CODE_ON_STACK || !code_site_reader_seek(r, f, f->address))
		return false;
	while (code_site_reader_next(r)) {
		uint64_t at = r->insn->address;

		if (at > loop->end) {
			if (code_site_jump_target(r, &target) && target >= f->address &&
			    target <= loop->end)
				return false;
			continue;
		}
		if (!code_site_writes(r, &written, &stack) || (written & (1U << site->argument)) ||
		    (stack && at >= loop->begin) || code_site_in_group(r, CS_GRP_CALL))
			return false;
	}
	return true;
}

static bool find_entry_site(const struct code_bytes *function, int argument, bool loops,
                            struct code_site *ret)
{
	struct code_site_reader r;
	struct code_site site;
	struct code_site_walk w = { .tracks = argument >= 0,
		                    .bits = argument >= 0 ? 1U << argument : 0 };
	const struct code_site_walk begin = w;
	bool found = false, ok = code_site_reader_open(&r) &&
	                         code_site_reader_seek(&r, function, function->address);

	if (ok) {
		*ret = (struct code_site){
			.address = function->address,
			.slow = true,
			.argument = argument >= 0 ? (unsigned)argument : 0,
		};
		found = code_site_walk(&r, &w, &site);
		if (!found && argument >= 0) {
			w = begin;
			w.over_calls = true;
			found = code_site_reader_seek(&r, function, function->address) &&
			        code_site_walk(&r, &w, &site);
		}
	}
	if (found && site.address != function->address &&
	    is_jumped_into(&r, function, function->address, site.address)) {
		struct code_site_loop loop;
		found = loops && argument >= 0 && find_loop(&r, function, site.address, &loop) &&
		        is_kept(&r, function, &site, &loop);
	}
	if (found)
		*ret = site;
	code_site_reader_close(&r);
	return ok;
}

bool code_entry_site(const struct code_bytes *function, int argument, struct code_site *ret)
{
	return find_entry_site(function, argument, false, ret);
}

bool code_looped_site(const struct code_bytes *function, int argument, struct code_site *ret)
{
	return find_entry_site(function, argument, true, ret);
}

/* Whether a call ends at that address, decoded from the function's beginning. */
static bool follows_call(struct code_site_reader *r, const struct code_bytes *f, uint64_t address)
{
	if (f->len > CODE_MAX_FUNCTION || !code_site_reader_seek(r, f, f->address))
		return false;
	while (r->address < address && code_site_reader_next(r)) {
		if (r->address == address)
			return code_site_in_group(r, CS_GRP_CALL);
	}
	return false;
}

bool code_return_site(const struct code_bytes *function, uint64_t address, bool over_calls,
                      struct code_site *ret)
{
	struct code_site_reader r;
	struct code_site site;
	struct code_site_walk w = { .over_calls = over_calls };
	bool ok = code_site_reader_open(&r) && follows_call(&r, function, address) &&
	          code_site_reader_seek(&r, function, address);

	if (ok) {
		*ret = (struct code_site){ .address = address, .slow = true, .has_result = true };
		if (code_site_walk(&r, &w, &site))
			*ret = site;
	}
	code_site_reader_close(&r);
	return ok;
}

bool code_each_indirect_call(const struct code_bytes *function, code_call_fn *visit, void *arg)
{
	struct code_site_reader r;
	bool ok = code_site_reader_open(&r) && function->len <= CODE_MAX_FUNCTION &&
	          code_site_reader_seek(&r, function, function->address);

	while (ok && code_site_reader_next(&r)) {
		const cs_x86 *x = &r.insn->detail->x86;

		/* A call relative to the instruction pointer takes a constant of the module. */
		if (code_site_in_group(&r, CS_GRP_CALL) && x->op_count == 1 &&
		    x->operands[0].type != X86_OP_IMM &&
		    !(x->operands[0].type == X86_OP_MEM && x->operands[0].mem.base == X86_REG_RIP))
			visit(r.address, arg);
	}
	code_site_reader_close(&r);
	return ok;
}
