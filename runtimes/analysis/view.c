#include "runtimes/analysis/view.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/names/demangle.h"

const struct future *future_first_polled(const struct future *f)
{
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch == BRANCH_POLLED)
			return f->children[i];
	}
	return NULL;
}

const struct future *future_leaf(const struct future *root)
{
	for (const struct future *f = root; f; f = future_first_polled(f))
		root = f;
	return root;
}

size_t future_leaves(const struct future *root)
{
	size_t n = 0;

	if (!root)
		return 0;
	for (size_t i = 0; i < root->nchildren; i++) {
		if (root->children[i]->branch == BRANCH_POLLED)
			n += future_leaves(root->children[i]);
	}
	return n ? n : 1;
}

bool future_is_own(const struct future *f)
{
	/*
	 * Snapshots saved by an older asyncdbg do not set library: their file_short begins with
	 * "...".
	 */
	return f->file_short && !f->library && strncmp(f->file_short, "...", 3) != 0;
}

const struct future *future_awaiting(const struct future *root)
{
	const struct future *own = NULL, *outermost = NULL;

	for (const struct future *f = root; f; f = future_first_polled(f)) {
		if (!f->file_short)
			continue;
		if (!outermost)
			outermost = f;
		if (f->kind != FUTURE_OTHER && future_is_own(f))
			own = f;
	}
	return own ? own : outermost;
}

/* The future inside a wrapper. */
static const struct future *wrapped(const struct future *f)
{
	for (size_t i = 0; f->wraps && i < f->nchildren; i++) {
		const struct future *child = f->children[i];

		if (child->branch == BRANCH_POLLED && child->edge &&
		    strcmp(child->edge, "await") == 0)
			return child;
	}
	return NULL;
}

const struct future *future_named(const struct future *root)
{
	for (const struct future *f = root; f; f = wrapped(f))
		root = f;
	return root;
}

const char *task_name(const struct task *task)
{
	const struct future *f = future_named(task->root);

	/* The root's function may be one of several: the task's type names them all. */
	if (!f || (task->root->aliases && task->type))
		return task->type;
	return f->function ? f->function : f->type;
}

static const struct future *view_find_frame(const struct future *f, unsigned number,
                                            const struct future **parent)
{
	if (f->number == number)
		return f;
	for (size_t i = 0; i < f->nchildren; i++) {
		const struct future *found = view_find_frame(f->children[i], number, parent);

		if (!found)
			continue;
		if (found == f->children[i] && parent)
			*parent = f;
		return found;
	}
	return NULL;
}

const struct future *future_frame(const struct future *root, unsigned number,
                                  const struct future **parent)
{
	if (parent)
		*parent = NULL;
	return root ? view_find_frame(root, number, parent) : NULL;
}

unsigned future_frames(const struct future *root)
{
	unsigned n = root != NULL;

	for (size_t i = 0; root && i < root->nchildren; i++)
		n += future_frames(root->children[i]);
	return n;
}

const char *future_mark(const struct future *root)
{
	const char *mark = NULL;

	for (const struct future *f = root; f; f = future_first_polled(f)) {
		if (f->inferred)
			return "inferred";
		if (f->uncertain || f->aliases)
			mark = "uncertain";
		else if (!mark && f->edge && strcmp(f->edge, "holds") == 0)
			mark = "holds";
	}
	return mark;
}

static const char *leaf_waiting_on(struct arena *a, const struct future *root, bool full_names)
{
	const struct future *leaf = future_leaf(root);

	if (!leaf)
		return NULL;
	const char *phrase = leaf->wait ? leaf->wait->phrase : NULL;
	const char *type = leaf->type ? leaf->type : leaf->function;

	if (phrase && (!leaf->wait->anonymous || !type))
		return phrase;
	if (type && !full_names)
		type = name_short(a, type);
	return phrase ? arena_printf(a, "%s: %s", type, phrase) : type;
}

const char *task_waiting_on(struct arena *a, const struct snapshot *s, const struct task *task,
                            bool full_names, size_t *others)
{
	const struct thread_info *th = NULL;
	size_t leaves = future_leaves(task->root);

	if (task->state == TASK_RUNNING && task->thread)
		th = snapshot_thread(s, task->thread);
	*others = 0;
	if (th && th->wait && th->wait->phrase)
		return th->wait->phrase;
	*others = leaves ? leaves - 1 : 0;
	const char *what = leaf_waiting_on(a, task->root, full_names);
	const char *mark = what ? future_mark(task->root) : NULL;
	return mark ? arena_printf(a, "%s [%s]", what, mark) : what;
}

void task_nearest(const struct snapshot *snap, uint64_t number, const struct task **below,
                  const struct task **above)
{
	*below = *above = NULL;
	for (size_t i = 0; i < snap->ntasks; i++) {
		const struct task *task = snap->tasks[i];

		if (!task->number)
			continue;
		if (task->number < number && (!*below || task->number > (*below)->number))
			*below = task;
		if (task->number > number && (!*above || task->number < (*above)->number))
			*above = task;
	}
}
