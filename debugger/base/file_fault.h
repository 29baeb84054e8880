/*
 * Files that are mapped (libdw maps debug info, a core is mapped, too) can be truncated meanwhile,
 * as by a linker that rewrites the executable. A read behind the end raises SIGBUS. A handler
 * then puts zeros in the place of the rest of the mapping and keeps the file's name.
 */
#ifndef DEBUGGER_BASE_FILE_FAULT_H
#define DEBUGGER_BASE_FILE_FAULT_H

#include "debugger/base/error.h"

/* Installs the handler: for main(), as a library leaves the signals of its program alone. */
void file_fault_install(void);
/* How many faults there were. */
unsigned file_fault_count(void);
/* ERR_CORRUPT, with the name of the first such file, from its fault on: what was read of it since
 * is not true. */
struct error *file_fault_check(void) MUST_CHECK;

#endif
