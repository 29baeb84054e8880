/* stalls: each poll that runs too long, while it does. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/base/interval.h"
#include "commands/time/following.h"
#include "commands/time/stall_looks.h"
#include "commands/time/time.h"
#include "debugger/base/clock.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/target/target.h"
#include "runtimes/trace/trace_key.h"

enum {
	WANTS = WANT_RUNNING | WANT_STACKS,
	MAX_DEPTH = 8,      /* polls that nest on a thread */
	MAX_THREADS = 4096, /* that are followed at a time */
};
static const double default_over = 0.01; /* seconds */

/* A poll that has not ended. */
struct current {
	struct trace_item item; /* its start */
	bool looked, reported;
	bool unseen; /* it began before the trace, at item.time or earlier; its end is not seen */
};

/* The polls that a thread is in, outermost first. */
struct polling {
	struct current polls[MAX_DEPTH];
	size_t depth;
	struct polling *next; /* of those that are spare */
};

struct stalls {
	struct session *s;
	struct out *out;
	struct trace *trace;
	struct trace_options options;
	double over, duration;
	struct map threads; /* tid -> struct polling */
	struct polling *spare;
	bool left_out; /* threads, which was reported */
	struct arena arena;
	struct error *err; /* of a report; the first one */
	bool complete;     /* the first snapshot */
};

static struct error *read_options(const struct call *call, struct stalls *ret)
{
	ret->over = default_over;
	ret->options = following_options(call);
	ret->options.nameless = ret->options.no_places = true;
	ret->options.events[TRACE_POLL_START] = ret->options.events[TRACE_POLL_END] = true;
	TRY(interval_option(call, "over", &ret->over));
	return interval_option(call, "duration", &ret->duration);
}

static struct error *check(const struct call *call)
{
	struct stalls s = { 0 };

	return read_options(call, &s);
}

/* Forgets the threads that poll nothing: many may have ended, as those of a pool do. */
static void forget_idle(struct stalls *s)
{
	struct map polling = { 0 };

	for (size_t i = 0; i < s->threads.capacity; i++) {
		uint64_t tid = s->threads.slots[i].key;
		struct polling *p = tid ? s->threads.slots[i].value : NULL;

		if (p && p->depth) {
			map_put(&polling, tid, p);
		} else if (p) {
			p->next = s->spare;
			s->spare = p;
		}
	}
	map_free(&s->threads);
	s->threads = polling;
}

static struct polling *polling_of(struct stalls *s, pid_t tid)
{
	struct polling *p = map_get(&s->threads, (uint64_t)tid);

	if (p)
		return p;
	if (s->threads.n == MAX_THREADS)
		forget_idle(s);
	if (s->threads.n == MAX_THREADS) {
		if (!s->left_out)
			fprintf(s->out->options.messages,
			        "note: more than %d threads poll at a time: the others are "
			        "not followed\n",
			        MAX_THREADS);
		s->left_out = true;
		return NULL;
	}
	p = s->spare ? s->spare : NEW(&s->arena, struct polling);
	s->spare = p->next;
	map_put(&s->threads, (uint64_t)tid, p);
	return p;
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

	t->options.only = item->tid;
	struct error *err CLEANUP(error_freep) = session_snapshot(s->s, WANTS, NULL, &snap);
	t->options.only = 0;
	const struct thread_info *th = err ? NULL : thread_of(snap, item->tid);
	bool in = is_in(th, item);

	/* No snapshot of a stripped program tells which task a thread polls. */
	*over = !err && !in && !(s->trace && trace_plan_of(s->trace)->nameless);
	*why = in      ? NULL
	       : *over ? "the poll has ended before its stack could be read"
	               : "its stack was not read: which task the thread polls is unknown";
	if (err) {
		STR(message);
		str_append_clean(&message, err->message, strlen(err->message));
		*why = arena_printf(a, "its stack was not read: %s", str_text(&message));
	}
	return in ? th : NULL;
}

