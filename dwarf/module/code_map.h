/*
 * The functions of a module by address, and their machine code, read from the file: while probes
 * are attached, the memory of the process has breakpoints in it.
 */
#ifndef DWARF_MODULE_CODE_MAP_H
#define DWARF_MODULE_CODE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/probe/code_site.h"
#include "dwarf/module/debuginfo.h"

/* A function of the module. */
struct code_function {
	const char *name;   /* its symbol, mangled; "": unknown */
	uint64_t low, high; /* link-time */
};

/* A pointer that the program has once it is loaded; link-time addresses. */
struct code_pointer {
	uint64_t addr, value;
};

struct code_map {
	struct dwarf_module *dm;
	struct code_function *functions; /* ascending low, each address once */
	size_t n;
	bool stripped; /* there are no symbols: names are those that a layout file has */
	struct code_pointer *pointers; /* ascending addr, by the relocations of the file */
	size_t npointers;
	const uint8_t *text; /* the executable segment */
	size_t text_len;
	uint64_t text_address, text_offset; /* link-time, and in the file */
};

enum { CODE_MAX_TEXT = 1 << 29 /* bytes of code that are read */ };

/*
 * Reads the code and the functions of a module into arena a: by its symbols, or those of its debug
 * file; where there are none, by the table for unwinding. ERR_NO_DEBUGINFO: it has neither, or its
 * file cannot be read; ERR_UNSUPPORTED: its code is too large, or is not in one segment.
 */
struct error *code_map_read(struct dwarf_module *dm, struct arena *a, struct code_map *ret)
	MUST_CHECK;

/* The function that covers a link-time address; NULL: none. */
const struct code_function *code_map_at(const struct code_map *m, uint64_t addr);
/* The machine code of a function; false when it is not within the text. */
bool code_map_bytes(const struct code_map *m, const struct code_function *f,
                    struct code_bytes *ret);
/* The offset in the file of a link-time address in the text. */
uint64_t code_map_offset(const struct code_map *m, uint64_t addr);

/*
 * The link-time address that a pointer at a link-time address holds once the program is loaded, by
 * its relocation or the bytes of the file; 0: unknown, or it depends on another module.
 */
uint64_t code_map_pointer(const struct code_map *m, uint64_t addr);

/*
 * Calls visit with each link-time address that may follow a call of target, direct or through a
 * pointer of the global offset table: a place whose bytes look like one.
 */
void code_map_each_caller(const struct code_map *m, uint64_t target, code_call_fn *visit,
                          void *arg);

#endif
