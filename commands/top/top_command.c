/* top: what the tasks of a running program do, again and again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/base/interval.h"
#include "commands/base/nearest.h"
#include "commands/time/end_signals.h"
#include "commands/time/following.h"
#include "commands/top/top.h"
#include "commands/top/top_page.h"
#include "commands/top/top_screen.h"
#include "debugger/base/clock.h"
#include "debugger/base/log.h"
#include "debugger/base/vec.h"
#include "debugger/target/target.h"
#include "runtimes/session/asyncdbg.h"

enum {
	MAX_FRAMES = 1000000000,
	LOOK_SHARE = 25,   /* of the time, one part of so many is spent on looks at queues */
	DETAIL_SHARE = 10, /* and on looks at the task that is shown */
};
static const double default_interval = 1, default_over = 0.01; /* seconds */

/* The task of TOP_MODE_TASK, as text. */
struct detail {
	char *text;
	VEC(const char *) lines;  /* of text */
	uint64_t looked, look_ns; /* when it was read, and how long that took */
};

struct topping {
	struct session *s;
	struct out *out;
	struct trace *trace;
	struct trace_options options;
	double interval, over;
	uint64_t count; /* of frames; 0: without end */
	struct top_view view;
	struct top_rows *rows;
	struct event_tally *tally;
	struct top_workers workers;
	struct top_proofs proofs;
	struct top_names names;
	struct following following;
	struct snapshot target; /* has only what the program is */
	struct answer answer;
	uint64_t lost; /* events, up to the last look */
	uint64_t number, began;
	uint64_t looked, look_ns; /* when the last look ended, and how long it took */
	bool fresh;               /* there was one in this interval */
	struct json_writer *json;
	struct top_page page;    /* the last one */
	struct arena arena;      /* of the page */
	struct arena list_arena; /* of its list */
	bool quit;               /* q was typed */
	bool screen;             /* it is shown on a full screen */
	struct top_state state;
	struct detail detail;
};

/* ---- options ---- */

