/* Prints runtimes, tasks and threads as text, with the futures that they poll. */
#include <inttypes.h>

#include "commands/out/out_text.h"
#include "runtimes/analysis/holders.h"
#include "runtimes/analysis/job.h"
#include "runtimes/model/names.h"

void text_runtime(struct text *t, const struct runtime_info *r)
{
	/* A damaged file may have neither. */
	str_append(&t->line, r->flavor ? r->flavor : r->kind ? r->kind : "?");
	if (r->workers_poll) {
		str_append(&t->line, ", ");
		text_count(t, r->workers, "worker");
	}
	if (r->name) {
		str_append(&t->line, ", name \"");
		text_clean(t, r->name);
		str_append(&t->line, "\"");
	}
	text_property(t, "found by ", r->found_by);
}

const char *text_completeness(const struct text *t, struct arena *a, const struct runtime_info *r)
{
	enum completeness completeness = out_completeness(&t->out.answer, r);

	if (completeness != COMPLETENESS_SCANNED)
		return completeness_name(completeness);
	return arena_printf(a, "%s (%" PRIu64 " rejected)", completeness_name(completeness),
	                    r->rejected);
}

void text_runtime_tasks(struct text *t, const char *before, const struct runtime_info *r)
{
	uint64_t n, local;

	if (!out_runtime_tasks(&t->out.answer, r, &n))
		return;
	str_append(&t->line, before);
	if (r->has_expected && r->expected_tasks > n)
		str_printf(&t->line, "%" PRIu64 " of ", n);
	text_count(t, r->has_expected && r->expected_tasks > n ? r->expected_tasks : n, "task");
	if (out_local_tasks(&t->out.answer, r, &local) && local)
		str_printf(&t->line, " and %" PRIu64 " of LocalSets", local);
	n = out_runtime_jobs(&t->out.answer, r);
	if (n) {
		str_append(&t->line, " and ");
		text_count(t, n, "blocking job");
	}
}

void text_runtime_completeness(struct text *t, const struct runtime_info *r)
{
	SCRATCH(tmp);

	text_property(t, "", text_completeness(t, &tmp, r));
}

/* Appends the wait that the thread is blocked in. */
static void thread_wait(struct text *t, const struct thread_info *th)
{
	if (!th->wait || !th->wait->phrase)
		return;
	str_append(&t->line, " [");
	text_clean(t, th->wait->phrase);
	str_append(&t->line, "]");
}

/* Appends the job of a blocking thread: its closure or future. */
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
	/*
	 * The root future of a blocking thread is only a wrapper of the job, unless it has
	 * children or waits itself.
	 */
	if (th->root &&
	    (th->role != THREAD_BLOCKING || th->root->nchildren || th->root->wait || !th->job))
		text_futures(t, th->root, "", NULL);
	text_problem(t, "   ", th->problem);
}

/* Appends " WORDS at FILE:LINE"; nothing when it is unknown. */
static void out_text_task_source(struct text *t, const char *words, const struct source_place *p)
{
	if (!p)
		return;
	str_append(&t->line, words);
	text_place(t, p->file_short ? p->file_short : p->file, p->line);
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
	if (task->undriven)
		str_append(&t->line, " [its LocalSet is driven by no known runtime]");
	out_text_task_source(t, " spawned", task->spawned_at);
	if (t->out.answer.verbose)
		out_text_task_source(t, task->spawned_at ? ", defined" : " defined",
		                     task->defined_at);
	if (!task->root && task->type) {
		str_append(&t->line, " [");
		text_name(t, task->type);
		str_append(&t->line, "]");
	}
	text_end_line(t);
}

static void out_text_task_details(struct text *t, const struct task *task)
{
	const struct snapshot *s = t->out.answer.snapshot;

	str_append(&t->line, "     ");
	if (task->addr)
		str_printf(&t->line, "header 0x%" PRIx64, task->addr);
	if (task->undriven) {
		str_append(&t->line, ", of a LocalSet that no known runtime drives");
	} else if (task->runtime < s->nruntimes) {
		str_printf(&t->line, "%sruntime %u (", task->addr ? ", " : "", task->runtime);
		text_runtime(t, &s->runtimes[task->runtime]);
		str_append(&t->line, ")");
	}
	text_end_line(t);
	if (!task->type)
		return;
	str_append(&t->line, "     spawned ");
	text_name(t, task->type);
	out_text_task_source(t, ", defined", task->defined_at);
	text_end_line(t);
}

