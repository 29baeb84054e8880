/* Prints types as text: lists of them, and the parts of one. */
#include <inttypes.h>

#include "commands/out/out_text.h"
#include "runtimes/query/types.h"

void text_types(struct out *o, const struct type_list *list)
{
	struct text *t = (struct text *)o;

	if (list->n) {
		str_printf(&t->line, "%10s  %-16s  %s", "SIZE", "MODULE", "TYPE");
		text_style(t, STYLE_HEADING);
		text_end_line(t);
	}
	for (size_t i = 0; i < list->n; i++) {
		const struct type_row *row = &list->rows[i];

		str_printf(&t->line, "%10" PRIu64 "  %-16s  ", row->size, row->module);
		text_name(t, row->name);
		text_end_line(t);
	}
	text_big_count(t, list->total, "type");
	if (list->more)
		str_append(&t->line, " and more: the search stopped there");
	if (list->n < list->total)
		str_printf(&t->line, ", the first %zu are shown; --limit N shows N, --limit 0 all",
		           list->n);
	text_end_line(t);
}

static void part(struct text *t, const struct type_part *p, const char *indent)
{
	str_printf(&t->line, "%s%6" PRIu64 " %6" PRIu64 "  ", indent, p->offset, p->size);
	text_clean(t, p->name);
	str_append(&t->line, ": ");
	if (p->type)
		text_name(t, p->type);
	else
		str_append(&t->line, "?");
	text_end_line(t);
}

static void heading(struct text *t, const char *indent)
{
	str_printf(&t->line, "%s%6s %6s  %s", indent, "OFFSET", "SIZE", "MEMBER");
	text_style(t, STYLE_HEADING);
	text_end_line(t);
}

void text_type(struct out *o, const struct type_info *info)
{
	struct text *t = (struct text *)o;

	str_printf(&t->line, "%s ", info->kind);
	text_whole_name(t, info->row.name);
	str_printf(&t->line, ", %" PRIu64 " bytes, aligned to %" PRIu64 ", in %s", info->row.size,
	           info->align, info->row.module);
	text_end_line(t);
	if (info->nparts)
		heading(t, "  ");
	for (size_t i = 0; i < info->nparts; i++)
		part(t, &info->parts[i], "  ");
	for (size_t i = 0; i < info->ncases; i++) {
		const struct type_case *c = &info->cases[i];

		str_append(&t->line, "  ");
		text_clean(t, c->name);
		if (c->has_number)
			str_printf(&t->line, " = %" PRId64, c->number);
		else if (info->ncases > 1)
			str_append(&t->line, " = any other");
		if (c->line)
			text_place(t, c->file, c->line);
		text_end_line(t);
		for (size_t k = 0; k < c->nparts; k++)
			part(t, &c->parts[k], "    ");
	}
}
