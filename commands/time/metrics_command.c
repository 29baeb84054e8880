/* metrics: counts of a program's events, for Prometheus. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands/base/interval.h"
#include "commands/base/output_format.h"
#include "commands/time/following.h"
#include "commands/time/metrics_families.h"
#include "commands/time/time.h"
#include "debugger/base/clock.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/new_file.h"
#include "debugger/target/target.h"
#include "runtimes/session/asyncdbg.h"

enum {
	LOOK_NS = 1000000000,   /* at least, between two looks at threads that are new */
	DURATION = 10,          /* seconds, without --duration and --every */
	SLOW_NS = 10 * 1000000, /* without --over */
	MODE = 0644,            /* another user's node exporter reads the file */
};

struct metering {
	struct session *s;
	struct out *out;
	struct trace *trace;
	struct event_tally *tally;
	struct trace_options options;
	double duration, every; /* seconds; 0: none */
	uint64_t slow_ns;
	uint64_t start, looked, written; /* when; ns, CLOCK_MONOTONIC */
	int pidfd;
	const char *path;
	struct prometheus_label labels[3];
};

/* ---- options ---- */

static struct error *read_options(const struct call *call, struct metering *m)
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
	m->options = following_options(call);
	m->options.no_places = true;
	for (size_t i = 0; i < TRACE_NEVENTS; i++)
		m->options.events[i] = i != TRACE_USDT;
	return NULL;
}

static struct error *check(const struct call *call)
{
	struct metering m = { 0 };

	return read_options(call, &m);
}

/* ---- what is written ---- */

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

static bool take(const struct trace_item *item, void *arg)
{
	struct metering *m = arg;

	event_tally_add(m->tally, item);
	return true;
}

/* *time: before it, all events were counted. */
static struct error *read_events(struct metering *m, uint64_t *time)
{
	uint64_t lost;

	TRY(trace_read_until_now(m->trace, take, m, time));
	if (trace_has_lost(m->trace, &lost))
		event_tally_lost(m->tally);
	return NULL;
}

/* A process that has ended, or that another debugger has, shows nothing: that is no error here. */
static void look(struct metering *m)
{
	const struct snapshot *s = NULL;
	struct error *err CLEANUP(error_freep) = session_snapshot(m->s, 0, NULL, &s);

	if (err)
		LOG("trace", "no look at the runtimes: %s", err->message);
	m->looked = clock_now_ns();
	event_tally_look(m->tally, err ? NULL : s, m->looked);
}

static struct error *write_now(struct metering *m, bool last)
{
	uint64_t time;

	look(m);
	if (last)
		trace_detach(m->trace);
	TRY(read_events(m, &time));
	event_tally_advance(m->tally, time);
	if (last)
		event_tally_finish(m->tally);
	TRY(write_metrics(m, time));
	m->written = time;
	return NULL;
}

static bool is_over(double seconds, uint64_t since)
{
	return seconds > 0 && (double)clock_since(since) / 1e9 >= seconds;
}

static bool is_interrupted(void)
{
	struct error *stop CLEANUP(error_freep) = interrupt_check();

	/* The last look at the process is to be taken nevertheless. */
	if (stop)
		interrupt_clear();
	return stop != NULL;
}

static struct error *follow(struct metering *m)
{
	uint64_t begun = m->start, time;

	while (!following_process_ended(m->pidfd) && !is_over(m->duration, m->start) &&
	       !is_interrupted()) {
		TRY(following_unless_interrupted(read_events(m, &time)));
		if (is_over(m->every, begun)) {
			begun = clock_now_ns();
			TRY(following_unless_interrupted(write_now(m, false)));
		} else if (event_tally_wants_look(m->tally) && clock_since(m->looked) >= LOOK_NS) {
			look(m);
		}
	}
	return write_now(m, true);
}

static struct error *run_metering(struct metering *m, struct arena *a)
{
	const struct snapshot *s;

	TRY(following_begin(m->s, &m->options, WANT_TASKS, m->out, &m->trace, &s));
	m->labels[0] = (struct prometheus_label){ "process", arena_strdup(a, s->target.command) };
	m->labels[1] = (struct prometheus_label){ "pid", arena_uint(a, (uint64_t)s->target.pid) };
	m->start = m->looked = clock_now_ns();
	event_tally_begin(m->tally, s, m->start);
	bool complete = s->complete;
	if (!complete)
		fprintf(m->out->options.messages, "note: not all tasks that exist could be read\n");
	TRY(follow(m));
	m->s->finding = following_end(m->trace, m->options.events, m->out);
	if (!complete)
		m->s->finding = STATUS_PARTIAL;
	return NULL;
}

static struct error *run(struct session *s, const struct answer *answer, const struct call *call,
                         struct out *out)
{
	SCRATCH(tmp);
	struct metering m = { .s = s, .out = out };

	(void)answer;
	if (out->format != OUT_TEXT)
		return error_new(ERR_USAGE, "metrics writes Prometheus' text format, and no JSON");
	if (asyncdbg_kind(s->handle) != ASYNCDBG_LIVE)
		return error_new(ERR_USAGE, "metrics needs a running process: -p PID");
	TRY(session_check_runs(s));
	TRY(read_options(call, &m));
	m.tally = event_tally_new(m.slow_ns);
	m.pidfd = (int)syscall(SYS_pidfd_open, asyncdbg_target(s->handle)->pid, 0);
	struct error *err = run_metering(&m, &tmp);

	trace_close(m.trace);
	event_tally_free(m.tally);
	if (m.pidfd >= 0)
		close(m.pidfd);
	return err;
}

static const struct command_option options[] = {
	{ "duration", "TIME", false, "End after TIME; 10s without --every" },
	{ "every", "TIME", false, "Write again each TIME, until ^C or the program's end" },
	{ "over", "TIME", false, "A poll that takes longer than TIME is slow: 10ms" },
	FOLLOWING_SLOW_OPTION,
	OUTPUT_OPTION,
	{ 0 },
};

const struct command metrics_command = {
	.name = "metrics",
	.options = options,
	.check = check,
	.summary = "Counters and histograms of tasks and workers, for Prometheus",
	.help = "    Writes Prometheus' text format: by type of task what exists, was spawned and\n"
		"    has ended, polls, how long they took and how long tasks waited for them; by\n"
		"    worker its polls, and its time busy and parked; by runtime its queues. -o "
		"FILE\n"
		"    is replaced as a whole, as node exporter's textfile collector wants it.\n"
		"    Like trace, it lets the kernel put breakpoints into the program's code while\n"
		"    it runs, and needs CAP_BPF and CAP_PERFMON.",
	.offline = true,
	.run = run,
};
