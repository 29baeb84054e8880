/*
 * A trace for Perfetto: for each thread a track of what it polls, and for each task a track of its
 * states, below one of its type. Beyond some hundred tasks those of a type share tracks: a viewer
 * shows no more of them, and a server has one for each request. An arrow goes from each wake-up to
 * the poll that follows.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/perfetto/perfetto.h"
#include "commands/time/sink_counters.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/host/process_list.h"
#include "debugger/target/target.h"
#include "dwarf/names/demangle.h"
#include "runtimes/timeline/timeline.h"
#include "runtimes/trace/trace_key.h"

enum {
	MAX_GROUPS = 10000, /* types with a track of their own */
	OWN_TRACKS = 300,   /* tasks with one; further ones share those of tasks that have ended */
	SPARE_TASKS = 4096, /* ended tasks that are kept before they are forgotten */
};

/* The tasks of one type. */
struct track_group {
	uint64_t track;
	size_t nlanes;
	VEC(uint64_t) free; /* lanes whose task has ended */
};

struct task_track {
	uint64_t id, track;
	struct track_group *group;
	bool shared; /* track is a lane, in which a slice around the others has the task's name, */
	bool named;  /* that outer slice is open */
	uint64_t flow; /* of the wake-up that its next poll follows; 0: none */
	pid_t polled_on;
	bool open, alive; /* a slice is open; the task has not ended */
};

struct sink_perfetto {
	struct sink sink;
	const struct sink_filter *filter;
	struct perfetto *p;
	struct sink_counters *counters;
	struct error *err;  /* the first one */
	struct map threads; /* tid -> track */
	struct map names;   /* tid -> name that the thread has in the snapshot */
	struct map groups;  /* hash of a type -> struct track_group */
	struct map types;   /* address of a type's name, or of a place -> its text */
	struct map tasks;   /* id -> index + 1 */
	struct map
		sites; /* id of a task that exists when the trace begins -> struct source_place */
	VEC(struct task_track) list;
	size_t ngroups, nalive, nown; /* nown: tasks with a track of their own */
	struct track_group others;    /* group of the types beyond the limit */
	uint64_t alive, nflows;       /* alive: track of the number of tasks */
	pid_t pid;
	uint64_t last; /* time of the latest item */
	struct arena arena;
};

static void sink_perfetto_note(struct sink_perfetto *s, struct error *err)
{
	if (err && !s->err)
		s->err = err;
	else
		error_free(err);
}

/* ---- tracks ---- */

static const char *sink_perfetto_short_name(struct sink_perfetto *s, const char *type)
{
	if (!type)
		return "unknown type";
	if (!map_has(&s->types, (uintptr_t)type))
		map_put(&s->types, (uintptr_t)type, (void *)(uintptr_t)name_short(&s->arena, type));
	return map_get(&s->types, (uintptr_t)type);
}

/* The kernel's name of a thread, now or in the snapshot; NULL: unknown. The text lives in a. */
static const char *comm_of(const struct sink_perfetto *s, struct arena *a, pid_t tid)
{
	const char *comm = tid > 0 ? process_thread_name(a, s->pid, tid) : NULL;

	return comm ? comm : map_get(&s->names, (uint64_t)tid);
}

/* "tokio-rt-worker (worker 0/3)": the number is that of its runtime and within it. */
static const char *thread_name(const struct sink_perfetto *s, struct arena *a,
                               const struct trace_item *item)
{
	const char *comm = comm_of(s, a, item->tid);
	const char *own = item->worker >= 0
	                          ? arena_printf(a, "worker %d/%d", item->runtime, item->worker)
	                          : NULL;

	if (comm && own)
		return arena_printf(a, "%s (%s)", comm, own);
	return comm ? comm : own ? own : arena_printf(a, "thread %d", (int)item->tid);
}

static uint64_t thread_track(struct sink_perfetto *s, const struct trace_item *item)
{
	uint64_t track = (uintptr_t)map_get(&s->threads, (uint64_t)item->tid);
	/* A track needs an id: one that the kernel gives to none. */
	int tid = item->tid > 0 ? item->tid : 1 << 30 | (item->tid & 0x3fffffff);
	SCRATCH(tmp);

	if (track)
		return track;
	sink_perfetto_note(s, perfetto_add_thread(s->p, tid, thread_name(s, &tmp, item), &track));
	map_put(&s->threads, (uint64_t)item->tid, (void *)(uintptr_t)track);
	return track;
}

