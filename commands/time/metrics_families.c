#include "commands/time/metrics_families.h"

#include <string.h>

#define PREFIX "asyncdbg_"

/* Whether the events are shown that a family is made of. */
static bool metrics_families_has(const struct metrics_source *m, enum trace_event event)
{
	return m->plan->has[event];
}

/* ---- the trace itself ---- */

static void metrics_families_write_total(struct prometheus *p, const char *name, const char *help,
                                         uint64_t value)
{
	prometheus_family(p, name, "counter", help);
	prometheus_number(p, (prometheus_labels){ { 0 } }, value);
}

static void metrics_families_write_trace(struct prometheus *p, const struct metrics_source *m)
{
	prometheus_family(p, PREFIX "elapsed_seconds", "gauge",
	                  "How long the process has been traced: all counters began with that.");
	prometheus_time(p, (prometheus_labels){ { 0 } }, m->elapsed_ns);
	prometheus_family(p, PREFIX "slow_poll_threshold_seconds", "gauge",
	                  "A poll that takes longer is slow.");
	prometheus_time(p, (prometheus_labels){ { 0 } }, m->slow_ns);
	metrics_families_write_total(p, PREFIX "trace_events_total", "Events that were counted.",
	                             m->totals.events);
	metrics_families_write_total(p, PREFIX "trace_lost_events_total",
	                             "Events that came faster than they could be counted.",
	                             m->totals.lost + m->totals.too_deep);
	metrics_families_write_total(
		p, PREFIX "trace_unmatched_polls_total",
		"Polls whose end was not seen itself, and whose length is not known.",
		m->totals.unmatched);
	metrics_families_write_total(
		p, PREFIX "trace_untracked_tasks_total",
		"Tasks whose delays are not known, because too many existed or they have no id.",
		event_counts_untracked(m->tally));
}

/* ---- runtimes ---- */

/* A number of a runtime at the last look; false: it is not known. */
typedef bool runtime_number(const struct tallied_runtime *r, uint64_t *ret);

static bool workers(const struct tallied_runtime *r, uint64_t *ret)
{
	*ret = r->workers;
	return true;
}

static bool alive_in(const struct tallied_runtime *r, uint64_t *ret)
{
	*ret = r->alive;
	return r->has_alive;
}

static bool injected(const struct tallied_runtime *r, uint64_t *ret)
{
	*ret = r->inject_len;
	return r->has_inject;
}

static bool blocking_queued(const struct tallied_runtime *r, uint64_t *ret)
{
	*ret = r->blocking_queued;
	return r->has_blocking;
}

static bool blocking_threads(const struct tallied_runtime *r, uint64_t *ret)
{
	*ret = r->blocking_threads;
	return r->has_blocking;
}

static bool blocking_idle(const struct tallied_runtime *r, uint64_t *ret)
{
	*ret = r->blocking_idle;
	return r->has_blocking;
}

static const struct {
	const char *name, *help;
	runtime_number *number;
} runtime_gauges[] = {
	{ PREFIX "workers", "Workers of the runtime.", workers },
	{ PREFIX "runtime_live_tasks", "Tasks of the runtime that exist, by its own count.",
	  alive_in },
	{ PREFIX "global_queue_depth", "Tasks in the runtime's injection queue.", injected },
	{ PREFIX "blocking_queue_depth", "Jobs that wait for a thread of the blocking pool.",
	  blocking_queued },
	{ PREFIX "blocking_threads", "Threads of the blocking pool.", blocking_threads },
	{ PREFIX "idle_blocking_threads", "Threads of the blocking pool without a job.",
	  blocking_idle },
};

/* The label of a number; NULL: it is unknown. */
static const char *metrics_families_index_text(char *text, size_t size, int index)
{
	if (index < 0)
		return NULL;
	snprintf(text, size, "%d", index);
	return text;
}

