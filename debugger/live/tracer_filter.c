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
	struct iovec iov = { ret, tr->arch->user_regs_size };

	return tr->arch->user_regs_size <= TRACER_MAX_USER_REGS &&
	       ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &iov) == 0 &&
	       iov.iov_len == tr->arch->user_regs_size;
}

bool tracer_write_registers(struct tracer *tr, pid_t tid, const unsigned char *regs)
{
	struct iovec iov = { (void *)(uintptr_t)regs, tr->arch->user_regs_size };

	return ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &iov) == 0;
}

static bool load(pid_t pid, uint64_t addr, unsigned size, uint64_t *ret)
{
	struct iovec local = { ret, size }, remote = { (void *)(uintptr_t)addr, size };

	*ret = 0; /* little-endian: the low bytes are filled */
	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* Where the registers have what a filter begins with. */
static bool find_register(const struct arch *arch, unsigned reg, size_t *offset)
{
	if (reg == TRACER_THREAD_POINTER) {
		*offset = arch->tp_offset;
		return arch->tp_regset == NT_PRSTATUS;
	}
	if (reg >= arch->nregs)
		return false;
	*offset = arch->regs[reg].offset;
	return true;
}

/* False: it cannot be read. */
static bool find_value(const struct tracer *tr, const struct tracer_filter *f,
                       const unsigned char *regs, uint64_t *ret)
{
	uint64_t value;
	size_t at;

	if (!find_register(tr->arch, f->reg, &at) || f->size < 1 || f->size > sizeof(value) ||
	    f->nloads > TRACER_MAX_LOADS)
		return false;
	memcpy(&value, regs + at, sizeof(value));
	if (!f->nloads)
		value += (uint64_t)f->offset[0];
	for (unsigned i = 0; i < f->nloads; i++) {
		unsigned size = i + 1 == f->nloads ? f->size : sizeof(value);

		if (!load(tr->pid, value + (uint64_t)f->offset[i], size, &value))
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

bool tracer_filter_matches(struct tracer *tr, const unsigned char *regs, const struct planted *p)
{
	bool all = true; /* of those that were combined so far */
	uint64_t value;

	for (size_t i = 0; i < p->nfilters; i++) {
		const struct tracer_filter *f = &p->filters[i];

		all = all && (!find_value(tr, f, regs, &value) || holds(f, value));
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
	if (!n)
		return;
	p->filters = calloc(n, sizeof(*filters));
	if (!p->filters)
		out_of_memory();
	memcpy(p->filters, filters, n * sizeof(*filters));
}

/* ---- passing a breakpoint ---- */

enum { MAX_CODE = 16, MAX_DATA = 8 };

/* The thread whose instruction is executed. */
struct executed {
	struct tracer *tr;
	pid_t tid;
};

/* Twice: while another thread writes, the bytes might be of two moments. */
static bool read_data(void *arg, uint64_t addr, void *buf, size_t len)
{
	const struct executed *e = arg;
	unsigned char second[MAX_DATA];
	struct iovec local[2] = { { buf, len }, { second, len } };
	struct iovec place = { (void *)(uintptr_t)addr, len }, remote[2] = { place, place };

	if (len > sizeof(second) ||
	    process_vm_readv(e->tid, local, 2, remote, 2, 0) != (ssize_t)(2 * len) ||
	    memcmp(buf, second, len) != 0)
		return false;
	tracer_hide_breakpoints(e->tr, addr, buf, len);
	return true;
}

/* Where the program itself may write, and no breakpoint is. */
static bool write_data(void *arg, uint64_t addr, const void *buf, size_t len)
{
	const struct executed *e = arg;
	const struct tracer *tr = e->tr;
	struct iovec local = { (void *)(uintptr_t)buf, len };
	struct iovec remote = { (void *)(uintptr_t)addr, len };

	for (size_t i = 0; i < tr->planted.n; i++) {
		if (tr->planted.data[i].addr + tr->arch->breakpoint_size > addr &&
		    tr->planted.data[i].addr < addr + len)
			return false;
	}
	return process_vm_writev(e->tid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

static bool has_plain_calls(void *arg)
{
	const struct executed *e = arg;
	uintptr_t set = e->tr->arch->shadow_regset;
	uint64_t pointer;
	struct iovec iov = { &pointer, sizeof(pointer) };

	return !set || ptrace(PTRACE_GETREGSET, e->tid, (void *)set, &iov) != 0;
}

/* As many bytes of code as there are, without breakpoints; 0: none. */
static size_t read_code(struct tracer *tr, pid_t tid, uint64_t addr, unsigned char *ret)
{
	struct iovec local = { ret, MAX_CODE };
	struct iovec remote = { (void *)(uintptr_t)addr, MAX_CODE };
	ssize_t n = process_vm_readv(tid, &local, 1, &remote, 1, 0);

	if (n <= 0)
		return 0;
	tracer_hide_breakpoints(tr, addr, ret, (size_t)n);
	return (size_t)n;
}

/* Whether what is done for a thread would go unseen. */
static bool is_watched(const struct tracer *tr)
{
	for (unsigned n = 0; n < TRACER_MAX_WATCHES; n++) {
		if (tr->watches[n].len)
			return true;
	}
	return false;
}

bool tracer_execute(struct tracer *tr, pid_t tid, const struct planted *p, unsigned char *regs)
{
	struct executed e = { tr, tid };
	const struct arch_memory memory = {
		.arg = &e, .read = read_data, .write = write_data, .plain_calls = has_plain_calls
	};
	unsigned char code[MAX_CODE];

	if (!tr->arch->execute || is_watched(tr))
		return false;
	size_t len = read_code(tr, tid, p->addr, code);
	return tr->arch->execute(regs, code, len, &memory) && tracer_write_registers(tr, tid, regs);
}

/* ---- how often, and for how long ---- */

/*
 * What it takes the kernel to stop a thread, wake the tracer and continue the thread, at least: of
 * the 45 us that a pass took, 35 were not spent in the tracer.
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
	p->pass_ns += clock_now_ns() - tr->event_ns + STOP_NS;
}

void tracer_count_steps(struct tracer *tr)
{
	for (size_t i = 0; i < tr->planted.n; i++) {
		struct planted *p = &tr->planted.data[i];

		if (p->passing)
			p->pass_ns += clock_now_ns() - tr->event_ns + STOP_NS;
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
		if (tr->watches[n].kind == TRACER_EXECUTED && tr->watches[n].len &&
		    tr->watches[n].addr == r->passes.addr)
			take_passes(&tr->watch_filters[n], r);
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