static struct error *unknown_field(const char *option, const char *name, const char *const *names,
                                   size_t n)
{
	struct nearest nearest = { .typed = name };
	const char *best = NULL;
	STR(list);

	for (size_t i = 0; i < n; i++) {
		if (nearest_offer(&nearest, names[i], strlen(names[i])))
			best = names[i];
		str_printf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	if (best)
		return error_new(ERR_USAGE, "--%s has no field \"%s\": did you mean %s?", option,
		                 name, best);
	return error_new(ERR_USAGE, "--%s has no field \"%s\": there are %s", option, name,
	                 str_text(&list));
}

static struct error *read_sort(const struct call *call, struct top_view *view)
{
	const char *names[TOP_NFIELDS], *name = option_value(call, "sort");

	view->sort = TOP_BUSY;
	if (!name || top_view_field_named(name, &view->sort))
		return NULL;
	for (size_t i = 0; i < TOP_NFIELDS; i++)
		names[i] = top_view_field_name((enum top_field)i);
	return unknown_field("sort", name, names, TOP_NFIELDS);
}

static struct error *read_group(const struct call *call, struct top_view *view)
{
	static const char *const names[] = { "type", "place" };
	const char *name = option_value(call, "group");

	if (!name)
		return NULL;
	for (size_t i = 0; i < 2; i++) {
		if (strcmp(name, names[i]) == 0) {
			view->grouping = i ? TOP_BY_PLACE : TOP_BY_TYPE;
			return NULL;
		}
	}
	return unknown_field("group", name, names, 2);
}

static struct error *read_filter(const struct call *call, struct top_view *view)
{
	static const char *const names[] = { "id", "type", "place" };
	static const enum top_field fields[] = { TOP_ID, TOP_TYPE, TOP_PLACE };

	view->filter_field = TOP_NFIELDS;
	for (size_t i = 0; i < call->noptions; i++) {
		const struct chosen_option *o = &call->options[i];

		if (strcmp(o->option->name, "with") != 0)
			continue;
		for (size_t j = 0; j < 3; j++) {
			if (strcmp(o->values[0], names[j]) == 0)
				view->filter_field = fields[j];
		}
		if (view->filter_field == TOP_NFIELDS)
			return unknown_field("with", o->values[0], names, 3);
		view->filter = o->values[1];
	}
	return NULL;
}

static struct error *read_options(const struct call *call, struct topping *t)
{
	const char *count = option_value(call, "count"), *rows = option_value(call, "rows");
	uint64_t limit = 0;

	t->interval = default_interval;
	t->over = default_over;
	TRY(interval_option(call, "interval", &t->interval));
	TRY(interval_option(call, "over", &t->over));
	if (count)
		TRY(words_number(count, "a number of frames", MAX_FRAMES, &t->count));
	if (count && !t->count)
		return error_new(ERR_USAGE, "--count is at least 1");
	if (rows)
		TRY(words_number(rows, "a number of rows", MAX_FRAMES, &limit));
	if (rows && !limit)
		return error_new(ERR_USAGE, "--rows is at least 1");
	t->view.limit = limit;
	TRY(read_sort(call, &t->view));
	TRY(read_group(call, &t->view));
	TRY(read_filter(call, &t->view));
	t->options = following_options(call);
	for (size_t i = 0; i < TRACE_NEVENTS; i++)
		t->options.events[i] = i != TRACE_USDT;
	t->options.wakers = true;
	return NULL;
}

static struct error *check(const struct call *call)
{
	struct topping t = { 0 };

	return read_options(call, &t);
}

/* ---- a page ---- */

static struct error *write_page(struct topping *t, const struct top_page *page)
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
static void look(struct topping *t)
{
	const struct snapshot *s = NULL;
	uint64_t start = clock_now_ns();

	/* With very many tasks a look takes a good part of a second. */
	t->fresh = start - t->looked >= t->look_ns * LOOK_SHARE;
	if (!t->fresh)
		return;
	struct error *err CLEANUP(error_freep) = session_snapshot(t->s, 0, NULL, &s);

	if (err)
		LOG("trace", "no look at the runtimes: %s", err->message);
	t->looked = clock_now_ns();
	t->look_ns = t->looked - start;
	event_tally_look(t->tally, err ? NULL : s, t->looked);
}

static struct top_known known_of(const struct trace_plan *plan)
{
	return (struct top_known){
		.polls = plan->has[TRACE_POLL_START],
		.ends = plan->has[TRACE_POLL_END],
		.wakes = plan->has[TRACE_WAKE],
		.own = plan->has[TRACE_WAKE] && plan->has_wakers,
		.parking = plan->has[TRACE_PARK],
	};
}

/* Selects the rows of the page. */
static void select_rows(struct topping *t)
{
	t->page.view = t->screen ? &t->state.view : &t->view;
	/* No row is needed that cannot come into sight by one key. */
	if (t->screen)
		t->state.view.limit = t->state.selected + 2 * t->state.rows + 2;
	arena_reset(&t->list_arena);
	top_view_rows(t->rows, t->page.frame, t->page.view, &t->list_arena, &t->page.list);
}

/* Before time, all events were added. */
static void make_page(struct topping *t, uint64_t time)
{
	struct top_page *page = &t->page;

	arena_reset(&t->arena);
	*page = (struct top_page){
		.answer = &t->answer,
		.number = ++t->number,
		.lost = t->lost,
		.known = known_of(trace_plan_of(t->trace)),
	};
	event_tally_advance(t->tally, time);
	top_workers_next(&t->workers, t->tally, &t->arena, &page->workers, &page->nworkers);
	for (size_t i = 0; i < page->nworkers; i++)
		page->workers[i].has_queue &= t->fresh;
	page->frame = top_rows_cut(t->rows, time);
	select_rows(t);
	top_hints_find(page->frame, &t->proofs, &t->arena, &page->hints);
}

/* ---- the trace ---- */

static bool take(const struct trace_item *item, void *arg)
{
	struct topping *t = arg;

	top_rows_add(t->rows, item);
	/* For its workers. */
	if (!item->used)
		event_tally_add(t->tally, item);
	return true;
}

static void note_lost(struct topping *t)
{
	struct trace_totals totals;

	trace_totals(t->trace, &totals);
	if (totals.lost != t->lost) {
		top_rows_lost(t->rows, clock_now_ns());
		event_tally_lost(t->tally);
	}
	t->lost = totals.lost;
}

static bool is_interrupted(void)
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
	for (char *rest = d->text, *line; (line = strsep(&rest, "\n")) != NULL && rest;)
		*vec_push(&d->lines) = line;
}

