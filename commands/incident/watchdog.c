#include "commands/incident/watchdog.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "commands/base/interval.h"
#include "commands/incident/incident_file.h"
#include "commands/incident/persistent_findings.h"
#include "commands/incident/run_command.h"
#include "commands/parts/parts.h"
#include "debugger/base/str.h"
#include "debugger/target/target.h"
#include "runtimes/analysis/checks.h"

enum {
	DEFAULT_LOOKS = 2,
	DEFAULT_KEEP = 10,
	MAX_KEEP = 10000,
	MAX_FAILURES = 10, /* checks in a row that may fail */
	MAX_TRIES = 5,     /* attempts at one check */
};

static const double try_again_s = 0.1, default_run_limit_s = 60;

struct watchdog {
	struct session *s;
	struct out *out;
	double every, interval; /* seconds */
	uint64_t looks;         /* --for */
	const char *on, *directory;
	size_t keep;
	struct run_command command;
	struct persistent_findings lasting;
	unsigned failures; /* checks in a row that have failed */
	bool any;          /* anything was reported */
	bool left_out;     /* the last check left findings out */
};

/* ---- options ---- */

static struct error *watchdog_number(const struct call *call, const char *name, uint64_t fallback,
                                     uint64_t max, uint64_t *ret)
{
	const char *text = option_value(call, name);

	*ret = fallback;
	if (!text)
		return NULL;
	struct error *err = words_number(text, "", max, ret);
	if (err || *ret)
		return error_wrap(err, "--%s", name);
	return error_new(ERR_USAGE, "--%s must be at least 1", name);
}

static struct error *run_limit(const struct call *call, double *ret)
{
	*ret = default_run_limit_s;
	return interval_option(call, "run-limit", ret);
}

struct error *watchdog_check(const struct call *call)
{
	static const char *const names[] = { "for", "on", "save", "keep", "run", "run-limit" };
	const char *every = option_value(call, "every"), *list = option_value(call, "on");
	double seconds;
	uint64_t n;

	for (size_t i = 0; !every && i < sizeof(names) / sizeof(*names); i++) {
		if (option_has(call, names[i]))
			return error_new(ERR_USAGE, "--%s needs --every TIME", names[i]);
	}
	if (!every)
		return NULL;
	TRY(interval_option(call, "every", &seconds));
	if (option_has(call, "keep") && !option_has(call, "save"))
		return error_new(ERR_USAGE, "--keep needs --save DIR");
	if (option_has(call, "run-limit") && !option_has(call, "run"))
		return error_new(ERR_USAGE, "--run-limit needs --run COMMAND");
	TRY(run_limit(call, &seconds));
	if (list)
		TRY(checks_list_check(list));
	TRY(watchdog_number(call, "for", DEFAULT_LOOKS, UINT32_MAX, &n));
	return watchdog_number(call, "keep", DEFAULT_KEEP, MAX_KEEP, &n);
}

static struct error *watchdog_read_options(const struct call *call, struct watchdog *w)
{
	uint64_t keep;

	TRY(interval_option(call, "every", &w->every));
	TRY(run_limit(call, &w->command.limit));
	TRY(watchdog_number(call, "for", DEFAULT_LOOKS, UINT32_MAX, &w->looks));
	TRY(watchdog_number(call, "keep", DEFAULT_KEEP, MAX_KEEP, &keep));
	w->keep = keep;
	w->on = option_value(call, "on");
	w->directory = option_value(call, "save");
	w->command.line = option_value(call, "run");
	return NULL;
}

/* ---- reports ---- */

static void watchdog_warn(const struct watchdog *w, struct error *err)
{
	if (!err)
		return;
	STR(line);
	str_append_clean(&line, err->message, strlen(err->message));
	fprintf(w->out->options.messages, "note: %s\n", str_text(&line));
	fflush(w->out->options.messages);
	error_free(err);
}

static void answer_of(const struct watchdog *w, struct answer *ret)
{
	*ret = (struct answer){
		.command = "check",
		.snapshot = asyncdbg_last(w->s->handle),
		.waiting = asyncdbg_waiting(w->s->handle),
		.wants = asyncdbg_last_wants(w->s->handle),
	};
}

static struct error *watchdog_print(const struct watchdog *w, const struct batch *b,
                                    struct out *out)
{
	struct answer answer;
	const struct watched watched = { b->gone, time(NULL), b->gone ? 0 : w->looks };

	answer_of(w, &answer);
	out_begin(out, &answer);
	part_watched(out, &watched);
	part_findings(out, b->data, b->n, NULL, 0);
	return out_end(out);
}

/* Starts --run with the findings as a JSON document. */
static struct error *watchdog_start_command(struct watchdog *w, const struct batch *b)
{
	FILE *input = run_command_input();
	struct out_options options = w->out->options;

	if (!input)
		return error_os(errno, "--run");
	options.answers = input;
	struct out *out CLEANUP(out_freep) = out_json_new(&options, false);
	struct error *err = watchdog_print(w, b, out);
	if (!err)
		return run_command_start(&w->command, input);
	fclose(input);
	return err;
}

