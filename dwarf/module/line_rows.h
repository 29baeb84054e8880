/* Rows of the line tables of one source file: which addresses a line has, and the reverse. */
#ifndef DWARF_MODULE_LINE_ROWS_H
#define DWARF_MODULE_LINE_ROWS_H

#include "dwarf/module/debuginfo.h"

struct line_row {
	uint64_t addr; /* link-time */
	/*
	 * Address where the row's run begins: rows that follow each other, of the same line but for
	 * line 0 and for other files, as those of inlined functions are.
	 */
	uint64_t run;
	uint64_t end;     /* of this row and those of the same line that follow it at once */
	uint64_t shape;   /* of these others: where they begin, and their columns; 0: none */
	unsigned line;    /* not 0 */
	unsigned column;  /* 0: unknown */
	const char *file; /* full path as in DWARF */
	struct unit *unit;
	bool prologue_end; /* DWARF 5, 6.2.2 */
};

/* Whether a full path ends in the path typed, component by component: "src/main.rs", "main.rs". */
bool line_rows_file_is(const char *full, const char *typed);

/*
 * Appends to *ret the rows that begin a statement (is_stmt) in files for which line_rows_file_is(),
 * from all units of the module, ascending by line and address. Only units whose file table has such
 * a file are decoded. ERR_INTERRUPTED at ^C.
 */
typedef VEC(struct line_row) line_row_vec;
struct error *line_rows_read(struct dwarf_module *dm, const char *typed, line_row_vec *ret)
	MUST_CHECK;

#endif
