#include "commands/top/top_workers.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/clock.h"

static int top_workers_compare(const void *a, const void *b)
{
	const struct top_worker *x = a, *y = b;

	/* Threads that are no workers come last. */
	if (x->runtime != y->runtime)
		return (unsigned)x->runtime < (unsigned)y->runtime ? -1 : 1;
	return (unsigned)x->worker < (unsigned)y->worker
	               ? -1
	               : (unsigned)x->worker > (unsigned)y->worker;
}

void top_workers_next(struct top_workers *t, const struct event_counts *tally, struct arena *a,
                      struct top_worker **list, size_t *n)
{
	static const struct tallied_worker none;
	size_t nrows;
	const struct tallied_worker *rows = event_counts_workers(tally, &nrows);

	*list = NEW_ARRAY(a, struct top_worker, nrows);
	*n = 0;
	for (size_t i = 0; i < nrows; i++) {
		const struct tallied_worker *w = &rows[i];
		const struct tallied_worker *b = i < t->n ? &t->before[i] : &none;
		struct top_worker *to = &(*list)[*n];

		*to = (struct top_worker){
			.runtime = w->runtime,
			.worker = w->worker,
			.polls = w->polls - b->polls,
			.parks = w->parks - b->parks,
			.busy_ns = clock_between(b->busy_ns, w->busy_ns),
			.parked_ns = clock_between(b->parked_ns, w->parked_ns),
			.queue_len = w->queue_len,
			.has_queue = w->has_queue,
		};
		*n += to->polls || to->busy_ns || to->parked_ns || to->has_queue;
	}
	qsort(*list, *n, sizeof(**list), top_workers_compare);
	top_workers_free(t);
	t->before = alloc_zeroed((nrows + 1) * sizeof(*t->before));
	memcpy(t->before, rows, nrows * sizeof(*rows));
	t->n = nrows;
}

void top_workers_free(struct top_workers *t)
{
	free(t->before);
	*t = (struct top_workers){ 0 };
}
