/*
 * Variables whose scope in the debug info is wider than in the source, by the blocks alone: for
 * code of which code_flow.h tells nothing, as optimised one.
 *
 * Each `let` and each pattern of a loop, a match or an `if let` has a block of its own. Those of a
 * let chain (edition 2024, rustc 1.95) are in the block of the `let` before it, or in the function
 * itself.
 */
#ifndef DWARF_FRAME_WIDE_SCOPE_H
#define DWARF_FRAME_WIDE_SCOPE_H

#include <elfutils/libdw.h>

#include "dwarf/module/debuginfo.h"

/*
 * Whether a variable, child of block, may be visible behind the end of its scope. function: the DIE
 * that has the block, of a function or an inlined call. All DIEs are of the module's file.
 */
bool wide_scope_has(struct dwarf_module *dm, Dwarf_Die *function, Dwarf_Die *block,
                    Dwarf_Die *variable);

#endif
