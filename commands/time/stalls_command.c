/* stalls: each poll that runs too long, while it does. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/base/interval.h"
#include "commands/time/stall.h"
#include "commands/time/stall_looks.h"
#include "commands/time/time.h"
#include "commands/time/trace_loop.h"
#include "debugger/base/clock.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/target/target.h"
#include "runtimes/timeline/timeline.h"
#include "runtimes/trace/trace_key.h"

enum {
	WANTS = WANT_RUNNING | WANT_STACKS,
};
static const double default_over = 0.01; /* seconds */

/* Marks of a call of the timeline. */
enum { LOOKED = 1, REPORTED = 2 };

struct stalls {
	struct session *s;
	struct out *out;
	struct trace *trace;
	struct trace_options options;
	double over, duration;
	struct timeline *timeline;
	VEC(struct timeline_call) due; /* polls that have taken too long, and were not looked at */
	uint64_t now;                  /* the time for which due holds */
	bool left_out;                 /* threads, which was reported */
	struct error *err;             /* the first error of a report */
	bool complete;                 /* the first snapshot */
};

static struct error *stalls_read_options(const struct call *call, struct stalls *ret)
{
	ret->over = default_over;
	ret->options = trace_loop_options(call);
	ret->options.nameless = ret->options.no_places = true;
	ret->options.events[TRACE_POLL_START] = ret->options.events[TRACE_POLL_END] = true;
	TRY(interval_option(call, "over", &ret->over));
	return interval_option(call, "duration", &ret->duration);
}

static struct error *stalls_check(const struct call *call)
{
	struct stalls s = { 0 };

	return stalls_read_options(call, &s);
}

/* ---- reports ---- */

static const struct thread_info *thread_of(const struct snapshot *snap, pid_t tid)
{
	for (size_t i = 0; i < snap->nthreads; i++) {
		if (snap->threads[i].tid == tid)
			return &snap->threads[i];
	}
	return NULL;
}

/* Whether the snapshot shows the thread in that poll: it may have ended meanwhile. */
static bool is_in(const struct thread_info *th, const struct trace_item *item)
{
	uint64_t key;

	return th && th->task && trace_key_read(th->task, &key) && key == item->task;
}

/*
 * The thread of a poll with its stack, in a new snapshot; NULL: there is none, for the reason
 * *why, which lives in a. *over: the stack shows that the poll is over.
 */
static const struct thread_info *find_stack(struct stalls *s, const struct trace_item *item,
                                            struct arena *a, bool *over, const char **why)
{
	const struct snapshot *snap = NULL;
	struct target *t = asyncdbg_target(s->s->handle);

	t->stop.options.only = item->tid;
	struct error *err CLEANUP(error_freep) = session_snapshot(s->s, WANTS, NULL, &snap);
	t->stop.options.only = 0;
	const struct thread_info *th = err ? NULL : thread_of(snap, item->tid);
	bool in = is_in(th, item);

	/* Stripped programs: no snapshot has the task that a thread polls. */
	*over = !err && !in && !(s->trace && trace_plan_of(s->trace)->nameless);
	*why = in      ? NULL
	       : *over ? "the poll ended before its stack could be read"
	               : "its stack was not read: which task the thread polls is unknown";
	if (err) {
		STR(message);
		str_append_clean(&message, err->message, strlen(err->message));
		*why = arena_printf(a, "its stack was not read: %s", str_text(&message));
	}
	return in ? th : NULL;
}

/* Prints the poll, with the thread's stack if it is known; else the reason why not. */
static struct error *stalls_report(struct stalls *s, const struct stall *stall,
                                   const struct thread_info *th, const char *why)
{
	struct answer answer = { .command = "stalls", .wants = WANTS };
	struct snapshot about;

	arena_reset(&s->s->answer);
	answer.snapshot = asyncdbg_last(s->s->handle);
	if (s->out->format == OUT_TEXT && answer.snapshot) {
		/*
		 * This snapshot was taken while the program ran; the first one tells what cannot be
		 * read at all.
		 */
		about = *answer.snapshot;
		about.nnotes = 0;
		about.complete = s->complete;
		answer.snapshot = &about;
	}
	out_begin(s->out, &answer);
	part_stall(s->out, stall);
	if (th)
		s->out->ops->thread(s->out, th, THREAD_STACK);
	TRY(out_end(s->out));
	if (why)
		fprintf(s->out->options.messages, "note: %s\n", why);
	return NULL;
}

