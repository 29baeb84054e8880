/*
 * Decisions about the end of a step otherwise than at a line, from plain facts. Nothing here reads
 * the program.
 */
#ifndef RUNTIMES_STEP_RULES_EXIT_RULES_H
#define RUNTIMES_STEP_RULES_EXIT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "runtimes/step_rules/instance_rules.h"
#include "runtimes/step_rules/step_kind.h"

/* Why the end of a coroutine in optimised code is STEP_LEFT. */
extern const char exit_rules_inlined_note[];

/* ---- the function returns ---- */

/* Code of the line that steps, when its function returns. */
struct exit_code {
	bool is_coroutine;      /* it is the body of a coroutine */
	bool is_instances;      /* that coroutine is the instance of the step */
	bool polls;             /* the function polls a future, or what is inlined into it does */
	bool is_inlined_poll;   /* the instance's poll function is inlined into the function */
	bool instance_returned; /* the instance is in the state of one that has returned */
};

/*
 * The code is the body of a coroutine, but that of the function does not poll it alone: what the
 * function returns says nothing of the coroutine.
 */
bool exit_rules_is_inlined_poll(const struct exit_code *c);
/* Meaning of the return: STEP_RETURNED or STEP_LEFT. */
enum step_reason exit_rules_reason(const struct exit_code *c);

/* State of the instance when the function of its poll returns. */
struct exit_poll {
	bool pending;       /* the instance is suspended, and is polled again */
	bool has_address;   /* of the instance */
	bool is_inlined;    /* its poll function is inlined into the function */
	bool has_entries;   /* there are internal breakpoints where it is resumed */
	bool later_entries; /* with --production these are made only now */
};

enum exit_return {
	EXIT_RETURNED,  /* it has returned */
	EXIT_SUSPENDED, /* it is polled again */
	EXIT_LOST,      /* it is polled again, which cannot be seen */
};

enum exit_return exit_rules_at_return(const struct exit_poll *poll);
/* Note on a return; NULL: none. whole: the step was one to the end of the task. */
const char *exit_rules_return_note(enum step_reason reason, bool whole);
/* Note on a return to a library from which the step cannot go on. */
const char *exit_rules_library_note(bool polls);

/* The frames of a stack, innermost first. */
struct exit_frames {
	size_t n;
	bool in_task; /* the task of the thread is known */
	/* Whether code of the user's is in a frame, inlined or not. */
	bool (*has_users)(void *arg, size_t frame);
	/* Whether a future of the user's is polled in a frame; coroutine: one that is a coroutine.
	 */
	bool (*polls_users)(void *arg, size_t frame, bool coroutine);
	void *arg;
};

/*
 * The innermost frame of the user's code behind the first one, to which the step goes on; 0: none.
 * A function that runs all tasks of its thread, as main() does, goes on long after the task, or for
 * ever: it is none. polling: only one that polls a coroutine.
 */
size_t exit_rules_find_caller(const struct exit_frames *f, bool polling);

/* ---- the instance is polled again ---- */

/* State of the step when a thread comes to where its instance is resumed. */
struct exit_progress {
	bool active;        /* a poll is in progress: */
	pid_t tid;          /* on this thread, */
	uint64_t cfa;       /* in this frame */
	bool was_suspended; /* before the step began */
	uint64_t polls;     /* number of polls since then */
};

/* Whether the instance was polled before, so that its state is that of no new one. */
bool exit_rules_was_polled(const struct exit_progress *e);
/*
 * Whether another instance is polled for the first time in the memory of this one, which was
 * suspended. Its drop was not seen, as optimised code has it inline. state: of the coroutine there.
 */
bool exit_rules_is_replaced(enum instance_state state);
/* Whether the thread may still be in the poll in progress. */
bool exit_rules_is_same_poll(const struct exit_progress *e, pid_t tid, uint64_t cfa);

/* ---- its thread ends ---- */

/* Where the instance lies, which has just been suspended, beside the stack of its thread. */
struct exit_stack {
	uint64_t addr;           /* of the instance */
	uint64_t cfa;            /* of the call of its poll function */
	uint64_t thread_pointer; /* where the C library has the thread's own data */
	uint64_t end;            /* of the mapping with the call; 0: unknown */
};

/* Whether an address is near enough to the call to be on the same stack. */
bool exit_rules_is_near(uint64_t addr, uint64_t cfa);
/*
 * Whether the instance lies on the stack: in the same mapping, farther out than the call, and below
 * the thread's own data, which is at the end of the stack.
 */
bool exit_rules_is_on_stack(const struct exit_stack *s);

/* Facts about the thread of a step. */
struct exit_thread {
	pid_t tid;
	enum step_kind kind;
	bool active, leaving; /* it executes the function, or goes on to a caller */
	bool on_stack;        /* the suspended instance lies on its stack */
	bool on_any;          /* a task is waited for on whatever thread */
	unsigned line;        /* where the step began */
	unsigned suspended;   /* line of the await of the suspended instance; 0: unknown */
};

/* Whether the step ends if the thread ends. */
bool exit_rules_needs_thread(const struct exit_thread *t);
/* Note for the thread that has ended. */
const char *exit_rules_thread_note(const struct exit_thread *t, struct arena *a);

/* ---- a panic ---- */

/* Whether a function of that name is one through which catch_unwind() calls what may panic. */
bool exit_rules_is_catch(const char *name);

/* The stack of a thread that panics, innermost frame first. */
struct exit_panic {
	size_t n;
	uint64_t cfa; /* of the call in progress: the stack pointer of its caller */
	uint64_t (*sp)(void *arg, size_t frame);
	bool (*catches)(void *arg, size_t frame);
	void *arg;
};

/* Whether the panic unwinds the call in progress. */
bool exit_rules_is_unwound(const struct exit_panic *p);

#endif
