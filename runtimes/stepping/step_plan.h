/* The plan of one step: what is shared by the files step*.c. */
#ifndef RUNTIMES_STEPPING_STEP_PLAN_H
#define RUNTIMES_STEPPING_STEP_PLAN_H

#include "dwarf/lookup/function_lines.h"
#include "dwarf/unwind/unwind.h"
#include "runtimes/step_rules/exit_rules.h"
#include "runtimes/step_rules/instance_rules.h"
#include "runtimes/step_rules/line_rules.h"
#include "runtimes/step_rules/reach_rules.h"
#include "runtimes/step_rules/target_rules.h"
#include "runtimes/stepping/debuggee.h"
#include "runtimes/stepping/event_break.h"
#include "runtimes/stepping/step_cache.h"

struct runtime;

typedef VEC(struct internal_breakpoint *) internal_breakpoint_vec;

/* A physical frame of a thread that stands still. */
struct step_frame {
	struct regs regs;
	uint64_t pc, sp;
	uint64_t cfa;     /* 0: unknown */
	uint64_t returns; /* return address; 0: unknown */
};

/* A line of the function that steps. */
struct step_place {
	const struct function *function; /* NULL: no debug info covers it */
	const struct function_lines *lines;
	const char *file; /* NULL: unknown */
	unsigned line;    /* 0: unknown */
	size_t call;      /* the innermost inlined call: index into lines->calls */
	bool users;       /* it is no code of a library */
};

/* An instance of a coroutine, or of a future that is written by hand. */
struct step_instance {
	const struct type *type; /* NULL: the function polls nothing */
	uint64_t addr;           /* of its object */
};

/* Task and awaiters of the instance. */
struct step_task {
	bool is_noted;                  /* it was suspended once */
	const struct runtime *runtime;  /* of its task; NULL: it is in none, or that is unknown */
	uint64_t task;                  /* address of the header; 0: unknown */
	const char *type;               /* of its future; NULL: unknown */
	struct step_instance *awaiters; /* futures polled around it, innermost first */
	size_t nawaiters;
};

/*
 * Lines that have internal breakpoints if there are only the CPU's breakpoints (--production), in
 * unoptimised code.
 */
struct reachable_lines {
	bool limited;      /* other lines have no internal breakpoints */
	struct map places; /* their run-time addresses */
};

/* State of STEP_INTO with step_options.spawned. */
struct step_spawn {
	internal_breakpoint_vec places; /* internal breakpoints where the program makes tasks */
	/*
	 * Reason why it is not known which task the line spawns, so that any with its code counts.
	 */
	const char *unseen;
	struct event_task task; /* the task that the line has spawned, with code of the user's */
	bool foreign;           /* the line has spawned a task without code of the user's */
};

/* Where the step is: the call of its function, or the poll, that is in progress. */
struct step_where {
	struct step_place at;
	bool active; /* a call or poll is in progress: the coroutine is not suspended */
	pid_t tid;
	uint64_t cfa, returns;
	/*
	 * STEP_FINISH: first argument of the call in progress, which is where it leaves a result
	 * that is returned in memory; 0: unknown.
	 */
	uint64_t first_argument;
};

/* The subject of the step: an instance of a coroutine, in its task; STEP_INTO: a task that the line
 * spawns. */
struct step_subject {
	struct step_instance instance;
	/*
	 * Index into at.lines->calls of the inlined call that is the instance's poll function; 0 if
	 * it is the physical function.
	 */
	size_t polled_call;
	bool was_suspended; /* an inlined one was, before the poll in which the step begins */
	/*
	 * The coroutine that steps, if its code is inlined into the function of another one, which
	 * is `instance`. addr 0: it is not, or where it lies is not known yet.
	 */
	struct step_instance inlined;
	struct step_task owner;
	struct step_spawn spawn;
	bool on_any;   /* STEP_INTO: what was spawned is waited for, on whatever thread */
	bool on_stack; /* the suspended instance lies on the stack of thread where.tid */
};

