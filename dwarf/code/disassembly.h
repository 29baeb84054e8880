/* Machine code as text, with symbols and the source lines that it is of. */
#ifndef DWARF_CODE_DISASSEMBLY_H
#define DWARF_CODE_DISASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/code/instruction.h"

struct code_places;
struct debuginfo;

enum {
	DISASSEMBLY_MAX_ROWS = 1 << 16,
	DISASSEMBLY_MAX_BYTES = 1 << 20,
};

/* A range of run-time addresses, [low, high), of one function where that is known. */
struct code_range {
	uint64_t low, high;
	const char *function; /* its qualified name or symbol; NULL: unknown */
	uint64_t start;       /* where the function begins; 0: unknown */
};

struct code_row {
	struct instruction insn;
	uint8_t bytes[INSTRUCTION_BYTES]; /* insn.size of them */
	const char *symbol; /* of insn.target, clean: "app::serve+12"; NULL: unknown */
	/*
	 * The function or variable that the pointer at insn.target points to, of an operand
	 * relative to the pc without a symbol; clean; NULL: none, or unknown.
	 */
	const char *pointee;
	/* The innermost source line; file NULL: unknown. */
	const char *file, *comp_dir;
	unsigned line;
};

struct disassembly {
	struct code_range range;
	struct code_row *rows;
	size_t nrows;
	const char *problem; /* why rows end before range.high; NULL: they do not */
};

struct disassembly_options {
	enum instruction_syntax syntax;
	bool lines; /* find the source lines */
};

/*
 * The function that covers an address, by debug info, or by its symbol. ERR_STATE: none does. The
 * name is clean and in arena a.
 */
struct error *disassembly_function_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                      struct code_range *ret) MUST_CHECK;
/*
 * The functions with code of a name: those at the places found for it that are not inlined, else
 * those that have exactly that symbol. ERR_STATE: there is none. ret is in arena a, ascending.
 */
struct error *disassembly_function_named(struct debuginfo *di, const char *name,
                                         const struct code_places *places, struct arena *a,
                                         struct code_range **ret, size_t *nret) MUST_CHECK;

/*
 * Reads the code of a range as it is now; breakpoints of our own are not in it. Code behind
 * DISASSEMBLY_MAX_ROWS or DISASSEMBLY_MAX_BYTES is left out: ret->problem. ERR_FAULT: nothing can
 * be read; ERR_UNSUPPORTED as instruction_reader_open(); ERR_INTERRUPTED. All is in arena a, but
 * for file and comp_dir.
 */
struct error *disassembly_read(struct debuginfo *di, const struct code_range *range,
                               const struct disassembly_options *options, struct arena *a,
                               struct disassembly *ret) MUST_CHECK;

/* "app::serve+12" of the symbol that covers an address, in arena a; NULL: none does. */
const char *disassembly_symbol(struct debuginfo *di, uint64_t addr, struct arena *a);

#endif
