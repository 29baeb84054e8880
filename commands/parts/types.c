/* Types: lists of them, and the parts of one. */
#include <inttypes.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"
#include "runtimes/session/asyncdbg.h"

static void type_list_text(struct text *t, const void *part)
{
	const struct type_list *list = part;

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

static void types_text_part(struct text *t, const struct type_part *p, const char *indent)
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

static void types_text_heading(struct text *t, const char *indent)
{
	str_printf(&t->line, "%s%6s %6s  %s", indent, "OFFSET", "SIZE", "MEMBER");
	text_style(t, STYLE_HEADING);
	text_end_line(t);
}

static void type_info_text(struct text *t, const void *part)
{
	const struct type_info *info = part;

	str_printf(&t->line, "%s ", info->kind);
	text_whole_name(t, info->row.name);
	str_printf(&t->line, ", %" PRIu64 " bytes, aligned to %" PRIu64 ", in %s", info->row.size,
	           info->align, info->row.module);
	text_end_line(t);
	if (info->nparts)
		types_text_heading(t, "  ");
	for (size_t i = 0; i < info->nparts; i++)
		types_text_part(t, &info->parts[i], "  ");
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
			types_text_part(t, &c->parts[k], "    ");
	}
}

static void types_json_row(struct json_writer *w, const struct type_row *row)
{
	json_put_text(w, "name", row->name);
	json_put_int(w, "size", (int64_t)row->size);
	json_put_text(w, "module", row->module);
}

static void type_list_json(struct json_writer *w, const void *part)
{
	const struct type_list *list = part;

	json_open_array(w, "types");
	for (size_t i = 0; i < list->n; i++) {
		json_open_object(w, NULL);
		types_json_row(w, &list->rows[i]);
		json_close_object(w);
	}
	json_close_array(w);
	json_put_int(w, "types_matched", (int64_t)list->total);
	json_put_bool(w, "types_complete", !list->more);
}

static void put_parts(struct json_writer *w, const struct type_part *parts, size_t n)
{
	json_open_array(w, "members");
	for (size_t i = 0; i < n; i++) {
		json_open_object(w, NULL);
		json_put_text(w, "name", parts[i].name);
		json_put_text(w, "type", parts[i].type);
		json_put_int(w, "offset", (int64_t)parts[i].offset);
		json_put_int(w, "size", (int64_t)parts[i].size);
		json_close_object(w);
	}
	json_close_array(w);
}

static void type_info_json(struct json_writer *w, const void *part)
{
	const struct type_info *info = part;

	json_open_object(w, "type");
	types_json_row(w, &info->row);
	json_put_text(w, "kind", info->kind);
	json_put_int(w, "align", (int64_t)info->align);
	put_parts(w, info->parts, info->nparts);
	json_open_array(w, "variants");
	for (size_t i = 0; i < info->ncases; i++) {
		const struct type_case *c = &info->cases[i];

		json_open_object(w, NULL);
		json_put_text(w, "name", c->name);
		if (c->has_number)
			json_put_int(w, "discriminant", c->number);
		else
			json_put_text(w, "discriminant", NULL);
		json_put_text(w, "file", c->file);
		out_json_number_if(w, "line", c->line, c->line);
		put_parts(w, c->parts, c->nparts);
		json_close_object(w);
	}
	json_close_array(w);
	json_close_object(w);
}

static const struct part_kind type_list_part = { sizeof(struct type_list), type_list_text,
	                                         type_list_json };

void part_types(struct out *o, const struct type_list *list)
{
	out_part(o, &type_list_part, list);
}

static const struct part_kind type_info_part = { sizeof(struct type_info), type_info_text,
	                                         type_info_json };

void part_type(struct out *o, const struct type_info *info)
{
	out_part(o, &type_info_part, info);
}
