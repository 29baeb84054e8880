/* Text in aligned columns, cut to a width where there is one. */
#ifndef COMMANDS_OUT_TABLE_H
#define COMMANDS_OUT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/arena.h"
#include "debugger/base/str.h"

enum { TABLE_MAX_COLUMNS = 10 };

struct column {
	const char *title;
	bool right;      /* flush right: numbers */
	size_t at_least; /* may be cut to so many characters, 3 or more; 0: never cut */
};

struct table {
	const struct column *columns;
	size_t ncolumns;
	const char **cells; /* row after row */
	size_t nrows, capacity;
	size_t widths[TABLE_MAX_COLUMNS];
	struct arena arena;
	bool ascii; /* what is cut ends in "..." */
};

/* Characters of valid UTF-8. */
size_t text_width(const char *text);
/* Appends at most width characters, the ellipsis at the end when text is longer. */
void table_append_cut(struct str *s, const char *text, size_t width, const char *ellipsis);

/* columns is borrowed. */
void table_init(struct table *t, const struct column *columns, size_t ncolumns);
void table_deinit(struct table *t);

/* Adds a row of copied cells; an empty or NULL one shows as "-". They must be clean text. */
void table_row(struct table *t, const char *const *cells);
/* Widths of the columns so that a line fits into width characters; 0: as wide as needed. */
void table_fit(struct table *t, size_t width);
/* Appends a line without its end: row i of the table, or the header for -1. */
void table_line(const struct table *t, ptrdiff_t i, struct str *ret);

#endif
