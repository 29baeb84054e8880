/*
 * Reads what is needed of a thread at a breakpoint: the code there, and the memory that filters
 * lead to. PTRACE_PEEKDATA never waits for a page that is served through userfaultfd, as
 * process_vm_readv() does: the tracer thread must be able to let the program go at any time.
 */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>

#include "debugger/live/tracer_private.h"

enum { WORD = sizeof(uint64_t), PAGE = 4096 };

/* Reads at most WORD bytes; of a word that reaches into the next page those before it are read. */
static bool tracer_batched_read_peek(pid_t tid, uint64_t addr, void *buf, size_t len)
{
	uint64_t back = addr % PAGE > PAGE - WORD && addr % PAGE + len <= PAGE ? WORD - len : 0;

	errno = 0;
	const long word = ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)(addr - back), NULL);
	if (errno)
		return false;
	memcpy(buf, (const char *)&word + back, len);
	return true;
}

void tracer_batched_read_want(struct glance *g, uint64_t addr)
{
	for (size_t i = 0; i < g->n; i++) {
		if (g->words[i].addr == addr)
			return;
	}
	if (g->n < GLANCE_WORDS)
		g->words[g->n++].addr = addr;
}

void tracer_batched_read_take(struct glance *g, const struct planted *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nseen; i++)
		tracer_batched_read_want(g, p->seen[i]);
	for (g->ncode = 0; p->addr && g->ncode < GLANCE_CODE; g->ncode += WORD) {
		if (!tracer_batched_read_peek(g->tid, p->addr + g->ncode, g->code + g->ncode, WORD))
			break;
	}
	/* The words end at the first place that is not mapped. */
	while (n < g->n &&
	       tracer_batched_read_peek(g->tid, g->words[n].addr, &g->words[n].value, WORD))
		n++;
	bool all = n == g->n;
	g->n = n;
	g->data_at = 0;
	if (all && p->data_at && tracer_batched_read_peek(g->tid, p->data_at, &g->data[0], WORD) &&
	    tracer_batched_read_peek(g->tid, p->data_at, &g->data[1], WORD))
		g->data_at = p->data_at;
}

bool tracer_batched_read_load(struct glance *g, uint64_t addr, unsigned size, uint64_t *ret)
{
	*ret = 0; /* little-endian: the low bytes are filled */
	for (size_t i = 0; i < g->n; i++) {
		if (g->words[i].addr == addr) {
			memcpy(ret, &g->words[i].value, size);
			return true;
		}
	}
	return tracer_batched_read_peek(g->tid, addr, ret, size);
}

/* Twice: while another thread writes, the bytes might be of two moments. */
bool tracer_batched_read_data(const struct glance *g, uint64_t addr, void *buf, size_t len)
{
	unsigned char first[sizeof(g->data[0])], second[sizeof(g->data[1])];

	if (len > sizeof(first))
		return false;
	if (addr == g->data_at && addr) {
		memcpy(first, &g->data[0], len);
		memcpy(second, &g->data[1], len);
	} else if (!tracer_batched_read_peek(g->tid, addr, first, len) ||
	           !tracer_batched_read_peek(g->tid, addr, second, len)) {
		return false;
	}
	memcpy(buf, first, len);
	return memcmp(first, second, len) == 0;
}
