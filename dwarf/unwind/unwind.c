#include "dwarf/unwind/unwind.h"

#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "debugger/target/module.h"
#include "dwarf/unwind/cfi_keeps.h"

/*
 * libdwfl attaches once and keeps the callbacks and their argument permanently. The unwinder
 * therefore belongs to the target, and the callbacks use the thread that is being unwound.
 */
struct unwinder {
	struct target *t;
	const struct thread *thread;
	const struct stack_copy *copy; /* of that thread's memory; NULL: the target's is read */
	/*
	 * A read failed since the last frame. libdwfl takes an unreadable return address for the
	 * end of the stack.
	 */
	bool faulted;
	uint64_t fault;
};

/* The state of one unwind. */
struct unwind_walk {
	struct unwinder *u;
	struct arena *a;
	VEC(struct frame) frames;
	unwind_end_fn *end; /* NULL: to the end of the stack */
	void *end_arg;
	bool ended;       /* end() was true */
	uint64_t no_code; /* the address of a frame where no code can be; 0: there was none */
};

/* Presents only the thread that is being unwound to libdwfl. */
static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct unwinder *u = arg;

	(void)dwfl;
	if (*thread_arg || !u->thread)
		return 0;
	*thread_arg = u;
	return u->thread->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	struct unwinder *u = arg;

	(void)dwfl;
	*thread_arg = u;
	return u->thread && u->thread->tid == tid;
}

static bool read_word(const struct unwinder *u, uint64_t addr, uint64_t *ret)
{
	const struct stack_copy *copy = u->copy;

	if (!copy) {
		struct error *err CLEANUP(error_freep) =
			target_read_uint(u->t, addr, sizeof(*ret), ret);

		return !err;
	}
	uint64_t at = addr - copy->regs[u->t->arch->sp];
	if (at > copy->size || copy->size - at < sizeof(*ret))
		return false;
	memcpy(ret, copy->bytes + at, sizeof(*ret));
	return true;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	struct unwinder *u = arg;
	uint64_t value;

	(void)dwfl;
	if (!read_word(u, addr, &value)) {
		u->faulted = true;
		u->fault = addr;
		return false;
	}
	*ret = value;
	return true;
}

static bool set_initial_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwinder *u = arg;

	/* Unwinding stops where a CFI rule needs a register that is unknown. */
	for (unsigned i = 0; i < u->t->arch->nregs; i++) {
		Dwarf_Word value = u->thread->regs.r[i];

		if (!(u->thread->unknown_regs >> i & 1) &&
		    !dwfl_thread_state_registers(thread, (int)i, 1, &value))
			return false;
	}
	return true;
}

static const Dwfl_Thread_Callbacks callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_initial_registers,
};

struct error *unwinder_open(struct target *t, struct unwinder **ret)
{
	if (!t->unwinder) {
		struct unwinder *u = NEW(&t->arena, struct unwinder);
		u->t = t;
		if (!t->dwfl)
			return error_new(ERR_NO_DEBUGINFO,
			                 "there are no modules: stacks cannot be unwound");
		if (!dwfl_attach_state(t->dwfl, NULL, t->pid, &callbacks, u))
			return error_new(ERR_NO_DEBUGINFO, "stacks cannot be unwound: %s",
			                 dwfl_errmsg(-1));
		t->unwinder = u;
	}
	*ret = t->unwinder;
	return NULL;
}

void unwinder_close(struct unwinder *u)
{
	(void)u;
}

/*
 * The registers that can be known in a frame. A caller's are those that it will have when the call
 * returns, so that none is known which the call may change. libdw takes register 0 for one that all
 * functions preserve where the CFI does not mention it (elfutils, backends/x86_64_cfi.c: it is
 * given for rbx, which has the number 3). The CFI has all registers of a frame that a signal has
 * interrupted.
 */
static uint64_t knowable(const struct unwind_walk *w, bool activation)
{
	return activation ? UINT64_MAX : ~w->u->t->arch->changed_regs;
}

static bool is_no_code(struct target *t, uint64_t pc)
{
	struct region region;
	SCRATCH(a);

	return !module_at(t, pc) && target_region(t, &a, pc, &region) && !region.executable;
}

