/* Halts and continues a controlled program, and steps its threads: see tracer.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debugger/base/clock.h"
#include "debugger/base/str.h"
#include "debugger/live/live_check.h"
#include "debugger/live/proc.h"
#include "debugger/live/read_guard.h"
#include "debugger/live/tracer_private.h"

enum {
	MAX_STEPS = 100,    /* of one instruction, while other stops come between */
	SOON_NS = 10000000, /* a main thread that has not stopped then may have ended */
};

/* ---- halting ---- */

/* A stopped thread, through which the memory can be read and written; 0: none. */
static pid_t tracer_control_any_stopped(const struct tracer *tr)
{
	for (size_t i = 0; i < tr->tracees.n; i++) {
		if (tr->tracees.data[i].state == TRACEE_STOPPED && tr->tracees.data[i].kept)
			return tr->tracees.data[i].tid;
	}
	return 0;
}

/* Whether the tracee sleeps until its child executes a program or ends; nothing wakes it before. */
static bool is_in_vfork(const struct tracer *tr, const struct tracee *tracee)
{
	return tracee->tid == tr->vforks.parent;
}

static bool can_stop(const struct tracer *tr, const struct tracee *tracee)
{
	return tracee->state == TRACEE_RUNNING && !tracee->ended && !is_in_vfork(tr, tracee);
}

static void interrupt(const struct tracer *tr, const struct tracee *tracee)
{
	if (can_stop(tr, tracee))
		ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL);
}

static bool is_zombie(pid_t pid)
{
	SCRATCH(tmp);
	size_t len;
	const char *stat = proc_read(&tmp, pid, "stat", &len);
	const char *name_end = stat ? strrchr(stat, ')') : NULL;

	return name_end && str_begins(name_end, ") Z");
}

/* Waits until the thread has stopped. The vector of tracees may move meanwhile. */
static bool wait_one(struct tracer *tr, size_t i, uint64_t deadline)
{
	const uint64_t soon = clock_now_ns() + SOON_NS;
	struct wait_status w;
	bool late = false;

	while (can_stop(tr, &tr->tracees.data[i])) {
		bool is_main = tr->tracees.data[i].tid == tr->pid && !late && soon < deadline;

		if (next_event(tr, tr->tracees.data[i].tid, is_main ? soon : deadline, &w)) {
			take_event(tr, &w);
		} else if (!is_main) {
			return false;
		} else {
			late = true;
			tr->tracees.data[i].ended = is_zombie(tr->pid);
		}
	}
	return true;
}

/* A thread whose signal of a breakpoint is still to come receives it: the breakpoint may go. */
static void settle(struct tracer *tr, size_t i, uint64_t deadline)
{
	struct tracee *tracee = &tr->tracees.data[i];

	if (tracee->state != TRACEE_STOPPED)
		return;
	if (!tracer_is_trap_pending(tr, tracee->tid) && !tracer_is_hit_pending(tr, tracee))
		return;
	tracee->held = false;
	tracer_go_on(tr, tracee);
	wait_one(tr, i, deadline);
}

void tracer_halt(struct tracer *tr)
{
	uint64_t deadline = tracer_short_deadline();

	tr->halted = tr->busy = true;
	tr->want_halt = false;
	for (size_t i = 0; i < tr->tracees.n; i++)
		interrupt(tr, &tr->tracees.data[i]);
	/* The loop may append new threads, which stop by themselves when they begin. */
	for (size_t i = 0; i < tr->tracees.n; i++) {
		wait_one(tr, i, deadline);
		settle(tr, i, deadline);
		tr->tracees.data[i].held = true;
	}
	tr->busy = false;
}

/* ---- one instruction ---- */

/* Signals that an instruction itself can cause: they cannot wait. */
static uint64_t keep_all_but_faults(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	uint64_t mask = UINT64_MAX;

	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		mask &= ~(UINT64_C(1) << (faults[i] - 1));
	return mask;
}

