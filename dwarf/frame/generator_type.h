/*
 * The coroutine of a gen block or gen fn. Its code is the `next` of an iterator, of which
 * rustc 1.95 describes no argument; the type stands beside it: "{gen_fn_env#0}" beside
 * "{gen_fn#0}".
 */
#ifndef DWARF_FRAME_GENERATOR_TYPE_H
#define DWARF_FRAME_GENERATOR_TYPE_H

#include <elfutils/libdw.h>

#include "dwarf/types/type.h"

/* function: its DIE, or the function that an inlined call is a copy of. NULL: it is no generator's.
 */
const struct type *generator_type_of(struct dwarf_module *dm, Dwarf_Die *function);

#endif
