/* metrics: counts of a program's events, for Prometheus. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands/base/interval.h"
#include "commands/base/output_format.h"
#include "commands/time/metrics_families.h"
#include "commands/time/time.h"
#include "commands/time/trace_loop.h"
#include "debugger/base/clock.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/new_file.h"
#include "debugger/target/target.h"
#include "runtimes/session/asyncdbg.h"

enum {
	LOOK_NS = 1000000000,   /* least time between two looks at new threads */
	DURATION = 10,          /* seconds, without --duration and --every */
	SLOW_NS = 10 * 1000000, /* without --over */
	MODE = 0644,            /* another user's node exporter reads the file */
};

struct metering {
	struct session *s;
	struct out *out;
	struct trace *trace;
	struct event_counts *tally;
	struct trace_options options;
	double duration, every; /* seconds; 0: none */
	uint64_t slow_ns;
	uint64_t start, looked, written; /* times in ns, CLOCK_MONOTONIC */
	int pidfd;
	const char *path;
	struct prometheus_label labels[3];
};

/* ---- options ---- */

static struct error *metrics_read_options(const struct call *call, struct metering *m)
{
	double over = SLOW_NS / 1e9;

	TRY(interval_option(call, "every", &m->every));
	TRY(interval_option(call, "duration", &m->duration));
	TRY(interval_option(call, "over", &over));
	if (m->every <= 0 && m->duration <= 0)
		m->duration = DURATION;
	m->slow_ns = (uint64_t)(over * 1e9);
	m->path = output_file_of(call);
	if (m->path)
		TRY(words_file(m->path));
	m->options = trace_loop_options(call);
	m->options.no_places = true;
	for (size_t i = 0; i < TRACE_NEVENTS; i++)
		m->options.events[i] = i != TRACE_USDT;
	return NULL;
}

static struct error *metrics_check(const struct call *call)
{
	struct metering m = { 0 };

	return metrics_read_options(call, &m);
}

/* ---- output ---- */

static struct error *write_file(const struct metering *m, const struct metrics_source *source)
{
	struct new_file file CLEANUP(new_file_drop) = { 0 };

	TRY(new_file_open(m->path, MODE, &output_format_metrics, &file));
	metrics_families_write(file.f, source);
	return new_file_finish(&file);
}

static struct error *write_metrics(struct metering *m, uint64_t time)
{
	struct metrics_source source = {
		.tally = m->tally,
		.plan = trace_plan_of(m->trace),
		.elapsed_ns = clock_between(m->start, time),
		.slow_ns = m->slow_ns,
		.all = m->labels,
	};
	FILE *f = m->out->options.answers;

	trace_totals(m->trace, &source.totals);
	if (m->path && strcmp(m->path, "-") != 0)
		return write_file(m, &source);
	if (m->written)
		fputs("\n", f);
	metrics_families_write(f, &source);
	if (fflush(f) != 0 || ferror(f))
		return error_os(errno ? errno : EIO, "writing the metrics");
	return NULL;
}

/* ---- the trace ---- */

static bool metrics_take(const struct trace_item *item, void *arg)
{
	struct metering *m = arg;

	event_counts_add(m->tally, item);
	return true;
}

/* *time: before it, all events were counted. */
static struct error *metrics_read_events(struct metering *m, uint64_t *time)
{
	uint64_t lost;

	TRY(trace_read_until_now(m->trace, metrics_take, m, time));
	if (trace_has_lost(m->trace, &lost))
		event_counts_lost(m->tally);
	return NULL;
}

/* A process that has ended, or that another debugger has, shows nothing: that is no error here. */
static void metrics_look(struct metering *m)
{
	const struct snapshot *s = NULL;
	struct error *err CLEANUP(error_freep) = session_snapshot(m->s, 0, NULL, &s);

	if (err)
		LOG("trace", "the runtimes could not be read: %s", err->message);
	m->looked = clock_now_ns();
	event_counts_look(m->tally, err ? NULL : s, m->looked);
}

static struct error *write_now(struct metering *m, bool last)
{
	uint64_t time;

	metrics_look(m);
	if (last)
		trace_detach(m->trace);
	TRY(metrics_read_events(m, &time));
	event_counts_advance(m->tally, time);
	if (last)
		event_counts_finish(m->tally);
	TRY(write_metrics(m, time));
	m->written = time;
	return NULL;
}

