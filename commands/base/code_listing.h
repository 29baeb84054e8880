/* Machine code as `disassemble` shows it. */
#ifndef COMMANDS_BASE_CODE_LISTING_H
#define COMMANDS_BASE_CODE_LISTING_H

#include "dwarf/code/disassembly.h"

/* An instruction; strings are clean but for those of row. */
struct code_listing_row {
	const struct code_row *row;
	const char *file;   /* of its source line, for display; NULL: unknown */
	const char *source; /* text of that line; NULL: not here */
	bool new_line;      /* the line differs from that of the row before */
	bool current;       /* the frame in focus stands here */
};

struct code_listing {
	const struct disassembly *code;
	struct code_listing_row *rows; /* code->nrows */
	bool bytes;                    /* show the bytes of each instruction */
	bool lines;                    /* show source lines between them */
};

#endif
