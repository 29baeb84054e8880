#include "runtimes/analysis/view.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/names/demangle.h"
#include "runtimes/inspect/inspect.h"

const char *future_kind_name(enum future_kind kind)
{
	static const char *const names[] = {
		[FUTURE_ASYNC_FN] = "async_fn",
		[FUTURE_ASYNC_BLOCK] = "async_block",
		[FUTURE_ASYNC_CLOSURE] = "async_closure",
		[FUTURE_OTHER] = "future",
	};
	return names[kind];
}

const char *future_state_name(enum future_state state)
{
	static const char *const names[] = {
		[FUTURE_STATE_NONE] = NULL,       [FUTURE_UNRESUMED] = "unresumed",
		[FUTURE_SUSPENDED] = "suspended", [FUTURE_RETURNED] = "returned",
		[FUTURE_PANICKED] = "panicked",
	};
	return names[state];
}

const char *branch_name(enum branch branch)
{
	static const char *const names[] = {
		[BRANCH_POLLED] = "polled", [BRANCH_DISABLED] = "disabled", [BRANCH_DONE] = "done",
		[BRANCH_GONE] = "gone",     [BRANCH_HELD] = "held",
	};
	return names[branch];
}

const char *reading_how_name(enum reading_how how)
{
	static const char *const names[] = {
		[READ_STOPPED] = "stopped",
		[READ_LIMITED] = "limited",
		[READ_RUNNING] = "running",
	};

	return names[how];
}

const char *task_state_name(enum task_state state)
{
	static const char *const names[] = {
		[TASK_IDLE] = "idle",           [TASK_SCHEDULED] = "scheduled",
		[TASK_RUNNING] = "running",     [TASK_COMPLETE] = "complete",
		[TASK_CANCELLED] = "cancelled",
	};
	return names[state];
}

const char *runtime_flavor_name(enum runtime_flavor flavor)
{
	return flavor == RUNTIME_MULTI_THREAD ? "multi_thread" : "current_thread";
}

const char *thread_role_name(enum thread_role role)
{
	static const char *const names[] = {
		[THREAD_OTHER] = "other",
		[THREAD_BLOCK_ON] = "block_on",
		[THREAD_WORKER] = "worker",
		[THREAD_BLOCKING] = "blocking",
	};
	return names[role];
}

const char *row_status_name(enum row_status status)
{
	static const char *const names[] = {
		[ROW_OK] = "ok",
		[ROW_ABSENT] = "absent",
		[ROW_BROKEN] = "broken",
	};
	return names[status];
}

const char *debug_tier_name(enum debug_tier tier)
{
	static const char *const names[] = {
		[TIER_FULL] = "full",
		[TIER_LINES] = "lines",
		[TIER_SYMBOLS] = "symbols",
		[TIER_NONE] = "none",
	};
	return names[tier];
}

const char *signal_name(struct arena *a, int signal)
{
	const char *name = sigabbrev_np(signal);

	return name ? arena_printf(a, "SIG%s", name) : arena_printf(a, "signal %d", signal);
}

/* NULL when it polls nothing below itself. */
static const struct future *first_polled(const struct future *f)
{
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch == BRANCH_POLLED)
			return f->children[i];
	}
	return NULL;
}

const struct future *future_leaf(const struct future *root)
{
	for (const struct future *f = root; f; f = first_polled(f))
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
	/* Snapshots that an older asyncdbg saved say it by the name of the file. */
	return f->file_short && !f->library && strncmp(f->file_short, "...", 3) != 0;
}

const struct future *future_awaiting(const struct future *root)
{
	const struct future *own = NULL, *outermost = NULL;

	for (const struct future *f = root; f; f = first_polled(f)) {
		if (!f->file_short)
			continue;
		if (!outermost)
			outermost = f;
		if (f->kind != FUTURE_OTHER && future_is_own(f))
			own = f;
	}
	return own ? own : outermost;
}

/* What a wrapper wraps. */
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

	if (!f)
		return task->type;
	return f->function ? f->function : f->type;
}

static const struct future *find_frame(const struct future *f, unsigned number,
                                       const struct future **parent)
{
	if (f->number == number)
		return f;
	for (size_t i = 0; i < f->nchildren; i++) {
		const struct future *found = find_frame(f->children[i], number, parent);

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
	return root ? find_frame(root, number, parent) : NULL;
}

unsigned future_frames(const struct future *root)
{
	unsigned n = root != NULL;

	for (size_t i = 0; root && i < root->nchildren; i++)
		n += future_frames(root->children[i]);
	return n;
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

/* Of tasks[from..end) with that id the one on that thread, else *found or the first. */
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

const struct task *snapshot_task(const struct snapshot *s, const char *id, unsigned thread)
{
	const struct task *found = NULL;
	uint64_t number = strtoull(id, NULL, 10);

	/* Each of many threads asks for one of a million tasks. */
	for (unsigned r = 0; r < s->nruntimes && number && number < UINT64_MAX; r++) {
		size_t from = snapshot_task_index(s, r, number);

		if (on_thread(s, from, snapshot_task_index(s, r, number + 1), id, thread, &found))
			return found;
	}
	if (!found)
		on_thread(s, 0, s->ntasks, id, thread, &found);
	return found;
}

const char *future_mark(const struct future *root)
{
	const char *mark = NULL;

	for (const struct future *f = root; f; f = first_polled(f)) {
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

struct error *check_is_understood(const struct snapshot *s)
{
	return snapshot_is_understood(s)
	               ? NULL
	               : error_new(ERR_STATE, "%s; nothing can be said of its tasks", s->others);
}
