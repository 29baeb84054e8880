/* top: activity of the tasks of a running program, again and again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands/time/end_signals.h"
#include "commands/time/quiet_looks.h"
#include "commands/time/trace_loop.h"
#include "commands/top/top.h"
#include "commands/top/top_options.h"
#include "commands/top/top_page.h"
#include "commands/top/top_samples.h"
#include "commands/top/top_screen.h"
#include "debugger/base/clock.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/progress.h"
#include "debugger/base/vec.h"
#include "debugger/target/target.h"
#include "runtimes/session/asyncdbg.h"
#include "runtimes/trace/trace_key.h"

enum {
	LOOK_SHARE = 25,   /* of the time, one part of so many is spent on looks at queues */
	DETAIL_SHARE = 10, /* and on looks at the task that is shown */
};

/* The task of TOP_MODE_TASK, as text. */
struct detail {
	char *text;
	VEC(const char *) lines;  /* of text */
	uint64_t looked, look_ns; /* when it was read, and how long that took */
};

struct top_session {
	struct session *s;
	struct out *out;
	struct trace *trace;
	struct top_options options;
	struct trace_options trace_options;
	struct top_samples *samples; /* in place of the trace; NULL: there is a trace */
	struct top_sampling sampling;
	struct top_rows *rows;
	struct event_counts *tally;
	struct top_workers workers;
	struct top_proofs proofs;
	struct top_names names;
	struct trace_loop following;
	struct snapshot target; /* has only the identity of the program */
	struct answer answer;
	uint64_t lost, lost_before; /* events, up to the last look, and up to the last page */
	uint64_t number, began;
	uint64_t looked, look_ns; /* when the last look ended, and how long it took */
	bool fresh;               /* there was one in this interval */
	struct json_writer *json;
	struct top_page page;    /* the last one */
	struct arena arena;      /* of the page */
	struct arena list_arena; /* of its list */
	bool quit;               /* q was typed */
	bool over;               /* the command ends: see top_stop() */
	bool screen;             /* it is shown on a full screen */
	struct top_state state;
	struct detail detail;
};

/* ---- a page ---- */

static struct error *write_page(struct top_session *t, const struct top_page *page)
{
	FILE *f = t->out->options.answers;

	if (t->json) {
		top_json_write(page, t->json);
		json_flush(t->json);
	} else {
		if (t->number > 1)
			fputs("\n", f);
		top_text_write(page, &t->names, f);
	}
	if (fflush(f) != 0 || ferror(f))
		return error_os(errno ? errno : EIO, "writing what the tasks do");
	return NULL;
}

/* A process that has ended, or that another debugger has, shows nothing: that is no error here. */
static void top_look(struct top_session *t)
{
	const struct snapshot *s = NULL;
	uint64_t start = clock_now_ns();

	/* A look takes a good part of a second where there are very many tasks. */
	t->fresh = clock_between(t->looked, start) >= t->look_ns * LOOK_SHARE;
	if (!t->fresh)
		return;
	struct error *err CLEANUP(error_freep) = session_snapshot(t->s, 0, NULL, &s);

	if (err)
		LOG("trace", "the runtimes could not be read: %s", err->message);
	t->looked = clock_now_ns();
	t->look_ns = clock_between(start, t->looked);
	event_counts_look(t->tally, err ? NULL : s, t->looked);
}

static struct top_known known_of(const struct trace_plan *plan)
{
	return (struct top_known){
		.polls = plan->has[TRACE_POLL_START],
		.busy = plan->has[TRACE_POLL_END],
		.ends = plan->has[TRACE_POLL_END],
		.wakes = plan->has[TRACE_WAKE],
		.own = plan->has[TRACE_WAKE] && plan->has_wakers,
		.parking = plan->has[TRACE_PARK],
	};
}

/* Selects the rows of the page. */
static void select_rows(struct top_session *t)
{
	t->page.view = t->screen ? &t->state.view : &t->options.view;
	/* Only rows that one key can bring into sight are needed. */
	if (t->screen)
		t->state.view.limit = t->state.selected + 2 * t->state.rows + 2;
	arena_reset(&t->list_arena);
	top_view_rows(t->samples ? NULL : t->rows, t->page.frame, t->page.view, &t->list_arena,
	              &t->page.list);
}