/* Internal breakpoints of the step: the head of step.c has what a hit on each means. */
struct step_breakpoints {
	internal_breakpoint_vec lines, entries, drops, targets;
	struct internal_breakpoint *returning, *panicking;
	bool by_call; /* some lines are those of the call in progress alone */
	struct reachable_lines reach;
	struct map loops;          /* places in other lines to which the line jumps back, */
	VEC(uint64_t) loop_places; /* and the same in their order */
};

/* Instructions that are executed one by one. */
struct step_walk {
	unsigned walked; /* number of them */
	bool resumed;    /* STEP_INTO: the coroutine has just been polled again, and is halted at
	                    its first instruction */
	bool entered;    /* STEP_INTO: a thread is about to poll a coroutine that was called or
	                    spawned */
	bool by_itself;  /* they have led to the end of the step: no internal breakpoint was hit */
};

/* The way out of the function, and the end of the step. */
struct step_way_out {
	bool leaving;             /* it has returned, and goes on to a frame of the user's code, */
	const char *out_to;       /* "app::main at src/main.rs:16", */
	enum step_reason left_as; /* for this reason */
	struct step_exit end;
};

struct step_plan {
	struct debuggee *d;
	struct inspector *in;
	struct arena *arena; /* of this step */
	const struct arch *arch;
	const struct step_options *options;
	const char *own_package; /* package whose code is the user's, for source_of(); NULL: none */
	struct step_where where;
	struct step_subject subject;
	struct step_breakpoints breakpoints;
	struct step_walk walk;
	struct step_way_out exit;
};

/* ---- step_frame.c ---- */

struct error *step_frame_read(struct step_plan *p, pid_t tid, struct arena *a,
                              struct step_frame *ret) MUST_CHECK;
/* The innermost frames of a thread, at most max. */
struct error *step_frame_stack(struct step_plan *p, pid_t tid, size_t max, struct arena *a,
                               struct stack *ret) MUST_CHECK;
/* step_frame_read() at the first instruction of a function. */
struct error *step_frame_at_entry(struct step_plan *p, pid_t tid, struct arena *a,
                                  struct step_frame *ret) MUST_CHECK;
/* Whether a file of the function that steps is code of the user's. */
bool step_place_is_users(struct step_plan *p, const char *file);
/* Whether a location in any function is code of the user's. */
bool step_place_is_users_at(struct step_plan *p, const struct location *l);
/* The line at which the call in progress is, which may be in a function that it has called; 0:
 * unknown. */
unsigned step_frame_line(struct step_plan *p);
/* Line of the code at an address; NULL lines and a line of 0 if that is unknown. */
void step_place_at(struct step_plan *p, uint64_t pc, struct step_place *ret);

/* ---- step_lines.c ---- */

/* The step as the rules of its lines take it. */
struct line_rules step_lines_rules(struct step_plan *p);
/* Internal breakpoints at the lines that a step may stop at, for the instance or the call in
 * progress. */
struct error *step_lines_plant(struct step_plan *p) MUST_CHECK;
/*
 * err: why the step has not all of its internal breakpoints, owned; NULL: it has. With
 * --production, how many of the CPU's breakpoints the step needs, for nlines lines, and how many of
 * them were free.
 */
struct error *step_lines_refuse(struct step_plan *p, struct error *err, size_t nlines);
/* The thread polls the instance; false: at that address the debug info does not tell whose poll. */
bool step_lines_filter_instance(const struct step_plan *p, uint64_t addr,
                                struct tracer_filter *ret);
/* Whether the step ends at an address of the function. */
bool step_lines_has(struct step_plan *p, uint64_t addr);
/* Whether the code at such an address is of the first poll alone, which is over: first_poll.h. */
bool step_lines_is_repeated(struct step_plan *p, uint64_t addr);
/* The thread is in the call in progress; false: the debug info does not tell how to know. */
bool step_lines_filter_call(const struct step_plan *p, uint64_t addr, struct tracer_filter *ret);