static bool tracer_control_change_mask(enum __ptrace_request request, pid_t tid, uint64_t *mask)
{
	return ptrace(request, tid, (void *)sizeof(*mask), mask) == 0;
}

/* A system call may change the mask of signals: then it must not be ours. */
static bool is_at_syscall(const struct tracer *tr, pid_t tid, uint64_t pc)
{
	const struct arch *arch = tr->arch;
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, tid, (void *)(uintptr_t)pc, NULL);
	return errno == 0 && memcmp(&word, arch->syscall_insn, arch->syscall_insn_size) == 0;
}

/* Whether this stop ends the step of one instruction. */
static bool is_step(const struct wait_status *w)
{
	siginfo_t info;

	return w->status != -1 && WIFSTOPPED(w->status) && w->status >> 16 == 0 &&
	       WSTOPSIG(w->status) == SIGTRAP &&
	       ptrace(PTRACE_GETSIGINFO, w->tid, NULL, &info) == 0 &&
	       (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT);
}

/* Executes one instruction; false if the thread ended, or received a signal. */
static bool step_bare(struct tracer *tr, size_t i, uint64_t pc)
{
	pid_t tid = tr->tracees.data[i].tid;
	uint64_t deadline = tracer_short_deadline();
	struct wait_status w;

	for (int n = 0; n < MAX_STEPS && !tr->want_halt; n++) {
		ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL);
		tr->tracees.data[i].state = TRACEE_RUNNING;
		if (!next_event(tr, tid, deadline, &w)) {
			ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
			if (!next_event(tr, tid, tracer_short_deadline(), &w))
				return false;
		}
		if (is_step(&w)) {
			tr->tracees.data[i].state = TRACEE_STOPPED;
			return true;
		}
		take_event(tr, &w);
		if (tr->tracees.data[i].state != TRACEE_STOPPED || tr->tracees.data[i].signal)
			return false;
		if (tracer_pc(tr, tid) != pc)
			return true;
	}
	return false;
}

/* step_bare() with the breakpoint at the thread's pc out of the way, and other signals kept. */
static bool step(struct tracer *tr, size_t i)
{
	pid_t tid = tr->tracees.data[i].tid;
	uint64_t pc = tracer_pc(tr, tid), mask, kept = keep_all_but_faults();
	struct planted *p = tracer_planted_at(tr, pc);

	tr->busy = true;
	if (p)
		tracer_lift(tr, tid, p);
	if (tracer_is_watched(tr, pc))
		tracer_pass(tr, tid);
	bool masked = !is_at_syscall(tr, tid, pc) &&
	              tracer_control_change_mask(PTRACE_GETSIGMASK, tid, &mask) &&
	              tracer_control_change_mask(PTRACE_SETSIGMASK, tid, &kept);
	bool done = step_bare(tr, i, pc);

	if (masked && tr->tracees.data[i].state == TRACEE_STOPPED)
		tracer_control_change_mask(PTRACE_SETSIGMASK, tid, &mask);
	/* An execve() has forgotten it. */
	p = tracer_planted_at(tr, pc);
	pid_t by = tracer_control_any_stopped(tr);
	if (p && by && !tr->vforks.parent)
		tracer_replant(tr, by, p);
	settle(tr, i, tracer_short_deadline());
	tr->tracees.data[i].held = true;
	tr->busy = false;
	return done;
}

/* ---- continuing ---- */

/* Lets a child of vfork() run. */
static void begin_vfork(struct tracer *tr)
{
	struct vforked v = tr->vforks.waiting.data[--tr->vforks.waiting.n];

	tracer_lift_all(tr, v.parent);
	tr->vforks.parent = v.parent;
	ptrace(PTRACE_DETACH, v.child, NULL, NULL);
}