static struct track_group *sink_perfetto_group_of(struct sink_perfetto *s, const char *type)
{
	const char *name = sink_perfetto_short_name(s, type);
	uint64_t key = map_key_of_text(name);
	struct track_group *g = map_get(&s->groups, key);

	if (g)
		return g;
	if (s->ngroups++ < MAX_GROUPS) {
		g = NEW(&s->arena, struct track_group);
		map_put(&s->groups, key, g);
	} else {
		name = "other types";
		g = &s->others;
	}
	if (!g->track)
		sink_perfetto_note(s, perfetto_add_track(s->p, PERFETTO_PROCESS, name, &g->track));
	return g;
}

/* The lane of a task that has ended, else a new one. */
static uint64_t take_lane(struct sink_perfetto *s, struct track_group *g)
{
	SCRATCH(tmp);
	uint64_t track;

	if (g->free.n)
		return g->free.data[--g->free.n];
	sink_perfetto_note(
		s, perfetto_add_track(s->p, g->track,
	                              arena_printf(&tmp, "more tasks, lane %zu", ++g->nlanes),
	                              &track));
	return track;
}

/* Forgets tasks that have ended, so that memory does not grow with the trace. */
static void forget_ended(struct sink_perfetto *s)
{
	size_t n = 0;

	map_free(&s->tasks);
	for (size_t i = 0; i < s->list.n; i++) {
		if (!s->list.data[i].alive)
			continue;
		s->list.data[n++] = s->list.data[i];
		map_put(&s->tasks, s->list.data[n - 1].id, (void *)(uintptr_t)n);
	}
	s->list.n = n;
}

static const char *task_name(struct arena *a, uint64_t id)
{
	return arena_printf(a, "task %s", trace_key_text(a, id));
}

static struct task_track *new_track(struct sink_perfetto *s, uint64_t id, const char *type)
{
	SCRATCH(tmp);

	if (s->list.n > 2 * s->nalive + SPARE_TASKS)
		forget_ended(s);
	struct task_track *t = vec_push(&s->list);
	*t = (struct task_track){ .id = id,
		                  .alive = true,
		                  .group = sink_perfetto_group_of(s, type) };
	s->nalive++;
	map_put(&s->tasks, id, (void *)(uintptr_t)s->list.n);
	t->shared = s->nown >= OWN_TRACKS;
	s->nown += !t->shared;
	if (t->shared)
		t->track = take_lane(s, t->group);
	else
		sink_perfetto_note(s, perfetto_add_track(s->p, t->group->track, task_name(&tmp, id),
		                                         &t->track));
	return t;
}

static struct task_track *sink_perfetto_task_track(struct sink_perfetto *s, uint64_t id,
                                                   const char *type)
{
	size_t index = (uintptr_t)map_get(&s->tasks, id);

	return index ? &s->list.data[index - 1] : new_track(s, id, type);
}

/* Track of a task that begins: another task may have had its id. */
static struct task_track *first_track(struct sink_perfetto *s, uint64_t id, const char *type)
{
	struct task_track *t = sink_perfetto_task_track(s, id, type);

	return t->alive ? t : new_track(s, id, type);
}

/* ---- events ---- */

/* A number, if the task has one. */
static struct perfetto_value sink_perfetto_task_value(struct arena *a, uint64_t id)
{
	bool has_number = id <= INT64_MAX;

	return (struct perfetto_value){ .key = "task",
		                        .text = has_number ? NULL : trace_key_text(a, id),
		                        .number = has_number ? (int64_t)id : 0 };
}

static void end_slice(struct sink_perfetto *s, struct task_track *t, uint64_t time)
{
	if (t->open)
		sink_perfetto_note(
			s, perfetto_end(s->p, &(struct perfetto_event){ .time = time,
		                                                        .track = t->track }));
	t->open = false;
}

/* Begins the slice around all others of a task in a lane. */
static void begin_task(struct sink_perfetto *s, struct task_track *t, uint64_t time)
{
	SCRATCH(tmp);

	if (t->shared && !t->named)
		sink_perfetto_note(s,
		                   perfetto_begin(s->p, &(struct perfetto_event){
								.time = time,
								.track = t->track,
								.name = task_name(&tmp, t->id) }));
	t->named = t->shared;
}

