/* Scans writable memory for words in ranges (heap_scan.h). */
#include "runtimes/common/heap_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "debugger/base/clock.h"

enum {
	PIECE = 256 << 10, /* fits the cache of one CPU core */
	MAX_STATICS = 256,
	WORD = 8,
	SLOWEST = 10, /* limit of the time spent, as a multiple of that of CPU time */
};

struct heap_scan {
	struct inspector *in;
	struct target *t;
	const struct word_range *ranges;
	size_t nranges;
	const char *sought;
	heap_scan_fn *met;
	void *arg;
	uint64_t max_bytes, max_ns, bytes;
	uint64_t worked_ns, began_ns, waited_ns; /* at its start: CPU time, clock_...() */
	bool out_of_bytes, out_of_work, out_of_time, too_many;
	VEC(struct word_piece) statics; /* pieces of modules that were scanned */
	struct error *err;
	uint64_t at; /* address of words[0] */
	size_t nwords;
	uint64_t words[PIECE / WORD];
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

struct inspector *heap_scan_inspector(const struct heap_scan *s)
{
	return s->in;
}

void *heap_scan_arg(const struct heap_scan *s)
{
	return s->arg;
}

const struct word_piece *heap_scan_statics(const struct heap_scan *s, size_t *n)
{
	*n = s->statics.n;
	return s->statics.data;
}

uint64_t *heap_scan_buffer(struct heap_scan *s, size_t *size)
{
	s->nwords = 0;
	*size = sizeof(s->words);
	return s->words;
}

uint64_t heap_scan_bytes(const struct heap_scan *s)
{
	return s->bytes;
}

/* CPU time, so that a busy machine does not change the result. */
uint64_t heap_scan_worked_ns(const struct heap_scan *s)
{
	return clock_between(s->worked_ns, now_ns(CLOCK_THREAD_CPUTIME_ID));
}

bool heap_scan_read(struct heap_scan *s, uint64_t addr, uint64_t *ret)
{
	size_t got = 0;

	if (addr % WORD == 0 && addr - s->at < s->nwords * WORD) {
		*ret = s->words[(addr - s->at) / WORD];
		return true;
	}
	struct error *err = target_read_through(s->t, addr, ret, WORD, &got);
	error_free(err);
	return !err && got == WORD;
}

static void heap_scan_look_through(struct heap_scan *s)
{
	for (size_t i = 0; i < s->nranges; i++) {
		const struct word_range *r = &s->ranges[i];
		uint64_t low = r->low, size = r->size;

		for (size_t j = 0; j < s->nwords; j++) {
			if (s->words[j] - low < size)
				s->too_many |= !s->met(s, r, s->at + j * WORD, s->words[j]);
		}
	}
}

/* Whether reading takes too long, as from swapped pages; not counted: waits for a CPU. */
static bool is_too_slow(const struct heap_scan *s)
{
	uint64_t limit = s->began_ns + s->max_ns * SLOWEST;

	return clock_now_ns() >= limit &&
	       clock_now_ns() >= limit + clock_between(s->waited_ns, clock_waited_ns());
}

static bool may_go_on(struct heap_scan *s)
{
	s->out_of_bytes |= s->bytes >= s->max_bytes;
	s->out_of_work |= heap_scan_worked_ns(s) >= s->max_ns;
	s->out_of_time |= is_too_slow(s);
	if (!s->err)
		s->err = interrupt_check();
	return !s->err && !s->out_of_bytes && !s->out_of_work && !s->out_of_time && !s->too_many;
}

static bool heap_scan_visit(uint64_t start, uint64_t end, void *arg)
{
	struct heap_scan *s = arg;
	uint64_t at = start;

	if (start < end && module_at(s->t, start) && s->statics.n < MAX_STATICS)
		*vec_push(&s->statics) = (struct word_piece){ start, end };
	while (at < end && may_go_on(s)) {
		size_t want = end - at < PIECE ? (size_t)(end - at) : PIECE, got = 0;

		s->err = target_read_through(s->t, at, s->words, want, &got);
		s->at = at;
		s->nwords = s->err ? 0 : got / WORD;
		heap_scan_look_through(s);
		s->bytes += want;
		at += want;
	}
	return start == end ? may_go_on(s) : at >= end && !s->err;
}

static void set_limits(struct heap_scan *s)
{
	const char *limits = getenv("ASYNCDBG_SCAN");
	unsigned mib = HEAP_SCAN_MIB, ms = HEAP_SCAN_MS;

	if (limits && sscanf(limits, "%u,%u", &mib, &ms) < 1)
		mib = HEAP_SCAN_MIB;
	s->max_bytes = (uint64_t)mib << 20;
	s->max_ns = (uint64_t)ms * 1000000;
	s->worked_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	s->began_ns = clock_now_ns();
	s->waited_ns = clock_waited_ns();
}

/* Text of the limit that was met. */
static const char *limit_text(const struct heap_scan *s)
{
	struct arena *a = &s->in->arena;

	if (s->out_of_bytes)
		return arena_printf(a, "%" PRIu64 " MiB", s->max_bytes >> 20);
	if (s->out_of_work)
		return arena_printf(a, "%" PRIu64 " ms of CPU time", s->max_ns / 1000000);
	return arena_printf(a, "%" PRIu64 " ms", s->max_ns * SLOWEST / 1000000);
}

static const char *what_was_left(struct heap_scan *s)
{
	struct arena *a = &s->in->arena;

	if (!s->max_bytes)
		return arena_printf(a,
		                    "memory was not searched for %s, because of $ASYNCDBG_SCAN: "
		                    "such tasks may be missing",
		                    s->sought);
	if (s->too_many)
		return arena_printf(
			a, "memory contains too much that looks like tasks: %s may be missing",
			s->sought);
	if (!s->out_of_bytes && !s->out_of_work && !s->out_of_time)
		return NULL;
	return arena_printf(a,
	                    "only %" PRIu64
	                    " KiB of memory were searched for %s before the limit of %s was "
	                    "reached: such tasks may be missing; ASYNCDBG_SCAN=MIB,MS sets another "
	                    "one (MS of CPU time, ten times that in all)",
	                    s->bytes >> 10, s->sought, limit_text(s));
}

struct error *heap_scan_run(struct inspector *in, const struct word_range *ranges, size_t nranges,
                            const char *sought, heap_scan_fn *met,
                            void (*after)(struct heap_scan *s), void *arg, const char **cut)
{
	struct heap_scan *s = calloc(1, sizeof(*s));
	struct error *err = NULL;

	if (!s)
		out_of_memory();
	s->in = in;
	s->t = in->target;
	s->ranges = ranges;
	s->nranges = nranges;
	s->sought = sought;
	s->met = met;
	s->arg = arg;
	set_limits(s);
	if (nranges && s->max_bytes)
		err = target_each_writable(s->t, heap_scan_visit, s);
	if (!err)
		err = s->err;
	else
		error_free(s->err);
	if (!err) {
		if (after)
			after(s);
		*cut = what_was_left(s);
	}
	vec_free(&s->statics);
	free(s);
	return err;
}
