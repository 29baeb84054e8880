/*
 * The line table of one unit (DWARF 5, 6.2), decoded into rows. libdw gives the same rows at five
 * times the cost: it allocates and links each one, and sorts pointers to them.
 */
#ifndef DWARF_MODULE_LINE_PROGRAM_H
#define DWARF_MODULE_LINE_PROGRAM_H

#include "dwarf/module/debuginfo.h"

/* The fixed part of the header of a line program. */
struct line_header {
	unsigned version;                  /* 2 to 5 */
	unsigned offset_size;              /* 4 or 8 */
	uint64_t end;                      /* offset in .debug_line of the end of the program */
	uint64_t program;                  /* of its beginning, not checked */
	unsigned minimum_size, operations; /* of an instruction, in an instruction */
	bool is_statement;                 /* of each row unless the program says otherwise */
	int line_base;
	unsigned line_range, opcode_base;
	const uint8_t *operands; /* of standard opcodes, by opcode - 1; opcode_base - 1 of them */
};

/*
 * Reads it at r, which is moved behind it, to the directories. False if it is damaged or of an
 * unknown version.
 */
bool line_program_header(struct section line, struct reader *r, struct line_header *ret);

struct line_entry {
	uint64_t addr; /* link-time */
	uint32_t line, column, file;
	uint32_t is_statement : 1, ends_prologue : 1, ends_sequence : 1;
	uint32_t order : 29; /* in the program */
};

typedef VEC(struct line_entry) line_entry_vec;

/*
 * Replaces *ret with the rows of the unit, ascending by address; at one address the end of a
 * sequence comes first, otherwise they are in the order of the program. The last one ends a
 * sequence. Sequences that begin at address 0 are left out: the linker dropped their code. No rows
 * if the program is damaged.
 */
void line_program_read(struct dwarf_module *dm, const struct unit *u, line_entry_vec *ret);
/*
 * line_program_read() of the rows from low to high, both included. Which of them is the last of its
 * sequence is not known where that ends behind them.
 */
void line_program_read_within(struct dwarf_module *dm, const struct unit *u, uint64_t low,
                              uint64_t high, line_entry_vec *ret);

#endif
