/*
 * Variables that optimised code keeps at one place of the frame in their whole scope, of a function
 * and of those that are inlined into it, as judged by slot_flow.h.
 */
#ifndef DWARF_FRAME_FRAME_SLOTS_H
#define DWARF_FRAME_FRAME_SLOTS_H

#include <elfutils/libdw.h>

#include "dwarf/frame/slot_flow.h"

struct frame_slots;

/* The frame base of a function. */
struct frame_base {
	unsigned reg; /* DWARF number */
	int64_t offset;
};

/* Whether the debug info of a function shows that its code is optimised. False: unknown. */
bool frame_slots_is_optimised(struct dwarf_module *dm, Dwarf_Die *function);
/* Reads nothing before a question. For frame_slots_free(), which allows NULL. */
struct frame_slots *frame_slots_open(const struct function *f, Dwarf_Die *function,
                                     struct frame_base base);
void frame_slots_free(struct frame_slots *slots);
/*
 * Judges a variable of a block (lexical, a function or an inlined call) at a run-time address.
 * False: the variable is at no such place.
 */
bool frame_slots_ask(struct frame_slots *slots, Dwarf_Die *block, Dwarf_Die *variable, uint64_t pc,
                     struct slot_answer *ret);

/* The type of a variable, as an offset in .debug_info; 0: unknown. */
Dwarf_Off frame_slots_type_of(Dwarf_Die *variable);
/* The line of a variable's declaration; 0: unknown. */
unsigned frame_slots_line_of(Dwarf_Die *variable);

#endif
