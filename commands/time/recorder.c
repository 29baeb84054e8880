#include "commands/time/recorder.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "commands/incident/incident_file.h"
#include "commands/time/recorded.h"
#include "commands/time/trace_file.h"
#include "commands/time/trace_loop.h"
#include "debugger/base/clock.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/new_file.h"
#include "debugger/base/str.h"
#include "debugger/host/core_file.h"
#include "debugger/host/process_end.h"
#include "runtimes/analysis/checks.h"
#include "runtimes/model/names.h"
#include "runtimes/timeline/timeline.h"
#include "runtimes/trace/item_ring.h"

enum {
	MODE = 0600,
	PIECE = 4096,           /* items written between two reads of new ones */
	ORIGIN_NS = 1000000000, /* time between two looks at where a core would be written */
	CORE_S = 5,             /* most seconds from the end of a process until it is noticed */
	RESYNC_NS = 1000000000, /* least time between two snapshots because of lost events */
	END_MS = 60000,         /* time for a process that has given its memory back to end */
	LOST = TRACE_NEVENTS,   /* in the ring: poll_ns events were lost; */
	QUEUE,                  /* and as many tasks were in a queue */
};

struct recorder {
	const struct recorder_setup *setup;
	const struct recorder_options *options;
	struct item_ring *ring;
	struct timeline *before; /* at the oldest item of the ring; */
	bool knows_before;       /* the recorded events suffice to keep it up to date */
	struct timeline *nothing;
	struct condition_watch *watch;
	struct sink *sink;           /* of the file that is being written; NULL: none */
	struct item_ring_place next; /* of the item that is written next, */
	struct item_ring_place end;  /* and behind the last one */
	uint64_t until;              /* the time when the file was begun */
	uint64_t written, lost;      /* items in that file, and those lost before them */
	bool needs_resync;           /* events were lost */
	uint64_t looked, resynced, queues_looked, origin_read; /* times in ns, CLOCK_MONOTONIC */
	bool deadlocked, look_failed;                          /* at the last look */
	uint64_t nfiles;
	bool done, partial;
	int pidfd;
	struct core_origin origin;
	struct arena origin_arena;
	struct sigaction before_signal;
};

/* ---- SIGUSR1 ---- */

static volatile sig_atomic_t signalled;

static void recorder_on_signal(int signal)
{
	(void)signal;
	signalled = 1;
}

static void catch_signal(struct recorder *r)
{
	const struct sigaction ask = { .sa_handler = recorder_on_signal, .sa_flags = SA_RESTART };

	signalled = 0;
	sigaction(SIGUSR1, &ask, &r->before_signal);
}

/* ---- the ring ---- */

static void write_queue(const struct recorder *r, const struct trace_item *item)
{
	const struct sink_queue q = { item->time, item->runtime, item->worker, item->poll_ns };

	if (r->sink->ops->queue)
		r->sink->ops->queue(r->sink, &q);
}

/* Writes the next item of the ring to the file. */
static void write_next(struct recorder *r)
{
	struct trace_item item;
	SCRATCH(tmp);

	if (r->next.at == r->end.at || !item_ring_read(r->ring, &r->next, &tmp, &item))
		return;
	if ((int)item.event == (int)LOST) {
		r->lost += item.poll_ns;
		if (r->sink->ops->lost)
			r->sink->ops->lost(r->sink, item.poll_ns);
		return;
	}
	if ((int)item.event == (int)QUEUE) {
		write_queue(r, &item);
		return;
	}
	r->written++;
	sink_item(r->sink, &item);
}

/* An item leaves the ring; if it was to be written, that is done before. */
static void displaced(const struct trace_item *item, void *arg)
{
	struct recorder *r = arg;

	if (r->sink && r->next.at == item_ring_oldest(r->ring).at)
		write_next(r);
	if ((int)item->event == (int)LOST)
		timeline_lost(r->before, item->time);
	else if ((int)item->event != (int)QUEUE)
		timeline_add(r->before, item);
}

static bool is_recorded(const struct recorder *r, const struct trace_item *item)
{
	const struct trace_heading *h = &r->setup->heading;

	return item->time >= h->start && h->wanted[item->event] &&
	       sink_filter_has(h->filter, item->task, item->type) &&
	       (item->event != TRACE_POLL_END || item->poll_ns >= r->setup->min_ns);
}

