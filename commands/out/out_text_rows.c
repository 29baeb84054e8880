/* Prints rows of tables: tasks, threads, runtimes, layout, sockets, help. */
#include <inttypes.h>
#include <string.h>

#include "commands/base/call.h"
#include "commands/out/out_text.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/fold.h"
#include "runtimes/analysis/socket_use.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/names.h"

enum { LAYOUT_KEY_WIDTH = 28, HELP_NAME_WIDTH = 24 };

static const struct column task_columns[] = {
	{ "ID", true, 0 },           { "STATE", false, 0 },
	{ "RUNTIME", true, 0 },      { "AWAITING AT", false, 16 },
	{ "WAITING ON", false, 16 }, { "ROOT FUTURE", false, 16 },
};
/* The same where there are jobs of blocking pools. */
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
static const struct column socket_columns[] = {
	{ "FD", true, 0 },      { "KIND", false, 0 },           { "LOCAL", false, 0 },
	{ "PEER", false, 0 },   { "STATE", false, 0 },          { "SEND-Q", true, 0 },
	{ "RECV-Q", true, 0 },  { "UNACKED", true, 0 },         { "WINDOW", true, 0 },
	{ "RETRANS", true, 0 }, { "WAITED FOR BY", false, 16 }, { "HELD BY", false, 16 },
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

static void use_table(struct text *t, const struct column *columns, size_t ncolumns)
{
	if (!t->table.columns)
		table_init(&t->table, columns, ncolumns);
}

#define USE_TABLE(t, columns) use_table((t), (columns), sizeof(columns) / sizeof(*(columns)))

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

static const char *clean(struct arena *a, const char *text)
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
	return clean(a, text_short_name(t, a, name));
}

static const char *awaiting_cell(struct arena *a, const struct task *task)
{
	const struct future *f = future_awaiting(task->root);

	if (!f)
		return NULL;
	return f->line ? arena_printf(a, "%s:%u", clean(a, f->file_short), f->line)
	               : clean(a, f->file_short);
}

static const char *waiting_cell(const struct text *t, struct arena *a, const struct task *task)
{
	size_t others;
	const char *what = task_waiting_on(a, t->out.answer.snapshot, task,
	                                   t->out.options.full_names, &others);

	what = clean(a, what && !t->out.options.full_names ? name_fold(a, what) : what);

	if (!what && !task->root && task->problem)
		return arena_printf(a, "! %s", clean(a, task->problem));
	return what && others ? arena_printf(a, "%s (+%zu more)", what, others) : what;
}

