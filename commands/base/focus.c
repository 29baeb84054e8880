#include "commands/base/focus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/base/words.h"
#include "debugger/base/str.h"
#include "runtimes/analysis/view.h"

struct error *focus_check_task_id(const char *id)
{
	uint64_t number;
	struct error *err CLEANUP(error_freep) = words_address(id, &number);

	if (err && !task_id_is_key(id))
		return error_new(ERR_USAGE, "\"%s\" is not a task id such as 5 or KIND:0x7f00", id);
	return NULL;
}

const char *focus_task_id(const struct snapshot *snap, const char *word)
{
	uint64_t addr = strncmp(word, "0x", 2) == 0 ? strtoull(word, NULL, 16) : 0;

	for (size_t i = 0; addr && i < snap->ntasks; i++) {
		const struct task *task = snap->tasks[i];

		if (!task->number && task->addr == addr)
			return task->id;
	}
	return word;
}

struct error *focus_unknown_task(const struct snapshot *snap, const char *id)
{
	const struct task *below = NULL, *above = NULL;
	uint64_t number;

	TRY(focus_check_task_id(id));
	if (!task_id_is_key(id)) {
		TRY(words_address(id, &number));
		task_nearest(snap, number, &below, &above);
	}
	if (!below && !above)
		return error_new(ERR_STATE, "no task %s; %s", id,
		                 snap->ntasks ? "\"tasks\" lists all" : "there are no tasks");
	if (!below || !above)
		return error_new(ERR_STATE, "no task %s; the nearest is %s", id,
		                 (below ? below : above)->id);
	return error_new(ERR_STATE, "no task %s; the nearest are %s and %s", id, below->id,
	                 above->id);
}

/* An error: the thread has no futures; names the threads that have. */
static struct error *no_task(const struct snapshot *snap, const struct thread_info *th)
{
	STR(others);

	for (size_t i = 0; i < snap->nthreads; i++) {
		if (snap->threads[i].task)
			str_printf(&others, "%s#%u (task %s)", others.len ? ", " : "",
			           snap->threads[i].number, snap->threads[i].task);
	}
	if (others.len)
		return error_new(ERR_STATE, "thread #%u runs no task; these do: %s", th->number,
		                 str_text(&others));
	return error_new(ERR_STATE,
	                 "thread #%u runs no task, and no other thread does; \"tasks\" "
	                 "lists all",
	                 th->number);
}

static struct error *chosen_task(const struct session *s, const struct snapshot *snap,
                                 struct focus *ret)
{
	for (size_t i = 0; i < snap->ntasks; i++) {
		const struct task *task = snap->tasks[i];

		if (strcmp(task->id, s->task) != 0)
			continue;
		if (ret->task)
			return error_new(ERR_STATE,
			                 "task %s is ambiguous: runtimes %u and %u each have one; "
			                 "\"async task %s\" shows both",
			                 s->task, ret->task->runtime, task->runtime, s->task);
		ret->task = task;
	}
	if (!ret->task)
		return error_new(
			ERR_STATE,
			"task %s, which was selected, is gone; select another with \"task ID\"",
			s->task);
	ret->thread = ret->task->thread ? snapshot_thread(snap, ret->task->thread) : NULL;
	return NULL;
}

struct error *focus_tree(const struct session *s, const struct snapshot *snap, struct focus *ret)
{
	struct focus f = { 0 };

	if (*s->task) {
		TRY(chosen_task(s, snap, &f));
	} else {
		TRY(session_focus(s, snap, &f.thread));
		if (f.thread->task)
			f.task = snapshot_task(snap, f.thread->task, f.thread->number);
		if (!f.task && !f.thread->root)
			return no_task(snap, f.thread);
	}
	f.root = f.frame = f.task ? f.task->root : f.thread->root;
	*ret = f;
	return NULL;
}

/* "task 42", "what thread #1 blocks on" */
static const char *tree_name(struct arena *a, const struct focus *f)
{
	return f->task ? arena_printf(a, "task %s", f->task->id)
	               : arena_printf(a, "the future that thread #%u blocks on", f->thread->number);
}

struct error *focus_frame(const struct session *s, const struct snapshot *snap, struct focus *ret)
{
	SCRATCH(tmp);
	struct focus f;

