/*
 * Reads what is needed of a thread at a breakpoint: the code there, and the memory that filters
 * lead to. A call of the kernel costs more than the bytes it copies, so one call reads all of which
 * the addresses are known before: those that the registers say, and those to which the values of
 * the last thread led.
 */
#include <string.h>
#include <sys/uio.h>

#include "debugger/live/tracer_private.h"

void tracer_glance_want(struct glance *g, uint64_t addr)
{
	for (size_t i = 0; i < g->n; i++) {
		if (g->words[i].addr == addr)
			return;
	}
	if (g->n < GLANCE_WORDS)
		g->words[g->n++].addr = addr;
}

void tracer_glance_take(struct glance *g, const struct planted *p)
{
	struct iovec local[3 + GLANCE_WORDS], remote[3 + GLANCE_WORDS];
	size_t n = 0, code = p->addr ? GLANCE_CODE : 0;

	for (size_t i = 0; i < p->nseen; i++)
		tracer_glance_want(g, p->seen[i]);
	local[n] = (struct iovec){ g->code, code };
	remote[n++] = (struct iovec){ (void *)(uintptr_t)p->addr, code };
	for (size_t i = 0; i < g->n; i++) {
		struct glance_word *w = &g->words[i];

		local[n] = (struct iovec){ &w->value, sizeof(w->value) };
		remote[n++] = (struct iovec){ (void *)(uintptr_t)w->addr, sizeof(w->value) };
	}
	for (size_t i = 0; i < 2 && p->data_at; i++) {
		local[n] = (struct iovec){ &g->data[i], sizeof(g->data[i]) };
		remote[n++] = (struct iovec){ (void *)(uintptr_t)p->data_at, sizeof(g->data[i]) };
	}
	/* It ends at the first place that is not mapped. */
	ssize_t got = process_vm_readv(g->tid, local, n, remote, n, 0);
	size_t bytes = got > 0 ? (size_t)got : 0;

	g->ncode = bytes < code ? bytes : code;
	size_t words = (bytes - g->ncode) / sizeof(uint64_t);
	g->data_at = words == g->n + 2 ? p->data_at : 0;
	g->n = words < g->n ? words : g->n;
}

bool tracer_glance_load(struct glance *g, uint64_t addr, unsigned size, uint64_t *ret)
{
	struct iovec local = { ret, size }, remote = { (void *)(uintptr_t)addr, size };

	*ret = 0; /* little-endian: the low bytes are filled */
	for (size_t i = 0; i < g->n; i++) {
		if (g->words[i].addr == addr) {
			memcpy(ret, &g->words[i].value, size);
			return true;
		}
	}
	return process_vm_readv(g->tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* Twice: while another thread writes, the bytes might be of two moments. */
bool tracer_glance_data(const struct glance *g, uint64_t addr, void *buf, size_t len)
{
	unsigned char first[sizeof(g->data[0])], second[sizeof(g->data[1])];
	struct iovec local[2] = { { first, len }, { second, len } };
	struct iovec place = { (void *)(uintptr_t)addr, len }, remote[2] = { place, place };

	if (len > sizeof(first))
		return false;
	if (addr == g->data_at && addr) {
		memcpy(first, &g->data[0], len);
		memcpy(second, &g->data[1], len);
	} else if (process_vm_readv(g->tid, local, 2, remote, 2, 0) != (ssize_t)(2 * len)) {
		return false;
	}
	memcpy(buf, first, len);
	return memcmp(first, second, len) == 0;
}
