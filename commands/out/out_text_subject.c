/* Prints the subject, the first line of an answer: what was read. */
#include "commands/out/out_text.h"
#include "runtimes/model/names.h"
#include "runtimes/saved/saved.h"

/* "live pid 5", "core x.core of pid 5", "snapshot x.saved of pid 5" */
static void subject_process(struct text *t, const struct target_info *target)
{
	const struct saved_origin *saved = t->out.answer.saved;

	if (saved) {
		str_append(&t->line, "snapshot ");
		text_clean(t, saved->file);
		str_append(&t->line, " of ");
	}
	if (target->core) {
		str_append(&t->line, "core ");
		text_clean(t, target->core);
		str_append(&t->line, " of ");
	} else if (!saved) {
		text_clean(t, target->kind);
		str_append(&t->line, " ");
	}
	str_printf(&t->line, "pid %d", (int)target->pid);
	if (target->command) {
		str_append(&t->line, " (");
		text_clean(t, target->command);
		str_append(&t->line, ")");
	}
}

static void subject_target(struct text *t, const struct target_info *target)
{
	enum { BUILD_ID_DIGITS = 8 };
	const struct saved_origin *saved = t->out.answer.saved;
	SCRATCH(tmp);

	subject_process(t, target);
	text_property(t, "saved ", saved ? saved_time(&tmp, saved->when) : NULL);
	text_property(t, "", target->exe);
	if (target->build_id) {
		const char *digits = arena_strndup(&tmp, target->build_id, BUILD_ID_DIGITS);

		text_property(
			t, "build-id ",
			arena_printf(&tmp, "%s%s", digits, t->out.options.ascii ? "..." : "…"));
	}
	for (size_t i = 0; i < target->ncrates; i++)
		text_property(t, "",
		              arena_printf(&tmp, "%s %s", target->crates[i].kind,
		                           target->crates[i].version));
	text_property(t, "rustc ", target->rustc);
	if (target->signal)
		text_property(t, "ended by ", signal_name(&tmp, target->signal));
}

/* Appends the number of runtimes with no thread inside; `runtimes` shows how each was found. */
static void subject_hidden(struct text *t, const struct snapshot *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nruntimes; i++)
		n += s->runtimes[i].found_by != NULL;
	if (n)
		str_printf(&t->line, " (%zu with no thread inside, found by what leads there)", n);
}

static void subject_runtimes(struct text *t, const struct snapshot *s)
{
	enum { SHOWN_ONE_BY_ONE = 3 };

	str_append(&t->line, ", ");
	text_count(t, s->nruntimes, "runtime");
	for (size_t i = 0; i < s->nruntimes && s->nruntimes <= SHOWN_ONE_BY_ONE; i++) {
		str_append(&t->line, i ? "; " : " (");
		text_runtime(t, &s->runtimes[i]);
		text_runtime_tasks(t, ", ", &s->runtimes[i]);
	}
	if (s->nruntimes && s->nruntimes <= SHOWN_ONE_BY_ONE)
		str_append(&t->line, ")");
	else
		subject_hidden(t, s);
	size_t undriven = out_undriven_tasks(&t->out.answer);

	if (undriven) {
		str_append(&t->line, ", ");
		text_count(t, undriven, "task");
		str_append(&t->line, " of LocalSets that no known runtime drives");
	}
}

static void subject_reading(struct text *t, const struct snapshot *s)
{
	const struct reading *r = &s->reading;

	if (r->how == READ_RUNNING && !r->stops) {
		str_append(&t->line, ", not stopped");
		return;
	}
	str_printf(&t->line, ", paused %.1f ms", (double)r->pause_ns / 1e6);
	if (r->threads && r->threads < s->nthreads)
		str_printf(&t->line, " (%zu of %zu threads)", r->threads, s->nthreads);
	if (r->how != READ_STOPPED)
		str_append(&t->line, ", then read while it ran");
}

void text_subject_key(struct text *t)
{
	const struct snapshot *s = t->out.answer.snapshot;

	subject_target(t, &s->target);
	str_append(&t->line, s->complete ? ", complete" : ", incomplete");
}

void text_subject(struct text *t)
{
	static const char *const tiers[] = {
		[TIER_FULL] = NULL,
		[TIER_LINES] = "debug info: line tables only",
		[TIER_SYMBOLS] = "debug info: symbols only",
		[TIER_NONE] = "debug info: none",
	};
	const struct snapshot *s = t->out.answer.snapshot;

	str_append(&t->line, "asyncdbg: ");
	subject_target(t, &s->target);
	text_property(t, "", tiers[s->target.tier]);
	if (s->target.layout)
		text_property(t, "by layout file ", s->target.layout);
	subject_runtimes(t, s);
	if (!s->target.core)
		subject_reading(t, s);
	str_append(&t->line, s->complete ? ", complete" : ", incomplete: see notes");
}
