/* The line table of one function: where its own lines begin, and those of what is inlined into it.
 */
#ifndef DWARF_LOOKUP_FUNCTION_LINES_H
#define DWARF_LOOKUP_FUNCTION_LINES_H

#include "dwarf/lookup/lookup.h"

struct function_row {
	uint64_t addr;    /* run-time */
	const char *file; /* full path as in DWARF */
	unsigned line;    /* 0: the compiler names none */
	unsigned column;  /* 0: the compiler names none */
	size_t call;      /* the innermost inlined call that it belongs to: its index; 0: none */
	bool statement;   /* an instruction begins a statement here (is_stmt) */
	bool in_await;    /* see in_await.h; also where a row of the same column is, as blocks have
	                     gaps */
};

/* A call that was inlined. */
struct function_call {
	uint64_t site;                   /* DIE of the inlined call; 0: the function itself */
	const struct function *function; /* the function that was inlined */
	const char *file;                /* where that function is declared; NULL: unknown */
	unsigned line;                   /* there; 0: unknown */
	bool is_coroutine;     /* function is the body of an async function, block or closure */
	size_t parent;         /* the call that it is in */
	const char *call_file; /* where it is called; NULL: unknown */
	unsigned call_line;    /* there; 0: unknown, or it is no call */
};

struct function_lines {
	struct function_row *rows; /* ascending addr */
	size_t nrows;
	struct function_call *calls; /* the first one is the function itself */
	size_t ncalls;
	const char *comp_dir; /* of its unit; NULL: unknown */
};

/*
 * Reads the lines and calls of a function, in all its ranges; everything is in the arena. No rows
 * if the debug info has no lines.
 */
void function_lines_read(const struct function *f, struct arena *a, struct function_lines *ret);
/* The row that a run-time address belongs to, of a line if there is one before it; NULL: none. */
const struct function_row *function_lines_at(const struct function_lines *l, uint64_t addr);

#endif
