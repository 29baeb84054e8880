#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/base/call.h"
#include "commands/base/focus.h"
#include "commands/json/out_json.h"
#include "commands/out/out.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/analysis/socket_use.h"
#include "runtimes/inspect/inspect.h"
#include "runtimes/model/names.h"

struct shown_thread {
	const struct thread_info *thread;
	bool with_frames;
};

/*
 * docs/json.md defines the keys. What a command shows is kept as pointers into the snapshot and
 * converted while it is written, so memory for JSON does not grow with the number of tasks.
 */
struct json {
	struct out out;
	bool lines;
	/* The parts that this answer has in addition to those of the snapshot. */
	bool summary, has_focus, has_frame;
	struct focus focus;
	const struct local *printed;             /* NULL none */
	const struct verdicts *graph, *verdicts; /* NULL none */
	const bool *graph_shown;                 /* of the graph's nodes, NULL: all */
	bool has_findings;
	const struct finding *findings;
	const char *const *skipped;
	size_t nfindings, nskipped;
	bool has_watched;
	struct watched watched;
	bool has_sockets;
	const struct socket_use *sockets;
	size_t nsockets;
	const struct async_processes *processes; /* NULL none */
	const struct trace_plan *probes;         /* NULL none */
	const struct stall *stall;               /* NULL none */
	const struct recorded *recorded;         /* NULL none */
	const struct stopped *stopped;           /* NULL none */
	const struct listing *listing;           /* NULL none */
	const struct code_listing *code;         /* NULL none */
	const bool *registers;                   /* shown ones of focus; NULL none */
	const struct examine_shown *memory;      /* NULL none */
	const struct logged *logged;
	bool has_breakpoints;
	struct breakpoint *const *breakpoints;
	size_t nbreakpoints;
	const struct control_signals *signals; /* NULL: none */
	uint64_t which_signals;
	struct watchpoint *const *watchpoints; /* NULL none */
	size_t nwatchpoints;
	const struct usdt_notes *own_probes; /* beside probes */
	struct saved_file saved;             /* path NULL: none */
	struct written written;              /* path NULL: none */
	const struct diff *diff;             /* NULL none */
	VEC(struct shown_thread) threads;
	VEC(const struct layout_info *) layout;
	VEC(const struct command *) commands;
	VEC(const struct place *) places;
	VEC(const struct task *) tasks;
	VEC(const struct job *) jobs; /* written behind the tasks */
	const struct groups *groups;  /* in the answer's arena, like the next three; NULL none */
	const struct group_lines *group_lines;
	const struct tally *tally;
	size_t ntally; /* rows of tally that are shown */
	const struct shown *shown;
	const struct type_list *types; /* NULL none */
	const struct type_info *type;  /* NULL none */
	struct map seen;               /* set of tasks, by their address in this process */
	struct json_writer writer;
};

static void json_begin(struct out *o)
{
	(void)o;
}

static void clear(struct json *j)
{
	vec_free(&j->threads);
	vec_free(&j->layout);
	vec_free(&j->commands);
	vec_free(&j->places);
	vec_free(&j->tasks);
	vec_free(&j->jobs);
	map_free(&j->seen);
	j->summary = j->has_focus = j->has_frame = false;
	j->printed = NULL;
	j->groups = NULL;
	j->tally = NULL;
	j->shown = NULL;
	j->types = NULL;
	j->type = NULL;
	j->saved.path = NULL;
	j->written.path = NULL;
	j->diff = NULL;
	j->processes = NULL;
	j->probes = NULL;
	j->stall = NULL;
	j->recorded = NULL;
	j->stopped = NULL;
	j->listing = NULL;
	j->code = NULL;
	j->registers = NULL;
	j->memory = NULL;
	j->logged = NULL;
	j->has_breakpoints = false;
	j->signals = NULL;
	j->watchpoints = NULL;
	j->graph = j->verdicts = NULL;
	j->has_findings = j->has_sockets = j->has_watched = false;
}

