/*
 * Variables and parameters of a physical frame, those of functions inlined into it too, as far
 * as their location can be evaluated there.
 */
#ifndef DWARF_LOOKUP_VARIABLES_H
#define DWARF_LOOKUP_VARIABLES_H

#include "dwarf/lookup/lookup.h"
#include "dwarf/types/type.h"
#include "dwarf/unwind/unwind.h"

struct variable {
	const char *name;
	const struct type *type;
	bool in_memory; /* at addr; otherwise its value is all there is */
	uint64_t addr;
	uint64_t value;
	bool is_parameter;
	bool of_callee; /* of a function that is inlined there */
	struct dwarf_module *dm;
	uint64_t die; /* its own: see lookup_variable_place() */
};

typedef void variable_fn(const struct variable *v, void *arg);

/* Eight bytes of a variable that lies in several places, as a register or memory has them. */
struct variable_word {
	struct variable v; /* in_memory false, value 0 */
	uint64_t offset;   /* in the variable */
	uint64_t word;
};

typedef void variable_word_fn(const struct variable_word *w, void *arg);

/*
 * Calls visit for each variable in scope at the frame's pc. cfa: the frame's canonical frame
 * address (the caller's sp), 0 unknown. Optimised-out variables are left out, and so are those
 * whose location needs what this evaluator does not do (pieces, entry values).
 */
void variables_in_frame(struct debuginfo *di, const struct frame *frame, uint64_t cfa,
                        variable_fn *visit, void *arg);
/*
 * The same of those in pieces: calls visit for each piece of eight bytes (a pointer, most often)
 * that is known, whether the others are or not.
 */
void variables_in_pieces(struct debuginfo *di, const struct frame *frame, uint64_t cfa,
                         variable_word_fn *visit, void *arg);

#endif
