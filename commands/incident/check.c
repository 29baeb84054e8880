/* check: finds problems of a program, for health probes and CI. */
#include "commands/base/interval.h"
#include "commands/incident/incident.h"
#include "commands/incident/watchdog.h"
#include "commands/parts/parts.h"
#include "runtimes/analysis/checks.h"

#define DEFAULT_INTERVAL 1.0 /* seconds */

static struct error *check_read_interval(const char *text, double *ret)
{
	*ret = DEFAULT_INTERVAL;
	return text ? interval_read(text, ret) : NULL;
}

static struct error *check_check(const struct call *call)
{
	const char *list = option_value(call, "fail-on");
	double interval;

	if (list)
		TRY(checks_list_check(list));
	TRY(watchdog_check(call));
	return check_read_interval(option_value(call, "interval"), &interval);
}

/* The interval was checked. Of looks at intervals the watchdog takes its own. */
static unsigned wants_now(const struct session *s, const struct call *call)
{
	double interval = 0;

	error_free(check_read_interval(option_value(call, "interval"), &interval));
	return asyncdbg_check_wants(s->handle, interval);
}

static struct error *run_check(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	const char *list = option_value(call, "fail-on");
	struct answer last = *answer;
	struct checks_result result;
	double interval;

	TRY(check_read_interval(option_value(call, "interval"), &interval));
	if (option_has(call, "every"))
		return watchdog_run(s, call, interval, out);
	TRY(session_check(s, last.snapshot, interval, &result));
	last.snapshot = result.snapshot;
	last.wants = asyncdbg_last_wants(s->handle);
	out_begin(out, &last);
	for (size_t i = 0; i < result.nfound; i++)
		s->finding |= checks_list_has(list, &result.found[i]) ? STATUS_FOUND : 0;
	part_findings(out, result.found, result.nfound, result.skipped, result.nskipped);
	return NULL;
}

static const struct command_option check_options[] = {
	{ "fail-on", "LIST", false,
	  "Exit with 3 if one of these checks, separated by commas, finds anything; NAME counts "
	  "what is certain, NAME:possible also what is only possible" },
	{ "interval", "TIME", false,
	  "Time between the two looks at a live process, default 1s; 0: a single look" },
	WATCHDOG_OPTIONS,
	{ 0 },
};

const struct command check_command = {
	.name = "check",
	.options = check_options,
	.check = check_check,
	.summary = "Diagnose the program: deadlocks, blocked workers, starved queues and more",
	.help = "    Checks: deadlock, futurelock, no-waker, blocked-worker, long-poll,\n"
		"    starved-queue, timer-overdue, panicked-task, closed-channel-wait,\n"
		"    huge-future, many-identical. Each finding has a severity and a command that "
		"shows more.\n"
		"    The exit status is 3 if an error is found or, with --fail-on, if any of\n"
		"    the listed checks finds something that is certain. NAME:possible also\n"
		"    counts what is only possible, as in --fail-on deadlock:possible; it\n"
		"    applies to deadlock, futurelock, no-waker, long-poll, timer-overdue\n"
		"    and closed-channel-wait.",
	.wants = ASYNCDBG_CHECK_WANTS,
	.wants_now = wants_now,
	.run = run_check,
};