static void json_drop(struct out *o)
{
	clear((struct json *)o);
}

static void json_free_op(struct out *o)
{
	clear((struct json *)o);
	free(o);
}

/* Nothing to do: the document always has every runtime. */
static void json_runtime(struct out *o, const struct runtime_info *r, enum runtime_view view)
{
	(void)o;
	(void)r;
	(void)view;
}

static void json_task(struct out *o, const struct task *task, enum task_view view)
{
	struct json *j = (struct json *)o;

	(void)view;
	if (map_put(&j->seen, (uintptr_t)task, NULL))
		*vec_push(&j->tasks) = task;
}

static void json_job(struct out *o, const struct job *job, enum task_view view)
{
	(void)view;
	*vec_push(&((struct json *)o)->jobs) = job;
}

static void json_thread(struct out *o, const struct thread_info *th, enum thread_view view)
{
	struct json *j = (struct json *)o;

	*vec_push(&j->threads) = (struct shown_thread){ th, view == THREAD_STACK };
	/* A joined stack also shows the tasks polled on it. */
	for (size_t i = 0; view == THREAD_STACK && i < th->nframes; i++) {
		const char *id = th->frames[i].polls_task;
		const struct task *task =
			id ? snapshot_task(o->answer.snapshot, id, th->number) : NULL;

		if (task)
			json_task(o, task, TASK_ON_THREAD);
	}
}

static void json_frame(struct out *o, const struct focus *f)
{
	struct json *j = (struct json *)o;

	j->focus = *f;
	j->has_focus = j->has_frame = true;
}

static void json_printed(struct out *o, const struct focus *f, const struct local *value)
{
	struct json *j = (struct json *)o;

	j->focus = *f;
	j->has_focus = true;
	j->printed = value;
}

static void json_place(struct out *o, const struct place *place)
{
	*vec_push(&((struct json *)o)->places) = place;
}

static void json_types(struct out *o, const struct type_list *list)
{
	((struct json *)o)->types = list;
}

static void json_type(struct out *o, const struct type_info *info)
{
	((struct json *)o)->type = info;
}

static void json_groups(struct out *o, const struct groups *g, const struct group_lines *lines,
                        bool whole)
{
	struct json *j = (struct json *)o;

	(void)whole;
	j->groups = g;
	j->group_lines = lines;
}

static void json_tally(struct out *o, const struct tally *tally, size_t n)
{
	struct json *j = (struct json *)o;

	j->tally = tally;
	j->ntally = n;
}

static void json_shown(struct out *o, const struct shown *shown)
{
	((struct json *)o)->shown = shown;
}

static void json_probes(struct out *o, const struct trace_plan *plan, const struct usdt_notes *own)
{
	struct json *j = (struct json *)o;

	j->probes = plan;
	j->own_probes = own;
}

static void json_stall(struct out *o, const struct stall *stall)
{
	((struct json *)o)->stall = stall;
}

static void json_recorded(struct out *o, const struct recorded *what)
{
	((struct json *)o)->recorded = what;
}

static void json_stopped(struct out *o, const struct stopped *s)
{
	((struct json *)o)->stopped = s;
}

static void json_listing(struct out *o, const struct listing *l)
{
	((struct json *)o)->listing = l;
}

static void json_disassembly(struct out *o, const struct code_listing *l)
{
	((struct json *)o)->code = l;
}

static void json_signals(struct out *o, const struct control_signals *s, uint64_t which)
{
	struct json *j = (struct json *)o;

	j->signals = s;
	j->which_signals = which;
}

static void json_registers(struct out *o, const struct focus *f, const bool *shown)
{
	struct json *j = (struct json *)o;

	j->focus = *f;
	j->has_focus = true;
	j->registers = shown;
}

static void json_memory(struct out *o, const struct examine_shown *m)
{
	((struct json *)o)->memory = m;
}

static void json_watchpoints(struct out *o, struct watchpoint *const *list, size_t n)
{
	struct json *j = (struct json *)o;

	j->watchpoints = list;
	j->nwatchpoints = n;
}

