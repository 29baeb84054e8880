/*
 * Reads the variables and parameters of a physical frame, including those of functions inlined into
 * it, as far as their locations can be evaluated.
 */
#ifndef DWARF_FRAME_VARIABLES_H
#define DWARF_FRAME_VARIABLES_H

#include "dwarf/frame/variable_flow.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/types/type.h"
#include "dwarf/unwind/unwind.h"

struct variable {
	const char *name;
	const struct type *type;
	bool in_memory; /* at addr; otherwise only its value is known */
	uint64_t addr;
	uint64_t value;
	bool is_parameter;
	unsigned depth;   /* 0: of the frame's function; 1: of one that is inlined into it, ... */
	bool may_be_lost; /* an await may have lost it: see await_states.h */
	struct variable_state state;
	struct dwarf_module *dm;
	uint64_t die; /* DIE of the variable: see lookup_variable_place() */
};

typedef void variable_fn(const struct variable *v, void *arg);

/* Eight bytes of a variable that DWARF splits into pieces, read from a register or memory. */
struct variable_word {
	struct variable v; /* in_memory false, value 0 */
	uint64_t offset;   /* within the variable */
	uint64_t word;
};

typedef void variable_word_fn(const struct variable_word *w, void *arg);

/*
 * Calls visit for each variable in scope at the frame's pc. cfa: the frame's canonical frame
 * address (the caller's sp); 0: that of its own unwind rule. Skips variables that are optimised
 * out, and variables whose location needs what this evaluator does not support (pieces, entry
 * values).
 */
void variables_in_frame(struct debuginfo *di, const struct frame *frame, uint64_t cfa,
                        variable_fn *visit, void *arg);
/*
 * Does the same for variables in pieces: calls visit for each piece of eight bytes (most often a
 * pointer) whose location is known.
 */
void variables_in_pieces(struct debuginfo *di, const struct frame *frame, uint64_t cfa,
                         variable_word_fn *visit, void *arg);

/* How to find a variable in any thread whose next instruction is at a certain pc. */
enum { VARIABLE_MAX_LOADS = 4 };
struct variable_access {
	const struct type *type;
	unsigned reg; /* DWARF number */
	/*
	 * nloads times 8 bytes are read at the value so far plus the offset of that load; then the
	 * offset behind them is added. The result is the variable's address or its value.
	 */
	unsigned nloads;
	int64_t offset[VARIABLE_MAX_LOADS + 1];
	bool in_memory;
	bool certain; /* the code proves that it has its value there, in each state of a coroutine
	               */
};

/*
 * The variable of that name, in the function of that depth (see struct variable). False: there is
 * none, or its location is not of this form.
 */
bool variables_access_at(struct debuginfo *di, uint64_t pc, unsigned depth, const char *name,
                         struct variable_access *ret);

#endif