/* ---- reachable_lines.c ---- */

/* Finds the places in other lines to which the line that steps jumps back. */
void reachable_lines_loops(struct step_plan *p);
/*
 * Finds the lines that a thread which is at pc, in the function of the step, can come to first, if
 * only those can have internal breakpoints. ERR_STATE: the code does not tell.
 */
struct error *reachable_lines_find(struct step_plan *p, uint64_t pc) MUST_CHECK;
/*
 * Whether the code at pc, in a coroutine, does nothing but leave it. Optimised code has such ends
 * of polls in common, with the line of any of them.
 */
bool reachable_lines_leaves(struct step_plan *p, uint64_t pc);

/* ---- step_instance.c ---- */

/* The future that a frame polls: its type is NULL if there is none. */
struct error *step_instance_find(struct step_plan *p, const struct step_frame *f,
                                 struct step_instance *ret) MUST_CHECK;
/*
 * Type of the future that a function polls: a coroutine, or one that is written by hand; NULL: the
 * function polls nothing.
 */
const struct type *step_instance_type(const struct function *f);
/* The first argument of a function in a frame of the stack; 0: unknown. */
struct error *step_instance_address(struct step_plan *p, const struct function *f,
                                    const struct frame *frame, uint64_t *ret) MUST_CHECK;
/* Sets the instance of the plan, whose function is about to execute its first instruction. */
void step_instance_enter(struct step_plan *p, const struct step_frame *f);
/* Whether such a function polls a coroutine that was not polled before. */
bool step_instance_is_new(struct step_plan *p, uint64_t pc, const struct step_frame *f);
/* Whether the poll that has just returned has left it suspended, so that it is polled again. */
struct error *step_instance_is_pending(struct step_plan *p, pid_t tid, bool *ret) MUST_CHECK;
/* The step is of a coroutine, and its object is in the state of one that has returned. */
bool step_instance_has_returned(struct step_plan *p);
/* The state of the object of a coroutine. */
enum instance_state step_instance_state(struct step_plan *p);
/* The line of the await at which the coroutine that steps is suspended; 0: it is not, or unknown.
 */
unsigned step_instance_line(struct step_plan *p);
/* Whether a coroutine was polled, and has neither ended nor panicked. */
bool step_instance_is_suspended(struct step_plan *p, const struct step_instance *of);
/*
 * The only suspended coroutine of a type that lies within the plan's instance, as what it polls;
 * addr 0: there is none, or more than one. While such a one is polled it counts as suspended, but
 * not the first time.
 */
struct step_instance step_instance_within(struct step_plan *p, const struct type *type);

/* ---- step_task.c ---- */

/* Takes the task of the thread from the last snapshot, if that is of this stop. */
void step_task_begin(struct step_plan *p);
/* The instance has just been suspended: a thread is behind the call of its poll function. */
struct error *step_task_note(struct step_plan *p, pid_t tid) MUST_CHECK;
/*
 * Whether a thread drops the instance because its task was cancelled, and nothing that awaits it
 * lives on. False where it is in no task, too; a note says if that is not known.
 */
struct error *step_task_is_cancelled(struct step_plan *p, pid_t tid, bool *ret) MUST_CHECK;

/*
 * The innermost coroutine that a thread of the halted program polls and that has an address within
 * it. All zeros: none is known.
 */
struct error *step_task_find(struct debuggee *d, pid_t tid, uint64_t addr,
                             struct step_instance *ret) MUST_CHECK;

/* ---- step_exit.c ---- */

