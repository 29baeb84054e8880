/*
 * Effects of unoptimised code on the variables of its function: on which ways to an instruction a
 * variable is set, and whether its value is used behind that instruction.
 *
 * The scope of a variable in the debug info says less. That of `let late;` begins before it is set,
 * that of the variables of a let chain (edition 2024, rustc 1.95) is the whole function, and that
 * of a variable whose value was moved out goes on behind the move. In such code each variable has
 * bytes of its own in the frame, or, in a coroutine, at a constant distance from the pointer to it;
 * each access names them by a register and a constant. rustc accepts no use of a variable that may
 * not be set, or was moved out, on any way to that use. So a use that can be reached proves that
 * the variable has its value. Only a drop behind the test of a drop flag proves nothing; the flag
 * does.
 */
#ifndef DWARF_FRAME_CODE_FLOW_H
#define DWARF_FRAME_CODE_FLOW_H

#include "dwarf/frame/state_set.h"
#include "dwarf/lookup/lookup.h"

/* Bytes in the frame, or in the coroutine that the function polls. */
struct flow_place {
	bool in_coroutine;
	int64_t offset; /* from the register that the frame base is; from the coroutine */
	uint64_t size;
};

/*
 * Sets of the coroutine's states in which the poll began, by their discriminants. A function that
 * polls no coroutine has state 0 alone.
 */
struct flow_answer {
	struct state_set set; /* there is a way to the instruction on which it was set */
	struct state_set
		unset; /* there is one on which it was not, or something else was put there */
	bool used;     /* a use of its value can be reached */
	bool wide;     /* its scope is wider than in the source: it has its declaration, too */
	bool lent;     /* its address was taken on some way */
	bool has_flag; /* a drop flag decides about its drop: */
	struct flow_place flag;
};

struct code_flow;

/* The inputs of the flow besides the code. */
struct flow_function {
	const struct function *f;
	unsigned base;                /* DWARF number of the register that the frame base is */
	const struct type *coroutine; /* that it polls; NULL: none */
	int64_t argument;             /* where the frame has the pointer to it */
	bool optimised;               /* for slot_flow.h alone; else such code is not read */
};

/* Bytes of a function; those with more code are not read. */
enum { CODE_FLOW_MAX = 4 << 20 };

/*
 * NULL: the code cannot be read, or is optimised (*optimised). For code_flow_free(), which allows
 * NULL.
 */
struct code_flow *code_flow_read(struct debuginfo *di, const struct flow_function *function,
                                 bool *optimised);
void code_flow_free(struct code_flow *flow);
/* Whether the frame has a pointer to the coroutine there, from the begin of the function on. */
bool code_flow_is_pointer(const struct code_flow *flow, int64_t offset);

/* Another variable that has some of the bytes at other times. */
struct flow_rival {
	struct flow_place place;
	uint64_t block; /* DIE of the block that declares it; 0: unknown, of a temporary */
	unsigned line;  /* of its declaration; 0: of a temporary */
};

struct flow_variable {
	struct flow_place place;
	struct state_set saved; /* states that keep it: it is set when a poll begins there */
	bool by_pointer;        /* place has its address, which is passed to the function */
	uint64_t block;
	unsigned line;
	bool (*is_in)(uint64_t pc, uint64_t block, void *arg); /* of a run-time address */
	void *arg;
	const struct flow_rival *rivals;
	size_t nrivals;
};

/*
 * False: nothing is known, as where the code does not name it. pc: a run-time address. The words of
 * the sets are in the arena.
 */
bool code_flow_ask(struct code_flow *flow, const struct flow_variable *v, uint64_t pc,
                   struct arena *a, struct flow_answer *ret);

#endif
