/* trace: the events of a program's runtimes as they happen. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/base/interval.h"
#include "commands/incident/incident_file.h"
#include "commands/time/end_signals.h"
#include "commands/time/recorder.h"
#include "commands/time/sink.h"
#include "commands/time/time.h"
#include "commands/time/trace_file.h"
#include "commands/time/trace_loop.h"
#include "debugger/base/clock.h"
#include "debugger/base/nearest.h"
#include "debugger/base/str.h"
#include "debugger/host/launched.h"
#include "debugger/target/target.h"
#include "runtimes/timeline/timeline.h"
#include "runtimes/trace/trace_key.h"

enum {
	POINT_COST_NS = 1000, /* measured: a point, with its record; docs/performance.md */
	SLOW_COST_NS = 5000,  /* cost of a single step: 2 to 20 us */
	MAX_PATTERNS = 32,    /* of --usdt */
};

struct tracing {
	struct session *s;
	struct live_session live;
	struct trace *trace;
	struct sink *sink;
	struct out *out;
	struct trace_options options;
	double duration; /* seconds; 0: until ^C or the program's end */
	uint64_t start;  /* see trace_start(); ns, CLOCK_MONOTONIC */
	bool executed;   /* the process has executed another program */
	uint64_t nshown; /* items */
	bool perfetto;
	bool shows_queues;         /* looks at them are taken, */
	uint64_t looked;           /* the last one then; ns, CLOCK_MONOTONIC */
	struct sink_filter filter; /* --with */
	struct recorder_options recorder_options;
	struct recorder_setup setup;
	struct recorder *recorder;  /* NULL: --ring was not given */
	struct snapshot *about;     /* of the heading */
	struct answer answer;       /* of the heading */
	bool wanted[TRACE_NEVENTS]; /* to be written, and perhaps fewer than are traced */
	struct timeline *before;    /* at the beginning */
	const char *patterns[MAX_PATTERNS + 1]; /* --usdt; ended by NULL */
	size_t npatterns;
};

/* ---- options ---- */

static struct error *unknown_event(const char *name)
{
	const char *names[TRACE_NEVENTS];

	for (size_t i = 0; i < TRACE_NEVENTS; i++)
		names[i] = trace_event_name((enum trace_event)i);
	return nearest_error("unknown event", name, names, NULL, TRACE_NEVENTS);
}

/* list: names with commas between; NULL: all. */
static struct error *trace_read_events(const char *list, bool *ret)
{
	for (size_t i = 0; i < TRACE_NEVENTS; i++)
		ret[i] = !list && i != TRACE_USDT;
	while (list && *list) {
		SCRATCH(tmp);
		size_t len = strcspn(list, ",");
		const char *name = arena_strndup(&tmp, list, len);
		enum trace_event event;

		if (!trace_event_named(name, &event))
			return unknown_event(name);
		ret[event] = true;
		list += len + (list[len] == ',');
	}
	return NULL;
}

static struct error *read_times(const struct call *call, struct tracing *t)
{
	const char *over = option_value(call, "over");
	double seconds;

	TRY(interval_option(call, "duration", &t->duration));
	if (!over)
		return NULL;
	TRY(interval_read(over, &seconds));
	t->options.min_ns = (uint64_t)(seconds * 1e9);
	/* Only the ends of polls have a length. */
	for (size_t i = 0; i < TRACE_NEVENTS; i++)
		t->options.events[i] &= i == TRACE_POLL_END;
	if (!t->options.events[TRACE_POLL_END])
		return error_new(ERR_USAGE,
		                 "--over only shows task-poll-end, which is not in --events");
	return NULL;
}

static struct error *trace_read_filter(const struct call *call, struct tracing *t)
{
	for (size_t i = 0; i < call->noptions; i++) {
		const struct chosen_option *o = &call->options[i];
		uint64_t id;

		if (strcmp(o->option->name, "with") != 0)
			continue;
		if (strcmp(o->values[0], "id") == 0) {
			if (!trace_key_read(o->values[1], &id))
				return error_new(ERR_USAGE, "\"%s\" is not a task id",
				                 o->values[1]);
			t->filter.of_task = true;
			t->filter.task = id;
		} else if (strcmp(o->values[0], "type") == 0) {
			t->filter.type = o->values[1];
		} else {
			return error_new(ERR_USAGE, "trace has no field \"%s\": use id or type",
			                 o->values[0]);
		}
	}
	return NULL;
}