/* Ends the step at this stop. */
void step_exit_set(struct step_plan *p, enum step_reason reason, bool *stop);
/* Internal breakpoints where the function returns, and where a panic begins. */
struct error *step_exit_plant(struct step_plan *p) MUST_CHECK;
/* Goes on to the nearest frame of code of the user behind the innermost one; *found false: none. */
struct error *step_exit_run_to_user_caller(struct step_plan *p, pid_t tid, bool *found) MUST_CHECK;
/* The hit_callback of a function's return: the call in progress has returned. */
struct error *step_exit_at_return(void *plan, const struct internal_hit *hit, bool *stop)
	MUST_CHECK;
/* Takes all internal breakpoints of the step away, but for that of panics. */
struct error *step_exit_clear(struct step_plan *p) MUST_CHECK;
/* Lets the program be looked at while it runs: whether the thread ends that the step needs. */
void step_exit_watch_thread(struct step_plan *p);
/* Ends the step if that thread has ended: *stop. */
struct error *step_exit_if_thread_ended(void *plan, bool *stop) MUST_CHECK;
/* An internal breakpoint where the call in progress returns. */
struct error *step_exit_plant_return(struct step_plan *p) MUST_CHECK;

/* ---- step_value.c ---- */

/* Why the value of a function that is inlined is not known. */
extern const char step_inlined_value[];
/* A thread is in the function that steps: takes first_argument, if it is still there. */
void step_value_begin(struct step_plan *p, const struct step_frame *f);
/* The function that steps has just returned, and is not polled again: takes its value. */
struct error *step_value_take(struct step_plan *p, pid_t tid) MUST_CHECK;

/* ---- step_into.c ---- */

/* Runs a step of STEP_INTO or STEP_INSTRUCTION, whose internal breakpoints are planted. */
struct error *step_into_run(struct step_plan *p) MUST_CHECK;

/* ---- step_to_task_end.c ---- */

/* Begins a step to the end of the task that the thread runs. */
struct error *step_to_task_end_begin(struct step_plan *p) MUST_CHECK;
/* Lets the step know the task that the line spawns: its internal breakpoints are planted. */
struct error *step_spawn_begin(struct step_plan *p) MUST_CHECK;
/* An internal breakpoint that single instructions have led to: whether the line has spawned its
 * task there. */
struct error *step_spawn_arrive(struct step_plan *p, uint64_t pc) MUST_CHECK;
/* The step has ended at another line: why it is not in a task. */
void step_spawn_note(struct step_plan *p);

/* ---- step_targets.c ---- */

/* Decide functions of internal breakpoints in the user's code that a call may come to; NULL: no
 * internal breakpoints there. */
struct step_target_deciders {
	hit_callback *entry;   /* where the poll function of a coroutine begins; not NULL */
	hit_callback *inside;  /* where the body of one begins that is inlined somewhere else */
	hit_callback *closure; /* at the first line of a closure */
};

/*
 * Internal breakpoints without a filter in the code that a call may come to: coroutines that the
 * step's own one awaits, and coroutines and closures in the generics of the function that is called
 * and in the trait objects of a future that it polls, at an address; NULL: that is not known.
 */
struct error *step_targets_plant(struct step_plan *p, const struct function *called,
                                 const struct type *polled, uint64_t at,
                                 const struct step_target_deciders *deciders,
                                 internal_breakpoint_vec *ret) MUST_CHECK;
/* Acts on a hit there: *stop, and whether the step has ended or a function is entered. */
void step_targets_act(struct step_plan *p, enum target_place place, const struct target_hit *hit,
                      bool *stop);

/* ---- step.c ---- */

struct error *step_add_breakpoint(struct step_plan *p, internal_breakpoint_vec *to,
                                  enum internal_breakpoint_kind kind, uint64_t addr,
                                  const struct tracer_filter *filter, hit_callback *decide)
	MUST_CHECK;
struct error *step_untrap(struct step_plan *p, internal_breakpoint_vec *internals) MUST_CHECK;
/* A thread whose stack pointer is that, at an instruction behind a call. */
struct tracer_filter step_returned_to(const struct step_plan *p, uint64_t sp);

#endif