/* Lets threads run; while a vfork() lasts only the one that called it. */
static void resume_all(struct tracer *tr)
{
	pid_t by = tracer_control_any_stopped(tr);

	if (by && !tr->vforks.parent)
		tracer_replant_all(tr, by);
	if (!tr->vforks.parent && tr->vforks.waiting.n)
		begin_vfork(tr);
	for (size_t i = 0; i < tr->tracees.n; i++) {
		struct tracee *tracee = &tr->tracees.data[i];

		tracee->held = tracee->tid == tr->left_out ||
		               (tr->vforks.parent && tracee->tid != tr->vforks.parent);
		tracer_go_on(tr, tracee);
	}
}

void tracer_continue(struct tracer *tr)
{
	/* Several events may have halted the program at once: it stands still at each of them. */
	if (tracer_has_halt(tr) || tracer_report_hit(tr, NULL))
		return;
	for (size_t i = 0; i < tr->tracees.n && !tr->vforks.parent && !tr->want_halt; i++) {
		struct tracee *tracee = &tr->tracees.data[i];
		uint64_t at = tracee->reported;

		if (tracee->state != TRACEE_STOPPED || !at || tracee->tid == tr->left_out)
			continue;
		tracee->reported = 0;
		if (at != tracer_pc(tr, tracee->tid))
			continue;
		/*
		 * A hardware breakpoint needs no step: if we are killed in the middle of one, it
		 * ends the program.
		 */
		if (tracer_planted_at(tr, at))
			step(tr, i);
		else if (tracer_is_watched(tr, at))
			tracer_pass(tr, tracee->tid);
	}
	if (tr->want_halt) {
		/* A signal of a step, which halts: an event says so. */
		tr->want_halt = false;
		return;
	}
	if (tracer_report_hit(tr, NULL))
		return;
	tr->halted = false;
	resume_all(tr);
}

/* Lets threads step over breakpoints; what comes meanwhile may halt the program. */
static void pass(struct tracer *tr)
{
	tr->want_pass = false;
	tracer_halt(tr);
	if (!tr->want_halt)
		tracer_continue(tr);
	tracer_count_steps(tr);
}

static void tracer_control_follow(struct tracer *tr)
{
	if (tr->want_pass && !tr->want_halt && !tr->halted)
		pass(tr);
	if (tr->want_halt && !tr->halted)
		tracer_halt(tr);
	tr->want_halt = tr->want_pass = false;
	if (tr->vforks.over) {
		tr->vforks.over = false;
		if (!tr->halted)
			tracer_continue(tr);
	}
	if (tr->vforks.waiting.n && !tr->vforks.parent && !tr->halted) {
		tracer_halt(tr);
		tracer_continue(tr);
	}
}

void tracer_after_event(struct tracer *tr)
{
	if (tr->standing)
		return;
	if (tr->pid)
		tracer_control_follow(tr);
	if (tr->events.halting)
		tracer_show_events(tr);
}

/* ---- new processes ---- */

bool tracer_take_pid(struct pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->pids.n; i++) {
		if (list->pids.data[i] != pid)
			continue;
		list->pids.data[i] = list->pids.data[--list->pids.n];
		return true;
	}
	return false;
}

