/* The instructions of a function and what leads from one to another, for those that follow them. */
#ifndef DWARF_FRAME_CODE_FLOW_PRIVATE_H
#define DWARF_FRAME_CODE_FLOW_PRIVATE_H

#include "debugger/base/arena.h"
#include "debugger/base/vec.h"
#include "debugger/code/instruction.h"
#include "dwarf/frame/code_flow.h"

enum {
	MAX_POINTERS = 8,
	NREGS = 16,
	NONE = -1,
};

enum access { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE, ACCESS_ADDRESS };

struct code_flow_step {
	uint64_t addr;
	unsigned size;
	enum instruction_flow flow;
	int target;      /* index; NONE */
	uint64_t called; /* address of the function called, or where the pointer to it is; 0 */
	bool indirect;   /* called is where the pointer is */
	bool last;       /* a call that does not return */
	bool leader;     /* something jumps to it, or nothing comes to it from before */
	enum access access;
	struct flow_place place; /* that it accesses */
	int64_t number;          /* that it puts there */
	bool puts;
};

struct edge {
	int from, to;
};

struct code_flow {
	struct debuginfo *di;
	struct flow_function of;
	VEC(struct code_flow_step) steps;
	VEC(struct edge)
	edges;         /* of tables of jumps; then of suspensions to the polls after them */
	size_t ntable; /* those of tables */
	int *index;    /* of each byte that an instruction begins at; else NONE */
	int64_t pointers[MAX_POINTERS];
	size_t npointers;
	uint64_t kept[NREGS]; /* the address that a register has wherever it is used; 0: none */
	int dispatch;         /* the jump to the code of a state; NONE: there is none */
	size_t nstates;
	bool cut; /* not all entries of a table were read */
	/* From where each instruction is reached, but for the dispatch: in the order of those. */
	int *before, *nbefore; /* nbefore[i]: the first one of step i; nbefore[i + 1]: the end */
	struct arena arena;
};

/* The edges of a table of jumps, or of a suspension, that begin at an instruction. */
const struct edge *code_flow_edges(const struct code_flow *w, int from, size_t *n);
/* The instruction behind this one, if execution goes on there; NONE: it does not. */
int code_flow_next(const struct code_flow *w, size_t i);

/*
 * The instructions to which execution goes from one: the one behind it, the target of its jump, the
 * entries of its table. A walk over those of instruction `at`:
 *
 *	struct code_flow_successors s = code_flow_successors_of(w, at);
 *	for (int to; code_flow_successor(&s, &to);)
 */
struct code_flow_successors {
	int next, target; /* NONE: there is none, or it was returned */
	const struct edge *edges;
	size_t nedges;
};

struct code_flow_successors code_flow_successors_of(const struct code_flow *w, int from);
/* False: there are no more. */
bool code_flow_successor(struct code_flow_successors *s, int *to);

/* The instruction that begins at the address, or has it; NONE: there is none. */
int code_flow_step(const struct code_flow *w, uint64_t pc);

#endif