static void json_logged(struct out *o, const struct logged *line)
{
	((struct json *)o)->logged = line;
}

static void json_breakpoints(struct out *o, struct breakpoint *const *list, size_t n)
{
	struct json *j = (struct json *)o;

	j->has_breakpoints = true;
	j->breakpoints = list;
	j->nbreakpoints = n;
}

static void json_layout(struct out *o, const struct layout_info *row)
{
	*vec_push(&((struct json *)o)->layout) = row;
}

static void json_watched(struct out *o, const struct watched *w)
{
	struct json *j = (struct json *)o;

	j->has_watched = true;
	j->watched = *w;
}

static void json_processes(struct out *o, const struct async_processes *list)
{
	((struct json *)o)->processes = list;
}

static void json_sockets(struct out *o, const struct socket_use *uses, size_t n)
{
	struct json *j = (struct json *)o;

	j->has_sockets = true;
	j->sockets = uses;
	j->nsockets = n;
}

static void json_saved(struct out *o, const struct saved_file *file)
{
	((struct json *)o)->saved = *file;
}

static void json_written(struct out *o, const struct answer *answer, const struct written *w)
{
	struct answer about = *answer;

	/* The file has the holdings: do not repeat them. */
	about.wants &= ~(unsigned)WANT_HOLDINGS;
	out_begin(o, &about);
	((struct json *)o)->written = *w;
}

static void json_diff(struct out *o, const struct diff *diff)
{
	((struct json *)o)->diff = diff;
}

static void json_graph(struct out *o, const struct verdicts *v, const bool *shown)
{
	((struct json *)o)->graph = v;
	((struct json *)o)->graph_shown = shown;
}

/* Verdicts are written together by put_answers(). */
static void json_verdict(struct out *o, const struct verdicts *v, const struct alike *alike)
{
	(void)o;
	(void)v;
	(void)alike;
}

static void json_verdicts_end(struct out *o, const struct verdicts *v)
{
	((struct json *)o)->verdicts = v;
}

static void json_findings(struct out *o, const struct finding *list, size_t n,
                          const char *const *skipped, size_t nskipped)
{
	struct json *j = (struct json *)o;

	j->has_findings = true;
	j->findings = list;
	j->nfindings = n;
	j->skipped = skipped;
	j->nskipped = nskipped;
}

static void json_summary(struct out *o)
{
	((struct json *)o)->summary = true;
}

static void json_help(struct out *o, const struct command *command, enum help_view view)
{
	(void)view;
	*vec_push(&((struct json *)o)->commands) = command;
}

static void put_focus(struct json_writer *w, const struct focus *f)
{
	json_open_object(w, "focus");
	out_json_number_if(w, "thread", f->thread, f->thread ? f->thread->number : 0);
	json_put_text(w, "task", f->task ? f->task->id : NULL);
	out_json_number_if(w, "frame", f->frame, f->frame ? f->frame->number : 0);
	if (f->native)
		json_put_int(w, "native_frame", f->native->number);
	json_close_object(w);
}

static void put_place(struct json_writer *w, const struct place *place)
{
	json_open_object(w, NULL);
	json_put_text(w, "what", place->what);
	json_put_text(w, "phrase", place->phrase);
	json_put_address(w, "addr", place->addr);
	json_put_text(w, "task", place->task);
	out_json_number_if(w, "thread", place->thread, place->thread);
	json_close_object(w);
}

static void put_row(struct json_writer *w, const struct layout_info *row)
{
	json_open_object(w, NULL);
	json_put_text(w, "module", row->module);
	json_put_text(w, "key", row->key);
	json_put_text(w, "path", row->path);
	json_put_text(w, "status", row_status_name(row->status));
	json_put_text(w, "matched", row->matched);
	json_put_text(w, "plan", row->plan);
	json_put_text(w, "tried", row->tried);
	json_close_object(w);
}