static void write_runtime_gauge(struct prometheus *p, const struct metrics_source *m, size_t which)
{
	size_t n;
	const struct tallied_runtime *rows = event_counts_runtimes(m->tally, &n);

	prometheus_family(p, runtime_gauges[which].name, "gauge", runtime_gauges[which].help);
	for (size_t i = 0; i < n; i++) {
		char index[16];
		uint64_t value;

		if (rows[i].exists && runtime_gauges[which].number(&rows[i], &value))
			prometheus_number(
				p,
				(prometheus_labels){
					{ "runtime", metrics_families_index_text(
							     index, sizeof(index), (int)i) } },
				value);
	}
}

static void write_runtimes(struct prometheus *p, const struct metrics_source *m)
{
	size_t n;
	const struct tallied_runtime *rows = event_counts_runtimes(m->tally, &n);

	prometheus_family(p, PREFIX "runtime_info", "gauge", "What the runtime is; always 1.");
	for (size_t i = 0; i < n; i++) {
		char index[16];

		if (rows[i].exists)
			prometheus_number(
				p,
				(prometheus_labels){
					{ "runtime", metrics_families_index_text(
							     index, sizeof(index), (int)i) },
					{ "kind", rows[i].kind },
					{ "flavor", rows[i].flavor },
					{ "name", rows[i].name } },
				1);
	}
	for (size_t i = 0; i < sizeof(runtime_gauges) / sizeof(*runtime_gauges); i++)
		write_runtime_gauge(p, m, i);
}

/* ---- workers ---- */

enum worker_number { QUEUE, POLLS, PARKS, BUSY, PARKED };

static const struct {
	enum worker_number number;
	enum trace_event event; /* without which it is not known */
	const char *name, *type, *help;
} worker_families[] = {
	{ QUEUE, TRACE_POLL_START, PREFIX "local_queue_depth", "gauge",
	  "Tasks in the worker's own queue." },
	{ POLLS, TRACE_POLL_START, PREFIX "worker_polls_total", "counter",
	  "Polls of tasks that began on the worker." },
	{ PARKS, TRACE_PARK, PREFIX "worker_park_total", "counter",
	  "How often the worker parked." },
	{ BUSY, TRACE_PARK, PREFIX "worker_busy_duration_seconds_total", "counter",
	  "Time that the worker was not parked." },
	{ PARKED, TRACE_PARK, PREFIX "worker_park_duration_seconds_total", "counter",
	  "Time that the worker was parked." },
};

/* Threads that are no workers only poll: when they are busy is unknown. */
static bool is_known(const struct tallied_worker *w, enum worker_number number)
{
	if (number == QUEUE)
		return w->has_queue && w->worker >= 0;
	if (number == POLLS)
		return w->worker >= 0 || w->polls;
	return w->worker >= 0 || w->parks;
}

static void write_worker(const struct prometheus *p, const struct tallied_worker *w,
                         enum worker_number number)
{
	char runtime[16], worker[16];
	const char *runtime_text =
		metrics_families_index_text(runtime, sizeof(runtime), w->runtime);
	const char *worker_text = metrics_families_index_text(worker, sizeof(worker), w->worker);
	prometheus_labels labels = {
		{ "runtime", runtime_text ? runtime_text : "unknown" },
		{ "worker", worker_text    ? worker_text
		            : runtime_text ? "none"
		                           : "unknown" },
	};

	if (number == BUSY || number == PARKED)
		prometheus_time(p, labels, number == BUSY ? w->busy_ns : w->parked_ns);
	else
		prometheus_number(p, labels,
		                  number == QUEUE   ? w->queue_len
		                  : number == POLLS ? w->polls
		                                    : w->parks);
}

static void write_workers(struct prometheus *p, const struct metrics_source *m)
{
	size_t n;
	const struct tallied_worker *rows = event_counts_workers(m->tally, &n);

	for (size_t i = 0; i < sizeof(worker_families) / sizeof(*worker_families); i++) {
		if (!metrics_families_has(m, worker_families[i].event))
			continue;
		prometheus_family(p, worker_families[i].name, worker_families[i].type,
		                  worker_families[i].help);
		for (size_t j = 0; j < n; j++) {
			if (is_known(&rows[j], worker_families[i].number))
				write_worker(p, &rows[j], worker_families[i].number);
		}
	}
}

/* ---- types of tasks ---- */