/* Prints the task, of a snapshot, as text for the screen. */
static void print_task(struct topping *t, const struct snapshot *s, FILE *f)
{
	struct out_options options = t->out->options;
	struct answer answer = { .command = "async task", .snapshot = s, .wants = WANT_TASKS };
	SCRATCH(a);
	const char *id = arena_uint(&a, t->state.task);
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
static void look_at_task(struct topping *t)
{
	struct detail *d = &t->detail;
	const struct snapshot *s = NULL;
	uint64_t start = clock_now_ns();
	size_t size;

	if (t->state.mode != TOP_MODE_TASK || start - d->looked < d->look_ns * DETAIL_SHARE)
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
	d->look_ns = d->looked - start;
}

static void draw(struct topping *t)
{
	const struct top_page *page = t->number ? &t->page : NULL;

	top_screen_draw(&t->state, page, &t->names, t->detail.lines.data, t->detail.lines.n);
}

/* False: q was typed. */
static bool take_keys(struct topping *t)
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
			draw(t);
	}
	return true;
}

static struct error *show(struct topping *t, uint64_t time)
{
	make_page(t, time);
	if (!t->screen)
		return write_page(t, &t->page);
	look_at_task(t);
	draw(t);
	return NULL;
}

/* The trace ends with this turn. */
static void stop(struct topping *t)
{
	t->following.duration = 1e-9;
}

static struct error *tick(bool ended, void *arg)
{
	struct topping *t = arg;
	uint64_t now = clock_now_ns();
	bool enough = t->count && t->number >= t->count;

	note_lost(t);
	if (t->screen && !ended && !take_keys(t)) {
		t->quit = true;
		stop(t);
		return NULL;
	}
	if (enough || t->quit ||
	    (ended ? is_interrupted()
	           : t->state.paused || (double)(now - t->began) / 1e9 < t->interval))
		return NULL;
	if (!ended) {
		look(t);
		now = clock_now_ns();
		TRY(trace_read(t->trace, take, t));
		note_lost(t);
	}
	TRY(show(t, now));
	t->began = now;
	if (t->count && t->number >= t->count)
		stop(t);
	return NULL;
}

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

/* Where a person looks: else frames of text are written. */
static void open_screen(struct topping *t)
{
	const struct out_options *o = &t->out->options;
	FILE *messages = o->messages;

	if (t->out->format != OUT_TEXT || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) ||
	    o->answers != stdout)
		return;
	struct error *err CLEANUP(error_freep) = top_screen_open(o->color, o->ascii);
	if (err) {
		fprintf(messages, "note: frames of text, no full screen: %s\n", err->message);
		return;
	}
	t->screen = true;
	top_state_begin(&t->state, &t->view);
	draw(t);
}

static struct error *follow(struct topping *t)
{
	const struct snapshot *s;

