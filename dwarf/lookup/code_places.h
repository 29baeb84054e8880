/*
 * Places of a breakpoint on a line or a function: the addresses of all its instances, generic ones
 * and inlined ones.
 */
#ifndef DWARF_LOOKUP_CODE_PLACES_H
#define DWARF_LOOKUP_CODE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

struct debuginfo;

struct code_place {
	uint64_t addr;        /* run-time, of an instruction that begins a statement */
	const char *function; /* qualified name of the innermost function there; NULL: unknown */
	const char *linkage;  /* of it; NULL: unknown */
	const char *file;     /* full path as in DWARF */
	const char *comp_dir; /* of its unit; NULL: unknown */
	unsigned line;
	bool inlined; /* the innermost function is inlined there */
};

struct code_places {
	struct code_place
		*data; /* ascending addr; in the arena of the call, names in the debuginfo's */
	size_t n;
	/*
	 * The line that the places are of: the one asked for, or the next one that has code. 0:
	 * there is no place.
	 */
	unsigned line;
	/* The function is an async one on a single line: its place is passed at every poll. */
	bool every_poll;
};

/*
 * The places of a line: the lowest address that begins a statement of it, once for each function
 * and each inlined call of one; at an await, where the awaited future is made, not where it is
 * polled again. Code that ends in a trap, as that of a panic, is passed over. Where the compiler
 * has made copies of the code, each copy is a place. At the entry of a function it is the end of
 * its prologue. file: the end of a path, whole components ("main.rs", "src/main.rs"). If the line
 * has no code, the next one of the file that has some. Searches all modules that are no libraries
 * of the C runtime. ret->n is 0 if there is no such file or no code from the line on.
 * ERR_INTERRUPTED at ^C.
 */
struct error *lookup_line_places(struct debuginfo *di, const char *file, unsigned line,
                                 struct arena *a, struct code_places *ret) MUST_CHECK;

/*
 * The places where the functions of a name begin. path: the end of the function's path, whole
 * components and without generics, as the programmer wrote it: "serve", "Server::serve",
 * "app::main::{closure#0}", "app::run::{async_block#1}". All functions that fit are meant, in all
 * instances, but for inlined ones of which no line of their own is left. An async function begins
 * at the first line of its body, also where an attribute has put all of it into an async block; it
 * does not begin again when it is resumed. Reads the names of all units.
 */
struct error *lookup_function_places(struct debuginfo *di, const char *path, struct arena *a,
                                     struct code_places *ret) MUST_CHECK;

#endif
