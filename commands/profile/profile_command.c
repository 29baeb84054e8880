/* profile: where tasks spend their time, by the chains of their awaits. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "commands/base/interval.h"
#include "commands/base/output_format.h"
#include "commands/profile/profile.h"
#include "commands/profile/profile_cpu.h"
#include "commands/profile/profile_sampling.h"
#include "commands/profile/profile_view.h"
#include "commands/time/trace_loop.h"
#include "debugger/base/clock.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/new_file.h"
#include "debugger/base/str.h"
#include "debugger/target/target.h"
#include "runtimes/session/asyncdbg.h"
#include "runtimes/timeline/timeline.h"

enum {
	DURATION = 10,             /* seconds, without --duration */
	FIRST_LOOK_NS = 10000000,  /* time until polls that began before are looked for */
	LAST_LOOK_NS = 1000000000, /* between two looks, at most */
	MODE = 0600,
};

enum profile_format { FORMAT_TEXT, FORMAT_FOLDED, FORMAT_PPROF, FORMAT_HTML, NFORMATS };

static const struct {
	const char *name, *ending, *other_ending;
	const struct file_format *file;
} formats[] = {
	[FORMAT_TEXT] = { "text", NULL, NULL, &output_format_text_profile },
	[FORMAT_FOLDED] = { "folded", ".folded", NULL, &output_format_folded },
	[FORMAT_PPROF] = { "pprof", ".pb.gz", ".pprof", &output_format_pprof },
	[FORMAT_HTML] = { "html", ".html", ".htm", &output_format_page },
};

struct profiling {
	struct session *s;
	struct out *out;
	struct trace *trace; /* NULL: it samples */
	struct profile_sampling sampling;
	struct timeline *timeline;
	struct time_profile *profile;
	struct profile_cpu cpu; /* CPU samples of polls, if wanted */
	struct trace_options options;
	double duration; /* seconds */
	enum profile_format format;
	const char *path;
	uint64_t when;       /* the time of its start; ns since 1970 UTC */
	uint64_t start, end; /* ns, CLOCK_MONOTONIC; end 0: not yet */
	uint64_t nread;      /* events of the last read */
	bool drained;        /* one came that is later than the end */
	uint64_t look, wait; /* the time of the next look, and its distance from the last one */
	int pidfd;
};

/* ---- options ---- */

static struct error *unknown_format(const char *name)
{
	STR(list);

	for (size_t i = 0; i < NFORMATS; i++) {
		str_append(&list, i ? ", " : "");
		str_append(&list, formats[i].name);
	}
	return error_new(ERR_USAGE, "profile has no format \"%s\": use %s", name, str_text(&list));
}

/* Whether text ends so; both may be NULL: false. */
static bool ends_with(const char *text, const char *ending)
{
	size_t len = text ? strlen(text) : 0, n = ending ? strlen(ending) : 0;

	return n && len >= n && strcmp(text + len - n, ending) == 0;
}

/* Chooses the format by --format, or else by the file extension. */
static struct error *profile_read_format(const struct call *call, struct profiling *p)
{
	const char *name = option_value(call, "format");

	p->format = FORMAT_TEXT;
	for (size_t i = 0; i < NFORMATS; i++) {
		if (name ? strcmp(name, formats[i].name) == 0
		         : ends_with(p->path, formats[i].ending) ||
		                    ends_with(p->path, formats[i].other_ending)) {
			p->format = (enum profile_format)i;
			return NULL;
		}
	}
	return name ? unknown_format(name) : NULL;
}

static struct error *profile_read_options(const struct call *call, struct profiling *p)
{
	static const enum trace_event events[] = { TRACE_SPAWN, TRACE_POLL_START, TRACE_POLL_END,
		                                   TRACE_TERMINATE, TRACE_WAKE };

	p->duration = DURATION;
	TRY(interval_option(call, "duration", &p->duration));
	p->path = output_file_of(call);
	if (p->path)
		TRY(words_file(p->path));
	TRY(profile_read_format(call, p));
	TRY(profile_cpu_options(call, &p->cpu));
	if (p->format == FORMAT_PPROF && (!p->path || strcmp(p->path, "-") == 0) &&
	    isatty(STDOUT_FILENO))
		return error_new(ERR_USAGE, "a pprof profile is binary: name a file with -o");
	p->options = trace_loop_options(call);
	p->options.off_times = true;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		p->options.events[events[i]] = true;
	return NULL;
}