static bool stalls_take(const struct trace_item *item, void *arg);

/* Lost events may include the end of a poll: which polls still go on is unknown then. */
static void forget_lost(struct stalls *s)
{
	uint64_t n;

	if (trace_has_lost(s->trace, &n))
		timeline_lost(s->timeline, s->now);
}

/* Reads the events since the last time. */
static struct error *read_again(struct stalls *s)
{
	uint64_t now;

	TRY(trace_read_until_now(s->trace, stalls_take, s, &now));
	forget_lost(s);
	return NULL;
}

/*
 * Reports a poll that has not ended by the last event read, and has taken too long by then. Its
 * stack is read, which may take long, and then the events since: the poll goes on only if both the
 * stack and the events show it. In a debug build its end may not be seen, but its stack is gone; a
 * poll whose end was seen meanwhile has been printed with that.
 */
static struct error *look_at(struct stalls *s, const struct timeline_call *call, uint64_t now)
{
	const struct stall stall = { .item = &call->start,
		                     .ns = clock_between(call->start.time, now),
		                     .before = call->unseen };
	const struct thread_info *th;
	const char *why = NULL;
	bool over;
	SCRATCH(tmp);

	th = find_stack(s, &call->start, &tmp, &over, &why);
	TRY(read_again(s));
	struct timeline_call *current = timeline_poll(s->timeline, &call->start);
	if (over || s->err || !current || (call->unseen && !th))
		return NULL;
	current->marks |= REPORTED;
	return stalls_report(s, &stall, th, why);
}

/* Jobs of the blocking pool may run for long: they keep no worker. */
static bool stalls_is_of_task(const struct trace_item *item)
{
	return item->job == TRACE_TASK || item->job == TRACE_UNKNOWN_JOB;
}

static void stalls_note_due(struct timeline_call *call, void *arg)
{
	struct stalls *s = arg;

	if (!stalls_is_of_task(&call->start) || call->marks & LOOKED ||
	    (double)clock_between(call->start.time, s->now) / 1e9 < s->over)
		return;
	*vec_push(&s->due) = *call;
}

/* Looks at the inner polls of a thread first, which may end while others are looked at. */
static void stalls_look(struct stalls *s, uint64_t now)
{
	s->now = now;
	s->due.n = 0;
	timeline_each_call(s->timeline, stalls_note_due, s);
	for (size_t i = s->due.n; i-- > 0 && !s->err;) {
		const struct timeline_call due = s->due.data[i];
		struct timeline_call *current = timeline_poll(s->timeline, &due.start);

		if (!current)
			continue;
		current->marks |= LOOKED;
		struct error *err = look_at(s, &due, now);
		if (err && !s->err)
			s->err = err;
	}
}

static void stalls_note_left_out(struct stalls *s)
{
	if (s->left_out || !timeline_left_out(s->timeline))
		return;
	fprintf(s->out->options.messages,
	        "note: more than %d threads are polling at a time: the others are not followed\n",
	        TIMELINE_THREADS);
	s->left_out = true;
}

static struct error *look_at_all(uint64_t now, bool ended, void *arg)
{
	struct stalls *s = arg;

	forget_lost(s);
	stalls_note_left_out(s);
	if (!ended && !s->err)
		stalls_look(s, now);
	struct error *err = s->err;
	s->err = NULL;
	return err;
}

static bool stalls_take(const struct trace_item *item, void *arg)
{
	struct stalls *s = arg;

	timeline_add(s->timeline, item);
	const struct timeline_call *call = timeline_ended_call(s->timeline);
	if (call && stalls_is_of_task(item) && !s->err && !item->late &&
	    ((double)item->poll_ns / 1e9 >= s->over || call->marks & REPORTED))
		s->err = stalls_report(s, &(struct stall){ item, item->poll_ns, true, false, 0 },
		                       NULL, NULL);
	return !s->err;
}

/* ---- the command ---- */