/* A task that has ended does nothing: its lane may be that of another one. */
static void sink_perfetto_begin_slice(struct sink_perfetto *s, struct task_track *t, uint64_t time,
                                      const char *name, const struct perfetto_value *values,
                                      size_t n)
{
	if (!t->alive)
		return;
	end_slice(s, t, time);
	begin_task(s, t, time);
	sink_perfetto_note(s, perfetto_begin(s->p, &(struct perfetto_event){ .time = time,
	                                                                     .track = t->track,
	                                                                     .name = name,
	                                                                     .values = values,
	                                                                     .nvalues = n }));
	t->open = true;
}

/* The task has ended. */
static void sink_perfetto_end_task(struct sink_perfetto *s, struct task_track *t, uint64_t time)
{
	end_slice(s, t, time);
	if (!t->alive)
		return;
	if (t->named)
		sink_perfetto_note(
			s, perfetto_end(s->p, &(struct perfetto_event){ .time = time,
		                                                        .track = t->track }));
	t->alive = t->named = false;
	s->nalive--;
	if (t->shared)
		*vec_push(&t->group->free) = t->track;
}

/* The whole chain of awaits, outermost first; false: unknown. The text lives in a. */
static bool chain_value(struct arena *a, const struct trace_place *place,
                        struct perfetto_value *ret)
{
	STR(text);

	for (size_t i = 0; place && i < place->nframes; i++) {
		const struct trace_frame *f = &place->frames[i];

		str_printf(&text, "%s%s", i ? " > " : "", f->function);
		if (f->file && f->line)
			str_printf(&text, " at %s:%u", f->file, f->line);
	}
	if (place && place->nframes && (place->leaf || place->cut))
		str_printf(&text, " > %s", place->leaf ? place->leaf : "...");
	*ret = (struct perfetto_value){ .key = "awaits", .text = arena_strdup(a, str_text(&text)) };
	return place && place->nframes;
}

/* Place where a task was spawned; false: unknown. The text lives in a. */
static bool site_value(struct arena *a, const struct source_place *site, struct perfetto_value *ret)
{
	if (!site || !site->line)
		return false;
	*ret = (struct perfetto_value){
		.key = "spawned_at",
		.text = arena_printf(a, "%s:%u", site->file_short ? site->file_short : site->file,
		                     site->line)
	};
	return true;
}

static void sink_perfetto_count_alive(struct sink_perfetto *s, uint64_t time)
{
	if (s->alive)
		sink_perfetto_note(s, perfetto_count(s->p, time, s->alive, (int64_t)s->nalive));
}

static void spawns(struct sink_perfetto *s, const struct trace_item *item)
{
	struct task_track *t = first_track(s, item->task, item->type);
	struct perfetto_value site;
	SCRATCH(tmp);
	bool known = site_value(&tmp, item->spawned_at, &site);

	sink_perfetto_begin_slice(s, t, item->time, "runnable", &site, known);
	sink_perfetto_count_alive(s, item->time);
}

/*
 * "waiting at src/main.rs:12": the await in the program's own code, not in code that it has called.
 */
static const char *waiting_name(struct sink_perfetto *s, const struct trace_place *place)
{
	const struct trace_frame *f = place ? trace_place_own(place) : NULL;

	if (!f || !f->file || !f->line)
		return "waiting";
	if (!map_has(&s->types, (uintptr_t)place))
		map_put(&s->types, (uintptr_t)place,
		        arena_printf(&s->arena, "waiting at %s:%u", f->file, f->line));
	return map_get(&s->types, (uintptr_t)place);
}

static void poll_starts(struct sink_perfetto *s, const struct trace_item *item, uint64_t thread)
{
	struct task_track *t = sink_perfetto_task_track(s, item->task, item->type);
	SCRATCH(tmp);
	const struct perfetto_value id = sink_perfetto_task_value(&tmp, item->task);

	sink_perfetto_note(
		s, perfetto_begin(s->p, &(struct perfetto_event){
						.time = item->time,
						.track = thread,
						.name = sink_perfetto_short_name(s, item->type),
						.flow_in = t->flow,
						.values = &id,
						.nvalues = 1,
					}));
	t->flow = 0;
	t->polled_on = item->tid;
	sink_perfetto_begin_slice(s, t, item->time, "polling", NULL, 0);
}

