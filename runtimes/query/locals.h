/*
 * The variables of a frame of a logical backtrace: what a suspended coroutine has saved and
 * captured, what a running one has on the thread's stack.
 *
 * What DWARF tells of a suspended coroutine, measured on rustc 1.63 and 1.95, debug and
 * release alike: the struct of the active state lists what is saved across the await, then what was
 * captured. A variable that was borrowed before it was moved out is listed although it is gone,
 * with a drop flag (an unnamed bool) or without one, and no flag says whose it is. So what
 * has something to drop is always marked uncertain; what has nothing to drop has nothing to lose.
 *
 * One case is not seen: `let n: u64;`, set and borrowed on one way only and never read after the
 * await, is saved whether it was set or not, and looks like any other.
 */
#ifndef RUNTIMES_QUERY_LOCALS_H
#define RUNTIMES_QUERY_LOCALS_H

#include "runtimes/future/future.h"

/* Where the variables of one frame are. */
struct frame_place {
	struct value v;               /* the future; type NULL when its place is not known */
	const struct variant *active; /* of a coroutine */
	const struct frame *frame;    /* of a running coroutine: its frame on a thread's stack */
	uint64_t cfa;
};

/* A variable that is not text yet. */
struct local_place {
	const char *name; /* clean */
	struct value v;
	bool in_memory; /* at v.addr; else its value is word */
	uint64_t word;
	bool argument, uncertain, passed_in; /* as in struct local */
	bool borrowed; /* v is elsewhere: the variable is a captured reference to it */
	struct dwarf_module *dm;
	uint64_t die; /* of the variable in a frame that runs; 0 unknown */
	const char *problem;
};

/*
 * Fills f->locals of a coroutine in state `active` when they are wanted. active NULL: of a future
 * that no compiler made, into which print may look as `self`. Is collector.frame_met.
 */
void locals_of_frame(struct decoder *d, struct value v, const struct variant *active,
                     struct future *f);
/*
 * The same of a coroutine that executes in this physical frame, and with nothing inlined into it
 * but what is no coroutine.
 */
void locals_of_running(struct collector *c, const struct frame *frame, uint64_t cfa,
                       struct future *f);

/* The variables of a frame, in the scratch arena. */
struct local_place *locals_list(struct collector *c, const struct frame_place *place,
                                const struct future *f, size_t *nret);

/* ---- expression.c ---- */

/* Answers question->print, once; last: what is not known by now is said to be unknown. */
void expression_answer(struct collector *c, bool last);

#endif
