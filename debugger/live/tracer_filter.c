/*
 * Tests of threads at breakpoints (struct tracer_filter), and what lets those that do not match
 * pass: their registers and memory are changed as the instruction there would.
 */
#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "debugger/base/clock.h"
#include "debugger/live/tracer_private.h"

bool tracer_read_registers(struct tracer *tr, pid_t tid, unsigned char *ret)
{
	struct iovec iov = { ret, tr->arch->regset.user_regs_size };

	return tr->arch->regset.user_regs_size <= TRACER_MAX_USER_REGS &&
	       ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &iov) == 0 &&
	       iov.iov_len == tr->arch->regset.user_regs_size;
}

bool tracer_write_registers(struct tracer *tr, pid_t tid, const unsigned char *regs)
{
	struct iovec iov = { (void *)(uintptr_t)regs, tr->arch->regset.user_regs_size };

	return ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &iov) == 0;
}

/* Offset in the kernel's registers of the one that a filter begins with. False: it is not there. */
static bool tracer_filter_find_register(const struct arch *arch, unsigned reg, size_t *offset)
{
	if (reg == TRACER_THREAD_POINTER) {
		*offset = arch->thread_pointer.offset;
		return arch->thread_pointer.regset == NT_PRSTATUS;
	}
	if (reg >= arch->nregs)
		return false;
	*offset = arch->regs[reg].offset;
	return true;
}

/* The address or value that a filter begins with. False: the filter cannot be evaluated. */
static bool find_start(const struct tracer *tr, const struct tracer_filter *f,
                       const unsigned char *regs, uint64_t *ret)
{
	size_t at;

	if (!tracer_filter_find_register(tr->arch, f->reg, &at) || f->size < 1 ||
	    f->size > sizeof(*ret) || f->nloads > TRACER_MAX_LOADS)
		return false;
	memcpy(ret, regs + at, sizeof(*ret));
	*ret += (uint64_t)f->offset[0];
	return true;
}

/* Reads at once what all filters need, as far as it is known where it is. */
static void look(const struct tracer *tr, struct glance *g, const unsigned char *regs,
                 struct planted *p)
{
	uint64_t start;

	g->n = 0;
	for (size_t i = 0; i < p->nfilters; i++) {
		if (p->filters[i].nloads && find_start(tr, &p->filters[i], regs, &start))
			tracer_batched_read_want(g, start);
	}
	tracer_batched_read_take(g, p);
	p->nseen = 0;
}

/* False: it cannot be read. */
static bool find_value(const struct tracer *tr, struct glance *g, const struct tracer_filter *f,
                       const unsigned char *regs, struct planted *p, uint64_t *ret)
{
	uint64_t value;

	if (!find_start(tr, f, regs, &value))
		return false;
	for (unsigned i = 0; i < f->nloads; i++) {
		unsigned size = i + 1 == f->nloads ? f->size : sizeof(value);

		if (i > 0)
			value += (uint64_t)f->offset[i];
		if (i > 0 && p->nseen < GLANCE_WORDS)
			p->seen[p->nseen++] = value;
		if (!tracer_batched_read_load(g, value, size, &value))
			return false;
	}
	*ret = f->size == sizeof(value) ? value : value & ((UINT64_C(1) << (8 * f->size)) - 1);
	return true;
}

/* The low size bytes as a number that compares as that of their sign does. */
static uint64_t ordered(const struct tracer_filter *f, uint64_t value)
{
	unsigned above = 64 - 8 * f->size;

	value <<= above;
	return f->is_signed ? value ^ UINT64_C(1) << 63 : value;
}

static bool holds(const struct tracer_filter *f, uint64_t value)
{
	uint64_t x = ordered(f, value), y = ordered(f, f->value);
	bool is = f->order == TRACER_EQUAL ? x == y : f->order == TRACER_LESS ? x < y : x > y;

	return is != f->differs;
}

bool tracer_filter_matches(struct tracer *tr, struct glance *g, const unsigned char *regs,
                           struct planted *p)
{
	bool all = true; /* of those that were combined so far */
	uint64_t value;

	if (p->nfilters)
		look(tr, g, regs, p);
	for (size_t i = 0; i < p->nfilters; i++) {
		const struct tracer_filter *f = &p->filters[i];

		all = all && (!find_value(tr, g, f, regs, p, &value) || holds(f, value));
		if (f->and_next && i + 1 < p->nfilters)
			continue;
		if (all)
			return true;
		all = true;
	}
	return !p->nfilters;
}

void tracer_filter_set(struct planted *p, const struct tracer_filter *filters, size_t n)
{
	free(p->filters);
	p->filters = NULL;
	p->nfilters = n;
	p->nseen = 0;
	if (!n)
		return;
	p->filters = calloc(n, sizeof(*filters));
	if (!p->filters)
		out_of_memory();
	memcpy(p->filters, filters, n * sizeof(*filters));
}

/* ---- passing a breakpoint ---- */

/* The thread whose instruction is executed. */
struct executed {
	struct tracer *tr;
	const struct glance *g;
	struct planted *p;
};

static bool read_data(void *arg, uint64_t addr, void *buf, size_t len)
{
	const struct executed *e = arg;

	e->p->data_at = addr;
	if (!tracer_batched_read_data(e->g, addr, buf, len))
		return false;
	tracer_hide_breakpoints(e->tr, addr, buf, len);
	return true;
}

