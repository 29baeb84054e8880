/* Prints rows of tables: tasks, threads, runtimes. */
#include <inttypes.h>
#include <string.h>

#include "commands/out/out_text.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/fold.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/names.h"

static const struct column task_columns[] = {
	{ "ID", true, 0 },           { "STATE", false, 0 },
	{ "RUNTIME", true, 0 },      { "AWAITING AT", false, 16 },
	{ "WAITING ON", false, 16 }, { "ROOT FUTURE", false, 16 },
};
/* Columns of tasks where there are jobs of blocking pools. */
static const struct column job_columns[] = {
	{ "ID", true, 0 },
	{ "KIND", false, 0 },
	{ "STATE", false, 0 },
	{ "RUNTIME", true, 0 },
	{ "AWAITING AT", false, 16 },
	{ "WAITING ON", false, 16 },
	{ "ROOT FUTURE", false, 16 },
};
static const struct column thread_columns[] = {
	{ "THREAD", true, 0 },  { "PID", true, 0 },   { "NAME", false, 8 },  { "ROLE", false, 0 },
	{ "RUNTIME", true, 0 }, { "QUEUE", true, 0 }, { "STATE", false, 8 },
};
static const struct column runtime_columns[] = {
	{ "RUNTIME", true, 0 },       { "FLAVOR", false, 0 },  { "WORKERS", true, 0 },
	{ "TASKS", true, 0 },         { "INJECTED", true, 0 }, { "BLOCKING THREADS", false, 8 },
	{ "VERSION", false, 0 },      { "NAME", false, 8 },    { "HANDLE", false, 0 },
	{ "COMPLETENESS", false, 8 }, /* printed only when it is known of some runtime */
	{ "FOUND BY", false, 8 },     /* printed only when some runtime has no thread inside */
};
enum {
	NRUNTIME_COLUMNS = sizeof(runtime_columns) / sizeof(*runtime_columns),
	COMPLETENESS_COLUMN = NRUNTIME_COLUMNS - 2,
};

void text_use_table(struct text *t, const struct column *columns, size_t ncolumns)
{
	if (!t->table.columns)
		table_init(&t->table, columns, ncolumns);
}

void text_table_end(struct text *t)
{
	if (!t->table.columns)
		return;
	t->table.ascii = t->out.options.ascii;
	table_fit(&t->table, t->out.options.width);
	text_style(t, STYLE_HEADING);
	for (ptrdiff_t i = -1; i < (ptrdiff_t)t->table.nrows; i++) {
		table_line(&t->table, i, &t->line);
		text_end_line(t);
	}
	table_deinit(&t->table);
}

const char *text_clean_cell(struct arena *a, const char *text)
{
	STR(s);

	if (!text)
		return NULL;
	str_append_clean(&s, text, strlen(text));
	return arena_strdup(a, str_text(&s));
}

static const char *shown_name(const struct text *t, struct arena *a, const char *name)
{
	if (!name)
		return NULL;
	return text_clean_cell(a, text_short_name(t, a, name));
}

static const char *awaiting_cell(struct arena *a, const struct task *task)
{
	const struct future *f = future_awaiting(task->root);

	if (!f)
		return NULL;
	return f->line ? arena_printf(a, "%s:%u", text_clean_cell(a, f->file_short), f->line)
	               : text_clean_cell(a, f->file_short);
}

static const char *waiting_cell(const struct text *t, struct arena *a, const struct task *task)
{
	size_t others;
	const char *what = task_waiting_on(a, t->out.answer.snapshot, task,
	                                   t->out.options.full_names, &others);

	what = text_clean_cell(a, what && !t->out.options.full_names ? name_fold(a, what) : what);

	if (!what && !task->root && task->problem)
		return arena_printf(a, "! %s", text_clean_cell(a, task->problem));
	return what && others ? arena_printf(a, "%s (+%zu more)", what, others) : what;
}

/* A row of the table of tasks. kind: shown only where the snapshot has jobs. */
static void task_row(struct text *t, struct arena *a, const struct task *task, const char *kind,
                     const char *state, const char *root)
{
	bool jobs = t->out.answer.snapshot->njobs > 0;

	if (jobs)
		TEXT_USE_TABLE(t, job_columns);
	else
		TEXT_USE_TABLE(t, task_columns);

	const char *runtime = task->runtime == UINT32_MAX || task->undriven
	                              ? NULL
	                              : arena_printf(a, "%u", task->runtime);
	const char *cells[] = {
		text_clean_cell(a, task->id), kind, state, runtime, awaiting_cell(a, task),
		waiting_cell(t, a, task),     root,
	};

	if (!jobs)
		memmove(cells + 1, cells + 2, sizeof(cells) - 2 * sizeof(*cells));
	table_row(&t->table, cells);
}

