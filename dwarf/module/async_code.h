/* Is there async code in a file at all, whoever runs it? Types and crates need not be known. */
#ifndef DWARF_MODULE_ASYNC_CODE_H
#define DWARF_MODULE_ASYNC_CODE_H

#include "dwarf/module/debuginfo.h"

/*
 * Does the module's file have poll functions that the linker kept? Told by the message of the
 * panic in each coroutine that is polled too often (core/src/panicking.rs, panic_const; in every
 * rustc since 1.39), which a stripped file has too, and by symbols of poll functions of traits
 * named Future. False also when neither can be read.
 */
bool module_has_async_code(struct dwarf_module *dm);

#endif