static struct error *watchdog_save(struct watchdog *w, const struct batch *b)
{
	SCRATCH(tmp);
	const struct snapshot *snap = asyncdbg_last(w->s->handle);
	const char *name = snap->target.command ? arena_strdup(&tmp, snap->target.command) : "";
	const char *path;
	struct error *err =
		incident_file_write(&tmp, w->s, w->directory, name, b->data[0].check, &path);

	/*
	 * Files are trimmed even if the disk is full: one file of the pair may have been written.
	 */
	incident_file_trim(w->directory, name, w->keep);
	if (err)
		return error_wrap(err, "--save");
	fprintf(w->out->options.messages, "saved: %s.snapshot and .html\n", path);
	return NULL;
}

static struct error *watchdog_report(struct watchdog *w, const struct batch *b)
{
	if (!b->n)
		return NULL;
	TRY(watchdog_print(w, b, w->out));
	if (b->gone)
		return NULL;
	w->any = true;
	/* The files need another snapshot: they come last. */
	if (w->command.line)
		watchdog_warn(w, watchdog_start_command(w, b));
	if (w->directory)
		watchdog_warn(w, watchdog_save(w, b));
	return interrupt_check();
}

/* ---- one check ---- */

/* Reports the findings that have lasted long enough, and those that are over. */
static struct error *watchdog_compare(struct watchdog *w, const struct checks_result *result)
{
	SCRATCH(tmp);
	struct batch gone, due;

	persistent_findings_compare(&w->lasting, &tmp, result->found, result->nfound, w->on,
	                            w->looks, &gone, &due);
	if (w->lasting.left_out && !w->left_out)
		watchdog_warn(
			w, error_new(ERR_UNSUPPORTED,
		                     "%zu findings are left out: at most %d are followed at a time",
		                     w->lasting.left_out, PERSISTENT_FINDINGS_MAX));
	w->left_out = w->lasting.left_out;
	TRY(watchdog_report(w, &gone));
	return watchdog_report(w, &due);
}

/*
 * Takes a snapshot and checks it. Another debugger, such as a second watchdog, may have the process
 * for a moment: tries again.
 */
static struct error *watchdog_look(struct watchdog *w, struct checks_result *ret)
{
	const struct snapshot *snap;

	for (int i = 1;; i++) {
		arena_reset(&w->s->answer);
		unsigned wants = asyncdbg_check_wants(w->s->handle, w->interval);
		struct error *err = session_snapshot(w->s, wants, NULL, &snap);

		err = err ? err : session_check(w->s, snap, w->interval, ret);
		if (!err || err->kind != ERR_STATE || i == MAX_TRIES ||
		    asyncdbg_has_ended(w->s->handle))
			return err;
		error_free(err);
		TRY(interrupt_sleep(try_again_s));
	}
}

/* ---- the loop ---- */

/* Handles a failed check: NULL, with *ended false, to go on. */
static struct error *failed(struct watchdog *w, struct error *err, bool *ended)
{
	if (err->kind == ERR_INTERRUPTED || ++w->failures == MAX_FAILURES)
		return err;
	*ended = asyncdbg_has_ended(w->s->handle);
	if (*ended || w->failures == 1)
		watchdog_warn(w, err);
	else
		error_free(err);
	return NULL;
}

static struct error *watchdog_watch(struct watchdog *w)
{
	bool ended = false;

	while (!ended) {
		struct checks_result result;
		struct error *err = watchdog_look(w, &result);

		if (err) {
			TRY(failed(w, err, &ended));
		} else {
			w->failures = 0;
			TRY(watchdog_compare(w, &result));
		}
		watchdog_warn(w, run_command_reap(&w->command, false));
		if (!ended)
			TRY(interrupt_sleep(w->every));
	}
	return NULL;
}

struct error *watchdog_run(struct session *s, const struct call *call, double interval,
                           struct out *out)
{
	struct watchdog w = { .s = s, .out = out, .interval = interval };
	bool interactive = out->options.interactive;

	if (asyncdbg_kind(s->handle) != ASYNCDBG_LIVE)
		return error_new(ERR_USAGE, "--every needs a live process");
	TRY(session_check_runs(s));
	TRY(watchdog_read_options(call, &w));
	w.interval = w.interval < w.every ? w.interval : w.every;
	/* The line about the program, and each note, once. */
	out->options.interactive = true;
	fprintf(out->options.messages, "note: checking process %d every %g s; ^C ends it\n",
	        (int)asyncdbg_target(s->handle)->pid, w.every);
	fflush(out->options.messages);
	struct error *err = watchdog_watch(&w);

	out->options.interactive = interactive;
	bool interrupted = err && err->kind == ERR_INTERRUPTED;
	if (interrupted) {
		error_free(err);
		err = NULL;
		interrupt_clear();
	}
	watchdog_warn(&w, run_command_reap(&w.command, true));
	if (interrupted)
		interrupt_request();
	persistent_findings_free(&w.lasting);
	s->finding = w.any ? STATUS_FOUND : STATUS_OK;
	return err;
}
