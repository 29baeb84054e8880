/*
 * Queries on the futures of a task for commands and output formats: the futures behind "awaiting
 * at" and "waiting on", and the name of the task.
 */
#ifndef RUNTIMES_ANALYSIS_VIEW_H
#define RUNTIMES_ANALYSIS_VIEW_H

#include "runtimes/model/model.h"

/* Whether the future has a source file and that file is the program's own code. */
bool future_is_own(const struct future *f);
/* The first child that the future polls; NULL: none. */
const struct future *future_first_polled(const struct future *f);
/*
 * The leaf for "waiting on": follows the first polled child from root down to a future without
 * polled children. NULL for NULL.
 */
const struct future *future_leaf(const struct future *root);
/*
 * The number of leaves that a poll of root reaches. Unpolled, disabled and finished branches are
 * not counted.
 */
size_t future_leaves(const struct future *root);
/*
 * The innermost coroutine on the path to future_leaf() that is in the program's own code; else the
 * outermost future on that path that has a source file; NULL when none has.
 */
const struct future *future_awaiting(const struct future *root);
/* The future that names the task: root, or the future that root wraps. NULL for NULL. */
const struct future *future_named(const struct future *root);
/* The full name of the task, "app::handle"; NULL: none. */
const char *task_name(const struct task *task);
/* The tasks whose numbers are next below and above number; NULL: none. */
void task_nearest(const struct snapshot *s, uint64_t number, const struct task **below,
                  const struct task **above);
/*
 * Finds a future by its number; NULL: not found. Sets *parent to its parent unless parent is NULL.
 */
const struct future *future_frame(const struct future *root, unsigned number,
                                  const struct future **parent);
/* The number of futures in a tree. */
unsigned future_frames(const struct future *root);

/*
 * The mark when it is not certain that future_leaf() is polled: "holds", as in the tree; NULL:
 * certain.
 */
const char *future_mark(const struct future *root);

/*
 * Phrase for the wait of a task. For a running task: the wait of its thread. Otherwise the phrase
 * of its future_leaf(), after the type when that is worth showing; without a phrase the type; then
 * future_mark(). NULL: nothing or unknown. *others: the number of further leaves that it polls. In
 * arena a or the snapshot's, not sanitized.
 */
const char *task_waiting_on(struct arena *a, const struct snapshot *s, const struct task *task,
                            bool full_names, size_t *others);

#endif
