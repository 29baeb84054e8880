/*
 * Variables of the frame in which the debuggee stands, kept until its next stop, so that a step
 * shows which of them it has changed.
 */
#ifndef COMMANDS_BASE_SEEN_VARIABLES_H
#define COMMANDS_BASE_SEEN_VARIABLES_H

#include <stdbool.h>

#include "debugger/base/arena.h"
#include "runtimes/model/model.h"

/* Variables kept from a stop. All zeros: none. */
struct seen_variables {
	struct arena arena;
	const char *function; /* of the frame; NULL: unknown */
	struct local *list;   /* name, type, value and addr alone */
	size_t n;
};

struct changed_variable {
	const struct local *now; /* has a value */
	const char *before;      /* its value at the last stop; NULL: it had none */
};

/*
 * The object of a coroutine that was suspended meanwhile: of what it has on the stack and in
 * registers nothing is left, only its variables in the object count.
 */
struct resumed_object {
	uint64_t addr, size; /* size 0: it was not suspended; addr 0: it is not known */
};

/*
 * The variables that have a value in now which they had not in seen, of the same call of the
 * function; none if the names of the functions differ. In the arena, with their values before; now
 * is borrowed.
 */
struct changed_variable *seen_variables_changed(const struct seen_variables *seen,
                                                const char *function,
                                                const struct native_frame *now,
                                                const struct resumed_object *resumed,
                                                struct arena *a, size_t *n);
/* Keeps the variables of now in place of those in seen. now NULL: none. */
void seen_variables_keep(struct seen_variables *seen, const char *function,
                         const struct native_frame *now);
void seen_variables_free(struct seen_variables *seen);

#endif
