/* Detects whether a file contains async code of any runtime, without types or crates. */
#ifndef DWARF_MODULE_ASYNC_CODE_H
#define DWARF_MODULE_ASYNC_CODE_H

#include "dwarf/module/debuginfo.h"

/*
 * Does the module's file contain poll functions that the linker kept? The evidence is the panic
 * message of a coroutine that is polled after completion (core/src/panicking.rs, panic_const; in
 * every rustc since 1.39), which a stripped file has too, or symbols of poll functions of traits
 * named Future. False also when neither can be read.
 */
bool module_has_async_code(struct dwarf_module *dm);

#endif