static void put_command(struct json_writer *w, const struct command *command)
{
	SCRATCH(tmp);

	json_open_object(w, NULL);
	json_put_text(w, "name", command->name);
	json_put_text(w, "args", command->args);
	json_open_array(w, "options");
	if (command->verbose)
		json_put_text(w, NULL, "-v");
	for (const struct command_option *o = command->options; o && o->name; o++)
		json_put_text(w, NULL, arena_printf(&tmp, "--%s", o->name));
	json_close_array(w);
	json_put_text(w, "summary", command->summary);
	json_close_object(w);
}

/* Writes how a live process was read. */
static void put_reading(struct json_writer *w, const struct reading *r)
{
	json_put_real(w, "pause_ms", (double)r->pause_ns / 1e6);
	json_open_object(w, "stop");
	json_put_text(w, "mode", reading_how_name(r->how));
	json_put_int(w, "stops", r->stops);
	json_put_real(w, "longest_ms", (double)r->longest_ns / 1e6);
	json_put_int(w, "threads", (int64_t)r->threads);
	json_put_int(w, "bytes", (int64_t)r->bytes);
	json_close_object(w);
}

static void put_snapshot(struct json *j)
{
	const struct snapshot *s = j->out.answer.snapshot;
	struct json_writer *w = &j->writer;

	out_json_target(w, &j->out.answer);
	json_put_bool(w, "complete", s->complete);
	if (s->others)
		json_put_text(w, "other_executors", s->others);
	if (s->target.core)
		json_put_null(w, "pause_ms");
	else
		put_reading(w, &s->reading);
	json_open_array(w, "runtimes");
	for (size_t i = 0; i < s->nruntimes; i++)
		out_json_runtime(w, &j->out.answer, &s->runtimes[i]);
	json_close_array(w);
	if (out_undriven_tasks(&j->out.answer))
		json_put_int(w, "undriven_tasks", (int64_t)out_undriven_tasks(&j->out.answer));
	json_put_list(w, "notes", s->notes, s->nnotes);
	json_open_array(w, "threads");
	for (size_t i = 0; i < j->threads.n; i++)
		out_json_thread(w, j->threads.data[i].thread, j->threads.data[i].with_frames,
		                j->out.answer.verbose);
	json_close_array(w);
	if (j->summary)
		out_json_summary(w, s);
	if (j->out.answer.wants & WANT_HOLDINGS)
		out_json_holdings(w, s, j->tasks.data, j->tasks.n);
}

static void put_socket(struct json_writer *w, const struct socket_use *use)
{
	const struct socket_info *s = use->socket;

	json_open_object(w, NULL);
	json_put_int(w, "fd", s->fd);
	json_put_text(w, "kind", s->kind);
	json_put_text(w, "local", s->local);
	json_put_text(w, "peer", s->peer);
	json_put_text(w, "state", s->state);
	json_put_int(w, "unsent", (int64_t)s->unsent);
	json_put_int(w, "unread", (int64_t)s->unread);
	out_json_number_if(w, "unacknowledged", s->has_sent, s->unacknowledged);
	out_json_number_if(w, "retransmits", s->has_sent, s->retransmits);
	out_json_number_if(w, "peer_window", s->has_window, s->peer_window);
	json_open_array(w, "waiters");
	for (size_t i = 0; i < use->nwaiters; i++) {
		const struct socket_waiter *waiter = &use->waiters[i];

		json_open_object(w, NULL);
		json_put_text(w, "task", waiter->task ? waiter->task->id : NULL);
		out_json_number_if(w, "thread", waiter->thread,
		                   waiter->thread ? waiter->thread->number : 0);
		json_put_text(w, "phrase", waiter->wait->phrase);
		json_close_object(w);
	}
	json_close_array(w);
	json_open_array(w, "owners");
	for (size_t i = 0; i < use->nowners; i++)
		out_json_holding(w, use->owners[i]);
	json_close_array(w);
	json_close_object(w);
}

