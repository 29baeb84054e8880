/*
 * The static probes (USDT) that the executable of a program has itself.
 */
#ifndef RUNTIMES_TRACE_USDT_H
#define RUNTIMES_TRACE_USDT_H

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/elf/usdt_notes.h"

struct target;

/* Reads them; all of the result is in arena a. None, if the file of the executable was not found.
 */
struct error *trace_usdt_notes(const struct target *t, struct arena *a, struct usdt_notes *ret)
	MUST_CHECK;

#endif
