/*
 * Libraries that the debuggee loads and unloads: the dynamic linker calls a function, struct
 * r_debug's r_brk, before and after each change of its list (link.h).
 */
#ifndef RUNTIMES_STEPPING_LIBRARIES_H
#define RUNTIMES_STEPPING_LIBRARIES_H

#include <stdint.h>

#include "debugger/base/error.h"
#include "debugger/base/vec.h"

struct debuggee;
struct dwarf_module;
struct internal_breakpoint;

/* The dynamic linker of the present program, and the modules for which breakpoints were found. */
struct libraries {
	uint64_t debug;                       /* address of its struct r_debug */
	uint64_t function;                    /* r_brk; 0: it can load none, or that is not known */
	struct internal_breakpoint *internal; /* NULL: not planted */
	uint64_t nloads; /* the asyncdbg_nloads() for which breakpoints were found */
	/* The modules with code of the user's for which those on events were found. */
	VEC(struct dwarf_module *) own;
};

/* Looks for the dynamic linker of a new program. */
struct error *libraries_begin(struct debuggee *d) MUST_CHECK;
/*
 * Plants an internal breakpoint where libraries are loaded, if a breakpoint may have places in
 * them. From then on breakpoints are found again when one is. If the code may not be written to, so
 * that one of the CPU's breakpoints is needed, only pending breakpoints are a reason.
 */
struct error *libraries_watch(struct debuggee *d) MUST_CHECK;
/*
 * Looks for libraries that have come or gone, where no internal breakpoint says so: the state of
 * tasks and breakpoints is found again.
 */
struct error *libraries_look(struct debuggee *d) MUST_CHECK;
/* The program is another one, or gone. */
void libraries_forget(struct debuggee *d);

#endif