/* Fills the page from the trace, all of whose events before time were added. */
static void fill_page(struct top_session *t, struct top_page *page, uint64_t time)
{
	page->lost = t->lost - t->lost_before;
	t->lost_before = t->lost;
	page->known = known_of(trace_plan_of(t->trace));
	event_counts_advance(t->tally, time);
	top_workers_next(&t->workers, t->tally, &t->arena, &page->workers, &page->nworkers);
	for (size_t i = 0; i < page->nworkers; i++)
		page->workers[i].has_queue &= t->fresh;
	page->frame = top_rows_cut(t->rows, time);
}

/* Fills the page from looks in place of a trace. */
static void fill_sampled_page(struct top_session *t, struct top_page *page, uint64_t time)
{
	t->sampling.looks = top_samples_looks(t->samples);
	t->sampling.every = (double)clock_between(t->began, time) / 1e9 / (double)t->sampling.looks;
	page->sampling = &t->sampling;
	page->known = (struct top_known){ .busy = true, .parking = true };
	page->frame = top_samples_cut(t->samples, time);
	top_samples_workers(t->samples, &t->arena, &page->workers, &page->nworkers);
}

static void make_page(struct top_session *t, uint64_t time)
{
	arena_reset(&t->arena);
	t->page = (struct top_page){ .answer = &t->answer, .number = ++t->number };
	if (t->samples)
		fill_sampled_page(t, &t->page, time);
	else
		fill_page(t, &t->page, time);
	select_rows(t);
	top_hints_find(t->page.frame, &t->proofs, &t->arena, &t->page.hints);
}

/* ---- the trace ---- */

static bool top_take(const struct trace_item *item, void *arg)
{
	struct top_session *t = arg;

	top_rows_add(t->rows, item);
	/* The tally keeps the numbers of workers. */
	if (!item->used)
		event_counts_add(t->tally, item);
	return true;
}

static void top_note_lost(struct top_session *t, uint64_t now)
{
	uint64_t n;

	if (!trace_has_lost(t->trace, &n))
		return;
	top_rows_lost(t->rows, now);
	event_counts_lost(t->tally);
	t->lost += n;
}

static bool top_is_interrupted(void)
{
	struct error *stop CLEANUP(error_freep) = interrupt_check();

	return stop != NULL;
}

/* ---- the screen ---- */

static void free_detail(struct detail *d)
{
	free(d->text);
	d->text = NULL;
	vec_free(&d->lines);
}

static void split_lines(struct detail *d)
{
	for (char *rest = d->text, *line; (line = strsep(&rest, "\n")) != NULL && rest;) {
		/* The screen already names the program. */
		if (line != d->text || !str_begins(line, "asyncdbg: "))
			*vec_push(&d->lines) = line;
	}
}

/* Prints the task, of a snapshot, as text for the screen. */
static void print_task(struct top_session *t, const struct snapshot *s, FILE *f)
{
	struct out_options options = t->out->options;
	struct answer answer = { .command = "async task", .snapshot = s, .wants = WANT_TASKS };
	SCRATCH(a);
	const char *id = trace_key_text(&a, t->state.task);
	const struct task *task = snapshot_task(s, id, 0);
	const struct job *job = snapshot_job(s, id);

	if (!task && !job) {
		fprintf(f, "task %s has ended\n", id);
		return;
	}
	options.answers = options.messages = f;
	options.color = options.progress = false;
	options.width = top_screen_width();
	struct out *out CLEANUP(out_freep) = out_text_new(&options);
	out_begin(out, &answer);
	if (task)
		out->ops->task(out, task, TASK_FULL);
	else
		out->ops->job(out, job, TASK_FULL);
	error_free(out_end(out));
}

