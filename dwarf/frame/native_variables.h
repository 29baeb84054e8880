/*
 * The variables and parameters of one function of a native frame: of the function itself, or of one
 * that is inlined into it. Optimised code keeps a variable now here, now there, and at times
 * nowhere: then there is a reason in place of its value.
 */
#ifndef DWARF_FRAME_NATIVE_VARIABLES_H
#define DWARF_FRAME_NATIVE_VARIABLES_H

#include "dwarf/frame/location_value.h"
#include "dwarf/frame/variable_flow.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/types/type.h"

struct native_variable {
	const char *name; /* as in DWARF: not clean; never NULL */
	const struct type *type;
	bool is_parameter;
	struct dwarf_module *dm;
	uint64_t die;
	struct location_value value;
	bool may_be_lost; /* an await may have lost it: see await_states.h */
	bool is_sole; /* the function polls a coroutine, and declares the name at one line only */
	struct variable_state state;
};

/* The coroutine that the function polls. */
struct native_coroutine {
	const struct type *type; /* NULL: it polls none */
	uint64_t addr;           /* 0: unknown */
};

/* A function in a frame. */
struct native_scope {
	const struct frame *frame;
	const struct frame *caller; /* the next outer frame; NULL: none is known */
	/* In lookup_locations(): 0 is the innermost inlined function. */
	size_t level;
};

enum { NATIVE_MAX_VARIABLES = 1 << 13 };

/*
 * Lists the variables in scope at the frame's lookup_pc, in the order of the debug info: those of
 * inner blocks are behind those of outer ones, and hide them where they have the same name.
 * A last one of the name "..." and without a type says in its problem that there are more. Strings
 * and bytes are in arena a or the debuginfo's. polled may be NULL. ERR_NO_DEBUGINFO: the function
 * has none, or none of variables.
 */
struct error *native_variables_list(struct debuginfo *di, const struct native_scope *scope,
                                    struct arena *a, struct native_variable **ret, size_t *nret,
                                    struct native_coroutine *polled) MUST_CHECK;

#endif
