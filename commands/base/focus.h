/*
 * The focus: a thread or a task, and a frame of its tree of futures. It is stored as tid, id and
 * frame number, and looked up in each new snapshot.
 */
#ifndef COMMANDS_BASE_FOCUS_H
#define COMMANDS_BASE_FOCUS_H

#include "commands/base/listing.h"
#include "commands/base/session.h"
#include "debugger/base/error.h"
#include "runtimes/model/model.h"

struct focus {
	const struct thread_info *thread; /* the one in focus, or that runs task; NULL none */
	const struct task *task;          /* NULL: root is the future that the thread blocks on */
	const struct future *root;        /* of the tree; NULL: the task has none */
	const struct future *frame;       /* NULL: no root */
	/* A native frame of thread, in place of task, root and frame; NULL: none is in focus. */
	const struct stack_frame *native;
	const struct native_frame *values; /* of native: its variables and registers */
};

/*
 * Finds the task chosen last, else the task that the thread in focus runs, else the future it
 * blocks on. ret->frame is the root. ERR_STATE when the task is gone or its id is not unique, and
 * when the thread runs nothing.
 */
struct error *focus_tree(const struct session *s, const struct snapshot *snap, struct focus *ret)
	MUST_CHECK;
/* focus_tree() with the frame in focus. ERR_STATE also when the tree has no such frame. */
struct error *focus_frame(const struct session *s, const struct snapshot *snap, struct focus *ret)
	MUST_CHECK;

/*
 * The source line of the frame in focus: of the task chosen last, else of the innermost native
 * frame of the thread in focus that has a line. comp_dir is not known. ERR_STATE: there is none.
 * The strings are the snapshot's.
 */
struct error *focus_line(const struct session *s, const struct snapshot *snap,
                         struct source_line *ret) MUST_CHECK;

/*
 * Takes a snapshot with the native frame in focus: that of the thread in focus, or the innermost of
 * the thread that runs the task in focus. The snapshot has WANT_STACKS, WANT_RUNNING and wants.
 * ERR_STATE where there is no such frame. ret->values is never NULL.
 */
struct error *focus_native(struct session *s, unsigned wants, struct focus *ret) MUST_CHECK;
/* focus_native() for another frame of that thread. */
struct error *focus_native_frame(struct session *s, unsigned number, unsigned wants,
                                 struct focus *ret) MUST_CHECK;
/* The address that names the function of a native frame: of a caller one byte before its pc. */
uint64_t focus_lookup_pc(const struct focus *f);

/* Puts a task, or a thread, in focus, each with its outermost frame. */
void focus_set_task(struct session *s, const struct task *task);
void focus_set_thread(struct session *s, const struct thread_info *th);

/* ERR_USAGE when no runtime can have a task of that id. */
struct error *focus_check_task_id(const char *id) MUST_CHECK;
/*
 * The id that the word of a command means: of the address of a task whose runtime has no ids, the
 * task's id; else the word itself.
 */
const char *focus_task_id(const struct snapshot *snap, const char *word);
/* An ERR_STATE error: there is no task with that id; suggests ids that are near. */
struct error *focus_unknown_task(const struct snapshot *snap, const char *id) MUST_CHECK;

#endif