static struct error *profile_check(const struct call *call)
{
	struct profiling p = { 0 };

	return profile_read_options(call, &p);
}

/* ---- output ---- */

static struct error *write_to(FILE *f, const struct profiling *p, const struct profile_view *v)
{
	if (p->out->format != OUT_TEXT)
		profile_json_write(f, v, p->out->format == OUT_JSON_LINES);
	else if (p->format == FORMAT_FOLDED)
		profile_folded_write(f, v);
	else if (p->format == FORMAT_PPROF)
		return profile_pprof_write(f, v);
	else if (p->format == FORMAT_HTML)
		profile_html_write(f, v);
	else
		profile_text_write(f, v);
	if (fflush(f) != 0 || ferror(f))
		return error_os(errno ? errno : EIO, "writing the profile");
	return NULL;
}

static struct error *profile_open_file(const struct profiling *p, struct new_file *ret)
{
	const bool is_text = p->out->format == OUT_TEXT;

	return new_file_open(p->path, MODE,
	                     is_text ? formats[p->format].file : &output_format_json_profile, ret);
}

/* The name of the file is tried before anything is measured. */
static struct error *profile_check_file(const struct profiling *p)
{
	struct new_file file CLEANUP(new_file_drop) = { 0 };

	return p->path ? profile_open_file(p, &file) : NULL;
}

static struct error *write_view(const struct profiling *p, const struct profile_view *v)
{
	struct new_file file CLEANUP(new_file_drop) = { 0 };

	if (!p->path || strcmp(p->path, "-") == 0)
		return write_to(p->out->options.answers, p, v);
	TRY(profile_open_file(p, &file));
	TRY(write_to(file.f, p, v));
	return new_file_finish(&file);
}

static void profile_print_notes(const struct profiling *p, const struct profile_view *v)
{
	SCRATCH(tmp);

	/* trace_loop_end() reports lost events. */
	for (size_t i = PROFILE_NOTE_LOST + 1; i < PROFILE_NNOTES; i++) {
		const char *note = profile_view_note(&tmp, v, i);

		if (note)
			fprintf(p->out->options.messages, "note: %s\n", note);
	}
}

static struct error *write_profile(struct profiling *p)
{
	SCRATCH(tmp);
	struct profile_tree tree;
	const struct session *s = p->trace ? p->s : &p->sampling.looks.session;
	const struct answer answer = { .command = "profile", .snapshot = asyncdbg_last(s->handle) };
	struct out_options options = p->out->options;
	struct profile_view v = {
		.tree = &tree,
		.answer = &answer,
		.options = &options,
		.plan = p->trace ? trace_plan_of(p->trace) : NULL,
		.wanted = p->options.events,
		.backend = p->trace ? trace_backend(p->trace) : "samples",
		.samples = p->sampling.n,
		.when_ns = p->when,
		.start = p->start,
		.duration_ns = clock_between(p->start, p->end),
		.untracked = timeline_untracked(p->timeline),
		.no_off = p->trace ? trace_off_times_missing(p->trace) : NULL,
		.cpu_hz = p->cpu.hz,
		.no_cpu = p->cpu.missing,
	};

	if (p->path && strcmp(p->path, "-") != 0)
		options.width = 0;
	profile_cpu_tree(&p->cpu, p->profile, &tmp, &tree);
	if (p->cpu.cpu)
		cpu_profile_totals(p->cpu.cpu, &v.cpu);
	time_profile_inexact(p->profile, &v.inexact_spans, &v.inexact_ns);
	if (p->trace)
		trace_totals(p->trace, &v.totals);
	TRY(write_view(p, &v));
	profile_print_notes(p, &v);
	return NULL;
}

/* ---- the trace ---- */

static bool profile_take(const struct trace_item *item, void *arg)
{
	struct profiling *p = arg;

	p->nread++;
	if (p->end && item->time > p->end) {
		p->drained = true;
	} else {
		bool polled = p->cpu.cpu && timeline_is_polling(p->timeline, item->tid);

		profile_cpu_read(&p->cpu, item->time);
		timeline_add(p->timeline, item);
		if (!polled)
			profile_cpu_drop(&p->cpu, item->tid, item->time);
	}
	return true;
}

/* A task_span_fn. */
static void add_span(const struct task_span *span, void *arg)
{
	struct profiling *p = arg;

	profile_cpu_span(&p->cpu, span, p->profile);
	time_profile_add(span, p->profile);
}

