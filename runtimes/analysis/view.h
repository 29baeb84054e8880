/*
 * Questions that commands and output formats ask of a snapshot: the words for its enums, which
 * future of a task answers "awaiting at" and "waiting on", look-ups by id.
 */
#ifndef RUNTIMES_ANALYSIS_VIEW_H
#define RUNTIMES_ANALYSIS_VIEW_H

#include "runtimes/model/model.h"

/* Whether it tells a file, and that is of the program's own code. */
bool future_is_own(const struct future *f);
/* The words of docs/json.md. */
const char *future_kind_name(enum future_kind kind);
/* NULL for FUTURE_STATE_NONE. */
const char *future_state_name(enum future_state state);
const char *branch_name(enum branch branch);
const char *task_state_name(enum task_state state);
const char *reading_how_name(enum reading_how how);
const char *runtime_flavor_name(enum runtime_flavor flavor);
const char *thread_role_name(enum thread_role role);
const char *row_status_name(enum row_status status);
const char *debug_tier_name(enum debug_tier tier);
/* "SIGSEGV", or "signal 99" in arena a. */
const char *signal_name(struct arena *a, int signal);

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

/* NULL when there is none. */
const struct thread_info *snapshot_thread(const struct snapshot *s, unsigned number);
const struct thread_info *snapshot_thread_by_tid(const struct snapshot *s, pid_t tid);
/* The task of that id, the one that the thread runs if several have it; NULL when unknown. */
const struct task *snapshot_task(const struct snapshot *s, const char *id, unsigned thread);

/* How sure it is that future_leaf() is waited for: "holds", as in the tree; NULL: it is. */
const char *future_mark(const struct future *root);

/*
 * ERR_STATE, with the reason, for what can be said of all tasks alone: who waits for whom, and that
 * nothing is wrong. See snapshot_is_understood().
 */
struct error *check_is_understood(const struct snapshot *s) MUST_CHECK;

/*
 * What a task waits on: where it is running, what its thread sits in; else the phrase of its
 * future_leaf(), behind the type where that is worth showing, else the type, and future_mark();
 * NULL: nothing, or unknown. *others: how many more leaves it polls. In arena a or the snapshot's,
 * not cleaned.
 */
const char *task_waiting_on(struct arena *a, const struct snapshot *s, const struct task *task,
                            bool full_names, size_t *others);

#endif
