#include "commands/out/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2 };

size_t text_width(const char *text)
{
	size_t n = 0;

	/* Count all bytes but UTF-8 continuation bytes. */
	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

void table_append_cut(struct str *s, const char *text, size_t width, const char *ellipsis)
{
	size_t dots = text_width(ellipsis), keep = width > dots ? width - dots : 0;

	if (text_width(text) <= width) {
		str_append(s, text);
		return;
	}
	const char *end = text;

	for (size_t n = 0; *end; end++) {
		if (((unsigned char)*end & 0xc0) != 0x80 && n++ == keep)
			break;
	}
	str_append_len(s, text, (size_t)(end - text));
	str_append(s, ellipsis);
}

void table_init(struct table *t, const struct column *columns, size_t ncolumns)
{
	assert(ncolumns <= TABLE_MAX_COLUMNS);
	*t = (struct table){ .columns = columns, .ncolumns = ncolumns };
}

void table_deinit(struct table *t)
{
	arena_free(&t->arena);
	free(t->cells);
	*t = (struct table){ 0 };
}

void table_row(struct table *t, const char *const *cells)
{
	if (t->nrows == t->capacity) {
		t->capacity = t->capacity ? t->capacity * 2 : 32;
		t->cells = reallocarray(t->cells, t->capacity, t->ncolumns * sizeof(*t->cells));
		if (!t->cells)
			out_of_memory();
	}
	const char **row = &t->cells[t->nrows++ * t->ncolumns];

	for (size_t i = 0; i < t->ncolumns; i++)
		row[i] = cells[i] && *cells[i] ? arena_strdup(&t->arena, cells[i]) : "-";
}

/* The widest column that may still be cut, NULL when there is none. */
static size_t *widest(struct table *t)
{
	size_t *found = NULL;

	for (size_t i = 0; i < t->ncolumns; i++) {
		size_t least = t->columns[i].at_least;

		if (least && t->widths[i] > least && (!found || t->widths[i] > *found))
			found = &t->widths[i];
	}
	return found;
}

void table_fit(struct table *t, size_t width)
{
	size_t total = 0;

	for (size_t i = 0; i < t->ncolumns; i++) {
		t->widths[i] = text_width(t->columns[i].title);
		for (size_t row = 0; row < t->nrows; row++) {
			size_t cell = text_width(t->cells[row * t->ncolumns + i]);

			if (cell > t->widths[i])
				t->widths[i] = cell;
		}
		total += t->widths[i] + (i ? GAP : 0);
	}
	for (size_t *column; width && total > width && (column = widest(t)); total--)
		--*column;
}

void table_line(const struct table *t, ptrdiff_t i, struct str *ret)
{
	for (size_t c = 0; c < t->ncolumns; c++) {
		const char *cell =
			i < 0 ? t->columns[c].title : t->cells[(size_t)i * t->ncolumns + c];
		size_t width = t->widths[c], used = text_width(cell);
		size_t pad = used < width ? width - used : 0;

		if (t->columns[c].right)
			str_printf(ret, "%*s", (int)pad, "");
		table_append_cut(ret, cell, width, t->ascii ? "..." : "…");
		/* Nothing follows the last column: no blanks at the end of a line. */
		if (c + 1 < t->ncolumns)
			str_printf(ret, "%*s", (int)(t->columns[c].right ? GAP : pad + GAP), "");
	}
}
