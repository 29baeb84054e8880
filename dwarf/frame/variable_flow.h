/*
 * Judges the value of a variable at an instruction, by the code of its function (code_flow.h), the
 * state of the coroutine in which the poll began, and its drop flag.
 */
#ifndef DWARF_FRAME_VARIABLE_FLOW_H
#define DWARF_FRAME_VARIABLE_FLOW_H

#include <elfutils/libdw.h>

#include "dwarf/frame/code_flow.h"
#include "dwarf/types/type.h"
#include "dwarf/unwind/unwind.h"

/* The facts that the code alone tells, for all states. */
struct flow_summary {
	bool known;
	bool used;   /* as in struct flow_answer */
	bool lent;   /* likewise */
	bool shared; /* behind its last use nothing is known of it: other variables of the coroutine
	              * have its bytes, or its scope has ended in the source */
	bool later;  /* it is declared behind the line of the address: no name for it there */
	bool has_flag, flag_in_coroutine;
	struct state_set set, unset; /* as in struct flow_answer */
	struct state_set flag_set;   /* states of the coroutine in which the flag has its value */
	int64_t flag_offset;
	unsigned base; /* DWARF number of the register to which offsets in the frame belong */
	bool widened;  /* not known; see wide_scope.h */
	/*
	 * Not known, and at one place of a frame of optimised code: as in struct slot_answer. Of
	 * other places slot_unset is what same_place.h tells.
	 */
	bool slot_unset, slot_stale;
};

struct variable_flow;

/*
 * Reads the code of a function (function: its DIE). NULL: nothing is known of its variables. For
 * variable_flow_free(), which allows NULL.
 */
struct variable_flow *variable_flow_open(const struct function *f, Dwarf_Die *function);
void variable_flow_free(struct variable_flow *flow);
/*
 * The facts about a variable of a block (lexical, the function, or an inlined call) at a run-time
 * address. inlined: the block is that of a call, or in one. The words of the sets are in the arena.
 */
struct flow_summary variable_flow_summary(struct variable_flow *flow, Dwarf_Die *block,
                                          Dwarf_Die *variable, bool inlined, uint64_t pc,
                                          struct arena *a);
/* Whether a function is too long for its code to be read: no value of it is in doubt then. */
bool variable_flow_is_cut(const struct function *f);

/* The facts about a variable in one frame. */
struct variable_state {
	bool known;   /* of unoptimised code; else unset, widened and stale count alone */
	bool later;   /* its declaration is behind the line: it is not visible */
	bool never;   /* no way to the instruction sets it */
	bool unset;   /* on some way it was not set; of optimised code: likewise, or unknown */
	bool used;    /* its value is used later: the variable has it */
	bool gone;    /* its drop flag is false: it was moved out, or not set */
	bool kept;    /* its drop flag is true: it was not */
	bool lent;    /* it may have been changed by a function to which it was moved */
	bool shared;  /* its bytes may have those of another variable, if it is not used later */
	bool widened; /* not known; see wide_scope.h */
	bool stale;   /* not known: what is in its place is not read any more before it is set */
};

/*
 * frame: that of the variable. coroutine: that the function polls, at addr (0: unknown); NULL: it
 * polls none.
 */
struct variable_state variable_flow_state(const struct flow_summary *summary, struct target *t,
                                          const struct frame *frame, const struct type *coroutine,
                                          uint64_t addr);

#endif