/*
 * The address that is no code; 0: the next frame may be at pc. Without unwind information libdwfl
 * follows the frame pointer, which may be any number: it may lead to no code, and of a thread that
 * has jumped to no code to any of its callers.
 */
static uint64_t find_no_code(const struct unwind_walk *w, uint64_t pc)
{
	struct target *t = w->u->t;

	if (!w->frames.n || w->u->copy)
		return 0;
	if (w->frames.n == 1 && is_no_code(t, w->frames.data[0].pc))
		return w->frames.data[0].pc;
	return is_no_code(t, pc) ? pc : 0;
}

/* Adds the registers that the next inner function has left as they were. */
static void add_kept(const struct unwind_walk *w, struct frame *frame, bool activation)
{
	const struct target *t = w->u->t;
	const struct frame *inner = w->frames.n ? &w->frames.data[w->frames.n - 1] : NULL;

	if (!inner || activation)
		return;
	uint64_t wanted = inner->known_regs & ~frame->known_regs & ~t->arch->changed_regs &
	                  ~(UINT64_C(1) << t->arch->pc | UINT64_C(1) << t->arch->sp);
	uint64_t kept = wanted ? cfi_keeps(t, inner->lookup_pc, wanted) : 0;
	for (unsigned i = 0; kept && i < t->arch->nregs; i++) {
		if (kept >> i & 1)
			frame->regs[i] = inner->regs[i];
	}
	frame->known_regs |= kept;
}

static int add_frame(Dwfl_Frame *state, void *arg)
{
	struct unwind_walk *w = arg;
	struct frame frame = { 0 };
	Dwarf_Addr pc;
	Dwarf_Word sp;
	bool activation;

	/* libdwfl has to unwind to the next frame to say whether this one is an activation. */
	w->u->faulted = false;
	if (w->frames.n == STACK_MAX_FRAMES || !dwfl_frame_pc(state, &pc, &activation))
		return DWARF_CB_ABORT;
	w->ended = w->end && !activation && w->end(pc, w->end_arg);
	if (w->ended)
		return DWARF_CB_ABORT;
	w->no_code = find_no_code(w, pc);
	if (w->no_code)
		return DWARF_CB_ABORT;
	frame.pc = pc;
	/*
	 * A call may be the last instruction of its function: the return address is then in the
	 * next function.
	 */
	frame.lookup_pc = activation ? pc : pc - 1;
	frame.has_sp = dwfl_frame_reg(state, w->u->t->arch->sp, &sp) == 0;
	frame.sp = frame.has_sp ? sp : 0;
	frame.regs = NEW_ARRAY(w->a, uint64_t, w->u->t->arch->nregs);
	for (unsigned i = 0; i < w->u->t->arch->nregs; i++) {
		Dwarf_Word value;

		if (dwfl_frame_reg(state, i, &value) == 0) {
			frame.regs[i] = value;
			frame.known_regs |= UINT64_C(1) << i & knowable(w, activation);
		}
	}
	add_kept(w, &frame, activation);
	*vec_push(&w->frames) = frame;
	return DWARF_CB_OK;
}

/* Does the CFI mark the function as outermost, by an undefined return address? */
static bool is_outermost(const struct target *t, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(t->dwfl, pc);
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	Dwarf_Frame *frame = NULL;
	Dwarf_Op memory[3], *ops = memory;
	size_t nops = 1;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame) != 0)
		return false;
	/* A same-value rule has no operations either, but its ops are NULL. */
	bool undefined = dwarf_frame_register(frame, (int)t->arch->return_column, memory, &ops,
	                                      &nops) == 0 &&
	                 nops == 0 && ops == memory;
	free(frame);
	return undefined;
}

