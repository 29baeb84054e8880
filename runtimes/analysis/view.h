/*
 * Questions that commands and output formats ask of the futures of a task: which one answers
 * "awaiting at" and "waiting on", and what the task is called.
 */
#ifndef RUNTIMES_ANALYSIS_VIEW_H
#define RUNTIMES_ANALYSIS_VIEW_H

#include "runtimes/model/model.h"

/* Whether it tells a file, and that is of the program's own code. */
bool future_is_own(const struct future *f);
/*
 * The leaf that answers "waiting on": from root along the first child each that is polled, down
 * to the first future that polls nothing below itself. NULL for NULL.
 */
const struct future *future_leaf(const struct future *root);
/* How many such futures a poll of root comes to: no held, disabled or finished branch counts. */
size_t future_leaves(const struct future *root);
/*
 * The innermost coroutine on the way to future_leaf() that stands in the program's own code; where
 * there is none, the outermost future on that way that tells a file, wherever that is; NULL when
 * none does.
 */
const struct future *future_awaiting(const struct future *root);
/*
 * The future that tells people what a task is: root, unless that wraps another one, which does.
 * NULL for NULL.
 */
const struct future *future_named(const struct future *root);
/* Its name in full, "app::handle"; NULL where there is none. */
const char *task_name(const struct task *task);
/* The future of that number in a tree and, when parent is not NULL, its parent; else NULL. */
const struct future *future_frame(const struct future *root, unsigned number,
                                  const struct future **parent);
/* How many futures a tree has. */
unsigned future_frames(const struct future *root);

/* How sure it is that future_leaf() is waited for: "holds", as in the tree; NULL: it is. */
const char *future_mark(const struct future *root);

/*
 * What a task waits on: where it is running, what its thread sits in; else the phrase of its
 * future_leaf(), behind the type where that is worth showing, else the type, and future_mark();
 * NULL: nothing, or unknown. *others: how many more leaves it polls. In arena a or the snapshot's,
 * not cleaned.
 */
const char *task_waiting_on(struct arena *a, const struct snapshot *s, const struct task *task,
                            bool full_names, size_t *others);

#endif
