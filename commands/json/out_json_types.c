/* Writes types as JSON: lists of them, and the parts of one. */
#include "commands/json/out_json.h"
#include "runtimes/query/types.h"

static void put_row(struct json_writer *w, const struct type_row *row)
{
	json_put_text(w, "name", row->name);
	json_put_int(w, "size", (int64_t)row->size);
	json_put_text(w, "module", row->module);
}

void out_json_types(struct json_writer *w, const struct type_list *list)
{
	json_open_array(w, "types");
	for (size_t i = 0; i < list->n; i++) {
		json_open_object(w, NULL);
		put_row(w, &list->rows[i]);
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

void out_json_type(struct json_writer *w, const struct type_info *info)
{
	json_open_object(w, "type");
	put_row(w, &info->row);
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
