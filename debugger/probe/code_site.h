/*
 * Cheapest sites of probe points in a function. The kernel emulates a few instructions at a
 * breakpoint (push, nop, and calls and jumps to fixed addresses: arch/x86/kernel/uprobes.c), which
 * takes half a microsecond. It executes any other one as a single step, which takes up to twenty. A
 * point is therefore moved forward, within code that runs without a branch, to the first
 * instruction that is emulated.
 */
#ifndef DEBUGGER_PROBE_CODE_SITE_H
#define DEBUGGER_PROBE_CODE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The machine code of one function, x86-64. */
struct code_bytes {
	uint64_t address; /* of bytes[0], link-time */
	const uint8_t *bytes;
	size_t len;
};

struct code_site {
	uint64_t address;    /* of the instruction, link-time */
	int32_t stack_delta; /* the stack pointer there minus that where the search began */
	bool slow;           /* the kernel executes it as a single step */
	/* Place of the argument that was asked for. */
	unsigned argument;  /* number of the register, 0 to 2, or CODE_ON_STACK */
	int32_t stack_slot; /* its distance from the stack pointer at the entry */
	bool has_result;    /* of code_return_site(): %rax has there what the call returned */
};

enum {
	CODE_NO_ARGUMENT = -1,
	CODE_ON_STACK = 3,
};

enum { CODE_MAX_STEPS = 64, CODE_MAX_FUNCTION = 1 << 20 };

/* Does the kernel emulate the instruction of these bytes? */
bool code_is_emulated(const uint8_t *bytes, size_t len);

/*
 * The best site for the entry of a function, at which its argument (0 to 2, or CODE_NO_ARGUMENT) is
 * still in a register or on the stack. It runs exactly once for each entry: no jump within the
 * function leads behind the entry and up to the site. It may lie behind a call that the function
 * makes, and is then reached when that returns. Slow: the entry itself. False if the code cannot be
 * decoded.
 */
bool code_entry_site(const struct code_bytes *function, int argument, struct code_site *ret);

/*
 * code_entry_site() to which a loop may lead back, so that the site runs at least once for each
 * entry; the argument is there each time.
 */
bool code_looped_site(const struct code_bytes *function, int argument, struct code_site *ret);

/*
 * The best site at or behind an address to which a call returns. It runs once for each such return,
 * and perhaps also without one. Slow: that address itself. over_calls: the site may lie behind
 * further calls, and is then reached later. False if the address is not behind a call within the
 * function, or the code cannot be decoded.
 */
bool code_return_site(const struct code_bytes *function, uint64_t address, bool over_calls,
                      struct code_site *ret);

/* Target of a function that ends in a jump to another one. */
struct code_tail {
	uint64_t target;   /* link-time address of the other function; 0: see slot */
	uint64_t slot;     /* link-time address of the pointer that the jump takes; 0: none */
	unsigned argument; /* the parameter of the other function that it passes its own as */
};
/*
 * Whether a straight line of code leads from the entry to a jump out of the function, and passes
 * the argument (0 to 2) on in a register.
 */
bool code_tail_jump(const struct code_bytes *function, unsigned argument, struct code_tail *ret);

/*
 * Whether a straight line of code leads from an address of the function to the return from it.
 * *stack_delta: the stack pointer behind that return minus the one at the address. *keeps_result:
 * %rax is not changed.
 */
bool code_leads_to_return(const struct code_bytes *function, uint64_t address, int32_t *stack_delta,
                          bool *keeps_result);

/*
 * Whether a straight line of code, which leaves the stack alone, leads from the entry to a jump
 * through a register or a table: what the function jumps to then returns to its caller.
 */
bool code_is_tail_jump_thunk(const struct code_bytes *function);

/*
 * Whether code without a branch leads from the entry to the end of the function, or to an
 * instruction that traps: it does not come back, as one that only panics.
 */
bool code_never_returns(const struct code_bytes *function);

/*
 * Calls visit with each address in the function that follows an indirect call: one through a
 * register or memory, but for the global offset table.
 */
typedef void code_call_fn(uint64_t next, void *arg);
bool code_each_indirect_call(const struct code_bytes *function, code_call_fn *visit, void *arg);

#endif