bool recorder_item(const struct trace_item *item, void *arg)
{
	struct recorder *r = arg;

	condition_watch_add(r->watch, item);
	if (is_recorded(r, item))
		item_ring_add(r->ring, item);
	return true;
}

/* The time of the first event: they are not quite in order. */
static uint64_t earliest(const struct recorder *r)
{
	struct item_ring_place place = item_ring_oldest(r->ring);
	uint64_t time = clock_now_ns();
	struct trace_item item;
	SCRATCH(tmp);

	while (item_ring_read(r->ring, &place, &tmp, &item)) {
		if ((int)item.event != (int)LOST && item.time < time)
			time = item.time;
		arena_reset(&tmp);
	}
	return time;
}

/* ---- snapshots ---- */

/* Restarts the conditions with the tasks that exist now. */
static void resync(struct recorder *r)
{
	const struct snapshot *snap;
	struct session *s;
	struct error *err CLEANUP(error_freep) = trace_loop_live(r->setup->live, &s);

	err = err ? err : session_snapshot(s, WANT_TASKS, NULL, &snap);
	r->resynced = clock_now_ns();
	r->needs_resync = false;
	if (err)
		LOG("trace", "no snapshot after events were lost: %s", err->message);
	else
		condition_watch_begin(r->watch, snap, r->resynced);
}

static void record_queue(const struct sink_queue *q, void *arg)
{
	struct recorder *r = arg;

	item_ring_add(r->ring, &(struct trace_item){ .event = (enum trace_event)QUEUE,
	                                             .time = q->time,
	                                             .runtime = q->runtime,
	                                             .worker = q->worker,
	                                             .poll_ns = q->length });
}

/* Takes the lengths of queues now and then, for files that show them. */
static void look_at_queues(struct recorder *r)
{
	const struct recorder_setup *setup = r->setup;

	if (!setup->perfetto || setup->live->pid ||
	    !sink_filter_has(setup->heading.filter, 0, NULL) ||
	    clock_since(r->queues_looked) < TRACE_LOOP_LOOK_NS)
		return;
	trace_loop_look(setup->live->of, record_queue, r);
	r->queues_looked = clock_now_ns();
}

static void add_lost(struct recorder *r, const struct trace_item *item)
{
	r->needs_resync |= item->poll_ns > 0;
	item_ring_add(r->ring, item);
	condition_watch_lost(r->watch, item->time);
}

/* Records the events that were lost up to now. */
static void recorder_note_lost(struct recorder *r)
{
	/* Items may still be read that are older than now. */
	struct trace_item item = { .event = (enum trace_event)LOST,
		                   .time = item_ring_end(r->ring).time };

	if (trace_has_lost(r->setup->trace, &item.poll_ns))
		add_lost(r, &item);
}

/* recorder_note_lost() for a file that is written now, even while events are still being lost. */
static void note_all_lost(struct recorder *r)
{
	struct trace_item item = { .event = (enum trace_event)LOST,
		                   .time = item_ring_end(r->ring).time };

	recorder_note_lost(r);
	item.poll_ns = trace_lost_now(r->setup->trace);
	if (item.poll_ns)
		add_lost(r, &item);
}

static struct error *read_more(struct recorder *r)
{
	TRY(trace_read(r->setup->trace, recorder_item, r));
	recorder_note_lost(r);
	return NULL;
}

/* ---- one file ---- */

static const struct file_format *format_of(const struct recorder *r)
{
	return trace_file_format(r->setup->out, r->setup->perfetto);
}

/* Begins the file with the state at the oldest event. */
static void recorder_begin_file(struct recorder *r, FILE *f)
{
	struct trace_heading heading = r->setup->heading;

	heading.start = earliest(r);
	heading.before = r->knows_before ? r->before : r->nothing;
	r->written = r->lost = 0;
	r->until = clock_now_ns();
	r->next = item_ring_oldest(r->ring);
	r->end = item_ring_end(r->ring);
	r->sink = sink_new(r->setup->out, f, r->setup->perfetto);
	r->sink->ops->begin(r->sink, &heading);
}

