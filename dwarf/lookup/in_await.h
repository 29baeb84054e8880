/* Whether code belongs to an await that is in progress. */
#ifndef DWARF_LOOKUP_IN_AWAIT_H
#define DWARF_LOOKUP_IN_AWAIT_H

#include "dwarf/module/debuginfo.h"

/*
 * Whether the code at a link-time address polls an awaited future, or resumes at an await: it is in
 * a lexical block with a variable `__awaitee` (rustc's name since async functions exist). die: the
 * innermost function there, or the inlined call of one. The code that makes the awaited future is
 * in no such block.
 */
bool in_await_has(struct dwarf_module *dm, uint64_t die, uint64_t pc);

#endif
