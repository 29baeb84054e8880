#include "runtimes/model/model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/model/wait_kind.h"

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	arena_free(&s->arena);
	free(s);
}

static void model_add_note(struct snapshot *s, const char *format, va_list args)
{
	char *raw;
	STR(clean);

	if (vasprintf(&raw, format, args) < 0)
		out_of_memory();
	str_append_clean(&clean, raw, strlen(raw));
	free(raw);
	for (size_t i = 0; i < s->nnotes; i++) {
		if (strcmp(s->notes[i], str_text(&clean)) == 0)
			return;
	}
	/* Grow to powers of two: notes are few, and an arena cannot grow an array in place. */
	if ((s->nnotes & (s->nnotes + 1)) == 0) {
		const char **grown = NEW_ARRAY(&s->arena, const char *, s->nnotes * 2 + 2);

		if (s->nnotes)
			memcpy(grown, s->notes, s->nnotes * sizeof(*grown));
		s->notes = grown;
	}
	s->notes[s->nnotes++] = arena_strdup(&s->arena, str_text(&clean));
}

void snapshot_note(struct snapshot *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	model_add_note(s, format, args);
	va_end(args);
}

bool snapshot_is_understood(const struct snapshot *s)
{
	if (!s->others || s->nruntimes)
		return true;
	for (size_t i = 0; s->target.tier != TIER_FULL && i < s->nthreads; i++) {
		if (s->threads[i].role != THREAD_OTHER)
			return true;
	}
	return false;
}

struct error *snapshot_check_understood(const struct snapshot *s)
{
	const char *remedy = s->target.tier_reason ? s->target.tier_reason : s->unscanned;

	if (snapshot_is_understood(s))
		return NULL;
	return error_new(ERR_STATE, "%s; nothing can be said of its tasks%s%s", s->others,
	                 remedy ? ": " : "", remedy ? remedy : "");
}

void snapshot_incomplete(struct snapshot *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	model_add_note(s, format, args);
	va_end(args);
	s->complete = false;
}

void snapshot_note_unscanned(struct snapshot *s, const char *why)
{
	if (!s->unscanned)
		s->unscanned = arena_strdup(&s->arena, why);
	snapshot_incomplete(s, "%s", why);
}

size_t snapshot_task_index(const struct snapshot *s, unsigned runtime, uint64_t number)
{
	size_t low = 0, high = s->ntasks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct task *task = s->tasks[middle];

		if (task->runtime < runtime || (task->runtime == runtime && task->number < number))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool runtime_is_driven_by(const struct runtime_info *r, const struct thread_info *th)
{
	/* A multi_thread runtime polls no task in block_on. */
	return th->runtime == (int)r->index && !th->handle_only &&
	       (th->role == THREAD_WORKER || (th->role == THREAD_BLOCK_ON && !r->workers_poll));
}

bool wait_is_running(const struct wait *w)
{
	return wait_kind_of(w)->target == WAIT_RUNNING;
}

bool holding_can_end(const struct holding *h, const struct wait *w)
{
	bool same = w->primitive && w->primitive == h->primitive;

	if (!w->kind || (!same && (!w->object || w->object != h->object)))
		return false;
	return wait_kind_ended_by(wait_kind_of(w), h->role);
}

const struct thread_info *snapshot_thread(const struct snapshot *s, unsigned number)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].number == number)
			return &s->threads[i];
	}
	return NULL;
}

const struct thread_info *snapshot_thread_by_tid(const struct snapshot *s, pid_t tid)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].tid == tid)
			return &s->threads[i];
	}
	return NULL;
}

/*
 * Searches tasks[from..end) for tasks with that id. *found becomes the task on that thread (then
 * returns true), otherwise the first match if it is NULL.
 */
static bool on_thread(const struct snapshot *s, size_t from, size_t end, const char *id,
                      unsigned thread, const struct task **found)
{
	for (size_t i = from; i < end; i++) {
		const struct task *task = s->tasks[i];

		if (strcmp(task->id, id) != 0)
			continue;
		if (!*found || task->thread == thread)
			*found = task;
		if (task->thread == thread)
			return true;
	}
	return false;
}

const char *task_key(struct arena *a, const char *kind, uint64_t addr)
{
	return arena_printf(a, "%s:0x%" PRIx64, kind, addr);
}

bool task_id_is_key(const char *text)
{
	enum { MAX_KIND = 64, MAX_DIGITS = 16 };
	size_t kind = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (kind == 0 || kind > MAX_KIND || strncmp(text + kind, ":0x", 3) != 0)
		return false;
	size_t digits = strspn(text + kind + 3, "0123456789abcdef");
	return digits && digits <= MAX_DIGITS && !text[kind + 3 + digits];
}

const struct job *snapshot_job_of(const struct snapshot *s, unsigned thread)
{
	for (size_t i = 0; thread && i < s->njobs; i++) {
		if (s->jobs[i].thread == thread)
			return &s->jobs[i];
	}
	return NULL;
}

const struct job *snapshot_job(const struct snapshot *s, const char *id)
{
	for (size_t i = 0; i < s->njobs; i++) {
		if (s->jobs[i].id && strcmp(s->jobs[i].id, id) == 0)
			return &s->jobs[i];
	}
	return NULL;
}

const struct task *snapshot_task(const struct snapshot *s, const char *id, unsigned thread)
{
	const struct task *found = NULL;
	uint64_t number = strtoull(id, NULL, 10);

	/* Binary search by number first: many threads look up one of a million tasks. */
	for (unsigned r = 0; r < s->nruntimes && number && number < UINT64_MAX; r++) {
		size_t from = snapshot_task_index(s, r, number);

		if (on_thread(s, from, snapshot_task_index(s, r, number + 1), id, thread, &found))
			return found;
	}
	if (!found)
		on_thread(s, 0, s->ntasks, id, thread, &found);
	return found;
}

static unsigned model_number_tree(struct future *f, unsigned next)
{
	f->number = next++;
	for (size_t i = 0; i < f->nchildren; i++)
		next = model_number_tree(f->children[i], next);
	return next;
}

void snapshot_number_frames(struct snapshot *s)
{
	for (size_t i = 0; i < s->ntasks; i++) {
		if (s->tasks[i]->root)
			model_number_tree(s->tasks[i]->root, 0);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].root)
			model_number_tree(s->threads[i].root, 0);
	}
}

static bool model_tree_has_values(const struct future *f)
{
	if (!f)
		return false;
	for (size_t i = 0; i < f->nlocals; i++) {
		if (f->locals[i].value)
			return true;
	}
	for (size_t i = 0; i < f->nchildren; i++) {
		if (model_tree_has_values(f->children[i]))
			return true;
	}
	return false;
}

bool snapshot_has_values(const struct snapshot *s)
{
	for (size_t i = 0; i < s->ntasks; i++) {
		if (model_tree_has_values(s->tasks[i]->root))
			return true;
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		if (model_tree_has_values(s->threads[i].root))
			return true;
	}
	return false;
}

const char model_local_not_saved[] = "its value was not saved: save it with --values";

bool runtime_lacks_thread(const struct runtime_info *r)
{
	return r->has_blocking && r->blocking_queued && !r->blocking_threads && r->has_limit &&
	       r->blocking_limit;
}