static struct error *profile_read_events(struct profiling *p)
{
	uint64_t time = p->end ? p->end : clock_now_ns();
	uint64_t lost;

	p->nread = 0;
	/* ^C ends the profile, and the rest is read at its end. */
	TRY(trace_loop_unless_interrupted(trace_read(p->trace, profile_take, p)));
	if (trace_has_lost(p->trace, &lost))
		timeline_lost(p->timeline, time);
	return NULL;
}

/*
 * The end of a poll that began before the trace is not seen: a snapshot shows it, later and later.
 * A process that has ended, or that another debugger has, shows nothing: that is no error here.
 */
static void profile_look(struct profiling *p)
{
	uint64_t time = clock_now_ns();
	const struct snapshot *s = NULL;

	if (!timeline_unseen(p->timeline) || time < p->look)
		return;
	struct error *err CLEANUP(error_freep) = session_snapshot(p->s, WANT_TASKS, NULL, &s);
	if (err)
		LOG("trace", "the tasks could not be read: %s", err->message);
	else
		timeline_look(p->timeline, s, time);
	p->wait = p->wait * 2 < LAST_LOOK_NS ? p->wait * 2 : LAST_LOOK_NS;
	p->look = clock_now_ns() + p->wait;
}

/* Whether the time is over or ^C was typed: the events up to then are written. */
static bool profile_is_over(const struct profiling *p)
{
	struct error *stop CLEANUP(error_freep) = interrupt_check();

	if (stop)
		interrupt_clear();
	return stop || (double)clock_since(p->start) / 1e9 >= p->duration;
}

static struct error *profile_follow(struct profiling *p)
{
	while (!trace_loop_process_ended(p->pidfd) && !trace_is_over(p->trace) &&
	       !profile_is_over(p)) {
		profile_cpu_read(&p->cpu, clock_now_ns());
		TRY(profile_read_events(p));
		profile_look(p);
	}
	/* Off-CPU times of polls that have not ended are known for this moment only. */
	p->end = clock_now_ns();
	profile_cpu_end(&p->cpu);
	do {
		TRY(profile_read_events(p));
	} while (p->nread && !p->drained);
	timeline_cut(p->timeline, p->end);
	trace_detach(p->trace);
	return NULL;
}