	TRY(focus_tree(s, snap, &f));
	if (!f.root)
		return error_new(ERR_STATE, "task %s has no frames: %s", f.task->id,
		                 f.task->problem ? f.task->problem : "it has ended");
	f.frame = future_frame(f.root, s->frame, NULL);
	if (!f.frame)
		return error_new(ERR_STATE, "no frame #%u in %s; the last is #%u", s->frame,
		                 tree_name(&tmp, &f), future_frames(f.root) - 1);
	*ret = f;
	return NULL;
}

static struct error *thread_line(const struct session *s, const struct snapshot *snap,
                                 struct source_line *ret)
{
	const struct thread_info *th;

	TRY(session_focus(s, snap, &th));
	for (size_t i = s->native ? s->frame : 0; i < th->nframes; i++) {
		const struct stack_frame *f = &th->frames[i];

		if (!f->file || !f->line) {
			if (s->native && s->frame)
				break;
			continue;
		}
		*ret = (struct source_line){ .file = f->file,
			                     .display = f->file_short,
			                     .line = f->line };
		return NULL;
	}
	return error_new(ERR_STATE, "the source line of frame #%u of thread #%u is not known%s%s",
	                 s->native ? s->frame : 0, th->number, th->problem ? ": " : "",
	                 th->problem ? th->problem : "");
}

struct error *focus_line(const struct session *s, const struct snapshot *snap,
                         struct source_line *ret)
{
	struct focus f;

	if (!*s->task)
		return thread_line(s, snap, ret);
	TRY(focus_frame(s, snap, &f));
	if (!f.frame->file || !f.frame->line)
		return error_new(ERR_STATE, "the source line of frame #%u is not known",
		                 f.frame->number);
	*ret = (struct source_line){ .file = f.frame->file,
		                     .display = f.frame->file_short,
		                     .line = f.frame->line };
	return NULL;
}

/* ---- native frames ---- */

/* The number of the thread whose native frames are in focus. */
static struct error *native_thread(struct session *s, unsigned *ret)
{
	const struct snapshot *snap;
	struct focus f;

	*ret = session_focus_number(s);
	if (!*s->task)
		return NULL;
	TRY(session_snapshot(s, WANT_TASKS | WANT_RUNNING, NULL, &snap));
	TRY(focus_tree(s, snap, &f));
	if (!f.thread)
		return error_new(ERR_STATE,
		                 "task %s is not running and has no native frames; \"thread N\" "
		                 "selects a thread",
		                 s->task);
	*ret = f.thread->number;
	return NULL;
}

struct error *focus_native_frame(struct session *s, unsigned number, unsigned wants,
                                 struct focus *ret)
{
	struct question question = { .native = true, .frame = number };
	const struct snapshot *snap;

	TRY(native_thread(s, &question.thread));
	TRY(session_snapshot(s, WANT_STACKS | WANT_RUNNING | wants, &question, &snap));
	*ret = (struct focus){ .values = snap->native };
	if (*s->task)
		ret->thread = snapshot_thread(snap, question.thread);
	else
		TRY(session_focus(s, snap, &ret->thread));
	/* Thread numbers change when a thread ends before the snapshot is taken. */
	if (!ret->thread || ret->thread->number != question.thread)
		return error_new(ERR_STATE, "thread #%u is another one now; try again",
		                 question.thread);
	if (!ret->thread->nframes)
		return error_new(ERR_STATE, "the native frames of thread #%u are not known%s%s",
		                 question.thread, ret->thread->problem ? ": " : "",
		                 ret->thread->problem ? ret->thread->problem : "");
	if (number >= ret->thread->nframes || !ret->values || !ret->values->found)
		return error_new(ERR_STATE, "no frame #%u in thread #%u; the last is #%zu", number,
		                 question.thread, ret->thread->nframes - 1);
	ret->native = &ret->thread->frames[number];
	return NULL;
}

struct error *focus_native(struct session *s, unsigned wants, struct focus *ret)
{
	return focus_native_frame(s, s->native && !*s->task ? s->frame : 0, wants, ret);
}

uint64_t focus_lookup_pc(const struct focus *f)
{
	return f->native->pc - (f->native->pc != f->thread->frames[0].pc);
}

void focus_set_task(struct session *s, const struct task *task)
{
	snprintf(s->task, sizeof(s->task), "%s", task->id);
	s->native = false;
	s->frame = 0;
	listing_forget(s);
}

void focus_set_thread(struct session *s, const struct thread_info *th)
{
	s->focus = th->tid;
	*s->task = '\0';
	s->native = true;
	s->frame = 0;
	listing_forget(s);
}
