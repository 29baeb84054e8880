/* Text in aligned columns, cut to a width where there is one. */
#ifndef COMMANDS_OUT_TABLE_H
#define COMMANDS_OUT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/arena.h"
#include "debugger/base/str.h"

enum { TABLE_MAX_COLUMNS = 12 };

struct column {
	const char *title;
	bool right;      /* right-aligned: numbers */
	size_t at_least; /* minimum width when cut, 3 or more; 0: never cut */
};

struct table {
	const struct column *columns;
	size_t ncolumns;
	const char **cells; /* row after row */
	size_t nrows, capacity;
	size_t widths[TABLE_MAX_COLUMNS];
	struct arena arena;
	bool ascii; /* cut cells end in "..." */
};

/* The number of characters of valid UTF-8. */
size_t text_width(const char *text);
/* Appends at most width characters; a longer text is cut and ends in the ellipsis. */
void table_append_cut(struct str *s, const char *text, size_t width, const char *ellipsis);

/* columns is borrowed. */
void table_init(struct table *t, const struct column *columns, size_t ncolumns);
void table_deinit(struct table *t);

/*
 * Adds a row and copies its cells. Empty and NULL cells are printed as "-". Cells must be
 * sanitized.
 */
void table_row(struct table *t, const char *const *cells);
/* Computes column widths so that a line fits in width characters; 0: no limit. */
void table_fit(struct table *t, size_t width);
/* Appends row i of the table, or the header for -1, without a newline. */
void table_line(const struct table *t, ptrdiff_t i, struct str *ret);

#endif
