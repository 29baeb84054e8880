/* Which build of asyncdbg is running. */
#ifndef DEBUGGER_ELF_OWN_BUILD_H
#define DEBUGGER_ELF_OWN_BUILD_H

#include <stdint.h>

/*
 * The first 8 bytes of its build-id, found in its own memory (dl_iterate_phdr(3)): what was worked
 * out by another build may follow from other tables. 0: it has none.
 */
uint64_t own_build(void);

#endif