static const char changed[] = "it changed while it was read: this may mix several moments";

void text_task_view(struct text *t, const struct task *task, enum task_view view)
{
	if (view == TASK_ROW) {
		text_task_row(t, task);
		return;
	}
	if (view != TASK_ON_THREAD)
		text_task_line(t, task);
	if (view == TASK_FULL)
		out_text_task_details(t, task);
	if (task->root)
		text_futures(t, task->root, "", view == TASK_FULL ? task : NULL);
	if (view == TASK_FULL) {
		text_holders(t, holders_blocked_in(t->out.answer.snapshot, task), task, "     ");
		text_holdings(t, task);
	}
	text_problem(t, "   ", task->problem);
	if (task->changed)
		text_problem(t, "   ", changed);
}

static void job_line(struct text *t, const struct job *job)
{
	SCRATCH(tmp);

	text_style(t, STYLE_HEADING);
	str_append(&t->line, "Task: ");
	text_clean(t, job->id ? job->id : "?");
	str_printf(&t->line, " (blocking, %s)", job_state_text(&tmp, job));
	text_style(t, STYLE_PLAIN);
	if (job->function) {
		str_append(&t->line, " ");
		text_clean(t, job->function);
	}
	out_text_task_source(t, " spawned", job->spawned_at);
	text_end_line(t);
}

/* Appends the jobs that the threads of a queued job's pool run. */
static void running_jobs(struct text *t, const struct job *queued)
{
	enum { MAX_NAMED = 8 };
	const struct snapshot *s = t->out.answer.snapshot;
	size_t n = 0;

	for (size_t i = 0; i < s->njobs; i++) {
		const struct job *job = &s->jobs[i];

		if (!job->thread || job->runtime != queued->runtime || n++ >= MAX_NAMED)
			continue;
		str_append(&t->line, n > 1 ? ", " : "     threads of its pool run: ");
		text_clean(t, job->id ? job->id : "?");
		str_printf(&t->line, " (thread #%u)", job->thread);
	}
	if (n > MAX_NAMED)
		str_printf(&t->line, " and %zu more", n - MAX_NAMED);
	if (n)
		text_end_line(t);
}

void text_job_view(struct text *t, const struct job *job, enum task_view view)
{
	const struct snapshot *s = t->out.answer.snapshot;
	struct task task;

	job_as_task(s, job, &task);
	if (view == TASK_ROW)
		text_job_row(t, job, &task);
	if (view == TASK_ROW || view == TASK_ON_THREAD)
		return;
	job_line(t, job);
	if (view == TASK_FULL)
		out_text_task_details(t, &task);
	if (view == TASK_FULL && !job->thread)
		running_jobs(t, job);
	if (task.root)
		text_futures(t, task.root, "", NULL);
	if (view == TASK_FULL)
		text_holders(t, holders_blocked_in(s, &task), &task, "     ");
}

void text_native_frame(struct text *t, const struct stack_frame *f)
{
	const char *function =
		t->out.options.full_names && f->function_full ? f->function_full : f->function;

	str_printf(&t->line, "#%-2u 0x%016" PRIx64 " in ", f->number, f->pc);
	text_clean(t, function ? function : "??");
	if (f->aliases) {
		str_append(&t->line, " or ");
		text_clean(t, f->aliases);
	}
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

void text_thread_stack(struct text *t, const struct thread_info *th)
{
	text_style(t, STYLE_HEADING);
	str_printf(&t->line, "Thread #%u (pid: %d", th->number, (int)th->tid);
	text_property(t, "name: ", th->name);
	str_append(&t->line, ")");
	if (th->role == THREAD_WORKER && th->worker >= 0)
		str_printf(&t->line, " worker %d", th->worker);
	else if (th->role != THREAD_OTHER)
		str_printf(&t->line, " %s", thread_role_name(th->role));
	if (th->role != THREAD_OTHER && th->runtime >= 0)
		str_printf(&t->line, " of runtime %d", th->runtime);
	text_property(t, "", th->state);
	thread_wait(t, th);
	text_end_line(t);
	for (size_t i = 0; i < th->nframes; i++) {
		text_native_frame(t, &th->frames[i]);
		if (th->frames[i].polls_task)
			polled_task(t, th->frames[i].polls_task, th->number);
	}
	text_problem(t, "   ", th->problem);
}