static void poll_ends(struct sink_perfetto *s, const struct trace_item *item, uint64_t thread)
{
	struct task_track *t = sink_perfetto_task_track(s, item->task, item->type);
	struct perfetto_value chain;
	SCRATCH(tmp);
	const struct perfetto_value values[] = {
		{ .key = "ready",
		  .text = !item->ready_known ? "unknown"
		          : item->ready      ? "yes"
		                             : "no" },
		{ .key = "seen_late", .text = "yes" },
	};

	sink_perfetto_note(
		s, perfetto_end(s->p, &(struct perfetto_event){ .time = item->time,
	                                                        .track = thread,
	                                                        .values = values,
	                                                        .nvalues = item->late ? 2 : 1 }));
	/* Another thread may be polling the task already. */
	if (t->alive && t->polled_on == item->tid)
		sink_perfetto_begin_slice(s, t, item->time, waiting_name(s, item->place), &chain,
		                          chain_value(&tmp, item->place, &chain));
}

static void wakes(struct sink_perfetto *s, const struct trace_item *item, uint64_t thread)
{
	struct task_track *t = sink_perfetto_task_track(s, item->task, item->type);
	SCRATCH(tmp);
	const struct perfetto_value id = sink_perfetto_task_value(&tmp, item->task);
	/* Several wake-ups without a poll between them: the first one leads to the poll. */
	uint64_t flow = t->flow ? 0 : ++s->nflows;

	if (flow)
		t->flow = flow;
	sink_perfetto_note(s, perfetto_instant(s->p, &(struct perfetto_event){
							     .time = item->time,
							     .track = thread,
							     .name = "wakes",
							     .flow_out = flow,
							     .values = &id,
							     .nvalues = 1,
						     }));
	t->polled_on = 0;
	sink_perfetto_begin_slice(s, t, item->time, "runnable", NULL, 0);
}

/* A static probe of the program itself. */
static void hits(struct sink_perfetto *s, const struct trace_item *item, uint64_t thread)
{
	static const char *const keys[PERFETTO_MAX_VALUES] = { "arg1", "arg2", "arg3", "arg4",
		                                               "arg5", "arg6", "arg7", "arg8" };
	struct perfetto_value values[PERFETTO_MAX_VALUES];
	const struct trace_hit *hit = item->hit;
	size_t n = 0;
	SCRATCH(tmp);

	for (size_t i = 0; i < hit->n && i < PERFETTO_MAX_VALUES; i++) {
		const struct trace_argument *arg = &hit->arguments[i];

		if (arg->known)
			values[n++] =
				(struct perfetto_value){ keys[i], arg->text, (int64_t)arg->value };
	}
	sink_perfetto_note(s,
	                   perfetto_instant(s->p, &(struct perfetto_event){
							  .time = item->time,
							  .track = thread,
							  .name = arena_printf(&tmp, "%s:%s",
	                                                                       hit->probe->provider,
	                                                                       hit->probe->name),
							  .values = values,
							  .nvalues = n }));
}

static void terminates(struct sink_perfetto *s, const struct trace_item *item)
{
	struct task_track *t = sink_perfetto_task_track(s, item->task, item->type);

	sink_perfetto_end_task(s, t, item->time);
	sink_perfetto_count_alive(s, item->time);
}

static void sink_perfetto_thread_slice(struct sink_perfetto *s, const struct trace_item *item,
                                       uint64_t thread, const char *name)
{
	const struct perfetto_event e = { .time = item->time, .track = thread, .name = name };

	sink_perfetto_note(s, name ? perfetto_begin(s->p, &e) : perfetto_end(s->p, &e));
}