/* Writes the items that were in the ring when the file was begun; new events are read meanwhile. */
static struct error *write_items(struct recorder *r)
{
	while (r->next.at != r->end.at) {
		for (int i = 0; i < PIECE && r->next.at != r->end.at; i++)
			write_next(r);
		sink_flush(r->sink);
		TRY(sink_error(r->sink));
		/* ^C ends the recorder, and not a file that it is about to write. */
		TRY(trace_loop_unless_interrupted(read_more(r)));
	}
	return NULL;
}

static struct error *write_sink(struct recorder *r, uint64_t *duration)
{
	struct trace_ending e = { 0 };

	*duration = clock_between(r->sink->start, r->until);
	TRY(write_items(r));
	e.duration_ns = *duration;
	e.totals.events = r->written;
	e.totals.lost = r->lost;
	sink_end(r->sink, &e);
	return sink_error(r->sink);
}

static struct error *recorder_write_trace(struct recorder *r, const char *path, uint64_t *duration)
{
	struct new_file file CLEANUP(new_file_drop) = { 0 };

	TRY(new_file_open(path, MODE, format_of(r), &file));
	recorder_begin_file(r, file.f);
	struct error *err = write_sink(r, duration);
	sink_freep(&r->sink);
	r->sink = NULL;
	return err ? err : new_file_finish(&file);
}

/* NULL: there is none, which a note says. */
static const char *write_snapshot(struct recorder *r, const char *trace, struct arena *a)
{
	const char *path = arena_printf(a, "%s.snapshot", trace);
	struct saved_info info = { .when = time(NULL) };
	const struct snapshot *snap;
	struct session *s;
	struct error *err = trace_loop_live(r->setup->live, &s);

	err = err ? err : session_snapshot(s, incident_file_wants, NULL, &snap);
	if (!err) {
		info.wants = asyncdbg_last_wants(s->handle);
		err = saved_write(path, snap, &info);
	}
	if (!err)
		return path;
	STR(line);
	str_append_clean(&line, err->message, strlen(err->message));
	fprintf(r->setup->out->options.messages, "note: no snapshot: %s\n", str_text(&line));
	error_free(err);
	r->partial = true;
	return NULL;
}

static struct error *announce(const struct recorder *r, const struct recorded *what)
{
	const struct out_options *options = &r->setup->out->options;
	struct answer answer = *r->setup->heading.answer;
	const struct live_session *live = r->setup->live;
	const struct snapshot *last = asyncdbg_last((live->pid ? &live->opened : live->of)->handle);

	if (what->snapshot && last)
		answer.snapshot = last;
	out_begin(r->setup->out, &answer);
	part_recorded(r->setup->out, what);
	TRY(out_end(r->setup->out));
	fflush(options->messages);
	return NULL;
}

/* Writes one file. end: how the process has ended; NULL: it lives. */
static struct error *recorder_record(struct recorder *r, const char *when, const char *why,
                                     const struct process_end *end)
{
	SCRATCH(tmp);
	const char *path = r->options->path;
	struct recorded what = { .when = when, .why = why };
	uint64_t now;

	what.path = r->nfiles ? arena_printf(&tmp, "%s.%" PRIu64, path, r->nfiles + 1) : path;
	what.signal = end ? end->signal : 0;
	if (!end)
		what.snapshot = write_snapshot(r, what.path, &tmp);
	else if (end->dumped)
		what.core = core_file_find(&r->origin, end->signal, time(NULL) - CORE_S, &tmp);
	TRY(trace_read_until_now(r->setup->trace, recorder_item, r, &now));
	note_all_lost(r);
	TRY(error_wrap(recorder_write_trace(r, what.path, &what.duration_ns), "writing the trace"));
	what.events = r->written;
	what.lost = r->lost;
	r->partial |= r->lost > 0;
	r->done = ++r->nfiles == r->options->count;
	return announce(r, &what);
}

/* ---- conditions ---- */

/* The text of the first certain deadlock; NULL: none. */
static struct error *find_deadlock(struct recorder *r, struct arena *a, const char **ret)
{
	struct checks_result result;
	const struct snapshot *snap;
	struct session *s;