	TRY(following_begin(t->s, &t->options, WANT_TASKS, t->out, &t->trace, &s));
	bool complete = has_all_tasks(s);
	t->began = clock_now_ns();
	top_rows_begin(t->rows, s, t->began);
	event_tally_begin(t->tally, s, t->began);
	top_hints_look(&t->proofs, s);
	top_hints_plan(&t->proofs, trace_plan_of(t->trace));
	if (!complete)
		fprintf(t->out->options.messages,
		        "note: not all tasks that exist could be listed\n");
	t->target.target = *inspector_info(asyncdbg_inspector(t->s->handle));
	t->answer = (struct answer){ .command = "top", .snapshot = &t->target };
	t->following = (struct following){
		.trace = t->trace,
		.pid = asyncdbg_target(t->s->handle)->pid,
		.start = t->began,
		.item = take,
		.tick = tick,
		.arg = t,
	};
	open_screen(t);
	struct error *err = following_run(&t->following);
	if (t->screen)
		top_screen_close();
	TRY(err);
	t->s->finding = following_end(t->trace, t->options.events, t->out);
	if (!complete)
		t->s->finding = STATUS_PARTIAL;
	return NULL;
}

/* ---- the command ---- */

static void free_all(struct topping *t)
{
	trace_close(t->trace);
	top_rows_free(t->rows);
	event_tally_free(t->tally);
	top_workers_free(&t->workers);
	top_hints_free(&t->proofs);
	top_page_free_names(&t->names);
	arena_free(&t->arena);
	arena_free(&t->list_arena);
	free_detail(&t->detail);
	free(t->json);
}

static struct error *run(struct session *s, const struct answer *answer, const struct call *call,
                         struct out *out)
{
	struct topping t = { .s = s, .out = out };
	struct end_signals before;

	(void)answer;
	if (asyncdbg_kind(s->handle) != ASYNCDBG_LIVE)
		return error_new(ERR_USAGE, "top needs a running process: -p PID");
	TRY(read_options(call, &t));
	t.rows = top_rows_new((uint64_t)(t.over * 1e9));
	t.tally = event_tally_new((uint64_t)(t.over * 1e9));
	t.names.full = out->options.full_names;
	if (out->format != OUT_TEXT) {
		t.json = alloc_zeroed(sizeof(*t.json));
		json_writer_init(t.json, out->options.answers, out->format == OUT_JSON_LINES);
	}
	end_signals_catch(&before);
	struct error *err = follow(&t);

	end_signals_restore(&before);
	free_all(&t);
	return err;
}

static const struct command_option options[] = {
	{ "interval", "TIME", false, "A frame each TIME, 1s by default" },
	{ "count", "N", false, "End after N frames; without it, at ^C or the program's end" },
	{ "sort", "FIELD", false,
	  "Sort by id, type, place, tasks, polls, busy, longest, p99, runnable, wakes or own" },
	{ "group", "FIELD", false, "One row for all tasks of the same type or place" },
	{ "with", "FIELD VALUE", false,
	  "Only the task with that id, or tasks whose type or place has VALUE" },
	{ "rows", "N", false, "Only the first N rows of each frame" },
	{ "over", "TIME", false, "A poll that takes longer than TIME is a stall: 10ms" },
	FOLLOWING_SLOW_OPTION,
	{ 0 },
};

const struct command top_command = {
	.name = "top",
	.options = options,
	.check = check,
	.summary = "What tasks, groups of them and workers do, refreshed",
	.help = "    For each task: polls a second, the share of time in polls, the longest poll "
		"and\n"
		"    the 99th percentile, how long it was runnable and not polled, wake-ups a "
		"second,\n"
		"    the share of its own ones, who wakes it most, and where it waits now; all of "
		"the\n"
		"    last interval. Above them workers and hints: tasks that wake themselves, "
		"that do\n"
		"    not yield, that nothing can wake, with large futures.\n"
		"    On a terminal it is a full screen; the key ? shows the others. Elsewhere it "
		"prints\n"
		"    frames of text, or with --json and --jsonl a document for each.\n"
		"    Like trace, it lets the kernel put breakpoints into the program's code while\n"
		"    it runs, and needs CAP_BPF and CAP_PERFMON.",
	.offline = true,
	.run = run,
};
