/* Identifies the running build of asyncdbg. */
#ifndef DEBUGGER_ELF_OWN_BUILD_H
#define DEBUGGER_ELF_OWN_BUILD_H

#include <stdint.h>

/*
 * The first 8 bytes of asyncdbg's own build-id, found in its own memory (dl_iterate_phdr(3)); 0 if
 * it has none. Cached results of another build are not used, since its tables may differ.
 */
uint64_t own_build(void);

#endif