	*ret = NULL;
	TRY(trace_loop_live(r->setup->live, &s));
	arena_reset(&s->answer);
	TRY(session_snapshot(s, ASYNCDBG_CHECK_WANTS, NULL, &snap));
	TRY(session_check(s, snap, 0, &result));
	for (size_t i = 0; i < result.nfound && !*ret; i++) {
		if (checks_list_has("deadlock", &result.found[i]))
			*ret = arena_strdup(a, result.found[i].text);
	}
	return NULL;
}

/* A process that another debugger has for a moment is looked at the next time. */
static struct error *look_for_deadlock(struct recorder *r, struct arena *a, const char **why)
{
	bool was = r->deadlocked, first = !r->looked;
	struct error *err = find_deadlock(r, a, why);

	r->looked = clock_now_ns();
	if (!err) {
		r->deadlocked = *why != NULL;
		*why = was ? NULL : *why;
		return NULL;
	}
	*why = NULL;
	if (err->kind == ERR_INTERRUPTED || first)
		return err;
	if (!r->look_failed)
		fprintf(r->setup->out->options.messages,
		        "note: could not check for a deadlock: %s\n", err->message);
	r->look_failed = true;
	error_free(err);
	return NULL;
}

static struct error *check_deadlock(struct recorder *r)
{
	SCRATCH(tmp);
	const char *why;

	if (!recorder_options_have(r->options, CONDITION_DEADLOCK) ||
	    (double)clock_since(r->looked) / 1e9 < r->options->every)
		return NULL;
	TRY(look_for_deadlock(r, &tmp, &why));
	return why ? recorder_record(r, "deadlock", why, NULL) : NULL;
}

/* The process has ended: by a signal, if so much is known. */
static struct error *check_death(struct recorder *r)
{
	SCRATCH(tmp);
	struct process_end end;
	const char *why = "the program has ended, it is unknown how";

	if (!recorder_options_have(r->options, CONDITION_DEATH))
		return NULL;
	process_end_read(r->setup->pid, r->pidfd, &end);
	if (end.known && !end.signal)
		return NULL;
	if (end.known)
		why = arena_printf(&tmp, "%s has ended the program", signal_name(&tmp, end.signal));
	return recorder_record(r, "death", why, &end);
}

static struct error *check_events(struct recorder *r, uint64_t now, const struct process_end *end)
{
	SCRATCH(tmp);
	const char *why;
	const struct condition *met = condition_watch_look(r->watch, now, &tmp, &why);

	return met ? recorder_record(r, met->text, why, end) : NULL;
}

static bool process_ends_within(const struct recorder *r, int ms)
{
	struct pollfd fd = { r->pidfd, POLLIN, 0 };

	return poll(&fd, 1, ms) > 0;
}

static struct error *check_end(struct recorder *r, uint64_t now)
{
	const struct process_end unknown = { 0 };

	TRY(check_events(r, now, &unknown));
	if (r->done || process_has_executed(r->setup->pid, r->pidfd))
		return NULL;
	return process_ends_within(r, END_MS) ? check_death(r) : NULL;
}

static struct error *recorder_check_signal(struct recorder *r)
{
	if (!signalled)
		return NULL;
	signalled = 0;
	return recorder_record(r, "SIGUSR1", "SIGUSR1 was sent to asyncdbg", NULL);
}

/* Reads again where a core would be written: that may change while the process lives. */
static void look_at_origin(struct recorder *r)
{
	struct core_origin now;

	if (clock_since(r->origin_read) < ORIGIN_NS)
		return;
	r->origin_read = clock_now_ns();
	arena_reset(&r->origin_arena);
	core_file_origin(r->setup->pid, &r->origin_arena, &now);
	r->origin = now;
}

struct error *recorder_tick(uint64_t now, bool ended, void *arg)
{
	struct recorder *r = arg;
	bool gone = trace_is_over(r->setup->trace) || process_ends_within(r, 0);

	recorder_note_lost(r);
	if (r->done)
		return NULL;
	if (ended)
		return gone ? check_end(r, now) : NULL;
	if (r->needs_resync && clock_since(r->resynced) >= RESYNC_NS)
		resync(r);
	look_at_origin(r);
	look_at_queues(r);
	TRY(check_events(r, now, NULL));
	if (!r->done)
		TRY(recorder_check_signal(r));
	return r->done ? NULL : check_deadlock(r);
}

