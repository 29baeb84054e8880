/* Software breakpoints in the memory of a stopped program: ptrace(2), "PTRACE_POKETEXT". */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>

#include "debugger/live/tracer_private.h"

enum { WORD = sizeof(long) };

struct planted *tracer_planted_at(struct tracer *tr, uint64_t addr)
{
	for (size_t i = 0; i < tr->planted.n; i++) {
		if (tr->planted.data[i].addr == addr)
			return &tr->planted.data[i];
	}
	return NULL;
}

/* ---- memory: aligned words, which never reach into the next page ---- */

static bool peek_word(pid_t tid, uint64_t addr, unsigned char *ret)
{
	errno = 0;
	long word = ptrace(PTRACE_PEEKTEXT, tid, (void *)(uintptr_t)addr, NULL);

	memcpy(ret, &word, WORD);
	return errno == 0;
}

static bool poke_word(pid_t tid, uint64_t addr, const unsigned char *bytes)
{
	long word;

	memcpy(&word, bytes, WORD);
	return ptrace(PTRACE_POKETEXT, tid, (void *)(uintptr_t)addr, (void *)word) == 0;
}

/* Copies bytes between buf and the words at addr: to the memory if write. */
static struct error *tracer_break_copy(pid_t tid, uint64_t addr, unsigned char *buf, size_t len,
                                       bool write)
{
	for (size_t done = 0; done < len;) {
		uint64_t base = (addr + done) / WORD * WORD;
		size_t offset = addr + done - base;
		size_t n = WORD - offset < len - done ? WORD - offset : len - done;
		unsigned char word[WORD];

		if (!peek_word(tid, base, word))
			return error_fault(addr + done);
		memcpy(write ? word + offset : buf + done, write ? buf + done : word + offset, n);
		if (write && !poke_word(tid, base, word))
			return error_fault(addr + done);
		done += n;
	}
	return NULL;
}

struct error *tracer_poke(pid_t tid, uint64_t addr, const void *bytes, size_t len)
{
	return tracer_break_copy(tid, addr, (unsigned char *)(uintptr_t)bytes, len, true);
}

static bool tracer_break_poke_quietly(pid_t tid, uint64_t addr, const void *bytes, size_t len)
{
	struct error *err CLEANUP(error_freep) = tracer_poke(tid, addr, bytes, len);

	return !err;
}

/* ---- breakpoints ---- */

bool tracer_lift(struct tracer *tr, pid_t tid, struct planted *p)
{
	if (!p->lifted)
		p->lifted = tracer_break_poke_quietly(tid, p->addr, p->original,
		                                      tr->arch->breakpoint.size);
	return p->lifted;
}

bool tracer_replant(struct tracer *tr, pid_t tid, struct planted *p)
{
	if (p->lifted)
		p->lifted = !tracer_break_poke_quietly(tid, p->addr, tr->arch->breakpoint.insn,
		                                       tr->arch->breakpoint.size);
	return !p->lifted;
}

void tracer_lift_all(struct tracer *tr, pid_t tid)
{
	for (size_t i = 0; i < tr->planted.n; i++)
		tracer_lift(tr, tid, &tr->planted.data[i]);
}

void tracer_replant_all(struct tracer *tr, pid_t tid)
{
	for (size_t i = 0; i < tr->planted.n; i++)
		tracer_replant(tr, tid, &tr->planted.data[i]);
}

void tracer_clean(struct tracer *tr, pid_t tid)
{
	for (size_t i = 0; i < tr->planted.n; i++) {
		const struct planted *p = &tr->planted.data[i];

		if (!p->lifted)
			tracer_break_poke_quietly(tid, p->addr, p->original,
			                          tr->arch->breakpoint.size);
	}
}

/* tr->lock is held. */
static void tracer_break_count_planted(struct tracer *tr)
{
	atomic_store(&tr->nplanted, tr->planted.n);
}

static struct error *plant(struct tracer *tr, pid_t tid, const struct tracer_break *b)
{
	struct planted p = { .addr = b->addr, .lifted = true };
	struct planted *there = tracer_planted_at(tr, p.addr);
	size_t size = tr->arch->breakpoint.size;

	if (there) {
		tracer_filter_set(there, b->filters, b->n);
		return NULL;
	}
	for (size_t i = 0; size > 1 && i < tr->planted.n; i++) {
		if (p.addr - tr->planted.data[i].addr < size ||
		    tr->planted.data[i].addr - p.addr < size)
			return error_new(ERR_USAGE, "another breakpoint overlaps it");
	}
	TRY(tracer_break_copy(tid, p.addr, p.original, size, false));
	if (!tr->vforks.parent && !tracer_replant(tr, tid, &p))
		return error_fault(p.addr);
	tracer_filter_set(&p, b->filters, b->n);
	pthread_mutex_lock(&tr->events.lock);
	*vec_push(&tr->planted) = p;
	tracer_break_count_planted(tr);
	pthread_mutex_unlock(&tr->events.lock);
	return NULL;
}

struct error *tracer_plant(struct tracer *tr, pid_t tid, const struct tracer_request *r)
{
	struct error *first = NULL;

	for (size_t i = 0; i < r->breaks.n; i++) {
		struct error *err = plant(tr, tid, &r->breaks.list[i]);

		if (first)
			error_free(err);
		else
			first = err;
	}
	return first;
}