/* Prints the poll, with the thread's stack if it is known; else why tells it. */
static struct error *report(struct stalls *s, const struct stall *stall,
                            const struct thread_info *th, const char *why)
{
	struct answer answer = { .command = "stalls", .wants = WANTS };
	struct snapshot about;

	arena_reset(&s->s->answer);
	answer.snapshot = asyncdbg_last(s->s->handle);
	if (s->out->format == OUT_TEXT && answer.snapshot) {
		/* It was read while it ran; the first snapshot tells what cannot be read at all. */
		about = *answer.snapshot;
		about.nnotes = 0;
		about.complete = s->complete;
		answer.snapshot = &about;
	}
	out_begin(s->out, &answer);
	s->out->ops->stall(s->out, stall);
	if (th)
		s->out->ops->thread(s->out, th, THREAD_STACK);
	TRY(out_end(s->out));
	if (why)
		fprintf(s->out->options.messages, "note: %s\n", why);
	return NULL;
}

/* Where events were lost, an end may be among them: what is still polled is unknown then. */
static void forget_lost(struct stalls *s)
{
	uint64_t n;
	bool lost = trace_has_lost(s->trace, &n);

	for (size_t i = 0; lost && i < s->threads.capacity; i++) {
		if (s->threads.slots[i].key)
			((struct polling *)s->threads.slots[i].value)->depth = 0;
	}
}

static bool take(const struct trace_item *item, void *arg);

/* Reads what has happened since the last time. */
static struct error *read_again(struct stalls *s)
{
	uint64_t now;

	TRY(trace_read_until_now(s->trace, take, s, &now));
	forget_lost(s);
	return NULL;
}

static bool is_same(const struct polling *p, size_t depth, const struct trace_item *start)
{
	const struct trace_item *item = p->depth > depth ? &p->polls[depth].item : NULL;

	return item && item->task == start->task && item->time == start->time;
}

/*
 * A poll that goes on at a time up to which all was read, and has taken too long by then. Its stack
 * is read, which may take long, and then what has happened meanwhile: only if the poll goes on by
 * both is it one that goes on. In a debug build its end may not be seen, but its stack is gone; one
 * whose end was seen meanwhile has been printed with that.
 */
static struct error *look_at(struct stalls *s, struct polling *p, size_t depth, uint64_t now)
{
	struct current c = p->polls[depth];
	const struct stall stall = { .item = &c.item,
		                     .ns = clock_between(c.item.time, now),
		                     .before = c.unseen };
	const struct thread_info *th;
	const char *why = NULL;
	bool over;
	SCRATCH(tmp);

	p->polls[depth].looked = true;
	th = find_stack(s, &c.item, &tmp, &over, &why);
	TRY(read_again(s));
	if (over || s->err || !is_same(p, depth, &c.item) || (c.unseen && !th))
		return NULL;
	p->polls[depth].reported = true;
	return report(s, &stall, th, why);
}

static struct error *look(struct stalls *s, struct polling *p, uint64_t now)
{
	for (size_t i = p->depth; i-- > 0;) {
		/* Polls that have ended while the others were looked at are gone. */
		if (i >= p->depth || p->polls[i].looked ||
		    (double)clock_between(p->polls[i].item.time, now) / 1e9 < s->over)
			continue;
		TRY(look_at(s, p, i, now));
	}
	return NULL;
}

static struct error *look_at_all(uint64_t now, bool ended, void *arg)
{
	struct stalls *s = arg;

	forget_lost(s);

	for (size_t i = 0; !ended && !s->err && i < s->threads.capacity; i++) {
		if (s->threads.slots[i].key)
			s->err = look(s, s->threads.slots[i].value, now);
	}
	struct error *err = s->err;
	s->err = NULL;
	return err;
}

static void take_end(struct stalls *s, struct polling *p, const struct trace_item *item)
{
	while (p->depth) {
		struct current *c = &p->polls[--p->depth];

		if (c->item.task != item->task)
			continue; /* its end was lost */
		bool stalled = (double)item->poll_ns / 1e9 >= s->over;
		if (!s->err && !item->late && (stalled || c->reported))
			s->err = report(s, &(struct stall){ item, item->poll_ns, true, false, 0 },
			                NULL, NULL);
		return;
	}
}