static void put_sockets(struct json *j)
{
	struct json_writer *w = &j->writer;

	if (!j->has_sockets)
		return;
	json_open_array(w, "sockets");
	for (size_t i = 0; i < j->nsockets; i++)
		put_socket(w, &j->sockets[i]);
	json_close_array(w);
}

/* Writes the lists that only some commands have. */
static void put_lists(struct json *j)
{
	struct json_writer *w = &j->writer;

	if (j->layout.n) {
		json_open_array(w, "layout");
		for (size_t i = 0; i < j->layout.n; i++)
			put_row(w, j->layout.data[i]);
		json_close_array(w);
	}
	if (j->shown)
		out_json_shown(w, j->shown);
	if (j->groups)
		out_json_groups(w, j->groups, j->group_lines, j->out.answer.verbose);
	if (j->tally)
		out_json_tally(w, j->tally, j->ntally);
	if (j->commands.n) {
		json_open_array(w, "commands");
		for (size_t i = 0; i < j->commands.n; i++)
			put_command(w, j->commands.data[i]);
		json_close_array(w);
	}
}

static void put_saved(struct json_writer *w, const struct saved_file *file)
{
	json_open_object(w, "saved");
	json_put_text(w, "file", file->path);
	json_put_int(w, "bytes", (int64_t)file->bytes);
	json_put_bool(w, "values", file->values);
	json_close_object(w);
}

static void put_written(struct json_writer *w, const struct written *written)
{
	struct stat st = { 0 };
	SCRATCH(tmp);

	stat(written->path, &st);
	json_open_object(w, "written");
	json_put_text(w, "file", written->path);
	out_json_number_if(w, "bytes", S_ISREG(st.st_mode), (uint64_t)st.st_size);
	for (size_t i = 0; i < 2 && written->what[i].noun; i++)
		json_put_int(w, arena_printf(&tmp, "%ss", written->what[i].noun),
		             (int64_t)written->what[i].n);
	json_close_object(w);
}

static void put_watched(struct json_writer *w, const struct watched *watched)
{
	SCRATCH(tmp);

	json_open_object(w, "watched");
	json_put_text(w, "event", watched->gone ? "gone" : "found");
	json_put_text(w, "when", saved_time(&tmp, watched->when));
	out_json_number_if(w, "checks", !watched->gone, watched->checks);
	json_close_object(w);
}

/* Writes the specific answer of a command. */
static void put_answers(struct json *j)
{
	struct json_writer *w = &j->writer;

	put_sockets(j);
	if (j->has_focus)
		put_focus(w, &j->focus);
	if (j->saved.path)
		put_saved(w, &j->saved);
	if (j->written.path)
		put_written(w, &j->written);
	if (j->processes)
		out_json_processes(w, j->processes);
	if (j->probes)
		out_json_probes(w, j->probes, j->own_probes);
	if (j->stall)
		out_json_stall(w, j->stall);
	if (j->recorded)
		out_json_recorded(w, j->recorded);
	if (j->stopped)
		out_json_stopped(w, j->stopped);
	if (j->signals)
		out_json_signals(w, j->signals, j->which_signals);
	if (j->logged)
		out_json_logged(w, j->logged);
	if (j->has_breakpoints)
		out_json_breakpoints(w, j->breakpoints, j->nbreakpoints);
	if (j->watchpoints)
		out_json_watchpoints(w, j->watchpoints, j->nwatchpoints);
	if (j->listing)
		out_json_listing(w, j->listing);
	if (j->code)
		out_json_disassembly(w, j->code);
	if (j->registers)
		out_json_registers(w, &j->focus, j->registers);
	if (j->memory)
		out_json_memory(w, j->memory);
	if (j->diff)
		out_json_diff(w, j->diff);
	if (j->has_frame && j->focus.native)
		out_json_native_frame(w, "native_frame", &j->focus, j->out.answer.verbose);
	else if (j->has_frame)
		out_json_future(w, "frame", j->focus.frame, j->out.answer.verbose);
	if (j->printed)
		out_json_local(w, "printed", j->printed);
	if (j->types)
		out_json_types(w, j->types);
	if (j->type)
		out_json_type(w, j->type);
	if (j->graph)
		out_json_graph(w, j->graph, j->graph_shown);
	if (j->verdicts)
		out_json_verdicts(w, j->verdicts);
	if (j->has_watched)
		put_watched(w, &j->watched);
	if (j->has_findings)
		out_json_findings(w, j->findings, j->nfindings, j->skipped, j->nskipped);
	if (j->places.n) {
		json_open_array(w, "places");
		for (size_t i = 0; i < j->places.n; i++)
			put_place(w, j->places.data[i]);
		json_close_array(w);
	}
}

