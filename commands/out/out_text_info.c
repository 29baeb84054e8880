/* Prints what `info` and `save` report. */
#include <ctype.h>
#include <inttypes.h>

#include "commands/out/out_text.h"
#include "runtimes/inspect/inspect.h"
#include "runtimes/model/names.h"
#include "runtimes/saved/saved.h"

static void label(struct text *t, const char *name)
{
	str_printf(&t->line, "%-11s ", name);
}

static void line(struct text *t, const char *name, const char *value)
{
	if (!value)
		return;
	label(t, name);
	text_clean(t, value);
	text_end_line(t);
}

/* "Tokio:  1.54.1" */
static void crate_line(struct text *t, const struct runtime_crate *crate)
{
	SCRATCH(tmp);
	char *name = arena_printf(&tmp, "%s:", crate->kind);

	name[0] = (char)toupper((unsigned char)name[0]);
	line(t, name, crate->version);
}

/* "N noun" for the values that occur, as in "3 (2 idle, 1 running)". */
static void counts(struct text *t, const char *const *names, const size_t *n, size_t nnames)
{
	const char *separator = " (";

	for (size_t i = 0; i < nnames; i++) {
		if (!n[i])
			continue;
		str_printf(&t->line, "%s%zu %s", separator, n[i], names[i]);
		separator = ", ";
	}
	if (*separator == ',')
		str_append(&t->line, ")");
}

static void threads(struct text *t, const struct snapshot *s)
{
	static const char *const names[] = {
		[THREAD_OTHER] = "in no runtime",
		[THREAD_BLOCK_ON] = "in block_on",
		[THREAD_WORKER] = "as worker",
		[THREAD_BLOCKING] = "as blocking thread",
	};
	size_t n[THREAD_BLOCKING + 1] = { 0 };

	for (size_t i = 0; i < s->nthreads; i++)
		n[s->threads[i].role]++;
	label(t, "Threads:");
	str_printf(&t->line, "%zu", s->nthreads);
	counts(t, names, n, THREAD_BLOCKING + 1);
	text_end_line(t);
}

static void tasks(struct text *t, const struct snapshot *s)
{
	const char *names[TASK_CANCELLED + 1];
	size_t n[TASK_CANCELLED + 1] = { 0 }, doubtful = 0;

	for (size_t i = 0; i <= TASK_CANCELLED; i++)
		names[i] = task_state_name(i);
	for (size_t i = 0; i < s->ntasks; i++) {
		n[s->tasks[i]->state]++;
		doubtful += s->tasks[i]->problem != NULL;
	}
	label(t, "Tasks:");
	str_printf(&t->line, "%zu", s->ntasks);
	counts(t, names, n, TASK_CANCELLED + 1);
	if (doubtful)
		str_printf(&t->line, ", %zu not understood in full", doubtful);
	text_end_line(t);
}

static void layout(struct text *t, const struct snapshot *s)
{
	const char *names[ROW_BROKEN + 1];
	size_t n[ROW_BROKEN + 1] = { 0 };

	for (size_t i = 0; i <= ROW_BROKEN; i++)
		names[i] = row_status_name(i);
	for (size_t i = 0; i < s->nlayout; i++)
		n[s->layout[i].status]++;
	label(t, "Layout:");
	str_printf(&t->line, "%zu paths", s->nlayout);
	counts(t, names, n, ROW_BROKEN + 1);
	text_end_line(t);
}

static void saved(struct text *t, const struct saved_origin *from)
{
	const char *when;
	SCRATCH(tmp);

	if (!from)
		return;
	when = saved_time(&tmp, from->when);
	label(t, "Snapshot:");
	text_clean(t, from->file);
	str_append(&t->line, when ? ", saved " : "");
	str_append(&t->line, when ? when : "");
	text_end_line(t);
}

static void program(struct text *t, const struct target_info *target)
{
	static const char *const tiers[] = {
		[TIER_FULL] = "full",
		[TIER_LINES] = "line tables only",
		[TIER_SYMBOLS] = "symbols only",
		[TIER_NONE] = "none",
	};

	saved(t, t->out.answer.saved);
	line(t, "Core:", target->core);
	label(t, "Process:");
	str_printf(&t->line, "%d", (int)target->pid);
	if (target->command) {
		str_append(&t->line, " (");
		text_clean(t, target->command);
		str_append(&t->line, ")");
	}
	text_end_line(t);
	if (target->signal) {
		SCRATCH(tmp);

		label(t, "Signal:");
		text_clean(t, signal_name(&tmp, target->signal));
		if (target->signal_tid)
			str_printf(&t->line, " in thread pid %d", (int)target->signal_tid);
		text_end_line(t);
	}
	line(t, "Executable:", target->exe);
	line(t, "Build-id:", target->build_id);
	line(t, "Processor:", target->arch);
	line(t, "Rustc:", target->rustc ? target->rustc : "unknown");
	for (size_t i = 0; i < target->ncrates; i++)
		crate_line(t, &target->crates[i]);
	label(t, "Debug info:");
	str_append(&t->line, tiers[target->tier]);
	if (target->tier_reason) {
		str_append(&t->line, ": ");
		text_clean(t, target->tier_reason);
	}
	text_end_line(t);
}

void text_summary(struct out *o)
{
	struct text *t = (struct text *)o;
	const struct snapshot *s = o->answer.snapshot;

	program(t, &s->target);
	label(t, "Runtimes:");
	str_printf(&t->line, "%zu", s->nruntimes);
	text_end_line(t);
	for (size_t i = 0; i < s->nruntimes; i++) {
		str_printf(&t->line, "  Runtime %u (", s->runtimes[i].index);
		text_runtime(t, &s->runtimes[i]);
		str_append(&t->line, ")");
		text_runtime_tasks(t, ": ", &s->runtimes[i]);
		text_runtime_completeness(t, &s->runtimes[i]);
		text_end_line(t);
	}
	threads(t, s);
	if (o->answer.wants & WANT_TASKS)
		tasks(t, s);
	if (s->nlayout)
		layout(t, s);
}

void text_saved(struct out *o, const struct saved_file *file)
{
	struct text *t = (struct text *)o;
	const struct snapshot *s = o->answer.snapshot;

	str_append(&t->line, "Saved ");
	text_count(t, s->ntasks, "task");
	str_append(&t->line, " and ");
	text_count(t, s->nthreads, "thread");
	str_append(&t->line, " to ");
	text_clean(t, file->path);
	str_printf(&t->line, ": %" PRIu64 " bytes, %s the values of variables", file->bytes,
	           file->values ? "with" : "without");
	text_end_line(t);
}