/* The patterns of --usdt. */
static struct error *read_usdt(const struct call *call, struct tracing *t)
{
	for (size_t i = 0; i < call->noptions; i++) {
		const char *pattern = call->options[i].values ? call->options[i].values[0] : NULL;

		if (strcmp(call->options[i].option->name, "usdt") != 0)
			continue;
		if (!strchr(pattern, ':'))
			return error_new(ERR_USAGE,
			                 "--usdt needs PROVIDER:NAME, not %s: %s:* is every probe "
			                 "of that provider, *:%s every probe of that name",
			                 pattern, pattern, pattern);
		if (t->npatterns == MAX_PATTERNS)
			return error_new(ERR_USAGE, "--usdt may be given at most %d times",
			                 (int)MAX_PATTERNS);
		t->patterns[t->npatterns++] = pattern;
	}
	t->options.usdt_texts = option_has(call, "usdt-strings");
	if (t->npatterns)
		t->options.usdt = t->patterns;
	else if (t->options.usdt_texts || t->options.events[TRACE_USDT])
		return error_new(ERR_USAGE, "%s needs --usdt PROVIDER:NAME",
		                 t->options.usdt_texts ? "--usdt-strings" : "the event usdt");
	t->options.events[TRACE_USDT] = t->npatterns > 0;
	return NULL;
}

/* A recorder may trace more events than are written. */
static struct error *read_recorder(const struct call *call, struct tracing *t)
{
	memcpy(t->wanted, t->options.events, sizeof(t->wanted));
	TRY(recorder_options_read(call, &t->recorder_options));
	if (!t->recorder_options.size)
		return NULL;
	t->setup.min_ns = t->options.min_ns;
	t->options.min_ns = 0;
	recorder_options_events(&t->recorder_options, t->options.events);
	return NULL;
}

static struct error *trace_read_options(const struct call *call, struct tracing *t)
{
	t->options = trace_loop_options(call);
	t->options.nameless = t->options.sites = true;
	TRY(trace_read_events(option_value(call, "events"), t->options.events));
	t->options.no_places = option_has(call, "no-places");
	TRY(read_times(call, t));
	TRY(read_usdt(call, t));
	TRY(trace_read_filter(call, t));
	return read_recorder(call, t);
}

/* Whether the call asks for Perfetto's format, by --format or the ending of its file. */
static struct error *trace_read_format(const struct call *call, bool *perfetto)
{
	static const char ending[] = ".pftrace";
	const char *format = option_value(call, "format"), *file = output_file_of(call);

	if (format && strcmp(format, "text") != 0 && strcmp(format, "perfetto") != 0)
		return error_new(ERR_USAGE, "trace has no format \"%s\": use text or perfetto",
		                 format);
	size_t len = file ? strlen(file) : 0, ends = sizeof(ending) - 1;
	*perfetto = format ? strcmp(format, "perfetto") == 0
	                   : len >= ends && strcmp(file + len - ends, ending) == 0;
	if (*perfetto && (!file || strcmp(file, "-") == 0) && isatty(STDOUT_FILENO))
		return error_new(ERR_USAGE, "a Perfetto trace is binary: name a file with -o");
	return NULL;
}

static struct error *trace_check(const struct call *call)
{
	struct tracing t = { 0 };
	const char *file = output_file_of(call);
	bool perfetto;

	if (file)
		TRY(words_file(file));
	TRY(trace_read_format(call, &perfetto));
	return trace_read_options(call, &t);
}

/* ---- the trace ---- */

static bool trace_command_take_item(const struct trace_item *item, void *arg)
{
	struct tracing *t = arg;

	/* The initial state of the trace is that at start. */
	if (item->time >= t->start && sink_filter_has(&t->filter, item->task, item->type)) {
		t->nshown++;
		sink_item(t->sink, item);
	}
	return !t->sink->failed;
}

