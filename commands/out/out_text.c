#include "commands/out/out_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/base/call.h"
#include "debugger/base/progress.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/fold.h"
#include "runtimes/analysis/holders.h"
#include "runtimes/inspect/inspect.h"
#include "runtimes/model/names.h"

static const char *const style_codes[] = {
	[STYLE_PLAIN] = "\033[0m", [STYLE_HEADING] = "\033[1m",  [STYLE_PLACE] = "\033[36m",
	[STYLE_WAIT] = "\033[33m", [STYLE_PROBLEM] = "\033[31m",
};

void text_style(struct text *t, enum style style)
{
	if (!t->out.options.color || (style == STYLE_PLAIN && !t->styled))
		return;
	str_append(&t->line, style_codes[style]);
	t->styled = style != STYLE_PLAIN;
}

void text_clean(struct text *t, const char *text)
{
	str_append_clean(&t->line, text, strlen(text));
}

void text_name(struct text *t, const char *name)
{
	SCRATCH(tmp);

	text_clean(t, text_short_name(t, &tmp, name));
}

void text_whole_name(struct text *t, const char *name)
{
	SCRATCH(tmp);

	text_clean(t, t->out.options.full_names ? name : name_short(&tmp, name));
}

const char *text_short_name(const struct text *t, struct arena *a, const char *name)
{
	if (t->out.options.full_names)
		return name;
	name = name_short(a, name);
	return t->out.answer.verbose ? name : name_fold(a, name);
}

void text_place(struct text *t, const char *file, unsigned line)
{
	if (!file)
		return;
	str_append(&t->line, " at ");
	text_style(t, STYLE_PLACE);
	text_clean(t, file);
	if (line)
		text_number(t, ":", line);
	text_style(t, STYLE_PLAIN);
}

void text_number(struct text *t, const char *before, uint64_t n)
{
	str_append(&t->line, before);
	str_append_uint(&t->line, n);
}