/* Reads the task again, as often as that is cheap. */
static void look_at_task(struct top_session *t)
{
	struct detail *d = &t->detail;
	const struct snapshot *s = NULL;
	uint64_t start = clock_now_ns();
	size_t size;

	if (t->state.mode != TOP_MODE_TASK ||
	    clock_between(d->looked, start) < d->look_ns * DETAIL_SHARE)
		return;
	struct error *err CLEANUP(error_freep) = session_snapshot(t->s, WANT_TASKS, NULL, &s);
	free_detail(d);
	FILE *f = open_memstream(&d->text, &size);
	if (!f)
		out_of_memory();
	if (err)
		fprintf(f, "%s\n", err->message);
	else
		print_task(t, s, f);
	if (fclose(f) != 0)
		out_of_memory();
	if (!err)
		top_hints_look(&t->proofs, s);
	split_lines(d);
	d->looked = clock_now_ns();
	d->look_ns = clock_between(start, d->looked);
}

static void top_draw(struct top_session *t)
{
	const struct top_page *page = t->number ? &t->page : NULL;

	top_screen_draw(&t->state, page, &t->names, t->detail.lines.data, t->detail.lines.n);
}

/* False: q was typed. */
static bool take_keys(struct top_session *t)
{
	const struct top_page *page = t->number ? &t->page : NULL;
	int key;

	while ((key = top_screen_key()) >= 0) {
		size_t lines = top_screen_lines(&t->state, page, t->detail.lines.n);
		enum top_action action = top_state_key(&t->state, key, page, lines);

		if (action == TOP_QUIT)
			return false;
		if (action == TOP_OPEN) {
			t->detail.look_ns = 0;
			look_at_task(t);
		}
		if (action == TOP_SELECT && page)
			select_rows(t);
		if (action != TOP_NOTHING)
			top_draw(t);
	}
	return true;
}

static struct error *top_show(struct top_session *t, uint64_t time)
{
	make_page(t, time);
	if (!t->screen)
		return write_page(t, &t->page);
	look_at_task(t);
	top_draw(t);
	return NULL;
}

/*
 * Ends the command. The duration of the trace is made so short that trace_loop_run() detaches and
 * ends with its next iteration; sample_all() checks `over`.
 */
static void top_stop(struct top_session *t)
{
	t->following.duration = 1e-9;
	t->over = true;
}

static struct error *tick(uint64_t now, bool ended, void *arg)
{
	struct top_session *t = arg;
	bool enough = t->options.count && t->number >= t->options.count;

	top_note_lost(t, now);
	if (t->screen && !ended && !take_keys(t)) {
		t->quit = true;
		top_stop(t);
		return NULL;
	}
	if (enough || t->quit ||
	    (ended ? top_is_interrupted()
	           : t->state.paused ||
	                     (double)clock_between(t->began, now) / 1e9 < t->options.interval))
		return NULL;
	if (!ended) {
		top_look(t);
		TRY(trace_read_until_now(t->trace, top_take, t, &now));
		top_note_lost(t, now);
	}
	TRY(top_show(t, now));
	t->began = now;
	if (t->options.count && t->number >= t->options.count)
		top_stop(t);
	return NULL;
}

static void close_screen(struct top_session *t)
{
	if (!t->screen)
		return;
	top_screen_close();
	if (!t->over && !top_is_interrupted())
		fprintf(t->out->options.messages, "note: process %d has ended\n",
		        (int)t->target.target.pid);
}

/* Opens the full screen if a person is looking: else frames of text are written. */
static void open_screen(struct top_session *t)
{
	const struct out_options *o = &t->out->options;
	FILE *messages = o->messages;

	if (t->out->format != OUT_TEXT || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) ||
	    o->answers != stdout)
		return;
	progress_end();
	struct error *err CLEANUP(error_freep) = top_screen_open(o->color, o->ascii);
	if (err) {
		fprintf(messages, "note: frames of text, no full screen: %s\n", err->message);
		return;
	}
	t->screen = true;
	top_state_begin(&t->state, &t->options.view);
	top_draw(t);
}

/* ---- looks in place of a trace ---- */

static struct error *sample(struct top_session *t, struct quiet_looks *quiet)
{
	const struct snapshot *s;