static void stalls_print_beginning(const struct stalls *s)
{
	fprintf(s->out->options.messages,
	        "note: watching process %d for polls over %g ms; ^C ends it\n",
	        (int)asyncdbg_target(s->s->handle)->pid, s->over * 1e3);
	fflush(s->out->options.messages);
}

static struct error *report_seen(const struct stall *stall, void *arg)
{
	struct stalls *s = arg;
	const struct thread_info *th = NULL;
	const char *why = NULL;
	bool over = false;
	SCRATCH(tmp);

	if (!stall->over)
		th = find_stack(s, stall->item, &tmp, &over, &why);
	/*
	 * The snapshot with the stack may have been taken between two polls, and then does not show
	 * the task on the thread. The stall is reported all the same, without a stack: the earlier
	 * snapshots have shown for how long.
	 */
	return stalls_report(s, stall, th, why);
}

/* Watches by looks, without probes; why: the reason why there are none. */
static struct error *watch_by_looks(struct stalls *s, const char *why)
{
	const struct stall_looks looks = {
		.s = s->s,
		.pid = asyncdbg_target(s->s->handle)->pid,
		.over = s->over,
		.duration = s->duration,
		.report = report_seen,
		.arg = s,
	};

	fprintf(s->out->options.messages,
	        "note: sampling, which may miss polls or take several for one: %s\n", why);
	stalls_print_beginning(s);
	s->s->finding = STATUS_PARTIAL;
	return trace_loop_unless_interrupted(stall_looks_run(&looks));
}

/* Whether the kernel or this build have no probes for us. */
static bool stalls_has_no_probes(const struct stalls *s, const struct error *err)
{
	return err && !s->trace && (err->kind == ERR_UNSUPPORTED || err->kind == ERR_OS);
}

static struct error *stalls_watch(struct stalls *s)
{
	const struct snapshot *known;
	struct trace_loop f = {
		.pid = asyncdbg_target(s->s->handle)->pid,
		.duration = s->duration,
		.item = stalls_take,
		.tick = look_at_all,
		.arg = s,
	};

	/* WANTS includes stacks: debug info for the first of them is read before events count. */
	struct error *err = trace_loop_begin(s->s, &s->options, WANTS, s->out, &s->trace, &known);
	if (stalls_has_no_probes(s, err)) {
		struct error *why CLEANUP(error_freep) = err;

		return watch_by_looks(s, why->message);
	}
	TRY(err);
	f.trace = s->trace;
	f.start = clock_now_ns();
	s->complete = known->complete;
	timeline_begin_polls(s->timeline, known, trace_start(s->trace));
	stalls_print_beginning(s);
	TRY(trace_loop_run(&f));
	s->s->finding = trace_loop_end(s->trace, s->options.events, s->out);
	return NULL;
}

static struct error *stalls_run(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	struct stalls st = { .s = s, .out = out };
	bool interactive = out->options.interactive;

	(void)answer;
	if (asyncdbg_kind(s->handle) != ASYNCDBG_LIVE)
		return error_new(ERR_USAGE, "stalls needs a running process: -p PID");
	TRY(session_check_runs(s));
	TRY(stalls_read_options(call, &st));
	st.timeline = timeline_new(TIMELINE_CALLS, NULL, NULL);
	/* The line about the program, and each note, once. */
	out->options.interactive = true;
	struct error *err = stalls_watch(&st);

	out->options.interactive = interactive;
	trace_close(st.trace);
	timeline_free(st.timeline);
	vec_free(&st.due);
	return err;
}

static const struct command_option options[] = {
	{ "over", "TIME", false, "Report polls longer than TIME, default 10ms" },
	{ "duration", "TIME", false, "Stop after TIME; default: at ^C or when the program ends" },
	FOLLOWING_SLOW_OPTION,
	{ 0 },
};

const struct command stalls_command = {
	.name = "stalls",
	.options = options,
	.check = stalls_check,
	.summary = "Report long polls, with their stacks, while they are still running",
	.help = "    A task that computes or blocks in its poll keeps its worker from polling\n"
		"    others. The thread is stopped for a moment to read the stack of such a\n"
		"    poll; the length of the poll is printed when it ends, unless it began\n"
		"    before. Probe points are those of trace. Without them it samples, and\n"
		"    reports tasks that were being polled in every sample for that time.",
	.offline = true,
	.run = stalls_run,
};
