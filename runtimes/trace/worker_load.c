#include "runtimes/trace/worker_load.h"

#include <stdbool.h>
#include <stdlib.h>

#include "debugger/base/arena.h"
#include "debugger/base/clock.h"
#include "debugger/base/map.h"
#include "debugger/base/vec.h"

struct loaded {
	struct trace_item of; /* the last item of its thread */
	bool known, parked;
	uint64_t since;     /* when the times below began */
	uint64_t parked_at; /* not before since */
	uint64_t parked_ns; /* without the park that goes on */
};

struct worker_load {
	struct map threads; /* tid -> index + 1 */
	VEC(struct loaded) list;
};

struct worker_load *worker_load_new(void)
{
	return alloc_zeroed(sizeof(struct worker_load));
}

void worker_load_free(struct worker_load *l)
{
	if (!l)
		return;
	map_free(&l->threads);
	vec_free(&l->list);
	free(l);
}

void worker_load_freep(struct worker_load **l)
{
	worker_load_free(*l);
}

static struct loaded *loaded_of(struct worker_load *l, const struct trace_item *item)
{
	size_t index = (uintptr_t)map_get(&l->threads, (uint64_t)item->tid);

	if (index)
		return &l->list.data[index - 1];
	if (item->worker < 0 || l->list.n == TRACE_MAX_THREADS)
		return NULL;
	vec_push(&l->list);
	map_put(&l->threads, (uint64_t)item->tid, (void *)(uintptr_t)l->list.n);
	return &l->list.data[l->list.n - 1];
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void worker_load_add(struct worker_load *l, const struct trace_item *item)
{
	struct loaded *t = loaded_of(l, item);

	if (!t)
		return;
	uint64_t time = later(item->time, t->since);
	if (!t->known)
		*t = (struct loaded){ .known = true, .since = item->time };
	t->of = *item;
	if (item->event == TRACE_WORKER_STOP) {
		t->known = false;
	} else if (item->event == TRACE_PARK && !t->parked) {
		t->parked = true;
		t->parked_at = time;
	} else if ((item->event == TRACE_UNPARK || item->event == TRACE_POLL_START) && t->parked) {
		/* What polls is not parked, whether the end of that was seen or not. */
		t->parked_ns += clock_between(later(t->parked_at, t->since), time);
		t->parked = false;
	}
}

void worker_load_lost(struct worker_load *l)
{
	for (size_t i = 0; i < l->list.n; i++)
		l->list.data[i].known = false;
}

void worker_load_take(struct worker_load *l, uint64_t time, worker_load_fn *visit, void *arg)
{
	for (size_t i = 0; i < l->list.n; i++) {
		struct loaded *t = &l->list.data[i];

		if (!t->known || time <= t->since)
			continue;
		uint64_t all = clock_between(t->since, time), parked = t->parked_ns;
		if (t->parked)
			parked += clock_between(t->parked_at, time);
		visit(&t->of, all > parked ? all - parked : 0, all, arg);
		t->since = time;
		t->parked_at = later(t->parked_at, time);
		t->parked_ns = 0;
	}
}
