/* Tests of threads at breakpoints, and reading of their registers: see struct tracer_filter. */
#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "debugger/live/tracer_private.h"

bool tracer_read_registers(struct tracer *tr, pid_t tid, unsigned char *ret)
{
	struct iovec iov = { ret, tr->arch->user_regs_size };

	return tr->arch->user_regs_size <= TRACER_MAX_USER_REGS &&
	       ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &iov) == 0 &&
	       iov.iov_len == tr->arch->user_regs_size;
}

static bool load(pid_t pid, uint64_t addr, unsigned size, uint64_t *ret)
{
	struct iovec local = { ret, size }, remote = { (void *)(uintptr_t)addr, size };

	*ret = 0; /* little-endian: the low bytes are filled */
	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* False: it cannot be read. */
static bool find_value(const struct tracer *tr, const struct tracer_filter *f,
                       const unsigned char *regs, uint64_t *ret)
{
	uint64_t value;

	if (f->reg >= tr->arch->nregs || f->size < 1 || f->size > sizeof(value) ||
	    f->nloads > TRACER_MAX_LOADS)
		return false;
	memcpy(&value, regs + tr->arch->regs[f->reg].offset, sizeof(value));
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

bool tracer_filter_matches(struct tracer *tr, pid_t tid, const struct planted *p)
{
	unsigned char regs[TRACER_MAX_USER_REGS];
	uint64_t value;

	if (!p->nfilters || !tracer_read_registers(tr, tid, regs))
		return true;
	for (size_t i = 0; i < p->nfilters; i++) {
		const struct tracer_filter *f = &p->filters[i];

		if (!find_value(tr, f, regs, &value) || holds(f, value))
			return true;
	}
	return false;
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