/* Writes only where the program itself may write, and no breakpoint is. */
static bool write_data(void *arg, uint64_t addr, const void *buf, size_t len)
{
	const struct executed *e = arg;
	const struct tracer *tr = e->tr;
	struct iovec local = { (void *)(uintptr_t)buf, len };
	struct iovec remote = { (void *)(uintptr_t)addr, len };

	for (size_t i = 0; i < tr->planted.n; i++) {
		if (tr->planted.data[i].addr + tr->arch->breakpoint.size > addr &&
		    tr->planted.data[i].addr < addr + len)
			return false;
	}
	return process_vm_writev(e->g->tid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

static bool tracer_filter_has_plain_calls(void *arg)
{
	const struct executed *e = arg;
	uintptr_t set = e->tr->arch->shadow_regset;
	uint64_t pointer;
	struct iovec iov = { &pointer, sizeof(pointer) };

	return !set || ptrace(PTRACE_GETREGSET, e->g->tid, (void *)set, &iov) != 0;
}

/*
 * Whether a hardware breakpoint or watchpoint is set, which would not see what is done for a
 * thread.
 */
static bool is_watched(const struct tracer *tr)
{
	for (unsigned n = 0; n < TRACER_MAX_WATCHES; n++) {
		if (tr->hardware.watches[n].len)
			return true;
	}
	return false;
}

/*
 * Writes registers of which few have changed, by PTRACE_POKEUSER where there is that request:
 * struct user of x86-64 begins with user_regs. It takes less time than writing all.
 */
static bool write_changed(struct tracer *tr, pid_t tid, const unsigned char *before,
                          const unsigned char *after)
{
	enum { WORD = sizeof(long), FEW = 2 };
	size_t changed[FEW], n = 0;
	long word;

	for (size_t at = 0; at + WORD <= tr->arch->regset.user_regs_size; at += WORD) {
		if (memcmp(before + at, after + at, WORD) == 0)
			continue;
		if (n == FEW)
			return tracer_write_registers(tr, tid, after);
		changed[n++] = at;
	}
	for (size_t i = 0; i < n; i++) {
		memcpy(&word, after + changed[i], WORD);
		if (ptrace(PTRACE_POKEUSER, tid, (void *)changed[i], (void *)word) != 0)
			return tracer_write_registers(tr, tid, after);
	}
	return true;
}

bool tracer_execute(struct tracer *tr, const struct glance *g, struct planted *p,
                    unsigned char *regs)
{
	struct executed e = { tr, g, p };
	const struct arch_memory memory = { .arg = &e,
		                            .read = read_data,
		                            .write = write_data,
		                            .plain_calls = tracer_filter_has_plain_calls };
	unsigned char code[GLANCE_CODE], before[TRACER_MAX_USER_REGS];

	memcpy(before, regs, tr->arch->regset.user_regs_size);
	if (!tr->arch->execute || is_watched(tr))
		return false;
	memcpy(code, g->code, g->ncode);
	tracer_hide_breakpoints(tr, p->addr, code, g->ncode);
	return tr->arch->execute(regs, code, g->ncode, &memory) &&
	       write_changed(tr, g->tid, before, regs);
}

/* ---- how often, and for how long ---- */

/*
 * Least time the kernel takes to stop a thread, wake the tracer and continue the thread: of the 45
 * us that a pass took, 35 were not spent in the tracer.
 */
enum { STOP_NS = 20000 };

void tracer_count_step(struct planted *p)
{
	p->passes++;
	p->passing = true;
}

void tracer_count_pass(struct tracer *tr, struct planted *p)
{
	p->passes++;
	p->pass_ns += clock_since(tr->event_ns) + STOP_NS;
}

void tracer_count_steps(struct tracer *tr)
{
	for (size_t i = 0; i < tr->planted.n; i++) {
		struct planted *p = &tr->planted.data[i];

		if (p->passing)
			p->pass_ns += clock_since(tr->event_ns) + STOP_NS;
		p->passing = false;
	}
}

static void take_passes(struct planted *p, struct tracer_request *r)
{
	r->passes.n += p->passes;
	r->passes.ns += p->pass_ns;
	p->passes = p->pass_ns = 0;
}

void tracer_passes(struct tracer *tr, struct tracer_request *r)
{
	struct planted *p = tracer_planted_at(tr, r->passes.addr);

	r->passes.n = r->passes.ns = 0;
	if (p)
		take_passes(p, r);
	for (unsigned n = 0; n < TRACER_MAX_WATCHES; n++) {
		if (tr->hardware.watches[n].kind == TRACER_EXECUTED &&
		    tr->hardware.watches[n].len && tr->hardware.watches[n].addr == r->passes.addr)
			take_passes(&tr->hardware.filters[n], r);
	}
}

/* ---- registers ---- */

struct error *tracer_registers(struct tracer *tr, struct tracer_request *r)
{
	unsigned char regs[TRACER_MAX_USER_REGS];

	if (!tracer_find(tr, r->registers.tid) ||
	    !tracer_read_registers(tr, r->registers.tid, regs))
		return error_new(ERR_STATE, "thread %d has ended or is not stopped",
		                 (int)r->registers.tid);
	r->registers.regs = arch_regs_from_user(tr->arch, r->registers.arena, regs);
	return NULL;
}
