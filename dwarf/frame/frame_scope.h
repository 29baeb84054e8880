/*
 * The life of a variable in a thread's stack: the frame that has it, and the block that declares
 * it.
 */
#ifndef DWARF_FRAME_FRAME_SCOPE_H
#define DWARF_FRAME_FRAME_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debuginfo;
struct stack;

struct frame_scope {
	/*
	 * Stack pointer behind the return from the frame that has the bytes, and where that
	 * returns to. cfa 0: they lie elsewhere, as those of a coroutine do.
	 */
	uint64_t cfa, returns;
	uint64_t function; /* run-time address of the frame's function; 0: unknown */
	uint64_t variable; /* DIE in that function; 0: unknown, and its block as well */
};

enum frame_scope_life {
	FRAME_SCOPE_LIVES, /* or nothing tells that it has ended */
	FRAME_SCOPE_LEFT,  /* its function executes code outside of its block */
	FRAME_SCOPE_GONE,  /* its frame is not on the stack any more */
};

/*
 * Finds the variable of that name (its first len bytes) that has an address. False: nothing in the
 * stack has it. Where the address lies in a frame of the stack, that frame is found without a name,
 * too.
 */
bool frame_scope_find(struct debuginfo *di, const struct stack *stack, uint64_t addr,
                      const char *name, size_t len, struct frame_scope *ret);
/*
 * Finds the innermost variable of that name that is visible at an address, in the function of that
 * depth (see struct variable). It needs no place: in optimised code variables of coroutines have
 * none while they are in memory.
 */
bool frame_scope_find_named(struct debuginfo *di, uint64_t pc, unsigned depth, const char *name,
                            size_t len, struct frame_scope *ret);
/*
 * behind: the innermost frame has just executed the instruction before its pc, which counts. A
 * stack that ends early, below the frame, has it no more.
 */
enum frame_scope_life frame_scope_look(struct debuginfo *di, const struct frame_scope *scope,
                                       const struct stack *stack, bool behind);

#endif
