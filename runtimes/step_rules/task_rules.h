/*
 * Decisions of steps that are about a task: to the end of the one that a thread runs, and into one
 * that the line spawns. Nothing here reads the program.
 */
#ifndef RUNTIMES_STEP_RULES_TASK_RULES_H
#define RUNTIMES_STEP_RULES_TASK_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "runtimes/step_rules/step_kind.h"

/* ---- the whole task ---- */

/* The nth type, from 0, of "A or B", which a task's future has; NULL: there is none. */
const char *task_rules_type(const char *types, size_t nth, struct arena *a);

/* The frames of a stack, innermost first. */
struct task_frames {
	size_t n;
	/* Whether a frame polls a future of the task's type. */
	bool (*polls_task)(void *arg, size_t frame);
	void *arg;
};

/*
 * The frame that polls the task's future: the outermost of its type, which may contain itself in a
 * box, and which has a caller. *found false, and 0: there is none.
 */
size_t task_rules_find_poll(const struct task_frames *f, bool *found);

/* ---- the spawned task ---- */

/* A thread at a place where the runtime makes tasks. */
struct task_spawn {
	bool is_own;     /* it is the thread of the step */
	bool has_task;   /* the line has spawned a task with code of the user's before */
	uint64_t header; /* of the new task; 0: there is none, or that is not known */
};

/* Whether the line may have spawned the task that the step goes to. */
bool task_rules_takes_spawn(const struct task_spawn *s);

/* A thread that is about to poll the memory of the spawned task. */
struct task_first_poll {
	bool is_followed; /* a thread that polls the task is followed already */
	bool has_task;    /* the memory still has that task */
};

/* Whether this thread is followed. */
bool task_rules_follows(const struct task_first_poll *p);

/* Outcome of looking for the places where the program makes tasks. */
struct task_places {
	bool failed;      /* internal breakpoints were not placed at all of them, */
	bool no_hardware; /* as --production has not enough of the CPU's */
	bool is_unseen;   /* tasks may be made elsewhere, too */
};

enum task_places_action {
	TASK_PLACES_KNOWN,  /* they show which task the line spawns */
	TASK_PLACES_UNSEEN, /* that is not known */
	TASK_PLACES_ERROR,  /* the step fails */
};

enum task_places_action task_rules_places(const struct task_places *p);

/* A step to a spawned task has ended. */
struct task_end {
	enum step_reason reason;
	bool spawned;       /* step_options.spawned */
	bool has_task;      /* a task of the line is known */
	bool has_note;      /* the end has a note of its own */
	const char *unseen; /* why it is not known which task the line spawns; NULL: it is */
	bool has_foreign;   /* the line has spawned a task without code of the user's */
};

/* Why the step is not in a task; NULL: it is, or there is a note that says more. */
const char *task_rules_note(const struct task_end *e, struct arena *a);

#endif