void text_task_row(struct text *t, const struct task *task)
{
	SCRATCH(tmp);
	const struct future *root = future_named(task->root);
	const char *state = task_state_name(task->state);
	bool several = task->root && task->root->aliases && task->type;

	if (task->state == TASK_RUNNING && task->thread)
		state = arena_printf(&tmp, "%s #%u", state, task->thread);
	task_row(t, &tmp, task, "task", state,
	         root && root->function && !several
	                 ? text_clean_cell(&tmp, root->function)
	                 : shown_name(t, &tmp, root && !several ? root->type : task->type));
}

void text_job_row(struct text *t, const struct job *job, const struct task *task)
{
	SCRATCH(tmp);
	const char *state = arena_printf(&tmp, "running #%u", job->thread);

	if (!job->thread && job->ahead == JOB_NO_ORDER)
		state = "queued";
	else if (!job->thread)
		state = arena_printf(&tmp, "queued, %" PRIu64 " ahead", job->ahead);
	task_row(t, &tmp, task, "blocking", state, text_clean_cell(&tmp, job->function));
}

void text_thread_row(struct text *t, const struct thread_info *th)
{
	SCRATCH(tmp);

	const char *state = text_clean_cell(&tmp, th->state);

	TEXT_USE_TABLE(t, thread_columns);
	if (th->wait && th->wait->phrase)
		state = arena_printf(&tmp, "%s%s[%s]", state ? state : "", state ? " " : "",
		                     text_clean_cell(&tmp, th->wait->phrase));

	const char *cells[] = {
		arena_printf(&tmp, "#%u", th->number),
		arena_printf(&tmp, "%d", (int)th->tid),
		text_clean_cell(&tmp, th->name),
		thread_role_name(th->role),
		th->runtime >= 0 ? arena_printf(&tmp, "%d", th->runtime) : NULL,
		th->has_queue ? arena_printf(&tmp, "%" PRIu64, th->queue_len) : NULL,
		state,
	};
	table_row(&t->table, cells);
}

static bool any_found(const struct snapshot *s)
{
	for (size_t i = 0; s && i < s->nruntimes; i++) {
		if (s->runtimes[i].found_by)
			return true;
	}
	return false;
}

static bool any_completeness(const struct answer *answer)
{
	const struct snapshot *s = answer->snapshot;

	for (size_t i = 0; s && i < s->nruntimes; i++) {
		if (out_completeness(answer, &s->runtimes[i]) != COMPLETENESS_UNKNOWN)
			return true;
	}
	return false;
}

static void use_runtime_table(struct text *t, bool completeness)
{
	struct column *columns =
		arena_memdup(&t->out.arena, runtime_columns, sizeof(runtime_columns));

	if (!completeness)
		columns[COMPLETENESS_COLUMN] = columns[COMPLETENESS_COLUMN + 1];
	text_use_table(t, columns,
	               NRUNTIME_COLUMNS - !completeness - !any_found(t->out.answer.snapshot));
}

void text_runtime_row(struct text *t, const struct runtime_info *r)
{
	SCRATCH(tmp);

	const bool completeness = any_completeness(&t->out.answer);
	const char *blocking = NULL, *tasks = NULL;
	uint64_t ntasks, local;

	use_runtime_table(t, completeness);

	if (out_runtime_tasks(&t->out.answer, r, &ntasks))
		tasks = arena_printf(&tmp, "%" PRIu64, ntasks);
	if (tasks && out_local_tasks(&t->out.answer, r, &local) && local)
		tasks = arena_printf(&tmp, "%s and %" PRIu64 " of LocalSets", tasks, local);

	if (r->has_blocking)
		blocking = arena_printf(&tmp, "%" PRIu64 " (%" PRIu64 " idle, %" PRIu64 " queued)",
		                        r->blocking_threads, r->blocking_idle, r->blocking_queued);

	const char *cells[] = {
		arena_printf(&tmp, "%u", r->index),
		r->flavor ? r->flavor : r->kind,
		arena_printf(&tmp, "%u", r->workers),
		tasks,
		r->has_inject ? arena_printf(&tmp, "%" PRIu64, r->inject_len) : NULL,
		blocking,
		r->version ? arena_printf(&tmp, "%s %s", text_clean_cell(&tmp, r->kind),
		                          text_clean_cell(&tmp, r->version))
			   : text_clean_cell(&tmp, r->kind),
		text_clean_cell(&tmp, r->name),
		r->addr ? arena_printf(&tmp, "0x%" PRIx64, r->addr) : NULL,
		completeness ? text_completeness(t, &tmp, r) : text_clean_cell(&tmp, r->found_by),
		text_clean_cell(&tmp, r->found_by),
	};
	table_row(&t->table, cells);
}