	TRY(quiet_looks_take(quiet, &s));
	top_samples_look(t->samples, s);
	top_hints_look(&t->proofs, s);
	asyncdbg_drop(quiet->session.handle);
	return NULL;
}

static struct error *sampled_turn(struct top_session *t, struct quiet_looks *quiet)
{
	uint64_t now = clock_now_ns();

	if (now >= quiet->next && !t->state.paused)
		TRY(sample(t, quiet));
	if (t->screen && !take_keys(t)) {
		t->quit = true;
		top_stop(t);
		return NULL;
	}
	now = clock_now_ns();
	if (t->state.paused || !top_samples_looks(t->samples) ||
	    (double)clock_between(t->began, now) / 1e9 < t->options.interval)
		return NULL;
	TRY(top_show(t, now));
	t->began = now;
	if (t->options.count && t->number >= t->options.count)
		top_stop(t);
	return NULL;
}

static struct error *sample_all(struct top_session *t, struct quiet_looks *quiet)
{
	int pidfd CLEANUP(file_close) = (int)syscall(SYS_pidfd_open, t->target.target.pid, 0);

	while (!t->over && !top_is_interrupted() && !trace_loop_process_ended(pidfd)) {
		struct error *err = sampled_turn(t, quiet);

		if (err && (err->kind == ERR_INTERRUPTED || trace_loop_process_ended(pidfd))) {
			error_free(err);
			return NULL;
		}
		TRY(err);
	}
	return NULL;
}

/*
 * The program is looked at without a stop, in a session of its own. Where that shows no runtime
 * either, the error that there is no trace is passed on.
 */
static struct error *follow_by_looks(struct top_session *t, struct error *why)
{
	struct quiet_looks quiet CLEANUP(quiet_looks_end) = { 0 };
	struct error *whole CLEANUP(error_freep) = why;
	const struct snapshot *s = NULL;

	trace_close(t->trace);
	t->trace = NULL;
	asyncdbg_drop(t->s->handle);
	struct error *err CLEANUP(error_freep) = quiet_looks_begin(t->s, WANT_TASKS, &quiet, &s);
	if (err || !s->nruntimes) {
		whole = NULL;
		return why;
	}
	t->began = clock_now_ns();
	t->samples = top_samples_new(t->began);
	t->sampling.why = why->message;
	t->target.target = *inspector_info(asyncdbg_inspector(quiet.session.handle));
	t->answer = (struct answer){ .command = "top", .snapshot = &t->target };
	open_screen(t);
	struct error *end = sample_all(t, &quiet);
	close_screen(t);
	t->s->finding = STATUS_PARTIAL;
	return end;
}

/* ---- with a trace ---- */

/* Whether all tasks are listed, though not all of each could be read. */
static bool has_all_tasks(const struct snapshot *s)
{
	for (size_t i = 0; !s->complete && i < s->nruntimes; i++) {
		const struct runtime_info *r = &s->runtimes[i];

		if (!r->has_expected || r->ntasks < r->expected_tasks)
			return false;
	}
	return true;
}

static struct error *top_follow(struct top_session *t)
{
	const struct snapshot *s;

	struct error *none =
		trace_loop_begin(t->s, &t->trace_options, WANT_TASKS, t->out, &t->trace, &s);
	if (none && none->kind != ERR_INTERRUPTED)
		return follow_by_looks(t, none);
	TRY(none);
	bool complete = has_all_tasks(s);
	t->began = trace_start(t->trace);
	top_rows_begin(t->rows, s, t->began);
	event_counts_begin(t->tally, s, t->began);
	top_hints_look(&t->proofs, s);
	top_hints_plan(&t->proofs, trace_plan_of(t->trace));
	if (trace_plan_of(t->trace)->late_ends)
		top_rows_late_ends(t->rows);
	asyncdbg_drop(t->s->handle);
	if (!complete)
		fprintf(t->out->options.messages,
		        "note: not all tasks that exist could be listed\n");
	t->target.target = *inspector_info(asyncdbg_inspector(t->s->handle));
	t->answer = (struct answer){ .command = "top", .snapshot = &t->target };
	t->following = (struct trace_loop){
		.trace = t->trace,
		.pid = asyncdbg_target(t->s->handle)->pid,
		.start = t->began,
		.item = top_take,
		.tick = tick,
		.arg = t,
	};
	open_screen(t);
	struct error *err = trace_loop_run(&t->following);
	close_screen(t);
	TRY(err);
	t->s->finding = trace_loop_end(t->trace, t->trace_options.events, t->out);
	if (!complete)
		t->s->finding = STATUS_PARTIAL;
	return NULL;
}