/* Expected cost of a poll that a wake-up of a parked worker has led to. */
static uint64_t expected_cost(const struct tracing *t)
{
	const struct trace_plan *plan = trace_plan_of(t->trace);
	uint64_t others = t->options.events[TRACE_WAKE] + t->options.events[TRACE_UNPARK];
	bool slow_start = false, slow_end = false, starts_alone = true;

	for (size_t i = 0; i < plan->n; i++) {
		slow_start |= plan->points[i].role == TRACE_AT_POLL && plan->points[i].slow;
		slow_end |= plan->points[i].role == TRACE_AT_RETURN && plan->points[i].slow;
	}
	for (size_t i = 0; i < TRACE_NEVENTS; i++)
		starts_alone &=
			!t->options.events[i] || i == TRACE_POLL_START || i == TRACE_WORKER_START;
	return (slow_start ? SLOW_COST_NS : POINT_COST_NS) +
	       (starts_alone ? 0
	        : slow_end   ? SLOW_COST_NS
	                     : POINT_COST_NS) +
	       others * POINT_COST_NS;
}

/* Reports the events lost since the last call to the sink. */
static void show_lost(struct tracing *t)
{
	uint64_t n;

	if (trace_has_lost(t->trace, &n) && t->sink->ops->lost)
		t->sink->ops->lost(t->sink, n);
}

static void show_queue(const struct sink_queue *q, void *arg)
{
	struct tracing *t = arg;

	t->sink->ops->queue(t->sink, q);
}

static struct error *trace_flush(uint64_t now, bool ended, void *arg)
{
	struct tracing *t = arg;

	(void)now;

	show_lost(t);
	if (t->shows_queues && !ended && clock_since(t->looked) >= TRACE_LOOP_LOOK_NS) {
		trace_loop_look(t->s, show_queue, t);
		t->looked = clock_now_ns();
	}
	sink_flush(t->sink);
	return error_wrap(sink_error(t->sink), "writing the trace");
}

static void warn_breakpoints(const struct tracing *t)
{
	size_t n = trace_plan_of(t->trace)->n;

	if (strcmp(trace_backend(t->trace), "perf") == 0)
		fprintf(t->out->options.messages,
		        "note: this kernel removes the %zu breakpoints in the background, about "
		        "ten per second\n",
		        n);
}

static void trace_finish(struct tracing *t)
{
	struct trace_ending e = { .detach_ns = trace_detach_ns(t->trace),
		                  .duration_ns = clock_between(t->start, trace_end(t->trace)) };

	trace_totals(t->trace, &e.totals);
	e.totals.events = t->nshown;
	if (t->sink)
		sink_end(t->sink, &e);
	t->s->finding = trace_loop_end(t->trace, t->options.events, t->out);
	if (t->executed)
		fprintf(t->out->options.messages,
		        "note: the process has executed another program, which is not traced\n");
	warn_breakpoints(t);
}

static struct trace_heading heading_of(struct tracing *t, const struct snapshot *about)
{
	t->answer = (struct answer){ .command = "trace", .snapshot = about };
	return (struct trace_heading){
		.plan = trace_plan_of(t->trace),
		.answer = &t->answer,
		.backend = trace_backend(t->trace),
		.wanted = t->wanted,
		.start = t->start,
		.cost_ns = expected_cost(t),
		.nstatics = trace_nstatics(t->trace),
		.filter = &t->filter,
		.before = t->before,
	};
}

/* known: the tasks that exist; NULL: none. */
static void trace_begin_file(struct tracing *t, const struct snapshot *known,
                             const struct snapshot *about)
{
	t->before = timeline_new(TIMELINE_SPANS | TIMELINE_CALLS, NULL, NULL);
	if (known)
		timeline_begin(t->before, known, t->start);
	const struct trace_heading heading = heading_of(t, about);
	t->sink->ops->begin(t->sink, &heading);
	sink_flush(t->sink);
}

static struct error *begin_recorder(struct tracing *t, const struct snapshot *known, pid_t pid)
{
	t->about->nnotes = 0; /* they are about another moment */
	t->setup = (struct recorder_setup){
		.live = &t->live,
		.out = t->out,
		.trace = t->trace,
		.pid = pid,
		.perfetto = t->perfetto,
		.heading = heading_of(t, t->about),
		.min_ns = t->setup.min_ns,
	};
	return recorder_begin(&t->setup, &t->recorder_options, known, &t->recorder);
}

