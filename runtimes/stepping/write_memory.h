/* Writes into the memory of a program under control. */
#ifndef RUNTIMES_STEPPING_WRITE_MEMORY_H
#define RUNTIMES_STEPPING_WRITE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "debugger/base/error.h"

struct control;

/*
 * Writes bytes at a run-time address while the program stands still; a breakpoint in them stays.
 * ERR_STATE: no program is under control. Snapshots taken before have the old bytes.
 */
struct error *write_memory(struct control *c, uint64_t addr, const void *bytes, size_t len)
	MUST_CHECK;

#endif
