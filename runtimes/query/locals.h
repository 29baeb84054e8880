/*
 * The variables of a frame of a logical backtrace: the saved and captured variables of a suspended
 * coroutine, or the variables of a running coroutine on the thread's stack.
 *
 * DWARF describes a suspended coroutine as follows (measured on rustc 1.63 and 1.95, debug and
 * release alike). The struct of the active state lists the variables that are saved across the
 * await, then the captured ones. A saved variable may have been moved out: move_state.h has the
 * rules. A captured one whose type needs drop has no drop flag that is known.
 *
 * One case is not detected: `let n: u64;`, set and borrowed on only one path and never read after
 * the await, is saved whether it was set or not, and looks like any other variable.
 */
#ifndef RUNTIMES_QUERY_LOCALS_H
#define RUNTIMES_QUERY_LOCALS_H

#include "runtimes/future/future.h"
#include "runtimes/future/move_state.h"

struct native_scope;

/*
 * The place of one frame's variables. Frames of futures in memory that have the same type and state
 * share one place, without an address: see locals_place_of().
 */
struct frame_place {
	struct value v;               /* the future; type NULL when its place is not known */
	const struct variant *active; /* of a coroutine */
	bool outline; /* the doubts that hold for every coroutine of the type in this state */
	const struct native_scope *native; /* of a native frame; NULL: none, and all else counts */
	const struct frame *frame; /* of a running coroutine: its frame on a thread's stack */
	/*
	 * The coroutine's function in that frame, whose debug info has the names of variables
	 * without a place; NULL: they are left out.
	 */
	const struct native_scope *function;
	uint64_t cfa;
	unsigned
		depth; /* of the function inlined there whose variables are meant; 0: the frame's */
	bool shared; /* other coroutines run in the frame, too: of its variables some are missing */
};

/* The place of a future's frame; false: it is not known. It borrows from the snapshot's scratch. */
bool locals_place_of(const struct future *f, struct frame_place *ret);

/* A variable whose value was not yet formatted as text. */
struct local_place {
	const char *name; /* clean */
	bool lasting;     /* the name belongs to the inspector, not to the scratch arena */
	struct value v;
	bool in_memory; /* at v.addr; else its value is word */
	uint64_t word;
	bool argument, uncertain, passed_in, may_be_lost, may_be_unset; /* as in struct local */
	enum move_rule moved; /* of a saved variable of a suspended coroutine */
	bool captured;        /* by a closure, a block or an async fn */
	bool borrowed;        /* the variable is a captured reference; v is its target */
	bool is_placeless;    /* the debug info has no place for it; type and name are known */
	bool is_sole;      /* the function that polls its coroutine has no other one of the name */
	bool is_polled;    /* it is in the memory of a coroutine of which code executes a poll */
	bool may_be_stale; /* optimised code may have a newer value in a register */
	struct dwarf_module *dm;
	uint64_t die; /* of the variable in a running frame; 0 unknown */
	const char *problem;
};

/*
 * Fills f->locals of a coroutine in state `active` if the request wants locals. active NULL: v is a
 * hand-written future, which an expression may access as `self`. Set as collector.frame_met.
 */
void locals_of_frame(struct decoder *d, struct value v, const struct variant *active,
                     struct future *f);
/*
 * Reads the variables of a coroutine that is executing in a physical frame: place has that frame,
 * its end and the depth of the coroutine's function in it.
 */
void locals_of_running(struct collector *c, const struct frame_place *place, struct future *f);

/* The variables of a frame, in the scratch arena. */
struct local_place *locals_list(struct collector *c, const struct frame_place *place,
                                const struct future *f, size_t *nret);

/*
 * The text of a variable, in the snapshot's arena. with_value false: that of a value in memory is
 * left out, and problem is model_local_not_saved.
 */
void locals_show(struct collector *c, const struct local_place *from, bool with_value,
                 struct local *to);

/* ---- expression.c ---- */

/*
 * Evaluates the expression question->print, or lists question->typed. A result that is already
 * there is kept. last: no call follows, so names that cannot be resolved are reported as unknown.
 */
void expression_answer(struct collector *c, bool last);

#endif