static struct error *follow_recorder(struct tracing *t, pid_t pid)
{
	const struct trace_loop f = {
		.trace = t->trace,
		.pid = pid,
		.duration = t->duration,
		.start = clock_now_ns(),
		.item = recorder_item,
		.tick = recorder_tick,
		.done = recorder_done(t->recorder),
		.arg = t->recorder,
		.executed = &t->executed,
	};

	bool interactive = t->out->options.interactive;

	/* The line about the program once. */
	t->out->options.interactive = true;
	struct error *err = trace_loop_run(&f);
	t->out->options.interactive = interactive;
	if (err)
		return err;
	trace_finish(t);
	if (!*recorder_done(t->recorder))
		fprintf(t->out->options.messages,
		        "note: %" PRIu64 " of %" PRIu64 " files written\n",
		        recorder_count(t->recorder), t->recorder_options.count);
	if (recorder_is_partial(t->recorder))
		t->s->finding = STATUS_PARTIAL;
	return NULL;
}

static struct error *trace_go_on(struct tracing *t, pid_t pid)
{
	const struct trace_loop f = {
		.trace = t->trace,
		.pid = pid,
		.duration = t->duration,
		.start = clock_now_ns(),
		.item = trace_command_take_item,
		.tick = trace_flush,
		.arg = t,
		.executed = &t->executed,
	};

	if (t->recorder)
		return follow_recorder(t, pid);
	TRY(trace_loop_run(&f));
	trace_finish(t);
	return error_wrap(sink_error(t->sink), "writing the trace");
}

static struct error *trace_process(struct tracing *t)
{
	const struct snapshot *known;
	pid_t pid = asyncdbg_target(t->s->handle)->pid;

	/* A recorder's snapshots must not wait for debug info that is read for the first time. */
	bool records = t->recorder_options.size != 0;
	TRY(trace_loop_begin(t->s, &t->options, records ? incident_file_wants : WANT_TASKS, t->out,
	                     &t->trace, &known));
	t->live.of = t->s;
	trace_look_with(t->trace, trace_loop_look_at_threads, &t->live);
	t->start = trace_start(t->trace);
	if (!records) {
		trace_begin_file(t, known, known);
		t->shows_queues = t->sink->ops->queue && sink_filter_has(&t->filter, 0, NULL);
		return trace_go_on(t, pid);
	}
	/* The session's snapshots come and go. */
	TRY(inspect(asyncdbg_inspector(t->s->handle), WANT_LAYOUT, NULL, &t->about));
	TRY(begin_recorder(t, known, pid));
	return trace_go_on(t, pid);
}

/* ---- a program that is started ---- */

/* Begins the output, with the program that will run as pid. */
static struct error *trace_begin_program(struct tracing *t, pid_t pid)
{
	if (t->recorder_options.size)
		return begin_recorder(t, NULL, pid);
	trace_begin_file(t, NULL, t->about);
	return NULL;
}

static struct error *execute_program(struct tracing *t, const char *const *words,
                                     struct launched *l)
{
	uint64_t bias;

	TRY(launched_go(l, words,
	                trace_wants_libraries(t->trace) ? STOP_AFTER_EXEC_ENTRY
	                                                : STOP_AFTER_EXEC_MAPPED));
	TRY(launched_load_bias(l, words[0], &bias));
	TRY(trace_executed(t->trace, bias));
	trace_look_with(t->trace, trace_loop_look_at_threads, &t->live);
	return trace_begin_program(t, l->pid);
}

static struct error *trace_program(struct tracing *t, struct session *s, const char *const *words,
                                   struct launched *l)
{
	struct inspector *in = asyncdbg_inspector(s->handle);

	TRY(launched_start(words, l));
	TRY(inspect(in, WANT_LAYOUT, NULL, &t->about));
	t->options.pid = l->pid;
	t->live = (struct live_session){ .of = s, .pid = l->pid };
	t->about->target.pid = l->pid;
	if (!t->about->target.command)
		t->about->target.command = str_base_name(words[0]);
	TRY(trace_open(in, &t->options, &t->trace));
	t->start = trace_start(t->trace);
	trace_loop_warn(t->trace, t->options.events, t->out);
	TRY(execute_program(t, words, l));
	launched_release(l);
	return trace_go_on(t, l->pid);
}

