/*
 * Stores of addresses in the code of a function: what an object that was just allocated gets its
 * table by.
 */
#ifndef DEBUGGER_PROBE_CODE_STORE_H
#define DEBUGGER_PROBE_CODE_STORE_H

#include "debugger/probe/code_site.h"

struct code_store {
	uint64_t instruction; /* its address; link-time */
	/*
	 * A point behind it that runs exactly when it has run, where the register base is as it
	 * was; slow: none is cheap, and this is the next instruction.
	 */
	uint64_t address;
	bool slow;
	uint64_t stored; /* the address that is stored, of code or data of the module */
	uint8_t base;    /* number in DWARF of the register that leads to where it is stored, */
	int32_t displacement; /* so many bytes from there */
};

/*
 * Calls visit with each store of an address into what a call has returned, with no jump to between
 * that call and the store. False if the code cannot be decoded.
 */
typedef void code_store_fn(const struct code_store *store, void *arg);
bool code_each_store(const struct code_bytes *function, code_store_fn *visit, void *arg);

#endif
