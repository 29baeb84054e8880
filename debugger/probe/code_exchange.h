/*
 * Atomic exchanges in the code of a function: "lock cmpxchg" instructions on numbers of 8 bytes. A
 * runtime changes the state of a task by one of them, in whatever way the compiler has arranged the
 * code around it.
 */
#ifndef DEBUGGER_PROBE_CODE_EXCHANGE_H
#define DEBUGGER_PROBE_CODE_EXCHANGE_H

#include "debugger/probe/code_site.h"
#include "debugger/probe/probe_record.h"

struct code_exchange {
	uint64_t instruction; /* its address; link-time */
	/*
	 * A point behind it that runs exactly when it has run, where its registers and flags are as
	 * they were; slow: none is cheap, and this is the next instruction.
	 */
	uint64_t address;
	bool slow;
	/* base, index, scale, source and displacement: those of the instruction */
	struct probe_exchange operands;
};

/* Calls visit with each of a function; false if its code cannot be decoded. */
typedef void code_exchange_fn(const struct code_exchange *exchange, void *arg);
bool code_each_exchange(const struct code_bytes *function, code_exchange_fn *visit, void *arg);

/* Calls visit with each direct call in a function: its address, and the one that it calls. */
typedef void code_direct_fn(uint64_t call, uint64_t target, void *arg);
bool code_each_direct_call(const struct code_bytes *function, code_direct_fn *visit, void *arg);

#endif
