/*
 * The states of a coroutine in which a variable of its poll function loses its value. A variable
 * that does not live across an await is not in the coroutine but in the frame of the poll. After a
 * suspension within its scope the next poll has another frame there, until the variable is set
 * again. The state word keeps the state in which the poll began until the coroutine is suspended
 * again (seen in rustc 1.63 to 1.95).
 */
#ifndef DWARF_FRAME_AWAIT_STATES_H
#define DWARF_FRAME_AWAIT_STATES_H

#include <elfutils/libdw.h>

#include "dwarf/frame/state_set.h"
#include "dwarf/types/type.h"

/* The awaits of a poll function and its blocks. */
struct await_states;

/*
 * Reads those of a function, or of one that is inlined (function: its DIE). NULL: it polls no
 * coroutine. For await_states_free(), which allows NULL.
 */
struct await_states *await_states_read(struct dwarf_module *dm, Dwarf_Die *function);
void await_states_free(struct await_states *s);
/*
 * The states in which a variable of a lexical block, or of the function itself, may have been lost,
 * by the index of their variant in the coroutine's type. The words of the set are in the arena. s:
 * NULL is allowed.
 */
struct state_set await_states_of_block(const struct await_states *s, Dwarf_Die *block,
                                       struct arena *a);
/* Whether a location holds for the whole scope of a variable, and is in the frame. */
bool await_states_is_in_frame(Dwarf_Attribute *location);

/* The type of a variable or parameter; NULL: it has none. */
const struct type *await_states_type_of(struct dwarf_module *dm, Dwarf_Die *variable);
/* The T of Pin<&mut T>; NULL: it is none. */
const struct type *await_states_pinned(const struct type *argument);
/* The type of a coroutine, from that of the first argument of its poll function; NULL: it is none.
 */
const struct type *await_states_coroutine(const struct type *argument);
/* Whether the state of a coroutine at an address (0: unknown) is in the set, or may be. */
bool await_states_has(const struct state_set *states, struct target *t,
                      const struct type *coroutine, uint64_t addr);

#endif
