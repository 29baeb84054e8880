/* A page of `top` as text: for pipes and files. */
#include <inttypes.h>

#include "commands/top/top_page.h"

enum { MAX_WIDTH = 60 /* width up to which columns of texts are filled up */ };

typedef size_t widths[TOP_NCOLUMNS];

static void top_text_append_cell(struct str *s, const char *text, size_t width, bool right)
{
	size_t own = text_width(text);
	int blanks = own < width ? (int)(width - own) : 0;

	if (right)
		str_printf(s, "%*s%s", blanks, "", text);
	else
		str_printf(s, "%s%*s", text, blanks, "");
}

/* Columns are as wide as their texts; the last one needs no width. */
static void find_widths(const struct top_page *p, struct top_names *names, widths ret)
{
	for (size_t i = 0; i < TOP_NCOLUMNS; i++)
		ret[i] = top_page_column((enum top_column)i, p->view->grouping)->width;
	for (size_t i = 0; i < p->list.n; i++) {
		SCRATCH(a);

		for (size_t j = TOP_COLUMN_BY; j < TOP_COLUMN_PLACE; j++) {
			size_t width = text_width(
				top_page_cell(p, &p->list.rows[i], (enum top_column)j, names, &a));
			width = width < MAX_WIDTH ? width : MAX_WIDTH;
			ret[j] = width > ret[j] ? width : ret[j];
		}
	}
	ret[TOP_COLUMN_PLACE] = 0;
}

static void top_text_write_line(FILE *f, struct str *s)
{
	str_append(s, "\n");
	fwrite(str_text(s), 1, s->len, f);
	str_truncate(s, 0);
}

static void write_row(const struct top_page *p, const struct top_row *row, struct top_names *names,
                      const widths w, FILE *f, struct str *line)
{
	SCRATCH(a);

	for (size_t i = 0; i < TOP_NCOLUMNS; i++) {
		enum top_column column = (enum top_column)i;
		const struct top_column_info *c = top_page_column(column, p->view->grouping);

		str_append(line, i ? "  " : "");
		top_text_append_cell(line,
		                     row ? top_page_cell(p, row, column, names, &a) : c->title,
		                     w[i], c->right);
	}
	top_text_write_line(f, line);
}

static void write_hints(const struct top_page *p, struct top_names *names, FILE *f,
                        struct str *line)
{
	SCRATCH(a);

	for (size_t i = 0; i < p->hints.n; i++) {
		const struct top_hint *h = &p->hints.list[i];

		str_printf(line, "%s: %s: %s", top_hints_name(h->kind), top_hints_text(&a, h),
		           top_page_name(names, h->type));
		top_text_write_line(f, line);
	}
}

static void top_text_write_head(const struct top_page *p, FILE *f, struct str *line)
{
	SCRATCH(a);

	str_printf(line, "top: process %d: %s", (int)p->answer->snapshot->target.pid,
	           top_page_summary(p, &a));
	top_text_write_line(f, line);
	if (p->sampling) {
		str_append(line, top_page_sampling(p, &a));
		top_text_write_line(f, line);
	}
	for (size_t i = 0; i < p->nworkers; i++) {
		str_printf(line, "%s: %s", top_page_worker_name(&p->workers[i], &a),
		           top_page_worker(p, &p->workers[i], &a));
		top_text_write_line(f, line);
	}
}

void top_text_write(const struct top_page *p, struct top_names *names, FILE *f)
{
	STR(line);
	widths w;

	find_widths(p, names, w);
	top_text_write_head(p, f, &line);
	write_hints(p, names, f, &line);
	write_row(p, NULL, names, w, f, &line);
	for (size_t i = 0; i < p->list.n; i++)
		write_row(p, &p->list.rows[i], names, w, f, &line);
	if (p->list.n < p->list.total) {
		str_printf(&line, "%zu more rows", p->list.total - p->list.n);
		top_text_write_line(f, &line);
	}
}
