/*
 * Whether a variable that a suspended coroutine saved still has its value, or was moved out.
 *
 * rustc saves in a state a local that is used after the await, or that was borrowed before it,
 * unless it was moved out as a whole before it was ever borrowed
 * (rustc_mir_transform/src/coroutine.rs, locals_live_across_suspend_points();
 * rustc_mir_dataflow, MaybeRequiresStorage and MaybeBorrowedLocals). So a saved variable may have
 * been moved out in these cases, seen in debug and release builds of rustc 1.95 alike:
 *
 * - It is moved on some paths only. A drop flag has the answer at run time.
 * - It was borrowed and then moved. Calls between its initialisation and the move can unwind, and
 *   so can the poll after the await. Both lead to the same cleanup code, which needs a drop flag.
 *   With panic=abort there is no cleanup code and no flag.
 * - A part of it was moved: `drop(pair.0)`, `if let Some(f) = option`, `*boxed`. No flag is needed
 *   if nothing could unwind between its initialisation and the move. Also an enum or a struct
 *   whose parts are accessible may be borrowed by a pattern, without a call that can unwind.
 *
 * A flag is an unnamed bool; nothing tells to which variable it belongs: rustc numbers flags in the
 * order in which its drop elaboration meets the variables' drops (elaborate_drops.rs), which the
 * debug info does not have. One that is false may belong to a variable that is not saved. Captured
 * variables are listed in every state, whether they were moved or not.
 *
 * Three things are certain without a flag, with panic=abort too:
 *
 * - What the awaitee refers to is borrowed, and a borrowed value cannot be moved.
 * - A coroutine that is suspended in its variable was pinned there, and stays there.
 * - A value that owns nothing (None, a Vec without capacity) is the same after a move.
 *
 * The last two need that the variable is initialised, so they are not used beside a false flag,
 * except for captured variables. What the place that a value moved to has, decides for futures only
 * (one_owner_resolve()): an equal pointer elsewhere is in a variable too, which can be the stale
 * one.
 */
#ifndef RUNTIMES_FUTURE_MOVE_STATE_H
#define RUNTIMES_FUTURE_MOVE_STATE_H

#include "runtimes/future/future.h"

enum move_rule {
	MOVE_NEVER,    /* it needs no drop: its bytes may stay there after a move */
	MOVE_BY_FLAGS, /* if no drop flag of the state is false, the variable has its value */
	MOVE_OPEN,     /* flags prove nothing */
};

/* The rule for variables of that type saved by a coroutine. Captured ones are always open. */
enum move_rule move_rule(struct inspector *in, const struct type *coroutine, const struct type *t);
/* The rule for a type of futures, which needs drop unless it is a reference. Searches no code. */
enum move_rule move_rule_of_future(const struct type *coroutine, const struct type *t);

/*
 * The number of drop flags of coroutine v that are false. One that cannot be read counts, too. s:
 * v's state, complete.
 */
size_t move_state_flags_clear(struct target *t, struct value v, const struct coroutine_state *s);
/* Whether a drop flag of coroutine v is false; true if `active` is none of its states. */
bool move_state_flag_is_clear(struct inspector *in, struct value v, const struct variant *active);

/*
 * Whether a move of v, which is initialised, would show in its bytes or change nothing: no part of
 * it owns anything, or those that do are coroutines that are suspended in v. False in doubt.
 */
bool move_state_is_settled(struct inspector *in, struct value v);

/* ---- move_state_borrow.c ---- */

enum { MOVE_STATE_MAX_BORROWS = 64 }; /* further ones are not known */

/* Places in a coroutine's memory to which its awaitee refers. */
struct move_state_borrows {
	struct value coroutine;
	struct value list[MOVE_STATE_MAX_BORROWS];
	size_t n;
};

/*
 * Finds them in suspended coroutine v: those at the end of references that the awaitee has in its
 * members, in what it owns by a Box and in the arguments of coroutines that it polls.
 */
void move_state_find_borrows(struct collector *c, struct value v, const struct variant *active,
                             struct move_state_borrows *ret);
/* Whether one of them is the whole variable. */
bool move_state_is_borrowed(const struct move_state_borrows *b, struct value local);
/* Whether one of them is, or contains, those bytes: they are those of a live value. */
bool move_state_is_part_borrowed(const struct move_state_borrows *b, uint64_t addr, uint64_t size);

#endif