enum type_number { ALIVE, SPAWNED, ENDED, TYPE_POLLS, SLOW, POLL, FIRST_DELAY, SCHEDULED };

static const struct {
	enum type_number number;
	enum trace_event events[2]; /* without which it is not known */
	const char *name, *type, *help;
} type_families[] = {
	{ ALIVE,
	  { TRACE_SPAWN, TRACE_TERMINATE },
	  PREFIX "live_tasks",
	  "gauge",
	  "Tasks that exist." },
	{ SPAWNED,
	  { TRACE_SPAWN, TRACE_SPAWN },
	  PREFIX "spawned_tasks_total",
	  "counter",
	  "Tasks that were spawned." },
	{ ENDED,
	  { TRACE_TERMINATE, TRACE_TERMINATE },
	  PREFIX "dropped_tasks_total",
	  "counter",
	  "Tasks that have ended: were ready, panicked or were aborted." },
	{ TYPE_POLLS,
	  { TRACE_POLL_START, TRACE_POLL_START },
	  PREFIX "polls_total",
	  "counter",
	  "Polls that began." },
	{ SLOW,
	  { TRACE_POLL_END, TRACE_POLL_END },
	  PREFIX "slow_polls_total",
	  "counter",
	  "Polls that took longer than the threshold." },
	{ POLL,
	  { TRACE_POLL_END, TRACE_POLL_END },
	  PREFIX "poll_duration_seconds",
	  "histogram",
	  "How long polls took." },
	{ FIRST_DELAY,
	  { TRACE_SPAWN, TRACE_POLL_START },
	  PREFIX "first_poll_delay_seconds",
	  "histogram",
	  "Time from the spawn to the first poll." },
	{ SCHEDULED,
	  { TRACE_WAKE, TRACE_POLL_START },
	  PREFIX "scheduled_duration_seconds",
	  "histogram",
	  "Time from a wake-up of an idle task to its next poll." },
};

static uint64_t metrics_families_number_of(const struct tallied_type *t, enum type_number number)
{
	switch (number) {
	case ALIVE:
		return t->alive;
	case SPAWNED:
		return t->spawned;
	case ENDED:
		return t->ended;
	case SLOW:
		return t->slow;
	default:
		return t->polls;
	}
}

/* NULL: the number is no histogram. */
static const struct event_histogram *histogram_of(const struct tallied_type *t,
                                                  enum type_number number)
{
	return number == POLL          ? &t->poll
	       : number == FIRST_DELAY ? &t->first_delay
	       : number == SCHEDULED   ? &t->scheduled
	                               : NULL;
}

static void write_type(const struct prometheus *p, const struct tallied_type *t,
                       enum type_number number)
{
	const struct event_histogram *h = histogram_of(t, number);
	prometheus_labels labels = {
		{ "kind", t->job == TRACE_BLOCKING ? "blocking" : "task" },
		{ "type", t->type     ? t->type
		          : t->others ? "other"
		                      : "unknown" },
	};

	if (!h)
		prometheus_number(p, labels, metrics_families_number_of(t, number));
	else if (h->n)
		prometheus_histogram(p, labels, h);
}

static bool is_used(const struct tallied_type *t)
{
	return !t->others || t->alive || t->spawned || t->ended || t->polls;
}

static void write_types(struct prometheus *p, const struct metrics_source *m)
{
	size_t n;
	const struct tallied_type *rows = event_counts_types(m->tally, &n);

	for (size_t i = 0; i < sizeof(type_families) / sizeof(*type_families); i++) {
		if (!metrics_families_has(m, type_families[i].events[0]) ||
		    !metrics_families_has(m, type_families[i].events[1]))
			continue;
		prometheus_family(p, type_families[i].name, type_families[i].type,
		                  type_families[i].help);
		for (size_t j = 0; j < n; j++) {
			if (is_used(&rows[j]))
				write_type(p, &rows[j], type_families[i].number);
		}
	}
}

void metrics_families_write(FILE *f, const struct metrics_source *m)
{
	struct prometheus p = { .f = f, .all = m->all };

	metrics_families_write_trace(&p, m);
	write_runtimes(&p, m);
	write_workers(&p, m);
	write_types(&p, m);
}
