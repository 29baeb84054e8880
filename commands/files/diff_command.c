/* diff: compares two saved snapshots, or successive snapshots of a live process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands/base/interval.h"
#include "commands/files/files.h"
#include "commands/parts/parts.h"
#include "debugger/base/str.h"
#include "runtimes/analysis/diff.h"
#include "runtimes/saved/saved.h"

enum {
	DIFF_WANTS = WANT_TASKS | WANT_RUNNING,
	MAX_LOOKS = 1000000,
};

/* Parses the interval, which must not be 0. */
static struct error *interval(const char *word, double *seconds)
{
	TRY(interval_read(word, seconds));
	return *seconds > 0 ? NULL
	                    : error_new(ERR_USAGE, "\"%s\" is not a time between looks", word);
}

static struct error *look_count(const char *word, uint64_t *ret)
{
	TRY(words_number(word, "a number of looks", MAX_LOOKS, ret));
	return *ret ? NULL : error_new(ERR_USAGE, "--count must be at least 1");
}

static struct error *diff_check(const struct call *call)
{
	const char *every = option_value(call, "interval"), *count = option_value(call, "count");
	double seconds;
	uint64_t n;

	if (every && call->args.n)
		return error_new(ERR_USAGE, "--interval compares two moments of a process, and "
		                            "cannot be used with two files");
	if (!every && count)
		return error_new(ERR_USAGE, "--count needs --interval");
	if (every)
		TRY(interval(every, &seconds));
	return count ? look_count(count, &n) : NULL;
}

/* ---- showing ---- */

/* Prints the diff as an answer about the later snapshot. Returns the resulting status. */
static enum status diff_show(const struct answer *answer, struct diff *d,
                             const struct saved_origin *saved, struct out *out)
{
	struct answer shown = *answer;

	shown.snapshot = d->after;
	shown.saved = saved;
	shown.wants = DIFF_WANTS;
	diff_find_uncertainties(d);
	out_begin(out, &shown);
	part_diff(out, d);
	if (!d->before->complete || !d->after->complete)
		return STATUS_PARTIAL;
	return diff_has_moved(d) ? STATUS_OK : STATUS_STILL;
}

/* ---- files ---- */

struct diff_look {
	struct asyncdbg *handle;
	const struct snapshot *snapshot;
	const char *name;
};

static void look_close(struct diff_look *l)
{
	asyncdbg_close(l->handle);
}

/* Opens a core or a saved snapshot with the options of the session. */
static struct error *open_look(const struct session *s, struct arena *a, const char *path,
                               struct diff_look *ret)
{
	struct asyncdbg_options options = *s->options;

	options.pid = 0;
	options.file = path;
	TRY(asyncdbg_open(&options, &ret->handle));
	TRY(asyncdbg_snapshot(ret->handle, DIFF_WANTS, NULL, &ret->snapshot));
	const char *clean = str_clean(a, path, strlen(path));
	const struct saved_origin *saved = asyncdbg_origin(ret->handle);
	const char *when = saved ? saved_time(a, saved->when) : NULL;

	ret->name = when ? arena_printf(a, "%s (%s)", clean, when) : clean;
	return NULL;
}

static struct error *diff_files(struct session *s, const struct answer *answer,
                                const struct words *args, struct out *out)
{
	struct diff_look a CLEANUP(look_close) = { 0 }, b CLEANUP(look_close) = { 0 };
	struct diff d CLEANUP(diff_free) = { 0 };
	const struct asyncdbg *later = s->handle;
	SCRATCH(tmp);

	TRY(open_look(s, &tmp, args->word[0], &a));
	if (args->n > 1) {
		TRY(open_look(s, &tmp, args->word[1], &b));
		later = b.handle;
	} else {
		TRY(session_snapshot(s, DIFF_WANTS, NULL, &b.snapshot));
		b.name = s->options->pid ? "now" : s->options->file;
	}
	diff_compute(a.snapshot, b.snapshot, NULL, &d);
	d.before_name = a.name;
	d.after_name = b.name;
	s->finding = diff_show(answer, &d, asyncdbg_origin(later), out);
	/* End the answer here: formats write at the end, and the snapshots are freed on return. */
	return out_end(out);
}

/* ---- live ---- */

struct diff_watch {
	struct snapshot *before, *after;
	struct diff earlier;
	enum status status; /* STATUS_STILL until something moves */
};

static void watch_end(struct diff_watch *w)
{
	diff_free(&w->earlier);
	snapshot_free(w->before);
	snapshot_free(w->after);
}

/* Compares with the previous snapshot, then keeps the new one for the next comparison. */
static struct error *show_next(struct session *s, struct diff_watch *w, const struct answer *answer,
                               const char *every, bool first, struct out *out)
{
	struct diff d;

	TRY(asyncdbg_take(s->handle, DIFF_WANTS, &w->after));
	diff_compute(w->before, w->after, first ? NULL : &w->earlier, &d);
	d.before_name = "the look before";
	d.after_name = every;
	enum status status = diff_show(answer, &d, NULL, out);
	struct error *err = out_end(out);

	if (status != STATUS_STILL && w->status != STATUS_PARTIAL)
		w->status = status;
	diff_free(&w->earlier);
	snapshot_free(w->before);
	w->earlier = d;
	w->before = w->after;
	w->after = NULL;
	return err;
}

static struct error *diff_live(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	const char *every = option_value(call, "interval"), *times = option_value(call, "count");
	struct diff_watch w CLEANUP(watch_end) = { .status = STATUS_STILL };
	uint64_t count = 1;
	double seconds;
	SCRATCH(tmp);

	if (!every)
		return error_new(ERR_USAGE, "nothing to compare: use diff A B for two saved "
		                            "snapshots or cores, or -p PID diff --interval 5s");
	TRY(interval(every, &seconds));
	if (times)
		TRY(look_count(times, &count));
	if (asyncdbg_kind(s->handle) != ASYNCDBG_LIVE)
		return error_new(ERR_USAGE, "--interval needs a process: -p PID");
	TRY(session_check_runs(s));
	TRY(asyncdbg_take(s->handle, DIFF_WANTS, &w.before));
	for (uint64_t i = 0; i < count; i++) {
		TRY(interrupt_sleep(seconds));
		TRY(show_next(s, &w, answer,
		              arena_printf(&tmp, "this one, %s later", interval_text(&tmp, every)),
		              i == 0, out));
	}
	s->finding = w.status;
	return NULL;
}

static struct error *diff_run(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	if (call->args.n)
		return diff_files(s, answer, &call->args, out);
	return diff_live(s, answer, call, out);
}

static const struct command_option options[] = {
	{ "interval", "TIME", false,
	  "Compare two moments of the process (-p), TIME apart: 5s, 200ms, 2m" },
	{ "count", "N", false, "Compare N times, each moment with the one before" },
	{ 0 },
};

const struct command diff_command = {
	.name = "diff",
	.args = "[A [B]]",
	.max_args = 2,
	.options = options,
	.check = diff_check,
	.summary = "Compare two moments: saved snapshots, cores, or a live process",
	.help = "    A and B are saved snapshots or cores; without B, A is compared with the\n"
		"    target of -p or -c. Tasks are identified by runtime, id and address. Exit\n"
		"    status 4: nothing is new, gone or moved (a timer that was only re-armed\n"
		"    does not count); 0: something is.",
	.offline = true,
	.run = diff_run,
};