static bool shares_memory(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

void tracer_new_process(struct tracer *tr, pid_t parent, pid_t child, bool is_vfork)
{
	bool was_busy = tr->busy, born = tracer_take_pid(&tr->newborn, child);
	struct wait_status w;

	if (!born && !tr->planted.n)
		return; /* it is let go at its first stop */
	tr->busy = true;
	if (!born)
		born = next_event(tr, child, tracer_short_deadline(), &w) && w.status != -1 &&
		       WIFSTOPPED(w.status);
	tr->busy = was_busy;
	if (!born)
		return;
	if (is_vfork && tr->planted.n) {
		struct tracee *tracee = tracer_find(tr, parent);

		*vec_push(&tr->vforks.waiting) = (struct vforked){ parent, child };
		if (tracee)
			tracee->held = true;
		return;
	}
	if (!shares_memory(child, parent))
		tracer_clean(tr, child);
	ptrace(PTRACE_DETACH, child, NULL, NULL);
}

/* ---- the end ---- */

void tracer_end_session(struct tracer *tr)
{
	for (size_t i = 0; i < tr->newborn.pids.n; i++)
		ptrace(PTRACE_DETACH, tr->newborn.pids.data[i], NULL, NULL);
	for (size_t i = 0; i < tr->vforks.waiting.n; i++)
		ptrace(PTRACE_DETACH, tr->vforks.waiting.data[i].child, NULL, NULL);
	tracer_forget_breakpoints(tr);
	tracer_unwatch_all(tr);
	tr->newborn.pids.n = tr->unannounced.pids.n = tr->vforks.waiting.n = 0;
	tr->vforks.parent = tr->left_out = 0;
	tr->pid = 0;
	read_guard_let_go(NULL, NULL);
	/* clang 14 has no value for an assignment to an atomic_bool. */
	tr->vforks.over = false;
	tr->halted = false;
	tr->want_halt = false;
	tr->controlled = false;
	tr->stop_signals = tr->drop_signals = 0;
}

struct error *tracer_detach(struct tracer *tr)
{
	bool was_halted = tr->halted;

	tracer_halt(tr);
	for (size_t i = 0; i < tr->tracees.n; i++) {
		if (tr->tracees.data[i].state != TRACEE_RUNNING)
			continue;
		/* The kernel lets a thread that has ended go when this thread ends. */
		tr->quit |= tr->tracees.data[i].ended;
		if (tr->tracees.data[i].ended)
			continue;
		pid_t tid = tr->tracees.data[i].tid;

		if (!was_halted)
			tracer_continue(tr);
		return error_new(ERR_STATE,
		                 "thread %d is in uninterruptible sleep and cannot be detached",
		                 (int)tid);
	}
	pid_t by = tracer_control_any_stopped(tr);
	if (by)
		tracer_lift_all(tr, by);
	tracer_unwatch_all(tr);
	for (size_t i = 0; i < tr->tracees.n; i++) {
		const struct tracee *tracee = &tr->tracees.data[i];

		if (tracee->state == TRACEE_STOPPED)
			ptrace(PTRACE_DETACH, tracee->tid, NULL, (void *)(intptr_t)tracee->signal);
	}
	tracer_end_session(tr);
	tracer_prune(tr);
	return NULL;
}

/* ---- requests ---- */

static bool is_breakpoint(struct tracer *tr, uint64_t addr)
{
	return tracer_planted_at(tr, addr) || tracer_is_watched(tr, addr);
}

static struct error *step_thread(struct tracer *tr, struct tracer_request *r)
{
	for (size_t i = 0; i < tr->tracees.n; i++) {
		struct tracee *tracee = &tr->tracees.data[i];

		if (tracee->tid != r->step.tid || tracee->state != TRACEE_STOPPED)
			continue;
		if (tr->vforks.parent)
			return error_new(ERR_STATE, "a child of vfork() uses its memory");
		r->step.done = step(tr, i);
		tr->want_halt = false;
		tracee = tracer_find(tr, r->step.tid);
		uint64_t pc = tracee && tr->pid ? tracer_pc(tr, tracee->tid) : 0;
		if (tracee)
			tracee->reported = is_breakpoint(tr, pc) ? pc : 0;
		tracer_report_hit(tr, NULL);
		return NULL;
	}
	return error_new(ERR_STATE, "thread %d has ended or is not stopped", (int)r->step.tid);
}

/* The filters of a breakpoint at an address, whatever it is made of; NULL: there is none. */
static struct planted *filters_at(struct tracer *tr, uint64_t addr)
{
	struct planted *p = tracer_planted_at(tr, addr);

	for (unsigned n = 0; !p && n < TRACER_MAX_WATCHES; n++) {
		const struct tracer_watch *w = &tr->hardware.watches[n];

		if (w->len && w->kind == TRACER_EXECUTED && w->addr == addr)
			p = &tr->hardware.filters[n];
	}
	return p;
}

static void arrive(struct tracer *tr, struct tracer_request *r)
{
	unsigned char regs[TRACER_MAX_USER_REGS];
	struct tracee *tracee = tracer_find(tr, r->arrive.tid);

	r->arrive.addr = 0;
	/* A thread with a signal to receive may enter a handler first. */
	if (!tracee || tracee->state != TRACEE_STOPPED || tracee->signal)
		return;
	uint64_t pc = tracer_pc(tr, tracee->tid);
	struct planted *p = filters_at(tr, pc);
	struct glance g = { .tid = tracee->tid };

	if (p && (!tracer_read_registers(tr, tracee->tid, regs) ||
	          !tracer_filter_matches(tr, &g, regs, p)))
		return;
	/* A breakpoint that is planted here from now on is for threads that come here later. */
	tracee->reported = pc;
	r->arrive.addr = p ? pc : 0;
}

static void match(struct tracer *tr, struct tracer_request *r)
{
	unsigned char regs[TRACER_MAX_USER_REGS];
	struct tracee *tracee = tracer_find(tr, r->match.tid);
	struct planted p = { .nfilters = r->match.n };
	struct glance g = { .tid = r->match.tid };

	r->match.matches = true;
	if (!tracee || tracee->state != TRACEE_STOPPED ||
	    !tracer_read_registers(tr, tracee->tid, regs))
		return;
	p.filters = (struct tracer_filter *)(uintptr_t)r->match.filters; /* which are only read */
	r->match.matches = tracer_filter_matches(tr, &g, regs, &p);
}

static struct error *set_signal(struct tracer *tr, const struct tracer_request *r)
{
	struct tracee *tracee = tracer_find(tr, r->signal.tid);

	if (!tracee || tracee->state != TRACEE_STOPPED || !tracee->at_signal || tracee->reported)
		return error_new(ERR_STATE, "thread %d is not about to receive a signal",
		                 (int)r->signal.tid);
	tracee->signal = r->signal.signal;
	return NULL;
}

/* Requests that need a program that stands still. by: a stopped thread. */
static struct error *act(struct tracer *tr, struct tracer_request *r, pid_t by)
{
	switch (r->kind) {
	case TRACER_BREAK:
		return tracer_plant(tr, by, r);
	case TRACER_UNBREAK:
		tracer_unplant(tr, by, r);
		return NULL;
	case TRACER_WRITE_MEMORY:
		return tracer_write(tr, by, r->write.addr, r->write.bytes, r->write.len);
	case TRACER_STEP:
		return step_thread(tr, r);
	case TRACER_REGISTERS:
		return tracer_registers(tr, r);
	case TRACER_WATCH:
		return tracer_watch(tr, &r->watch);
	case TRACER_UNWATCH:
		tracer_unwatch(tr, &r->watch);
		return NULL;
	case TRACER_SIGNAL:
		return set_signal(tr, r);
	case TRACER_ARRIVE:
		arrive(tr, r);
		return NULL;
	case TRACER_MATCH:
		match(tr, r);
		return NULL;
	default:
		return error_new(ERR_STATE, "not supported yet");
	}
}

static struct error *tracer_control_begin(struct tracer *tr, const struct tracer_request *r)
{
	if (!tr->arch)
		TRY(live_check(tr->pid, false, &tr->arch));
	tr->controlled = true;
	tr->stop_signals = r->control.stop;
	tr->drop_signals = r->control.drop;
	return NULL;
}

struct error *tracer_control(struct tracer *tr, struct tracer_request *r)
{
	if (r->kind == TRACER_CONTROL)
		return tracer_control_begin(tr, r);
	if (!tr->controlled)
		return error_new(ERR_STATE, "process %d is not being debugged", (int)tr->pid);
	if (r->kind == TRACER_HALT) {
		tracer_halt(tr);
		return NULL;
	}
	if (r->kind == TRACER_PASSES) {
		tracer_passes(tr, r);
		return NULL;
	}
	pid_t by = tracer_control_any_stopped(tr);
	if (!tr->halted || !by)
		return error_new(ERR_STATE, "process %d is running", (int)tr->pid);
	return act(tr, r, by);
}
