#include "commands/out/out_text.h"

#include <stdlib.h>
#include <string.h>

#include "commands/base/call.h"
#include "debugger/base/progress.h"

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
	bool again = o->options.interactive && t->last_subject &&
	             strcmp(t->last_subject, t->line.data) == 0;
	if (!again) {
		free(t->last_subject);
		t->last_subject = strdup(t->line.data);
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
	text_runtime_completeness(t, r);
	text_end_line(t);
}

static void text_task(struct out *o, const struct task *task, enum task_view view)
{
	struct text *t = (struct text *)o;

	out_progress(o, t->ntasks++, o->answer.snapshot->ntasks);
	text_task_view(t, task, view);
}

static void text_job(struct out *o, const struct job *job, enum task_view view)
{
	text_job_view((struct text *)o, job, view);
}

static void text_thread(struct out *o, const struct thread_info *th, enum thread_view view)
{
	struct text *t = (struct text *)o;

	if (view == THREAD_ROW)
		text_thread_row(t, th);
	else if (view == THREAD_STACK)
		text_thread_stack(t, th);
	else if (view == THREAD_BRIEF)
		text_thread_brief(t, th);
	else
		text_thread_async(t, th);
}

/* Whether the note was printed before; at the prompt each note is printed once. */
static bool printed_before(struct text *t, const char *note)
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

		if (t->out.options.interactive && printed_before(t, s->notes[i]))
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
	/* Both may be the same terminal: print the notes after the answer. */
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
	free(t->last_subject);
	free(t);
}

static const struct out_ops text_ops = {
	.written = text_written,
	.begin = text_begin,
	.runtime = text_runtime_op,
	.thread = text_thread,
	.task = text_task,
	.job = text_job,
	.groups = text_groups,
	.tally = text_tally,
	.shown = text_shown,
	.frame = text_frame,
	.printed = text_printed,
	.place = text_place_op,
	.types = text_types,
	.type = text_type,
	.layout = text_layout,
	.sockets = text_sockets,
	.processes = text_processes,
	.probes = text_probes,
	.graph = text_graph,
	.verdict = text_verdict,
	.verdicts_end = text_verdicts_end,
	.findings = text_findings,
	.stall = text_stall,
	.recorded = text_recorded,
	.stopped = text_stopped,
	.logged = text_logged,
	.breakpoints = text_breakpoints,
	.signals = text_signals,
	.watchpoints = text_watchpoints,
	.listing = text_listing,
	.disassembly = text_disassembly,
	.registers = text_registers,
	.memory = text_memory,
	.watched = text_watched,
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