/* Writes all members but the tasks, and leaves the document's object open. */
static void put_head(struct json *j)
{
	struct json_writer *w = &j->writer;

	json_open_object(w, NULL);
	json_put_text(w, "schema", "asyncdbg/2");
	json_put_text(w, "command", j->out.answer.command);
	if (j->out.answer.snapshot)
		put_snapshot(j);
	put_lists(j);
	put_answers(j);
}

/* Writes the rows of tasks[]; each ends a line of --jsonl. */
static void put_tasks(struct json *j)
{
	struct json_writer *w = &j->writer;

	for (size_t i = 0; i < j->tasks.n && !ferror(w->f); i++) {
		out_progress(&j->out, i, j->tasks.n);
		out_json_task(w, &j->out.answer, j->tasks.data[i]);
		if (j->lines)
			json_end_line(w);
	}
	for (size_t i = 0; i < j->jobs.n && !ferror(w->f); i++) {
		out_json_job(w, &j->out.answer, j->jobs.data[i]);
		if (j->lines)
			json_end_line(w);
	}
}

static void write_lines(struct json *j)
{
	put_head(j);
	json_close_object(&j->writer);
	json_end_line(&j->writer);
	put_tasks(j);
}

static void write_document(struct json *j)
{
	struct json_writer *w = &j->writer;

	put_head(j);
	if (j->out.answer.snapshot) {
		json_open_array(w, "tasks");
		put_tasks(j);
		json_close_array(w);
	}
	json_close_object(w);
	json_end_line(w);
}

static void json_end(struct out *o)
{
	struct json *j = (struct json *)o;

	json_writer_init(&j->writer, o->options.answers, j->lines);
	if (j->lines)
		write_lines(j);
	else
		write_document(j);
	json_flush(&j->writer);
	clear(j);
}

static const struct out_ops json_ops = {
	.written = json_written,
	.begin = json_begin,
	.runtime = json_runtime,
	.thread = json_thread,
	.task = json_task,
	.job = json_job,
	.groups = json_groups,
	.tally = json_tally,
	.shown = json_shown,
	.frame = json_frame,
	.printed = json_printed,
	.place = json_place,
	.types = json_types,
	.type = json_type,
	.layout = json_layout,
	.sockets = json_sockets,
	.processes = json_processes,
	.probes = json_probes,
	.graph = json_graph,
	.verdict = json_verdict,
	.verdicts_end = json_verdicts_end,
	.findings = json_findings,
	.stall = json_stall,
	.recorded = json_recorded,
	.stopped = json_stopped,
	.logged = json_logged,
	.breakpoints = json_breakpoints,
	.signals = json_signals,
	.watchpoints = json_watchpoints,
	.listing = json_listing,
	.disassembly = json_disassembly,
	.registers = json_registers,
	.memory = json_memory,
	.watched = json_watched,
	.summary = json_summary,
	.saved = json_saved,
	.diff = json_diff,
	.help = json_help,
	.end = json_end,
	.drop = json_drop,
	.free = json_free_op,
};

struct out *out_json_new(const struct out_options *options, bool lines)
{
	struct json *j = calloc(1, sizeof(*j));

	if (!j)
		out_of_memory();
	j->out.ops = &json_ops;
	j->out.options = *options;
	j->lines = lines;
	j->out.format = lines ? OUT_JSON_LINES : OUT_JSON;
	return &j->out;
}