/* ---- the command ---- */

static void free_all(struct top_session *t)
{
	trace_close(t->trace);
	top_rows_free(t->rows);
	top_samples_free(t->samples);
	event_counts_free(t->tally);
	top_workers_free(&t->workers);
	top_hints_free(&t->proofs);
	top_page_free_names(&t->names);
	arena_free(&t->arena);
	arena_free(&t->list_arena);
	free_detail(&t->detail);
	free(t->json);
}

static struct error *top_run(struct session *s, const struct answer *answer,
                             const struct call *call, struct out *out)
{
	struct top_session t = { .s = s, .out = out };
	struct end_signals before;

	(void)answer;
	if (asyncdbg_kind(s->handle) != ASYNCDBG_LIVE)
		return error_new(ERR_USAGE, "top needs a running process: -p PID");
	TRY(session_check_runs(s));
	TRY(top_options_read(call, &t.options));
	t.trace_options = trace_loop_options(call);
	for (size_t i = 0; i < TRACE_NEVENTS; i++)
		t.trace_options.events[i] = i != TRACE_USDT;
	t.trace_options.wakers = true;
	/* A frame of very many tasks takes a while, in which nothing is read. */
	t.trace_options.ring *= 2;
	t.rows = top_rows_new((uint64_t)(t.options.over * 1e9));
	t.tally = event_counts_new_workers();
	t.names.full = out->options.full_names;
	if (out->format != OUT_TEXT) {
		t.json = alloc_zeroed(sizeof(*t.json));
		json_writer_init(t.json, out->options.answers, out->format == OUT_JSON_LINES);
	}
	end_signals_catch(&before);
	struct error *err = top_follow(&t);

	end_signals_restore(&before);
	free_all(&t);
	return err;
}

static const struct command_option options[] = {
	{ "interval", "TIME", false, "Time between frames, default 1s" },
	{ "count", "N", false, "Stop after N frames; default: at ^C or when the program ends" },
	{ "sort", "FIELD", false,
	  "Sort by id, type, place, tasks, polls, busy, longest, p99, runnable, wakes or own" },
	{ "group", "FIELD", false, "Show one row for all tasks with the same type or place" },
	{ "with", "FIELD VALUE", false,
	  "Show only the task with this id, or tasks whose type or place contains VALUE" },
	{ "rows", "N", false, "Show only the first N rows of each frame" },
	{ "over", "TIME", false, "Count polls longer than TIME as stalls, default 10ms" },
	FOLLOWING_SLOW_OPTION,
	{ 0 },
};

const struct command top_command = {
	.name = "top",
	.options = options,
	.check = top_options_check,
	.summary = "Show live activity of tasks, groups of tasks and workers",
	.help = "    For each task: polls per second, share of time in polls, the longest poll\n"
		"    and the 99th percentile, how long it was runnable and not polled, wake-ups\n"
		"    per second, the share of its own wake-ups, who wakes it most, and where it\n"
		"    waits now; all for the last interval. Above them workers and hints: tasks\n"
		"    that wake themselves, do not yield, cannot be woken, or have large\n"
		"    futures.\n"
		"    On a terminal it is a full screen; the key ? shows all keys. Elsewhere it\n"
		"    prints frames of text, or with --json and --jsonl a document per frame.\n"
		"    Like trace, it lets the kernel put breakpoints into the program's code\n"
		"    while it runs, and needs CAP_BPF and CAP_PERFMON. Without them it samples\n"
		"    the program without stopping it, and says so.",
	.offline = true,
	.run = top_run,
};