void text_count(struct text *t, uint64_t n, const char *noun)
{
	str_printf(&t->line, "%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}

void text_write(struct text *t, const char *data, size_t len)
{
	/* Stdio does not keep why. */
	errno = 0;
	if (fwrite(data, 1, len, t->out.options.answers) < len && !t->out.errnum)
		t->out.errnum = errno;
}

void text_end_line(struct text *t)
{
	text_style(t, STYLE_PLAIN);
	str_append(&t->line, "\n");
	text_write(t, t->line.data, t->line.len);
	str_truncate(&t->line, 0);
}

void text_problem(struct text *t, const char *indent, const char *why)
{
	if (!why)
		return;
	str_append(&t->line, indent);
	text_style(t, STYLE_PROBLEM);
	str_append(&t->line, "! ");
	text_clean(t, why);
	text_end_line(t);
}

void text_runtime(struct text *t, const struct runtime_info *r)
{
	str_append(&t->line, runtime_flavor_name(r->flavor));
	if (r->flavor == RUNTIME_MULTI_THREAD) {
		str_append(&t->line, ", ");
		text_count(t, r->workers, "worker");
	}
	if (r->name) {
		str_append(&t->line, ", name \"");
		text_clean(t, r->name);
		str_append(&t->line, "\"");
	}
	text_fact(t, "found by ", r->found_by);
}

void text_runtime_tasks(struct text *t, const char *before, const struct runtime_info *r)
{
	uint64_t n, local;

	if (!runtime_tasks(&t->out.answer, r, &n))
		return;
	str_append(&t->line, before);
	if (r->has_expected && r->expected_tasks > n)
		str_printf(&t->line, "%" PRIu64 " of ", n);
	text_count(t, r->has_expected && r->expected_tasks > n ? r->expected_tasks : n, "task");
	if (runtime_local_tasks(&t->out.answer, r, &local) && local)
		str_printf(&t->line, " and %" PRIu64 " of LocalSets", local);
}

static void text_begin(struct out *o)
{
	struct text *t = (struct text *)o;

	t->module = NULL;
	t->ntasks = 0;
	t->brief = (struct brief){ 0 };
	t->shown = NULL;
	t->unsearched = false;
	if (!o->answer.snapshot)
		return;
	text_subject_key(t);
	bool again = o->options.interactive && t->said && strcmp(t->said, t->line.data) == 0;
	if (!again) {
		free(t->said);
		t->said = strdup(t->line.data);
	}
	str_truncate(&t->line, 0);
	if (again && strcmp(o->answer.command, "info") != 0)
		return;
	text_subject(t);
	text_end_line(t);
}

static void text_written(struct out *o, const struct answer *answer, const struct written *w)
{
	FILE *f = o->options.messages;
	const char *path = strcmp(w->path, "-") == 0 ? "standard output" : w->path;
	SCRATCH(tmp);

	(void)answer;
	fprintf(f, "asyncdbg: wrote %s", str_clean(&tmp, path, strlen(path)));
	for (size_t i = 0; i < 2 && w->what[i].noun; i++)
		fprintf(f, "%s %zu %s%s", i ? "," : ":", w->what[i].n, w->what[i].noun,
		        w->what[i].n == 1 ? "" : "s");
	fprintf(f, "%s\n", w->incomplete ? "; something is missing, its notes say what" : "");
}

static void text_runtime_op(struct out *o, const struct runtime_info *r, enum runtime_view view)
{
	struct text *t = (struct text *)o;

	if (view == RUNTIME_ROW) {
		text_runtime_row(t, r);
		return;
	}
	text_style(t, STYLE_HEADING);
	str_printf(&t->line, "Runtime %u (", r->index);
	text_runtime(t, r);
	str_append(&t->line, ")");
	text_runtime_tasks(t, ": ", r);
	text_end_line(t);
}

/* What it sits in though it should be working. */
static void thread_wait(struct text *t, const struct thread_info *th)
{
	if (!th->wait || !th->wait->phrase)
		return;
	str_append(&t->line, " [");
	text_clean(t, th->wait->phrase);
	str_append(&t->line, "]");
}

/* What a blocking thread does, with the closure or future it does it for. */
static void blocking_job(struct text *t, const struct thread_info *th)
{
	if (th->task) {
		str_append(&t->line, " running task ");
		text_clean(t, th->task);
		str_append(&t->line, th->job ? ": " : "");
	} else if (th->job) {
		str_append(&t->line, " running ");
	} else {
		str_append(&t->line, " ");
		text_clean(t, th->state ? th->state : "idle");
	}
	if (th->job)
		text_clean(t, th->job);
}

void text_thread_line(struct text *t, const struct thread_info *th)
{
	static const char *const titles[] = {
		[THREAD_OTHER] = "Thread",
		[THREAD_BLOCK_ON] = "Thread",
		[THREAD_WORKER] = "Async worker",
		[THREAD_BLOCKING] = "Blocking thread",
	};

	text_style(t, STYLE_HEADING);
	str_printf(&t->line, "%s #%u (pid: %d", titles[th->role], th->number, (int)th->tid);
	if (th->role == THREAD_WORKER && th->has_queue)
		str_printf(&t->line, ", local queue length: %" PRIu64, th->queue_len);
	str_append(&t->line, ")");
	if (th->role == THREAD_BLOCK_ON) {
		str_append(&t->line, " block on:");
	} else if (th->role == THREAD_BLOCKING) {
		blocking_job(t, th);
	} else if (th->state) {
		str_append(&t->line, " ");
		text_clean(t, th->state);
	}
	thread_wait(t, th);
	text_end_line(t);
}

void text_thread_async(struct text *t, const struct thread_info *th)
{
	text_thread_line(t, th);
	/* The job of a blocking thread is a mere wrapper unless it polls something itself. */
	if (th->root && (th->role != THREAD_BLOCKING || th->root->nchildren || !th->job))
		text_futures(t, th->root, "", NULL);
	text_problem(t, "   ", th->problem);
}

void text_task_line(struct text *t, const struct task *task)
{
	text_style(t, STYLE_HEADING);
	str_append(&t->line, "Task: ");
	text_clean(t, task->id);
	str_append(&t->line, " (");
	str_append(&t->line, task_state_name(task->state));
	if (task->state == TASK_RUNNING && task->thread)
		str_printf(&t->line, " on thread #%u", task->thread);
	str_append(&t->line, ")");
	text_style(t, STYLE_PLAIN);
	if (task->state == TASK_RUNNING && task->notified)
		str_append(&t->line, " [woken meanwhile]");
	if (!task->root && task->type) {
		str_append(&t->line, " [");
		text_name(t, task->type);
		str_append(&t->line, "]");
	}
	text_end_line(t);
}

static void task_facts(struct text *t, const struct task *task)
{
	const struct snapshot *s = t->out.answer.snapshot;

	str_printf(&t->line, "     header 0x%" PRIx64 ", runtime %u", task->addr, task->runtime);
	if (task->runtime < s->nruntimes) {
		str_append(&t->line, " (");
		text_runtime(t, &s->runtimes[task->runtime]);
		str_append(&t->line, ")");
	}
	text_end_line(t);
	if (!task->type)
		return;
	str_append(&t->line, "     spawned ");
	text_name(t, task->type);
	text_end_line(t);
}

static const char changed[] = "it changed while it was read: this may be of several moments";

void text_task_view(struct text *t, const struct task *task, enum task_view view)
{
	if (view == TASK_ROW) {
		text_task_row(t, task);
		return;
	}
	if (view != TASK_ON_THREAD)
		text_task_line(t, task);
	if (view == TASK_FULL)
		task_facts(t, task);
	if (task->root)
		text_futures(t, task->root, "", view == TASK_FULL ? task : NULL);
	if (view == TASK_FULL) {
		text_holders(t, task_blocked_in(t->out.answer.snapshot, task), task, "     ");
		text_holdings(t, task);
	}
	text_problem(t, "   ", task->problem);
	if (task->changed)
		text_problem(t, "   ", changed);
}

static void text_task(struct out *o, const struct task *task, enum task_view view)
{
	struct text *t = (struct text *)o;

	out_progress(o, t->ntasks++, o->answer.snapshot->ntasks);
	text_task_view(t, task, view);
}

static void native_frame(struct text *t, const struct stack_frame *f)
{
	const char *function =
		t->out.options.full_names && f->function_full ? f->function_full : f->function;

	str_printf(&t->line, "#%-2u 0x%016" PRIx64 " in ", f->number, f->pc);
	text_clean(t, function ? function : "??");
	str_append(&t->line, " ()");
	if (f->file || f->file_short) {
		text_place(t, f->file_short ? f->file_short : f->file, f->line);
	} else if (f->module) {
		str_append(&t->line, " from ");
		text_clean(t, f->module);
	}
	str_append(&t->line, f->inlined ? " [inlined]" : "");
	text_end_line(t);
}

static void polled_task(struct text *t, const char *id, unsigned thread)
{
	const struct task *task = snapshot_task(t->out.answer.snapshot, id, thread);

	str_append(&t->line, "   ");
	text_style(t, STYLE_HEADING);
	str_append(&t->line, "=== task ");
	text_clean(t, id);
	str_append(&t->line, ", async stack ===");
	text_end_line(t);
	if (!task) {
		text_problem(t, "   ", "this task is not in any list of its runtime");
		return;
	}
	if (task->root)
		text_futures(t, task->root, "   ", NULL);
	text_problem(t, "      ", task->problem);
	if (task->changed)
		text_problem(t, "      ", changed);
}

static void thread_stack(struct text *t, const struct thread_info *th)
{
	text_style(t, STYLE_HEADING);
	str_printf(&t->line, "Thread #%u (pid: %d", th->number, (int)th->tid);
	text_fact(t, "name: ", th->name);
	str_append(&t->line, ")");
	if (th->role == THREAD_WORKER && th->worker >= 0)
		str_printf(&t->line, " worker %d", th->worker);
	else if (th->role != THREAD_OTHER)
		str_printf(&t->line, " %s", thread_role_name(th->role));
	if (th->role != THREAD_OTHER && th->runtime >= 0)
		str_printf(&t->line, " of runtime %d", th->runtime);
	text_fact(t, "", th->state);
	thread_wait(t, th);
	text_end_line(t);
	for (size_t i = 0; i < th->nframes; i++) {
		native_frame(t, &th->frames[i]);
		if (th->frames[i].polls_task)
			polled_task(t, th->frames[i].polls_task, th->number);
	}
	text_problem(t, "   ", th->problem);
}

static void text_thread(struct out *o, const struct thread_info *th, enum thread_view view)
{
	struct text *t = (struct text *)o;

	if (view == THREAD_ROW)
		text_thread_row(t, th);
	else if (view == THREAD_STACK)
		thread_stack(t, th);
	else if (view == THREAD_BRIEF)
		text_thread_brief(t, th);
	else
		text_thread_async(t, th);
}

/* A user at the prompt is told each note once. */
static bool told_before(struct text *t, const char *note)
{
	STR(needle);

	str_printf(&needle, "\n%s\n", note);
	if (strstr(str_text(&t->notes), needle.data))
		return true;
	str_append(&t->notes, needle.data);
	return false;
}

static void print_notes(struct text *t)
{
	const struct snapshot *s = t->out.answer.snapshot;

	for (size_t i = 0; s && i < s->nnotes; i++) {
		STR(line);

		if (t->out.options.interactive && told_before(t, s->notes[i]))
			continue;
		str_append_clean(&line, s->notes[i], strlen(s->notes[i]));
		fprintf(t->out.options.messages, "note: %s\n", str_text(&line));
	}
}

static void text_end(struct out *o)
{
	struct text *t = (struct text *)o;

	text_table_end(t);
	text_shown_end(t);
	if (t->unsearched)
		text_unsearched(t);
	progress_end();
	/* Both may be one terminal: the notes come after the answer. */
	fflush(o->options.answers);
	print_notes(t);
}

static void text_drop(struct out *o)
{
	struct text *t = (struct text *)o;

	str_truncate(&t->line, 0);
	table_deinit(&t->table);
}

static void text_free(struct out *o)
{
	struct text *t = (struct text *)o;

	str_free(&t->line);
	str_free(&t->notes);
	table_deinit(&t->table);
	free(t->said);
	free(t);
}

static const struct out_ops text_ops = {
	.written = text_written,
	.begin = text_begin,
	.runtime = text_runtime_op,
	.thread = text_thread,
	.task = text_task,
	.backtraces = text_backtraces,
	.groups = text_groups,
	.tally = text_tally,
	.shown = text_shown,
	.frame = text_frame,
	.printed = text_printed,
	.place = text_place_op,
	.layout = text_layout,
	.sockets = text_sockets,
	.graph = text_graph,
	.verdict = text_verdict,
	.verdicts_end = text_verdicts_end,
	.findings = text_findings,
	.summary = text_summary,
	.saved = text_saved,
	.diff = text_diff,
	.help = text_help,
	.end = text_end,
	.drop = text_drop,
	.free = text_free,
};

struct out *out_text_new(const struct out_options *options)
{
	struct text *t = calloc(1, sizeof(*t));

	if (!t)
		out_of_memory();
	t->out.ops = &text_ops;
	t->out.options = *options;
	return &t->out;
}
