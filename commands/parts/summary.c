/* The target, and how completely it was understood. */
#include <ctype.h>
#include <string.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"
#include "runtimes/model/names.h"
#include "runtimes/saved/saved.h"
#include "runtimes/session/asyncdbg.h"

static void summary_text_label(struct text *t, const char *name)
{
	str_printf(&t->line, "%-11s ", name);
}

static void summary_text_line(struct text *t, const char *name, const char *value)
{
	if (!value)
		return;
	summary_text_label(t, name);
	text_clean(t, value);
	text_end_line(t);
}

/* "Tokio:  1.54.1" */
static void crate_line(struct text *t, const struct runtime_crate *crate)
{
	SCRATCH(tmp);
	char *name = arena_printf(&tmp, "%s:", crate->kind);

	name[0] = (char)toupper((unsigned char)name[0]);
	summary_text_line(t, name, crate->version);
}

/* "N noun" for the values that occur, as in "3 (2 idle, 1 running)". */
static void summary_text_counts(struct text *t, const char *const *names, const size_t *n,
                                size_t nnames)
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

static void summary_text_threads(struct text *t, const struct snapshot *s)
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
	summary_text_label(t, "Threads:");
	str_printf(&t->line, "%zu", s->nthreads);
	summary_text_counts(t, names, n, THREAD_BLOCKING + 1);
	text_end_line(t);
}

static void summary_text_tasks(struct text *t, const struct snapshot *s)
{
	const char *names[TASK_CANCELLED + 1];
	size_t n[TASK_CANCELLED + 1] = { 0 }, doubtful = 0;

	for (size_t i = 0; i <= TASK_CANCELLED; i++)
		names[i] = task_state_name(i);
	for (size_t i = 0; i < s->ntasks; i++) {
		n[s->tasks[i]->state]++;
		doubtful += s->tasks[i]->problem != NULL;
	}
	summary_text_label(t, "Tasks:");
	str_printf(&t->line, "%zu", s->ntasks);
	summary_text_counts(t, names, n, TASK_CANCELLED + 1);
	if (doubtful)
		str_printf(&t->line, ", %zu not fully understood", doubtful);
	text_end_line(t);
}

static void summary_text_layout(struct text *t, const struct snapshot *s)
{
	const char *names[ROW_BROKEN + 1];
	size_t n[ROW_BROKEN + 1] = { 0 };

	for (size_t i = 0; i <= ROW_BROKEN; i++)
		names[i] = row_status_name(i);
	for (size_t i = 0; i < s->nlayout; i++)
		n[s->layout[i].status]++;
	summary_text_label(t, "Layout:");
	str_printf(&t->line, "%zu paths", s->nlayout);
	summary_text_counts(t, names, n, ROW_BROKEN + 1);
	text_end_line(t);
}

static void summary_text_saved(struct text *t, const struct saved_origin *from)
{
	const char *when;
	SCRATCH(tmp);

	if (!from)
		return;
	when = saved_time(&tmp, from->when);
	summary_text_label(t, "Snapshot:");
	text_clean(t, from->file);
	str_append(&t->line, when ? ", saved " : "");
	str_append(&t->line, when ? when : "");
	text_end_line(t);
}

static void summary_text_program(struct text *t, const struct target_info *target)
{
	static const char *const tiers[] = {
		[TIER_FULL] = "full",
		[TIER_LINES] = "line tables only",
		[TIER_SYMBOLS] = "symbols only",
		[TIER_NONE] = "none",
	};

	summary_text_saved(t, t->out.answer.saved);
	summary_text_line(t, "Core:", target->core);
	summary_text_label(t, "Process:");
	str_printf(&t->line, "%d", (int)target->pid);
	if (target->command) {
		str_append(&t->line, " (");
		text_clean(t, target->command);
		str_append(&t->line, ")");
	}
	text_end_line(t);
	if (target->signal) {
		SCRATCH(tmp);

		summary_text_label(t, "Signal:");
		text_clean(t, signal_name(&tmp, target->signal));
		if (target->signal_tid)
			str_printf(&t->line, " in thread pid %d", (int)target->signal_tid);
		text_end_line(t);
	}
	summary_text_line(t, "Executable:", target->exe);
	summary_text_line(t, "Build-id:", target->build_id);
	summary_text_line(t, "Processor:", target->arch);
	summary_text_line(t, "Rustc:", target->rustc ? target->rustc : "unknown");
	for (size_t i = 0; i < target->ncrates; i++)
		crate_line(t, &target->crates[i]);
	summary_text_label(t, "Debug info:");
	str_append(&t->line, tiers[target->tier]);
	if (target->tier_reason) {
		str_append(&t->line, ": ");
		text_clean(t, target->tier_reason);
	}
	text_end_line(t);
}

static void summary_text(struct text *t, const void *part)
{
	const struct snapshot *const *shown = part, *s = *shown;

	summary_text_program(t, &s->target);
	summary_text_label(t, "Runtimes:");
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
	summary_text_threads(t, s);
	if (t->out.answer.wants & WANT_TASKS)
		summary_text_tasks(t, s);
	if (s->nlayout)
		summary_text_layout(t, s);
}

/* Counts by name, in order of first occurrence. */
struct summary_count {
	const char *names[16];
	int64_t counts[16];
	size_t n;
};

static void summary_json_count(struct summary_count *tally, const char *name)
{
	size_t i = 0;

	while (i < tally->n && strcmp(tally->names[i], name) != 0)
		i++;
	if (i == sizeof(tally->names) / sizeof(*tally->names))
		return;
	tally->n += i == tally->n;
	tally->names[i] = name;
	tally->counts[i]++;
}

static void summary_json_put(struct json_writer *w, const char *key,
                             const struct summary_count *tally)
{
	json_open_object(w, key);
	for (size_t i = 0; i < tally->n; i++)
		json_put_int(w, tally->names[i], tally->counts[i]);
	json_close_object(w);
}

static void summary_json(struct json_writer *w, const void *part)
{
	const struct snapshot *const *shown = part, *s = *shown;
	struct summary_count threads = { 0 }, tasks = { 0 }, layout = { 0 };

	for (size_t i = 0; i < s->nthreads; i++)
		summary_json_count(&threads, thread_role_name(s->threads[i].role));
	for (size_t i = 0; i < s->ntasks; i++)
		summary_json_count(&tasks, task_state_name(s->tasks[i]->state));
	for (size_t i = 0; i < s->nlayout; i++)
		summary_json_count(&layout, row_status_name(s->layout[i].status));
	json_open_object(w, "summary");
	summary_json_put(w, "threads", &threads);
	summary_json_put(w, "tasks", &tasks);
	summary_json_put(w, "layout", &layout);
	json_close_object(w);
}

static const struct part_kind summary_part = { sizeof(const struct snapshot *), summary_text,
	                                       summary_json };

void part_summary(struct out *o)
{
	out_part(o, &summary_part, &o->answer.snapshot);
}