static void sink_perfetto_item(struct sink *sink, const struct trace_item *item)
{
	struct sink_perfetto *s = (struct sink_perfetto *)sink;
	uint64_t thread = thread_track(s, item);

	s->last = item->time > s->last ? item->time : s->last;
	sink_perfetto_note(s, sink_counters_item(s->counters, item));
	switch (item->event) {
	case TRACE_SPAWN:
		spawns(s, item);
		break;
	case TRACE_POLL_START:
		poll_starts(s, item, thread);
		break;
	case TRACE_POLL_END:
		poll_ends(s, item, thread);
		break;
	case TRACE_TERMINATE:
		terminates(s, item);
		break;
	case TRACE_WAKE:
		wakes(s, item, thread);
		break;
	case TRACE_WORKER_START:
		sink_perfetto_thread_slice(s, item, thread, "worker");
		break;
	case TRACE_PARK:
		sink_perfetto_thread_slice(s, item, thread, "parked");
		break;
	case TRACE_WORKER_STOP:
	case TRACE_UNPARK:
		sink_perfetto_thread_slice(s, item, thread, NULL);
		break;
	case TRACE_USDT:
		hits(s, item, thread);
		break;
	case TRACE_NEVENTS:
		break;
	}
}

/* Ends all slices: the ends of some may be among the events that were lost. */
static void lost(struct sink *sink, uint64_t n)
{
	struct sink_perfetto *s = (struct sink_perfetto *)sink;
	const struct perfetto_value cut = { .key = "cut", .text = "events were lost" };
	const struct perfetto_value count = { .key = "events", .number = (int64_t)n };

	if (n)
		sink_perfetto_note(s, perfetto_instant(s->p, &(struct perfetto_event){
								     .time = s->last,
								     .track = PERFETTO_PROCESS,
								     .name = "events were lost",
								     .values = &count,
								     .nvalues = 1 }));
	sink_perfetto_note(s, perfetto_end_all(s->p, s->last, &cut, 1));
	for (size_t i = 0; i < s->list.n; i++) {
		s->list.data[i].open = s->list.data[i].named = false;
		s->list.data[i].polled_on = 0;
	}
	sink_counters_lost(s->counters);
}

static void queue(struct sink *sink, const struct sink_queue *q)
{
	struct sink_perfetto *s = (struct sink_perfetto *)sink;

	sink_perfetto_note(s, sink_counters_queue(s->counters, q));
}

/* ---- the sink ---- */

/* Time from the start of a call to that of the trace in which it goes on. */
static struct perfetto_value earlier(const struct sink_perfetto *s, uint64_t began)
{
	return (struct perfetto_value){
		.key = "earlier_ns",
		.number = (int64_t)clock_between(began, s->sink.start),
	};
}

/* A task that exists when the trace begins. */
static void exists(const struct task_span *span, void *arg)
{
	struct sink_perfetto *s = arg;
	const char *names[NDOINGS] = {
		[DOING_RUNNABLE] = "runnable",
		[DOING_POLLING] = "polling",
		[DOING_WAITING] = waiting_name(s, span->place),
	};
	struct perfetto_value values[3];
	size_t n = 0;
	SCRATCH(tmp);

	if (!sink_filter_has(s->filter, span->task, span->type))
		return;
	n += site_value(&tmp, map_get(&s->sites, span->task), &values[0]);
	if (span->began_exact)
		values[n++] = earlier(s, span->began.ns);
	if (span->doing == DOING_WAITING)
		n += chain_value(&tmp, span->place, &values[n]);
	struct task_track *t = sink_perfetto_task_track(s, span->task, span->type);
	if (!names[span->doing])
		return;
	t->polled_on = span->doing == DOING_POLLING ? span->tid : 0;
	sink_perfetto_begin_slice(s, t, s->sink.start, names[span->doing], values, n);
}

/* A poll or a park that goes on when the trace begins. */
static void sink_perfetto_goes_on(struct timeline_call *call, void *arg)
{
	const struct trace_item *start = &call->start;
	struct sink_perfetto *s = arg;
	SCRATCH(tmp);
	const struct perfetto_value values[] = {
		earlier(s, start->time),
		sink_perfetto_task_value(&tmp, start->task),
	};
	bool is_poll = start->event == TRACE_POLL_START;
	const char *name = start->event == TRACE_PARK ? "parked" : "worker";

	if (!sink_filter_has(s->filter, start->task, start->type))
		return;
	sink_counters_known(s->counters, start);
	sink_perfetto_note(
		s, perfetto_begin(s->p,
	                          &(struct perfetto_event){
					  .time = s->sink.start,
					  .track = thread_track(s, start),
					  .name = is_poll ? sink_perfetto_short_name(s, start->type)
	                                                  : name,
					  .values = values,
					  .nvalues = is_poll ? 2 : 1,
				  }));
}