static void unplant(struct tracer *tr, pid_t tid, uint64_t addr)
{
	struct planted *p = tracer_planted_at(tr, addr);

	if (!p)
		return;
	/* Memory that is not mapped any more has no breakpoint. */
	tracer_lift(tr, tid, p);
	tracer_filter_set(p, NULL, 0);
	pthread_mutex_lock(&tr->events.lock);
	*p = tr->planted.data[--tr->planted.n];
	tracer_break_count_planted(tr);
	pthread_mutex_unlock(&tr->events.lock);
}

void tracer_unplant(struct tracer *tr, pid_t tid, const struct tracer_request *r)
{
	for (size_t i = 0; i < r->breaks.n; i++)
		unplant(tr, tid, r->breaks.list[i].addr);
}

void tracer_forget_breakpoints(struct tracer *tr)
{
	for (size_t i = 0; i < tr->planted.n; i++)
		tracer_filter_set(&tr->planted.data[i], NULL, 0);
	pthread_mutex_lock(&tr->events.lock);
	tr->planted.n = 0;
	tracer_break_count_planted(tr);
	pthread_mutex_unlock(&tr->events.lock);
}

/* Whether the two ranges have bytes in common; *from and *to: which, as offsets in the first. */
static bool overlap(uint64_t addr, size_t len, uint64_t other, size_t other_len, size_t *from,
                    size_t *to)
{
	uint64_t end = addr + len, other_end = other + other_len;

	if (other >= end || addr >= other_end)
		return false;
	*from = other > addr ? (size_t)(other - addr) : 0;
	*to = other_end < end ? (size_t)(other_end - addr) : len;
	return true;
}

struct error *tracer_write(struct tracer *tr, pid_t tid, uint64_t addr, const void *bytes,
                           size_t len)
{
	size_t from, to, size = tr->arch->breakpoint.size;
	struct error *err;

	tracer_lift_all(tr, tid);
	err = tracer_poke(tid, addr, bytes, len);
	for (size_t i = 0; i < tr->planted.n && !err; i++) {
		struct planted *p = &tr->planted.data[i];

		if (!overlap(addr, len, p->addr, size, &from, &to))
			continue;
		pthread_mutex_lock(&tr->events.lock);
		memcpy(p->original + (addr + from - p->addr), (const char *)bytes + from,
		       to - from);
		pthread_mutex_unlock(&tr->events.lock);
	}
	if (!tr->vforks.parent)
		tracer_replant_all(tr, tid);
	return err;
}

void tracer_hide_breakpoints(struct tracer *tr, uint64_t addr, void *bytes, size_t len)
{
	size_t from, to;

	if (atomic_load(&tr->nplanted) == 0 || len == 0)
		return;
	pthread_mutex_lock(&tr->events.lock);
	for (size_t i = 0; i < tr->planted.n; i++) {
		const struct planted *p = &tr->planted.data[i];

		if (overlap(addr, len, p->addr, tr->arch->breakpoint.size, &from, &to))
			memcpy((char *)bytes + from, p->original + (addr + from - p->addr),
			       to - from);
	}
	pthread_mutex_unlock(&tr->events.lock);
}

/* ---- threads at breakpoints ---- */

uint64_t tracer_pc(struct tracer *tr, pid_t tid)
{
	unsigned char regs[TRACER_MAX_USER_REGS];
	uint64_t pc;

	if (!tr->arch || !tracer_read_registers(tr, tid, regs))
		return 0;
	memcpy(&pc, regs + tr->arch->regs[tr->arch->pc].offset, sizeof(pc));
	return pc;
}

void tracer_pass(struct tracer *tr, pid_t tid)
{
	const struct arch *arch = tr->arch;
	unsigned char regs[TRACER_MAX_USER_REGS];
	uint64_t flags;

	if (!arch->resume_flag || !tracer_read_registers(tr, tid, regs))
		return;
	memcpy(&flags, regs + arch->resume_offset, sizeof(flags));
	flags |= arch->resume_flag;
	memcpy(regs + arch->resume_offset, &flags, sizeof(flags));
	tracer_write_registers(tr, tid, regs);
}

/* Whether a SIGTRAP comes from a breakpoint instruction: x86 has SI_KERNEL, others TRAP_BRKPT. */
static bool is_of_breakpoint(const siginfo_t *info)
{
	return info->si_signo == SIGTRAP &&
	       (info->si_code == SI_KERNEL || info->si_code == TRAP_BRKPT);
}

struct planted *tracer_take_trap(struct tracer *tr, pid_t tid, unsigned char *regs)
{
	size_t offset = tr->arch ? tr->arch->regs[tr->arch->pc].offset : 0;
	siginfo_t info;
	uint64_t pc;

	if (!tr->planted.n || ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) != 0 ||
	    !is_of_breakpoint(&info) || !tracer_read_registers(tr, tid, regs))
		return NULL;
	memcpy(&pc, regs + offset, sizeof(pc));
	pc -= tr->arch->breakpoint.pc;
	memcpy(regs + offset, &pc, sizeof(pc));
	return tracer_planted_at(tr, pc);
}

bool tracer_is_trap_pending(struct tracer *tr, pid_t tid)
{
	enum { AT_ONCE = 16 };
	siginfo_t pending[AT_ONCE];
	struct __ptrace_peeksiginfo_args from = { .nr = AT_ONCE };

	if (!tr->planted.n || !tracer_planted_at(tr, tracer_pc(tr, tid) - tr->arch->breakpoint.pc))
		return false;
	for (;;) {
		long n = ptrace(PTRACE_PEEKSIGINFO, tid, &from, pending);

		for (long i = 0; i < n; i++) {
			if (is_of_breakpoint(&pending[i]))
				return true;
		}
		if (n < AT_ONCE)
			return false;
		from.off += AT_ONCE;
	}
}
