#include "commands/out/out_text.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/progress.h"

static void text_begin(struct out *o)
{
	struct text *t = (struct text *)o;

	t->ntasks = 0;
	t->brief = (struct brief){ 0 };
	t->last = (struct text_last){ 0 };
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

static void text_part(struct out *o, const struct part_kind *kind, const void *part)
{
	if (kind->text)
		kind->text((struct text *)o, part);
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

static void out_text_print_notes(struct text *t)
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
	if (t->last.print)
		t->last.print(t, t->last.part);
	if (t->unsearched)
		text_unsearched(t);
	progress_end();
	/* Answers and messages may be the same terminal: print the notes after the answer. */
	fflush(o->options.answers);
	out_text_print_notes(t);
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
	.begin = text_begin,
	.part = text_part,
	.thread = text_thread,
	.task = text_task,
	.job = text_job,
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
