/* diff: what moved between two saved looks, or while somebody waits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands/command.h"
#include "commands/diff.h"
#include "commands/execute.h"
#include "commands/saved.h"
#include "debugger/base/str.h"

enum {
	DIFF_WANTS = WANT_TASKS | WANT_RUNNING,
	MAX_LOOKS = 1000000,
	MAX_SECONDS = 86400,
};

/* "5s", "200ms", "2m", or a number of seconds. */
static struct error *interval(const char *word, struct timespec *ret)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "m", 60 } };
	char *end;
	double number = strtod(word, &end);

	for (size_t i = 0; end != word && i < sizeof(units) / sizeof(*units); i++) {
		double seconds = number * units[i].seconds;

		if (strcmp(end, units[i].unit) != 0 || !(seconds > 0 && seconds <= MAX_SECONDS))
			continue;
		ret->tv_sec = (time_t)seconds;
		ret->tv_nsec = (long)((seconds - (double)ret->tv_sec) * 1e9);
		return NULL;
	}
	return error_new(ERR_USAGE, "\"%s\" is no interval: 5s, 200ms or 2m, up to a day", word);
}

static struct error *check(const struct call *call)
{
	const char *every = call_option(call, "interval"), *count = call_option(call, "count");
	struct timespec time;
	uint64_t n;

	if (every && call->args.n)
		return error_new(ERR_USAGE,
		                 "--interval looks at a process twice; two files have their looks");
	if (!every && count)
		return error_new(ERR_USAGE, "--count goes with --interval");
	if (every)
		TRY(interval(every, &time));
	return count ? word_number(count, "a number of looks", MAX_LOOKS, &n) : NULL;
}

/* ---- showing ---- */

/* Task ids and addresses of one program mean nothing in another. */
static struct error *check_same(const struct diff *d)
{
	const struct target_info *a = &d->before->target, *b = &d->after->target;

	if (a->build_id && b->build_id && strcmp(a->build_id, b->build_id) != 0)
		return error_new(ERR_USAGE,
		                 "%s and %s are of different programs: build-ids %s and %s",
		                 d->before_name, d->after_name, a->build_id, b->build_id);
	return NULL;
}

/* The answer is about the later look. Returns the status that it calls for. */
static enum status show(const struct answer *answer, const struct diff *d, struct out *out)
{
	struct answer shown = *answer;

	shown.snapshot = d->after;
	shown.wants = DIFF_WANTS;
	out_begin(out, &shown);
	out->ops->diff(out, d);
	if (!d->before->complete || !d->after->complete)
		return STATUS_PARTIAL;
	return diff_has_moved(d) ? STATUS_OK : STATUS_STILL;
}

/* ---- files ---- */

struct look {
	struct session_options options;
	struct session session;
	const struct snapshot *snapshot;
	const char *name;
};

static void look_close(struct look *l)
{
	session_close(&l->session);
}

/* A core or a saved snapshot, as the session of the command would open it. */
static struct error *open_look(const struct session *s, struct arena *a, const char *path,
                               struct look *ret)
{
	ret->options = *s->options;
	ret->options.pid = 0;
	ret->options.core = path;
	TRY(session_open(&ret->options, &ret->session));
	TRY(session_snapshot(&ret->session, DIFF_WANTS, NULL, &ret->snapshot));
	const char *clean = str_clean(a, path, strlen(path));
	const char *when = ret->session.saved ? saved_time(a, ret->session.origin.when) : NULL;

	ret->name = when ? arena_printf(a, "%s (%s)", clean, when) : clean;
	return NULL;
}

static struct error *diff_files(struct session *s, const struct answer *answer,
                                const struct words *args, struct out *out)
{
	struct look a CLEANUP(look_close) = { 0 }, b CLEANUP(look_close) = { 0 };
	struct diff d CLEANUP(diff_free) = { 0 };
	SCRATCH(tmp);

	TRY(open_look(s, &tmp, args->word[0], &a));
	if (args->n > 1) {
		TRY(open_look(s, &tmp, args->word[1], &b));
	} else {
		TRY(session_snapshot(s, DIFF_WANTS, NULL, &b.snapshot));
		b.name = s->options->pid ? "now" : s->options->core;
	}
	diff_compute(a.snapshot, b.snapshot, NULL, &d);
	d.before_name = a.name;
	d.after_name = b.name;
	TRY(check_same(&d));
	s->finding = show(answer, &d, out);
	/* The format writes at its end, and this outlives neither look. */
	return out_end(out);
}

/* ---- live ---- */

/* ^C ends it: see interrupt_check(). */
static struct error *wait_for(const struct timespec *time)
{
	struct timespec left = *time;

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		TRY(interrupt_check());
	return interrupt_check();
}

struct watch {
	struct snapshot *before, *after;
	struct diff earlier;
	enum status status; /* STATUS_STILL until something moves */
};

static void watch_end(struct watch *w)
{
	diff_free(&w->earlier);
	snapshot_free(w->before);
	snapshot_free(w->after);
}

/* Compares with the look before and takes its place. */
static struct error *show_next(struct session *s, struct watch *w, const struct answer *answer,
                               const char *every, bool first, struct out *out)
{
	struct diff d;

	TRY(inspect(s->inspector, DIFF_WANTS, NULL, &w->after));
	diff_compute(w->before, w->after, first ? NULL : &w->earlier, &d);
	d.before_name = "the look before";
	d.after_name = every;
	enum status status = show(answer, &d, out);
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
	const char *every = call_option(call, "interval"), *times = call_option(call, "count");
	struct watch w CLEANUP(watch_end) = { .status = STATUS_STILL };
	struct timespec time;
	uint64_t count = 1;
	SCRATCH(tmp);

	if (!every)
		return error_new(ERR_USAGE,
		                 "say what to compare: diff A B of two saved snapshots or cores, "
		                 "or -p PID diff --interval 5s");
	TRY(interval(every, &time));
	if (times)
		TRY(word_number(times, "a number of looks", MAX_LOOKS, &count));
	if (!s->target || !s->target->ops->stop)
		return error_new(ERR_USAGE, "only a process moves: say which with -p PID");
	TRY(inspect(s->inspector, DIFF_WANTS, NULL, &w.before));
	for (uint64_t i = 0; i < count; i++) {
		TRY(wait_for(&time));
		TRY(show_next(s, &w, answer, arena_printf(&tmp, "this one, %s later", every),
		              i == 0, out));
	}
	s->finding = w.status;
	return NULL;
}

static struct error *run(struct session *s, const struct answer *answer, const struct call *call,
                         struct out *out)
{
	if (call->args.n)
		return diff_files(s, answer, &call->args, out);
	return diff_live(s, answer, call, out);
}

static const struct command_option options[] = {
	{ "interval", "TIME", false, "Look at the process (-p) twice, TIME apart: 5s, 200ms, 2m" },
	{ "count", "N", false, "Compare N times, each look with the one before" },
	{ 0 },
};

const struct command diff_command = {
	.name = "diff",
	.args = "[A [B]]",
	.max_args = 2,
	.options = options,
	.check = check,
	.summary = "What moved between two looks: saved snapshots, cores, or a process",
	.help = "    A and B are files of save, or cores; without B, what -p or -c names. Tasks "
		"are\n"
		"    the same by runtime, id and address. Exit code 4: nothing is new, gone or "
		"moved\n"
		"    (a timer that was only re-armed is no movement); 0: something is.",
	.offline = true,
	.run = run,
};
