/*
 * Variables of optimised code that have the same place as another one. The compiler makes one
 * variable of `let p; let q = f(); p = q;` (copy propagation), and no code is left of the move:
 * before it, p has the value of q in the debug info, too. `let p = q;` looks the same.
 */
#ifndef DWARF_FRAME_SAME_PLACE_H
#define DWARF_FRAME_SAME_PLACE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct function;
struct same_places;

/* Reads nothing before a question. For same_place_free(), which allows NULL. */
struct same_places *same_place_open(const struct function *f, Dwarf_Die *function);
void same_place_free(struct same_places *same);
/*
 * Whether a variable may not be set yet at a run-time address, because its value may be that of
 * another one alone. False also for a constant: each use of one is a constant of its own.
 */
bool same_place_may_be_unset(struct same_places *same, Dwarf_Die *variable, uint64_t pc);

#endif