static uint64_t now_since_1970(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void profile_print_beginning(const struct profiling *p)
{
	FILE *f = p->out->options.messages;

	fprintf(f, "note: profiling process %d for %g s; ^C ends it\n",
	        (int)asyncdbg_target(p->s->handle)->pid, p->duration);
	fflush(f);
}

static bool off_time(pid_t tid, uint64_t *ns, void *arg)
{
	const struct profiling *p = arg;

	return trace_off_time(p->trace, tid, ns);
}

/* Prints the notes of the last look, which say why no task was seen. */
static void print_why_empty(const struct profiling *p)
{
	const struct snapshot *s = asyncdbg_last(p->sampling.looks.session.handle);

	for (size_t i = 0; i < s->nnotes && !s->ntasks; i++)
		fprintf(p->out->options.messages, "note: %s\n", s->notes[i]);
}

/* Profiles by samples, without probes; why: the reason why there are none. */
static struct error *run_sampling(struct profiling *p, const char *why)
{
	struct profile_sampling *sampling = &p->sampling;

	fprintf(p->out->options.messages, "note: sampling, which is not exact: %s\n", why);
	profile_cpu_without_events(&p->cpu);
	*sampling = (struct profile_sampling){ .s = p->s,
		                               .duration = p->duration,
		                               .visit = time_profile_add,
		                               .arg = p->profile,
		                               .pidfd = p->pidfd };
	profile_print_beginning(p);
	p->when = now_since_1970();
	TRY(profile_sampling_run(sampling));
	p->start = sampling->start;
	p->end = sampling->end;
	if (!sampling->n)
		return error_new(ERR_STATE, "the process ended before it could be read");
	TRY(write_profile(p));
	print_why_empty(p);
	p->s->finding = STATUS_PARTIAL;
	return NULL;
}

/* Whether the kernel or this build have no probes for us. */
static bool profile_has_no_probes(const struct profiling *p, const struct error *err)
{
	return err && !p->trace && (err->kind == ERR_UNSUPPORTED || err->kind == ERR_OS);
}

/* An event without which times would be wrong, and that this build does not show; NULL: none. */
static const struct trace_missing *missing_event(const struct profiling *p)
{
	const struct trace_plan *plan = trace_plan_of(p->trace);

	for (size_t i = 0; i < plan->nmissing; i++) {
		enum trace_event event = plan->missing[i].event;

		if (p->options.events[event] && event != TRACE_SPAWN && !plan->missing[i].never)
			return &plan->missing[i];
	}
	return NULL;
}

static struct error *run_profile(struct profiling *p)
{
	const struct snapshot *s;

	TRY(profile_check_file(p));
	struct error *err = trace_loop_begin(p->s, &p->options, WANT_TASKS, p->out, &p->trace, &s);
	if (profile_has_no_probes(p, err)) {
		struct error *why CLEANUP(error_freep) = err;

		return run_sampling(p, why->message);
	}
	TRY(err);
	const struct trace_missing *missing = missing_event(p);
	if (missing) {
		SCRATCH(tmp);
		const char *why =
			arena_printf(&tmp, "this needs %s", trace_event_name(missing->event));

		trace_close(p->trace);
		p->trace = NULL;
		return run_sampling(p, why);
	}
	bool complete = s->complete;
	profile_cpu_begin(&p->cpu, p->trace);
	p->start = clock_now_ns();
	p->when = now_since_1970();
	p->wait = FIRST_LOOK_NS;
	p->look = p->start + p->wait;
	timeline_measure(p->timeline, off_time, p);
	timeline_begin(p->timeline, s, p->start);
	if (!complete)
		fprintf(p->out->options.messages, "note: not all tasks that exist could be read\n");
	profile_print_beginning(p);
	TRY(profile_follow(p));
	TRY(write_profile(p));
	p->s->finding = trace_loop_end(p->trace, p->options.events, p->out);
	if (!complete)
		p->s->finding = STATUS_PARTIAL;
	return NULL;
}

static struct error *profile_run(struct session *s, const struct answer *answer,
                                 const struct call *call, struct out *out)
{
	struct profiling p = { .s = s, .out = out };

	(void)answer;
	if (asyncdbg_kind(s->handle) != ASYNCDBG_LIVE)
		return error_new(ERR_USAGE, "profile needs a running process: -p PID");
	TRY(session_check_runs(s));
	TRY(profile_read_options(call, &p));
	if (out->format != OUT_TEXT && option_value(call, "format"))
		return error_new(ERR_USAGE, "--json and --format cannot be combined");
	p.profile = time_profile_new();
	p.timeline = timeline_new(TIMELINE_SPANS | (p.cpu.hz ? TIMELINE_CALLS : 0), add_span, &p);
	p.pidfd = (int)syscall(SYS_pidfd_open, asyncdbg_target(s->handle)->pid, 0);
	struct error *err = run_profile(&p);

	profile_cpu_close(&p.cpu);
	trace_close(p.trace);
	task_samples_free(p.sampling.samples);
	quiet_looks_end(&p.sampling.looks);
	timeline_free(p.timeline);
	time_profile_free(p.profile);
	file_close(&p.pidfd);
	return err;
}

static const struct command_option options[] = {
	{ "duration", "TIME", false, "Stop after TIME, default 10s" },
	FOLLOWING_SLOW_OPTION,
	OUTPUT_OPTION,
	{ "format", "FORMAT", false,
	  "Format: text, folded (for flame graphs), pprof, html; default: by the ending of FILE" },
	PROFILE_CPU_OPTIONS,
	{ 0 },
};

const struct command profile_command = {
	.name = "profile",
	.options = options,
	.check = profile_check,
	.summary = "Profile where tasks spend their time, by await chain",
	.help = "    The time of each task is divided into polling on a CPU, polling but off\n"
		"    the CPU (blocked, or other threads ran), runnable but not yet polled, and\n"
		"    waiting at an await. Poll time belongs to the await from which the task\n"
		"    continued.\n"
		"    Like trace, it lets the kernel put breakpoints into the program's code\n"
		"    while it runs, and needs CAP_BPF and CAP_PERFMON. Without them it samples\n"
		"    the tasks, with at most a tenth of a CPU: times are estimates, and polls\n"
		"    are not counted.\n"
		"    With --cpu it also shows which functions polls spend their time in, by\n"
		"    sampling the stacks of threads that are on a CPU.",
	.offline = true,
	.run = profile_run,
};