static void trace_drop(struct tracing *t)
{
	recorder_free(t->recorder);
	sink_freep(&t->sink);
	timeline_free(t->before);
	trace_close(t->trace);
	trace_loop_close_live(&t->live);
	if (t->about)
		snapshot_free(t->about);
	t->recorder = NULL;
	t->sink = NULL;
	t->before = NULL;
	t->trace = NULL;
	t->about = NULL;
}

static struct error *run_program(struct tracing *t)
{
	SCRATCH(tmp);
	const char *const *program = t->s->program;
	struct asyncdbg_options options = *t->s->options;
	struct session s CLEANUP(session_close) = { 0 };
	struct launched l CLEANUP(launched_close) = { .go = -1, .executed = -1 };
	size_t n = 0;

	while (program[n])
		n++;
	const char **words = NEW_ARRAY(&tmp, const char *, n + 1);
	memcpy(words, program, n * sizeof(*words));
	TRY(launched_find(program[0], &tmp, &words[0]));
	options.program = words[0];
	TRY(session_open(&options, &s));
	struct error *err = trace_program(t, &s, words, &l);
	/* The trace and sink borrow from the session. */
	trace_drop(t);
	return err;
}

static struct error *trace_run(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	struct tracing t = { .s = s, .out = out };
	struct end_signals before;
	FILE *f = out->options.answers;

	(void)answer;
	if (s->program ? asyncdbg_kind(s->handle) != ASYNCDBG_NONE
	               : asyncdbg_kind(s->handle) != ASYNCDBG_LIVE)
		return error_new(ERR_USAGE, "trace needs one running process: -p PID, or a program "
		                            "to start: trace ... -- PROGRAM");
	TRY(session_check_runs(s));
	TRY(trace_read_options(call, &t));
	TRY(trace_read_format(call, &t.perfetto));
	if (!t.recorder_options.size) {
		TRY(trace_file_open(output_file_of(call), trace_file_format(out, t.perfetto), f,
		                    &f));
		t.sink = sink_new(out, f, t.perfetto);
	}
	end_signals_catch(&before);
	struct error *err = s->program ? run_program(&t) : trace_process(&t);

	end_signals_restore(&before);
	trace_drop(&t);
	return f == out->options.answers ? err : trace_file_close(f, !t.perfetto, err);
}

static const struct command_option options[] = {
	{ "duration", "TIME", false, "Stop after TIME; default: at ^C or when the program ends" },
	{ "events", "LIST", false, "Show only these events, separated by commas" },
	{ "with", "FIELD VALUE", true,
	  "Show only events of the task with this id, or of tasks whose type contains VALUE" },
	{ "over", "TIME", false, "Show only polls longer than TIME" },
	{ "no-places", NULL, false,
	  "Leave out where tasks wait, which saves a third of a microsecond per poll" },
	{ "usdt", "PROVIDER:NAME", true,
	  "Also show static probes (USDT) of the program, by a name with shell wildcards" },
	{ "usdt-strings", NULL, false, "Show the text that arguments of these probes point to" },
	FOLLOWING_SLOW_OPTION,
	RECORDER_OPTIONS,
	OUTPUT_OPTION,
	{ "format", "FORMAT", false,
	  "Format: text or perfetto; default: perfetto if FILE ends in .pftrace" },
	{ 0 },
};

const struct command trace_command = {
	.name = "trace",
	.options = options,
	.check = trace_check,
	.summary = "Print events of tasks and workers as they happen",
	.help = "    -- PROGRAM starts a program and traces it from its first spawn on; it\n"
		"    keeps running when the trace ends.\n"
		"    Events: task-spawn, task-poll-start, task-poll-end, task-terminate,\n"
		"    worker-thread-start, worker-thread-stop, worker-thread-park,\n"
		"    worker-thread-unpark, task-wake; with --usdt also usdt, with the task that\n"
		"    the thread was polling at the probe.\n"
		"    Unlike other commands, this one lets the kernel put breakpoints into the\n"
		"    program's code while it runs. Each takes a little more than a microsecond,\n"
		"    and a poll hits two to four. They are removed when asyncdbg ends, however\n"
		"    it ends, and need CAP_BPF and CAP_PERFMON.",
	.offline = true,
	.takes_program = true,
	.run = trace_run,
};
