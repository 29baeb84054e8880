/*
 * Unwinds the physical stacks of threads, with libdwfl and callbacks to our own targets: one code
 * path for live, core and fake targets. The target must be stopped, or a core; or the stack is a
 * copy of one moment.
 */
#ifndef DWARF_UNWIND_UNWIND_H
#define DWARF_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/target/target.h"

/* A physical frame. */
struct frame {
	uint64_t pc;        /* run-time address of the instruction */
	uint64_t lookup_pc; /* pc - 1 for return addresses: names the call, not what follows it */
	uint64_t sp;        /* stack pointer in this frame; the caller's sp is its end (CFA) */
	bool has_sp;
	uint64_t *regs; /* arch->nregs of them, by DWARF number, with the values of this frame */
	uint64_t known_regs; /* bit n: regs[n] could be recovered */
};

struct stack {
	struct frame *frames; /* innermost first */
	size_t nframes;
	const char *problem; /* why it ends early, NULL when it reached the thread's start */
};

enum { STACK_MAX_FRAMES = 1 << 16 };

struct unwinder;
/*
 * Attaches to t->dwfl, whose modules must have been reported. A target has one unwinder for all its
 * stops, which is closed with the target. Opening again returns the same one; closing is optional.
 */
struct error *unwinder_open(struct target *t, struct unwinder **ret) MUST_CHECK;
void unwinder_close(struct unwinder *u);
/* A stack that cannot be unwound further is not an error: see stack.problem. */
struct error *unwind_thread(struct unwinder *u, struct arena *a, const struct thread *th,
                            struct stack *ret) MUST_CHECK;

/* The registers of a thread, and the innermost bytes of its stack at that moment. */
struct stack_copy {
	const uint64_t *regs; /* arch->nregs of them, by DWARF number */
	const unsigned char *bytes;
	size_t size; /* of bytes, which begin where the stack pointer points to */
};
/* Whether a stack is of no interest from the frame on to which a call returns at that address. */
typedef bool unwind_end_fn(uint64_t address, void *arg);
/*
 * unwind_thread() for a copy, without a look at the target's memory: beyond the copy the stack is
 * not known. It ends before the frame for which end, which may be NULL, is true; stack.problem is
 * NULL then.
 */
void unwind_copy(struct unwinder *u, struct arena *a, const struct stack_copy *copy,
                 unwind_end_fn *end, void *arg, struct stack *ret);

#endif