/* A row of the table of tasks. kind: shown only where the snapshot has jobs. */
static void task_row(struct text *t, struct arena *a, const struct task *task, const char *kind,
                     const char *state, const char *root)
{
	bool jobs = t->out.answer.snapshot->njobs > 0;

	if (jobs)
		USE_TABLE(t, job_columns);
	else
		USE_TABLE(t, task_columns);

	const char *runtime = task->runtime == UINT32_MAX || task->undriven
	                              ? NULL
	                              : arena_printf(a, "%u", task->runtime);
	const char *cells[] = {
		clean(a, task->id),       kind, state, runtime, awaiting_cell(a, task),
		waiting_cell(t, a, task), root,
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
	                 ? clean(&tmp, root->function)
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
	task_row(t, &tmp, task, "blocking", state, clean(&tmp, job->function));
}

void text_thread_row(struct text *t, const struct thread_info *th)
{
	SCRATCH(tmp);

	const char *state = clean(&tmp, th->state);

	USE_TABLE(t, thread_columns);
	if (th->wait && th->wait->phrase)
		state = arena_printf(&tmp, "%s%s[%s]", state ? state : "", state ? " " : "",
		                     clean(&tmp, th->wait->phrase));

	const char *cells[] = {
		arena_printf(&tmp, "#%u", th->number),
		arena_printf(&tmp, "%d", (int)th->tid),
		clean(&tmp, th->name),
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
	use_table(t, columns,
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
		r->version
			? arena_printf(&tmp, "%s %s", clean(&tmp, r->kind), clean(&tmp, r->version))
			: clean(&tmp, r->kind),
		clean(&tmp, r->name),
		r->addr ? arena_printf(&tmp, "0x%" PRIx64, r->addr) : NULL,
		completeness ? text_completeness(t, &tmp, r) : clean(&tmp, r->found_by),
		clean(&tmp, r->found_by),
	};
	table_row(&t->table, cells);
}

/* "task 5, thread #1 (block_on)" */
static const char *waiters_cell(const struct text *t, struct arena *a, const struct socket_use *use)
{
	STR(s);

	for (size_t i = 0; i < use->nwaiters; i++) {
		const struct socket_waiter *w = &use->waiters[i];

		str_append(&s, s.len ? ", " : "");
		if (w->task)
			str_printf(&s, "task %s", clean(a, w->task->id));
		else
			str_printf(&s, "thread #%u", w->thread->number);
	}
	if (!s.len)
		return t->out.answer.snapshot->complete ? "nobody" : "nobody that was found";
	return arena_strdup(a, str_text(&s));
}

/* "task 5 (`conn.stream`), maybe thread #1"; NULL: no owner was found. */
static const char *owners_cell(struct arena *a, const struct socket_use *use)
{
	enum { MAX_OWNERS = 4 };
	STR(s);

	for (size_t i = 0; i < use->nowners && i < MAX_OWNERS; i++) {
		const struct holding *h = use->owners[i];

		str_append(&s, s.len ? ", " : "");
		str_append(&s, h->uncertain ? "maybe " : "");
		if (h->task)
			str_printf(&s, "task %s", clean(a, h->task->id));
		else
			str_printf(&s, "thread #%u", h->thread);
		if (h->path)
			str_printf(&s, " (`%s`)", clean(a, h->path));
	}
	if (use->nowners > MAX_OWNERS)
		str_printf(&s, " and %zu more", use->nowners - MAX_OWNERS);
	return s.len ? arena_strdup(a, str_text(&s)) : NULL;
}

static const char *bytes_cell(struct arena *a, uint64_t bytes)
{
	return bytes ? arena_printf(a, "%" PRIu64, bytes) : NULL;
}

/* A window of 0 is worth a number only where something waits to be sent. */
static const char *window_cell(struct arena *a, const struct socket_info *s)
{
	bool shown = s->has_window && (s->peer_window || s->unsent);

	return shown ? arena_printf(a, "%" PRIu64, s->peer_window) : NULL;
}

void text_sockets(struct out *o, const struct socket_use *uses, size_t n)
{
	SCRATCH(tmp);
	struct text *t = (struct text *)o;

	USE_TABLE(t, socket_columns);
	for (size_t i = 0; i < n; i++) {
		const struct socket_info *s = uses[i].socket;
		const char *cells[] = {
			arena_printf(&tmp, "%d", s->fd),
			clean(&tmp, s->kind),
			clean(&tmp, s->local),
			clean(&tmp, s->peer),
			clean(&tmp, s->state),
			bytes_cell(&tmp, s->unsent),
			bytes_cell(&tmp, s->unread),
			bytes_cell(&tmp, s->unacknowledged),
			window_cell(&tmp, s),
			bytes_cell(&tmp, s->retransmits),
			waiters_cell(t, &tmp, &uses[i]),
			owners_cell(&tmp, &uses[i]),
		};

		table_row(&t->table, cells);
	}
}

void text_layout(struct out *o, const struct layout_info *row)
{
	struct text *t = (struct text *)o;
	const char *module = row->module ? row->module : "?";

	if (!t->module || strcmp(t->module, module) != 0) {
		text_style(t, STYLE_HEADING);
		str_append(&t->line, "Module ");
		text_clean(t, module);
		str_append(&t->line, ":");
		text_end_line(t);
	}
	t->module = module;
	text_style(t, row->status == ROW_BROKEN ? STYLE_PROBLEM : STYLE_PLAIN);
	str_printf(&t->line, "%-6s  ", row_status_name(row->status));
	text_style(t, STYLE_PLAIN);

	size_t key = t->line.len;
	text_clean(t, row->key);
	size_t used = t->line.len - key;
	str_printf(&t->line, "%*s", used < LAYOUT_KEY_WIDTH ? (int)(LAYOUT_KEY_WIDTH - used) : 0,
	           "");
	str_append(&t->line, "  ");
	text_clean(t, row->matched ? row->matched : row->path);
	if (row->plan) {
		str_append(&t->line, " [");
		text_clean(t, row->plan);
		str_append(&t->line, "]");
	}
	text_end_line(t);
	if (row->status != ROW_OK && row->tried) {
		str_printf(&t->line, "%*s", 8, "");
		text_clean(t, row->tried);
		text_end_line(t);
	}
}

static void usage(struct text *t, const struct command *command, bool options)
{
	str_append(&t->line, command->name);
	if (command->args)
		str_printf(&t->line, " %s", command->args);
	str_append(&t->line, command->verbose ? " [-v]" : "");
	for (const struct command_option *o = command->options; options && o && o->name; o++)
		str_printf(&t->line, " [--%s%s%s]", o->name, o->arg ? " " : "",
		           o->arg ? o->arg : "");
}

static void help_option(struct text *t, const struct command_option *o)
{
	str_printf(&t->line, "    --%s%s%s: %s.", o->name, o->arg ? " " : "", o->arg ? o->arg : "",
	           o->help);
	text_end_line(t);
}

void text_help(struct out *o, const struct command *command, enum help_view view)
{
	struct text *t = (struct text *)o;

	usage(t, command, view == HELP_FULL);
	if (view == HELP_FULL) {
		text_end_line(t);
		str_printf(&t->line, "    %s.", command->summary);
		text_end_line(t);
		if (command->help) {
			str_append(&t->line, command->help);
			text_end_line(t);
		}
		if (command->verbose) {
			str_append(&t->line, "    -v, --verbose: with the variables of every "
			                     "frame that is shown.");
			text_end_line(t);
		}
		for (const struct command_option *p = command->options; p && p->name; p++)
			help_option(t, p);
		return;
	}
	str_printf(&t->line, "%*s  %s",
	           t->line.len < HELP_NAME_WIDTH ? (int)(HELP_NAME_WIDTH - t->line.len) : 0, "",
	           command->summary);
	text_end_line(t);
}
