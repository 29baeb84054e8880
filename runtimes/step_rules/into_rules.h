/*
 * Decisions of a step that executes instructions one by one: into functions, and over one
 * instruction. Nothing here reads the program.
 */
#ifndef RUNTIMES_STEP_RULES_INTO_RULES_H
#define RUNTIMES_STEP_RULES_INTO_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtimes/step_rules/step_kind.h"

/* ---- an instruction was executed ---- */

struct into_registers {
	uint64_t pc, sp;
};

/* A thread before and behind an instruction. */
struct into_instruction {
	enum step_kind kind;
	struct into_registers before, now;
	uint64_t pushed;     /* bytes that a call pushes: the return address, or none */
	uint64_t returns_to; /* return address, if the instruction was a call */
	uint64_t cfa;        /* of the function of the step */
	uint64_t returns;    /* its return address; 0: unknown */
	bool on_any;         /* the line has spawned its task, which is waited for on any thread */
	bool ends;           /* the step ends at the address that it has come to */
};

enum into_after {
	INTO_ON,       /* the next instruction is executed */
	INTO_SPAWNED,  /* the spawned task is waited for */
	INTO_CALLED,   /* it was a call */
	INTO_STEPPED,  /* it was the one of STEP_INSTRUCTION */
	INTO_RETURNED, /* it has left the function */
	INTO_LINE,     /* the step ends */
};

enum into_after into_rules_after_instruction(const struct into_instruction *i);
/* Whether so many instructions were executed alone that the other threads run for a moment. */
bool into_rules_yields(unsigned nexecuted);

/* ---- a call ---- */

/* A call that the line has made. */
struct into_call {
	enum step_kind kind;
	bool spawned;         /* step_options.spawned */
	bool is_users;        /* the function is code of the user's, */
	bool has_lines;       /* and has lines */
	bool makes_coroutine; /* it returns a coroutine: the async function itself */
	bool is_unseen;       /* which task the line spawns is not known */
	bool on_any;          /* the spawned task is waited for */
};

/* Whether the step goes on in the function, instead of running it. */
bool into_rules_enters(const struct into_call *c);

enum into_targets {
	INTO_NO_TARGETS,
	INTO_CALLED_ONES,  /* code that the call may come to */
	INTO_SPAWNED_ONES, /* code of the task that the line spawns, on whatever thread */
};

/* Code that has internal breakpoints while the call runs. */
enum into_targets into_rules_targets(const struct into_call *c);

/* A halt of the program while a call runs. */
struct into_halt {
	bool at_breakpoint; /* a thread has hit one, */
	bool is_numbered;   /* which is the user's */
	bool has_entered;   /* a thread is about to execute code of a target */
	bool has_ended;     /* the step has */
	struct {
		pid_t tid;
		uint64_t pc;
	} at, expected; /* where the halt is, and where the call returns */
};

/* Whether the call has returned, and nothing else has halted the program. */
bool into_rules_has_returned(const struct into_halt *h);

/* The end of a call that ran. */
struct into_call_end {
	enum step_kind kind;
	bool has_returned; /* into_rules_has_returned() */
	bool has_entered;  /* a thread is about to execute code of a target */
	bool on_any;       /* the spawned task is waited for */
	bool has_targets;  /* there are internal breakpoints in its code, as it is not known */
};

enum into_after_call {
	INTO_CALL_HALTED,  /* something else has halted the program, or the step has ended */
	INTO_CALL_ENTERED, /* the step goes on in a target */
	INTO_CALL_SPAWNED, /* the spawned task is waited for */
	INTO_CALL_STEPPED, /* STEP_INSTRUCTION has executed it */
	INTO_CALL_DONE,    /* the instructions behind it are executed */
};

enum into_after_call into_rules_after_call(const struct into_call_end *e);

/* ---- a function is entered ---- */

/*
 * Whether the step stops at the address where the body of a function begins that it enters; if not,
 * at its first other line. body: that address, 0: there is none. An async block in a single line
 * begins where its function does.
 */
bool into_rules_stops_at_body(uint64_t body, bool is_coroutine, bool has_other_lines);

/* ---- the coroutine is resumed ---- */

/* The program has halted behind the instructions that were executed one by one. */
struct into_run {
	bool ran;         /* the program was continued: the step takes no more instructions, */
	bool was_resumed; /* but its coroutine was polled again */
	bool has_ended;   /* the step has ended */
	bool is_alive;    /* the program has not */
};

/* Whether instructions are executed one by one again. */
bool into_rules_walks_again(const struct into_run *r);

#endif