/* ---- begin and end ---- */

/* Whether the program shows the events that the conditions need. */
static struct error *check_plan(const struct recorder *r)
{
	const struct trace_plan *plan = trace_plan_of(r->setup->trace);

	for (size_t i = 0; i < r->options->n; i++) {
		bool needed[TRACE_NEVENTS] = { false };

		condition_events(&r->options->conditions[i], needed);
		for (size_t m = 0; m < plan->nmissing; m++) {
			enum trace_event event = plan->missing[m].event;

			if (needed[event])
				return error_new(ERR_UNSUPPORTED, "%s needs %s: %s",
				                 r->options->conditions[i].text,
				                 trace_event_name(event), plan->missing[m].reason);
		}
	}
	return NULL;
}

/* The name of the file is tried before anything is recorded. */
static struct error *recorder_check_file(const struct recorder *r)
{
	struct new_file file CLEANUP(new_file_drop) = { 0 };

	return new_file_open(r->options->path, MODE, format_of(r), &file);
}

/* Whether the recorded events determine the activity of tasks at each moment. */
static bool tells_moments(const struct recorder_setup *setup)
{
	const bool *wanted = setup->heading.wanted;

	return !setup->min_ns && wanted[TRACE_SPAWN] && wanted[TRACE_POLL_START] &&
	       wanted[TRACE_POLL_END] && wanted[TRACE_TERMINATE] && wanted[TRACE_WAKE];
}

static void recorder_print_beginning(const struct recorder *r)
{
	FILE *f = r->setup->out->options.messages;

	fprintf(f, "note: recording process %d; %s is written", (int)r->setup->pid,
	        r->options->path);
	for (size_t i = 0; i < r->options->n; i++)
		fprintf(f, "%s%s", i ? ", " : " when ", r->options->conditions[i].text);
	fprintf(f, "%s SIGUSR1 to %d; ^C ends it\n", r->options->n ? ", or by" : " by",
	        (int)getpid());
	fflush(f);
}

struct error *recorder_begin(const struct recorder_setup *setup,
                             const struct recorder_options *options, const struct snapshot *known,
                             struct recorder **ret)
{
	const struct snapshot nothing = { 0 };
	struct recorder *r CLEANUP(recorder_freep) = alloc_zeroed(sizeof(*r));
	uint64_t now = setup->heading.start;

	r->setup = setup;
	r->options = options;
	r->pidfd = (int)syscall(SYS_pidfd_open, setup->pid, 0);
	catch_signal(r);
	r->before = timeline_new(TIMELINE_SPANS | TIMELINE_CALLS, NULL, NULL);
	r->nothing = timeline_new(TIMELINE_SPANS | TIMELINE_CALLS, NULL, NULL);
	r->knows_before = tells_moments(setup);
	r->watch = condition_watch_new(options->conditions, options->n, setup->heading.filter);
	timeline_begin(r->before, known ? known : &nothing, now);
	condition_watch_begin(r->watch, known ? known : &nothing, now);
	TRY(check_plan(r));
	TRY(recorder_check_file(r));
	TRY(item_ring_new(options->size, displaced, r, &r->ring));
	look_at_origin(r);
	recorder_print_beginning(r);
	*ret = r;
	r = NULL;
	return NULL;
}

void recorder_free(struct recorder *r)
{
	if (!r)
		return;
	sigaction(SIGUSR1, &r->before_signal, NULL);
	item_ring_free(r->ring);
	timeline_free(r->before);
	timeline_free(r->nothing);
	condition_watch_free(r->watch);
	arena_free(&r->origin_arena);
	file_close(&r->pidfd);
	free(r);
}

void recorder_freep(struct recorder **r)
{
	recorder_free(*r);
}

const bool *recorder_done(const struct recorder *r)
{
	return &r->done;
}

uint64_t recorder_count(const struct recorder *r)
{
	return r->nfiles;
}

bool recorder_is_partial(const struct recorder *r)
{
	return r->partial;
}
