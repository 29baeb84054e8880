/* The paths into the structures of runtimes. */
#include <string.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"
#include "runtimes/model/names.h"

enum { LAYOUT_KEY_WIDTH = 28 };

struct layout_rows {
	const struct layout_info *rows;
	size_t n;
};

static void layout_text_row(struct text *t, const struct layout_info *row)
{
	text_style(t, row->status == ROW_BROKEN ? STYLE_PROBLEM : STYLE_PLAIN);
	str_printf(&t->line, "%-6s  ", row_status_name(row->status));
	text_style(t, STYLE_PLAIN);

	size_t key = t->line.len;
	text_clean(t, row->key);
	size_t used = t->line.len - key;
	str_printf(&t->line, "%*s", used < LAYOUT_KEY_WIDTH ? (int)(LAYOUT_KEY_WIDTH - used) : 0,
	           "");
	str_append(&t->line, "  ");
	text_clean(t, row->matched ? row->matched : row->path);
	if (row->plan) {
		str_append(&t->line, " [");
		text_clean(t, row->plan);
		str_append(&t->line, "]");
	}
	text_end_line(t);
	if (row->status != ROW_OK && row->tried) {
		str_printf(&t->line, "%*s", 8, "");
		text_clean(t, row->tried);
		text_end_line(t);
	}
}

static void layout_text(struct text *t, const void *part)
{
	const struct layout_rows *list = part;
	const char *last = NULL;

	for (size_t i = 0; i < list->n; i++) {
		const char *module = list->rows[i].module ? list->rows[i].module : "?";

		if (!last || strcmp(last, module) != 0) {
			text_style(t, STYLE_HEADING);
			str_append(&t->line, "Module ");
			text_clean(t, module);
			str_append(&t->line, ":");
			text_end_line(t);
		}
		last = module;
		layout_text_row(t, &list->rows[i]);
	}
}

static void layout_json_row(struct json_writer *w, const struct layout_info *row)
{
	json_open_object(w, NULL);
	json_put_text(w, "module", row->module);
	json_put_text(w, "key", row->key);
	json_put_text(w, "path", row->path);
	json_put_text(w, "status", row_status_name(row->status));
	json_put_text(w, "matched", row->matched);
	json_put_text(w, "plan", row->plan);
	json_put_text(w, "tried", row->tried);
	json_close_object(w);
}

static void layout_json(struct json_writer *w, const void *part)
{
	const struct layout_rows *list = part;

	if (!list->n)
		return;
	json_open_array(w, "layout");
	for (size_t i = 0; i < list->n; i++)
		layout_json_row(w, &list->rows[i]);
	json_close_array(w);
}

static const struct part_kind layout_part = { sizeof(struct layout_rows), layout_text,
	                                      layout_json };

void part_layout(struct out *o, const struct layout_info *rows, size_t n)
{
	out_part(o, &layout_part, &(struct layout_rows){ rows, n });
}