/* Records where the existing tasks and jobs were spawned. */
static void know_sites(struct sink_perfetto *s, const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->ntasks; i++) {
		const struct task *task = snap->tasks[i];
		uint64_t key = trace_key(task);

		if (key && task->spawned_at)
			map_put(&s->sites, key, (void *)(uintptr_t)task->spawned_at);
	}
	for (size_t i = 0; i < snap->njobs; i++) {
		uint64_t key = snap->jobs[i].id ? strtoull(snap->jobs[i].id, NULL, 10) : 0;

		if (key && snap->jobs[i].spawned_at)
			map_put(&s->sites, key, (void *)(uintptr_t)snap->jobs[i].spawned_at);
	}
}

static void sink_perfetto_begin(struct sink *sink, const struct trace_heading *h)
{
	struct sink_perfetto *s = (struct sink_perfetto *)sink;
	const struct snapshot *snap = h->answer->snapshot;
	const struct perfetto_clocks clocks = perfetto_clocks_now();

	sink->start = s->last = h->start;
	s->filter = h->filter;
	sink_perfetto_note(s, perfetto_open(fileno(sink->f), &clocks, (int)snap->target.pid,
	                                    snap->target.command ? snap->target.command : "program",
	                                    &s->p));
	if (!s->p)
		return;
	s->pid = snap->target.pid;
	for (size_t i = 0; i < snap->nthreads; i++) {
		if (snap->threads[i].name)
			map_put(&s->names, (uint64_t)snap->threads[i].tid,
			        arena_strdup(&s->arena, snap->threads[i].name));
	}
	s->counters = sink_counters_new(s->p, h);
	if (h->plan->has[TRACE_SPAWN] && h->plan->has[TRACE_TERMINATE])
		sink_perfetto_note(s, perfetto_add_counter(s->p, PERFETTO_PROCESS, "alive tasks",
		                                           "tasks", &s->alive));
	know_sites(s, snap);
	timeline_each_task(h->before, exists, s);
	map_free(&s->sites); /* the snapshot may be gone after this */
	timeline_each_call(h->before, sink_perfetto_goes_on, s);
	sink_perfetto_count_alive(s, h->start);
}

static void sink_perfetto_flush(struct sink *sink)
{
	struct sink_perfetto *s = (struct sink_perfetto *)sink;

	if (s->p)
		sink_perfetto_note(s, perfetto_flush(s->p));
}

static void sink_perfetto_end(struct sink *sink, const struct trace_ending *e)
{
	struct sink_perfetto *s = (struct sink_perfetto *)sink;

	if (!s->p)
		return;
	sink_perfetto_note(s, sink_counters_end(s->counters, sink->start + e->duration_ns));
	sink_perfetto_note(s, perfetto_finish(s->p, sink->start + e->duration_ns));
}

static struct error *take_error(struct sink *sink)
{
	struct sink_perfetto *s = (struct sink_perfetto *)sink;
	struct error *err = s->err;

	s->err = NULL;
	return err;
}

static void sink_perfetto_free_sink(struct sink *sink)
{
	struct sink_perfetto *s = (struct sink_perfetto *)sink;

	sink_counters_free(s->counters);
	perfetto_close(s->p);
	error_free(s->err);
	map_free(&s->threads);
	map_free(&s->names);
	for (size_t i = 0; i < s->groups.capacity; i++) {
		if (s->groups.slots[i].key)
			vec_free(&((struct track_group *)s->groups.slots[i].value)->free);
	}
	vec_free(&s->others.free);
	map_free(&s->groups);
	map_free(&s->types);
	map_free(&s->tasks);
	vec_free(&s->list);
	arena_free(&s->arena);
	free(s);
}

static const struct sink_ops ops = {
	sink_perfetto_begin, sink_perfetto_item, lost,       queue,
	sink_perfetto_flush, sink_perfetto_end,  take_error, sink_perfetto_free_sink
};

struct sink *sink_perfetto_new(FILE *f, const struct out_options *options)
{
	struct sink_perfetto *s = alloc_zeroed(sizeof(*s));

	s->sink = (struct sink){ .ops = &ops, .f = f, .options = options };
	return &s->sink;
}
