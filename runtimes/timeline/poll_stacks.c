#include "runtimes/timeline/poll_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "debugger/base/vec.h"

enum { MAX_PENDING = 1 << 20 /* samples of a thread that no poll has taken yet */ };

struct pending {
	uint64_t time;
	uint32_t stack;
};

struct thread_samples {
	VEC(struct pending) pending; /* in the order of their times */
	size_t first;                /* index of the first one that is still of interest */
};

struct poll_stacks {
	struct arena arena;
	VEC(struct poll_stack) stacks;
	struct map index_of; /* key of a stack -> index + 1 */
	struct map threads;  /* tid -> struct thread_samples */
	uint64_t in_polls;
};

struct poll_stacks *poll_stacks_new(void)
{
	return alloc_zeroed(sizeof(struct poll_stacks));
}

void poll_stacks_free(struct poll_stacks *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->threads.capacity; i++) {
		struct thread_samples *t = p->threads.slots[i].value;

		if (p->threads.slots[i].key)
			vec_free(&t->pending);
	}
	vec_free(&p->stacks);
	map_free(&p->index_of);
	map_free(&p->threads);
	arena_free(&p->arena);
	free(p);
}

const struct poll_stack *poll_stacks_at(const struct poll_stacks *p, uint32_t index)
{
	return &p->stacks.data[index];
}

uint64_t poll_stacks_in_polls(const struct poll_stacks *p)
{
	return p->in_polls;
}

/* ---- samples ---- */

static const uint64_t nowhere[1];
static const struct poll_stack no_code = { .code = nowhere };

static uint64_t poll_stacks_thread_key(pid_t tid)
{
	return (uint64_t)(uint32_t)tid + 1;
}

static uint32_t index_of(struct poll_stacks *p, const struct poll_stack *stack)
{
	if (p->stacks.n >= POLL_STACKS_MAX)
		stack = &no_code;
	uint64_t key = map_key_of_pair(stack->n + 1, stack->in_kernel + 1u);

	key = map_key_on(key, stack->code, stack->n * sizeof(*stack->code));
	size_t found = (uintptr_t)map_get(&p->index_of, key);
	if (found)
		return (uint32_t)(found - 1);
	*vec_push(&p->stacks) = (struct poll_stack){
		.code = arena_memdup(&p->arena, stack->code, stack->n * sizeof(*stack->code)),
		.n = stack->n,
		.in_kernel = stack->in_kernel,
	};
	map_put(&p->index_of, key, (void *)(uintptr_t)p->stacks.n);
	return (uint32_t)(p->stacks.n - 1);
}

static struct thread_samples *samples_of(struct poll_stacks *p, pid_t tid)
{
	struct thread_samples *t = map_get(&p->threads, poll_stacks_thread_key(tid));

	if (!t) {
		t = NEW(&p->arena, struct thread_samples);
		map_put(&p->threads, poll_stacks_thread_key(tid), t);
	}
	return t;
}

/* Makes room at the end by removing samples that are no longer needed. */
static void compact(struct thread_samples *t)
{
	if (!t->first || t->first < t->pending.n / 2)
		return;
	t->pending.n -= t->first;
	memmove(t->pending.data, t->pending.data + t->first,
	        t->pending.n * sizeof(*t->pending.data));
	t->first = 0;
}

void poll_stacks_add(struct poll_stacks *p, pid_t tid, uint64_t time,
                     const struct poll_stack *stack)
{
	struct thread_samples *t = samples_of(p, tid);

	if (t->pending.n - t->first == MAX_PENDING)
		t->first++;
	compact(t);
	const struct pending sample = { time, index_of(p, stack) };
	size_t at = t->pending.n;
	vec_push(&t->pending);
	/* Samples are sorted by time: those of another CPU may be read later. */
	for (; at > t->first && t->pending.data[at - 1].time > time; at--)
		t->pending.data[at] = t->pending.data[at - 1];
	t->pending.data[at] = sample;
}

/* ---- polls ---- */

static bool is_due(const struct thread_samples *t, size_t i, uint64_t time)
{
	return i < t->pending.n && t->pending.data[i].time <= time;
}

/* The first sample at that time or later. */
static size_t first_at(const struct thread_samples *t, uint64_t time)
{
	size_t low = t->first, high = t->pending.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->pending.data[middle].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void poll_stacks_end(struct poll_stacks *p, const struct task_span *span, poll_stack_fn *visit,
                     void *arg)
{
	struct thread_samples *t = map_get(&p->threads, poll_stacks_thread_key(span->tid));

	if (!t || span->doing != DOING_POLLING)
		return;
	/*
	 * Removes the samples of this poll: the rest is before it, of an outer poll, or behind it.
	 */
	size_t from = first_at(t, span->from.ns), i = from;
	for (; is_due(t, i, span->to.ns); i++) {
		p->in_polls++;
		visit(span, t->pending.data[i].stack, arg);
	}
	if (i == from)
		return;
	memmove(t->pending.data + from, t->pending.data + i,
	        (t->pending.n - i) * sizeof(*t->pending.data));
	t->pending.n -= i - from;
}

void poll_stacks_drop(struct poll_stacks *p, pid_t tid, uint64_t time)
{
	struct thread_samples *t = map_get(&p->threads, poll_stacks_thread_key(tid));

	while (t && is_due(t, t->first, time))
		t->first++;
}
