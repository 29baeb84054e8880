#include "commands/time/sink_counters.h"

#include <stdlib.h>

#include "debugger/base/arena.h"
#include "debugger/base/clock.h"
#include "debugger/base/map.h"
#include "runtimes/timeline/timeline.h"

enum {
	INTERVAL_NS = 100000000, /* between two values, at least */
	SECOND_NS = 1000000000,
	PERCENT = 100,
	MAX_TRACKS = 1 << 12,
};

/* Kinds of tracks of a worker. */
enum { OF_QUEUE = 1, OF_BUSY };

struct sink_counters {
	struct perfetto *p;
	struct error *err; /* the first error of writing a worker's value */
	bool has_polls, has_busy;
	uint64_t polls_track;  /* 0: none yet */
	uint64_t start, since; /* since 0: there was no item yet */
	uint64_t npolls;
	struct map tracks;         /* hash of kind, runtime and worker -> track */
	struct timeline *timeline; /* of the loads of threads */
};

static bool sink_counters_shows(const struct trace_heading *h, enum trace_event event)
{
	return h->wanted[event] && h->plan->has[event];
}

struct sink_counters *sink_counters_new(struct perfetto *p, const struct trace_heading *h)
{
	struct sink_counters *c = alloc_zeroed(sizeof(*c));
	bool all = sink_filter_has(h->filter, 0, NULL);

	c->p = p;
	c->start = h->start;
	c->has_polls = all && sink_counters_shows(h, TRACE_POLL_START);
	c->has_busy =
		all && sink_counters_shows(h, TRACE_PARK) && sink_counters_shows(h, TRACE_UNPARK);
	c->timeline = timeline_new(TIMELINE_LOADS, NULL, NULL);
	return c;
}

void sink_counters_free(struct sink_counters *c)
{
	if (!c)
		return;
	error_free(c->err);
	map_free(&c->tracks);
	timeline_free(c->timeline);
	free(c);
}

/* A value of a worker, or of a runtime where worker is -1. Its track is added before its first. */
static struct error *sink_counters_count(struct sink_counters *c, unsigned what, int runtime,
                                         int worker, uint64_t time, int64_t value)
{
	uint64_t key = map_key_of_pair(what << 1 | 1, (uint64_t)runtime << 32 | (uint32_t)worker);
	uint64_t track = (uintptr_t)map_get(&c->tracks, key);
	bool busy = what == OF_BUSY;
	SCRATCH(tmp);

	if (!track && c->tracks.n == MAX_TRACKS)
		return NULL;
	if (!track) {
		const char *name =
			worker < 0 ? arena_printf(&tmp, "injection queue of runtime %d", runtime)
				   : arena_printf(&tmp, "%sworker %d/%d%s", busy ? "" : "queue of ",
		                                  runtime, worker, busy ? " busy" : "");
		TRY(perfetto_add_counter(c->p, PERFETTO_PROCESS, name, busy ? "%" : "tasks",
		                         &track));
		map_put(&c->tracks, key, (void *)(uintptr_t)track);
	}
	return perfetto_count(c->p, time, track, value);
}

/* Writes the share of time that a worker was busy; threads of which nothing is known are forgotten.
 */
static bool count_busy(struct timeline_load *l, void *arg)
{
	struct sink_counters *c = arg;
	uint64_t all = l->busy_ns + l->parked_ns;
	bool known = l->work != WORK_UNKNOWN;

	if (known && all && l->worker >= 0 && !c->err)
		c->err = sink_counters_count(c, OF_BUSY, l->runtime, l->worker, c->since,
		                             (int64_t)((l->busy_ns * PERCENT + all / 2) / all));
	l->polls = l->parks = l->busy_ns = l->parked_ns = 0;
	return known;
}

static struct error *count_polls(struct sink_counters *c, uint64_t time)
{
	uint64_t elapsed = clock_between(c->since, time);

	if (!c->polls_track)
		TRY(perfetto_add_counter(c->p, PERFETTO_PROCESS, "polls a second", "polls",
		                         &c->polls_track));
	/* A value holds from its time on. */
	return perfetto_count(c->p, c->since, c->polls_track,
	                      (int64_t)((double)c->npolls * SECOND_NS / (double)elapsed + 0.5));
}

/* Writes the counters since the last call. */
static struct error *advance(struct sink_counters *c, uint64_t time)
{
	struct error *err;

	if (!c->since || time <= c->since)
		return NULL;
	if (c->has_polls)
		TRY(count_polls(c, time));
	if (c->has_busy)
		timeline_each_load(c->timeline, time, count_busy, c);
	c->since = time;
	c->npolls = 0;
	err = c->err;
	c->err = NULL;
	return err;
}

void sink_counters_lost(struct sink_counters *c)
{
	timeline_lost(c->timeline, 0);
}

void sink_counters_known(struct sink_counters *c, const struct trace_item *start)
{
	struct trace_item now = *start;

	now.time = c->start;
	if (c->has_busy)
		timeline_add(c->timeline, &now);
}

struct error *sink_counters_item(struct sink_counters *c, const struct trace_item *item)
{
	if (!c->since)
		c->since = item->time;
	if (item->time >= c->since + INTERVAL_NS)
		TRY(advance(c, item->time));
	c->npolls += item->event == TRACE_POLL_START && item->job == TRACE_TASK;
	if (c->has_busy)
		timeline_add(c->timeline, item);
	return NULL;
}

struct error *sink_counters_queue(struct sink_counters *c, const struct sink_queue *q)
{
	return sink_counters_count(c, OF_QUEUE, q->runtime, q->worker, q->time, (int64_t)q->length);
}

struct error *sink_counters_end(struct sink_counters *c, uint64_t time)
{
	return advance(c, time);
}
