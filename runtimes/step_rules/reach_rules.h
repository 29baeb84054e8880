/*
 * Where the code of a function leads to, instruction by instruction: the lines that it comes to
 * first, the places to which a line jumps back, and the ends of polls. The instructions come from
 * a callback; nothing here reads the program.
 */
#ifndef RUNTIMES_STEP_RULES_REACH_RULES_H
#define RUNTIMES_STEP_RULES_REACH_RULES_H

#include "debugger/base/map.h"
#include "debugger/code/instruction.h"
#include "runtimes/step_rules/line_rules.h"

/* The code of a function. */
struct reach_code {
	uint64_t low, high; /* its addresses */
	/* Reads the instruction at an address from low to high; false: there is none. */
	bool (*read)(void *arg, uint64_t addr, struct instruction *ret);
	void *arg;
};

/*
 * Finds the addresses where a step ends that the code leads to first from an address: keys of
 * places, which has to be empty. false: the code does not tell, or interrupt_request() came.
 */
bool reach_rules_first_ends(const struct reach_code *code, uint64_t from,
                            bool (*ends)(void *arg, uint64_t addr), void *arg, struct map *places);
/*
 * The place to which a jump back from the line of the step leads: that at which a thread comes to
 * another line, in the middle of its code, or to the beginning of the line itself again. NULL: it
 * needs none, or there is none.
 */
const struct function_row *reach_rules_jump_back(const struct reach_code *code,
                                                 const struct line_rules *r, uint64_t target,
                                                 uint64_t *ret);
/* Whether an instruction jumps back. */
bool reach_rules_is_jump_back(const struct instruction *in, uint64_t addr);
/*
 * Whether the code at an address, in the coroutine of a call, does nothing but leave it: it stores
 * nothing any more. A poll ends with a store of the state.
 */
bool reach_rules_leaves(const struct reach_code *code, const struct function_lines *l,
                        uint64_t from, size_t call);

#endif