static bool metrics_is_over(double seconds, uint64_t since)
{
	return seconds > 0 && (double)clock_since(since) / 1e9 >= seconds;
}

static bool metrics_is_interrupted(void)
{
	struct error *stop CLEANUP(error_freep) = interrupt_check();

	/* The last look at the process is taken nevertheless. */
	if (stop)
		interrupt_clear();
	return stop != NULL;
}

static struct error *metrics_follow(struct metering *m)
{
	uint64_t begun = m->start, time;

	while (!trace_loop_process_ended(m->pidfd) && !metrics_is_over(m->duration, m->start) &&
	       !metrics_is_interrupted()) {
		TRY(trace_loop_unless_interrupted(metrics_read_events(m, &time)));
		if (metrics_is_over(m->every, begun)) {
			begun = clock_now_ns();
			TRY(trace_loop_unless_interrupted(write_now(m, false)));
		} else if (event_counts_wants_look(m->tally) && clock_since(m->looked) >= LOOK_NS) {
			metrics_look(m);
		}
	}
	return write_now(m, true);
}

static struct error *run_metering(struct metering *m, struct arena *a)
{
	const struct snapshot *s;

	TRY(trace_loop_begin(m->s, &m->options, WANT_TASKS, m->out, &m->trace, &s));
	m->labels[0] = (struct prometheus_label){ "process", arena_strdup(a, s->target.command) };
	m->labels[1] = (struct prometheus_label){ "pid", arena_uint(a, (uint64_t)s->target.pid) };
	m->start = m->looked = clock_now_ns();
	event_counts_begin(m->tally, s, m->start);
	bool complete = s->complete;
	if (!complete)
		fprintf(m->out->options.messages, "note: not all tasks that exist could be read\n");
	TRY(metrics_follow(m));
	m->s->finding = trace_loop_end(m->trace, m->options.events, m->out);
	if (!complete)
		m->s->finding = STATUS_PARTIAL;
	return NULL;
}

static struct error *metrics_run(struct session *s, const struct answer *answer,
                                 const struct call *call, struct out *out)
{
	SCRATCH(tmp);
	struct metering m = { .s = s, .out = out };

	(void)answer;
	if (out->format != OUT_TEXT)
		return error_new(ERR_USAGE, "metrics writes the Prometheus text format, not JSON");
	if (asyncdbg_kind(s->handle) != ASYNCDBG_LIVE)
		return error_new(ERR_USAGE, "metrics needs a running process: -p PID");
	TRY(session_check_runs(s));
	TRY(metrics_read_options(call, &m));
	m.tally = event_counts_new(m.slow_ns);
	m.pidfd = (int)syscall(SYS_pidfd_open, asyncdbg_target(s->handle)->pid, 0);
	struct error *err = run_metering(&m, &tmp);

	trace_close(m.trace);
	event_counts_free(m.tally);
	if (m.pidfd >= 0)
		close(m.pidfd);
	return err;
}

static const struct command_option options[] = {
	{ "duration", "TIME", false, "Stop after TIME; default 10s without --every" },
	{ "every", "TIME", false, "Write again every TIME, until ^C or the program ends" },
	{ "over", "TIME", false, "Count polls longer than TIME as slow, default 10ms" },
	FOLLOWING_SLOW_OPTION,
	OUTPUT_OPTION,
	{ 0 },
};

const struct command metrics_command = {
	.name = "metrics",
	.options = options,
	.check = metrics_check,
	.summary = "Export counters and histograms of tasks and workers for Prometheus",
	.help = "    Writes the Prometheus text format. By type of task: how many exist, were\n"
		"    spawned and have ended, polls, how long polls took, and how long tasks\n"
		"    waited for them. By worker: polls, and time busy and parked. By runtime:\n"
		"    queue lengths. -o FILE is replaced as a whole, as node exporter's textfile\n"
		"    collector needs it.\n"
		"    Like trace, it lets the kernel put breakpoints into the program's code\n"
		"    while it runs, and needs CAP_BPF and CAP_PERFMON.",
	.offline = true,
	.run = metrics_run,
};