static bool take(const struct trace_item *item, void *arg)
{
	struct stalls *s = arg;
	bool of_task = item->job == TRACE_TASK || item->job == TRACE_UNKNOWN_JOB;
	struct polling *p = of_task ? polling_of(s, item->tid) : NULL;

	if (!p)
		return true;
	/* What began before the trace may have ended when the thread polls again. */
	if (p->depth && p->polls[0].unseen)
		p->depth = 0;
	if (item->event == TRACE_POLL_END)
		take_end(s, p, item);
	else if (p->depth < MAX_DEPTH)
		p->polls[p->depth++] = (struct current){ .item = *item };
	return !s->err;
}

/* ---- the command ---- */

static void print_beginning(const struct stalls *s)
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
	/* A look that misses it may have come between two polls: the looks have counted. */
	return report(s, stall, th, why);
}

/* The polls that are under way when the trace begins. */
static void begin_polls(struct stalls *s, const struct snapshot *known, uint64_t time)
{
	struct trace_item item;

	for (size_t i = 0; i < known->ntasks; i++) {
		bool polled = stall_looks_poll(known, known->tasks[i], time, &item);
		struct polling *p = polled ? polling_of(s, item.tid) : NULL;

		if (!p || p->depth)
			continue;
		if (item.type)
			item.type = arena_strdup(&s->arena, item.type);
		p->depth = 1;
		p->polls[0] = (struct current){ .item = item, .unseen = true };
	}
}

/* Without probes: why is the reason. */
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
	        "note: sampling, which may miss polls and take several for one: %s\n", why);
	print_beginning(s);
	s->s->finding = STATUS_PARTIAL;
	return following_unless_interrupted(stall_looks_run(&looks));
}

/* Whether the kernel or this build have no probes for us. */
static bool has_no_probes(const struct stalls *s, const struct error *err)
{
	return err && !s->trace && (err->kind == ERR_UNSUPPORTED || err->kind == ERR_OS);
}

static struct error *watch(struct stalls *s)
{
	const struct snapshot *known;
	struct following f = {
		.pid = asyncdbg_target(s->s->handle)->pid,
		.duration = s->duration,
		.item = take,
		.tick = look_at_all,
		.arg = s,
	};

	/* With stacks: what the first of them needs of debug info is read before it counts. */
	struct error *err = following_begin(s->s, &s->options, WANTS, s->out, &s->trace, &known);
	if (has_no_probes(s, err)) {
		struct error *why CLEANUP(error_freep) = err;

		return watch_by_looks(s, why->message);
	}
	TRY(err);
	f.trace = s->trace;
	f.start = clock_now_ns();
	s->complete = known->complete;
	begin_polls(s, known, trace_start(s->trace));
	print_beginning(s);
	TRY(following_run(&f));
	s->s->finding = following_end(s->trace, s->options.events, s->out);
	return NULL;
}

static struct error *run(struct session *s, const struct answer *answer, const struct call *call,
                         struct out *out)
{
	struct stalls st = { .s = s, .out = out };
	bool interactive = out->options.interactive;

	(void)answer;
	if (asyncdbg_kind(s->handle) != ASYNCDBG_LIVE)
		return error_new(ERR_USAGE, "stalls needs a running process: -p PID");
	TRY(session_check_runs(s));
	TRY(read_options(call, &st));
	/* The line about the program, and each note, once. */
	out->options.interactive = true;
	struct error *err = watch(&st);

	out->options.interactive = interactive;
	trace_close(st.trace);
	map_free(&st.threads);
	arena_free(&st.arena);
	return err;
}

static const struct command_option options[] = {
	{ "over", "TIME", false, "Polls that run longer than TIME, 10ms by default" },
	{ "duration", "TIME", false, "End after TIME; without it, at ^C or the program's end" },
	FOLLOWING_SLOW_OPTION,
	{ 0 },
};

const struct command stalls_command = {
	.name = "stalls",
	.options = options,
	.check = check,
	.summary = "Each poll that runs too long, with its stack, while it does",
	.help = "    A task that computes or blocks in its poll keeps its worker from all others. "
		"The\n"
		"    thread is stopped for a moment for the stack of such a poll; its length is\n"
		"    printed when it ends, but for one that began before. Probe points are those "
		"of trace: see help trace. "
		"Without\n"
		"    probes it samples: it shows tasks that were polled at each look for that "
		"time.",
	.offline = true,
	.run = run,
};