static const char *unwind_explain(struct arena *a, const struct unwind_walk *w,
                                  const struct thread *th, int result)
{
	if (w->frames.n == STACK_MAX_FRAMES)
		return arena_printf(a, "more than %d frames", STACK_MAX_FRAMES);
	if (w->frames.n == 0)
		return arena_printf(a, "no frames: %s", dwfl_errmsg(-1));
	if (w->no_code)
		return arena_printf(a, "the address 0x%" PRIx64 " is not in code", w->no_code);
	const struct frame *last = &w->frames.data[w->frames.n - 1];
	if (w->u->faulted && (result != 0 || !is_outermost(w->u->t, last->lookup_pc)))
		return arena_printf(a, "the stack is not readable at 0x%" PRIx64, w->u->fault);
	/* libdwfl takes a return address that it cannot compute for the end of the stack. */
	if (result == 0 && th->unknown_regs && !is_outermost(w->u->t, last->lookup_pc))
		return "the rest is unknown: it needs registers of the thread, which was not "
		       "stopped";
	if (result == 0)
		return NULL;
	const struct module *m = module_at(w->u->t, last->lookup_pc);
	return arena_printf(a, "cannot unwind from 0x%" PRIx64 " (%s): %s", last->pc,
	                    m ? m->path : "no module", dwfl_errmsg(-1));
}

static bool is_in_cfi(Dwarf_CFI *cfi, uint64_t pc)
{
	Dwarf_Frame *frame = NULL;
	bool ret = cfi && dwarf_cfi_addrframe(cfi, pc, &frame) == 0;

	free(frame);
	return ret;
}

/* Whether either of the tables that libdwfl uses covers pc. */
static bool has_cfi(const struct target *t, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(t->dwfl, pc);
	Dwarf_Addr bias = 0;

	if (!module)
		return false;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);
	if (is_in_cfi(cfi, pc - bias))
		return true;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	return is_in_cfi(cfi, pc - bias);
}

/*
 * A thread that has executed nothing yet: it is behind the system call that made it, the result of
 * which, in register 0, is 0. It has no caller, and the frame pointer of the thread that made it;
 * glibc's clone3() and clone() have no unwind information there.
 */
static bool is_new_thread(const struct unwind_walk *w)
{
	const struct target *t = w->u->t;
	const size_t size = t->arch->syscall_insn_size;
	const struct frame *first = w->frames.data;
	unsigned char code[sizeof(uint64_t)];

	if (!w->frames.n || w->u->copy || !(first->known_regs & 1) || first->regs[0] != 0 ||
	    !size || size > sizeof(code))
		return false;
	struct error *err CLEANUP(error_freep) = target_read(w->u->t, first->pc - size, code, size);
	return !err && memcmp(code, t->arch->syscall_insn, size) == 0 && !has_cfi(t, first->pc);
}

/* Unwinds the thread of the unwinder. */
static void walk_frames(struct unwind_walk *w, struct stack *ret)
{
	const struct thread *th = w->u->thread;
	int result = dwfl_getthread_frames(w->u->t->dwfl, th->tid, add_frame, w);

	const bool is_new = is_new_thread(w);

	if (is_new)
		w->frames.n = 1;
	*ret = (struct stack){ .nframes = w->frames.n };
	if (!w->ended && !is_new)
		ret->problem = unwind_explain(w->a, w, th, result);
	ret->frames = vec_to_arena(&w->frames, w->a);
	w->u->thread = NULL;
}

struct error *unwind_thread(struct unwinder *u, struct arena *a, const struct thread *th,
                            struct stack *ret)
{
	struct unwind_walk w = { .u = u, .a = a };

	if (!th->has_regs) {
		*ret = (struct stack){ .problem = "the thread's registers are not known" };
		return NULL;
	}
	u->thread = th;
	walk_frames(&w, ret);
	return interrupt_check();
}

void unwind_copy(struct unwinder *u, struct arena *a, const struct stack_copy *copy,
                 unwind_end_fn *end, void *arg, struct stack *ret)
{
	struct unwind_walk w = { .u = u, .a = a, .end = end, .end_arg = arg };
	struct thread th = { .tid = u->t->pid, .has_regs = true };

	th.regs.r = arena_memdup(a, copy->regs, u->t->arch->nregs * sizeof(*copy->regs));
	u->thread = &th;
	u->copy = copy;
	u->faulted = false;
	walk_frames(&w, ret);
	u->copy = NULL;
}
