/* Source text. */
#include "commands/base/listing.h"
#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"

static void listing_text(struct text *t, const void *part)
{
	const struct listing *l = part;

	text_style(t, STYLE_HEADING);
	text_clean(t, l->file);
	text_style(t, STYLE_PLAIN);
	if (l->moved) {
		str_append(&t->line, ", read from ");
		text_clean(t, l->path);
	}
	text_end_line(t);
	for (size_t i = 0; i < l->nlines; i++) {
		unsigned number = l->first + (unsigned)i;

		text_source_line(t, number, number == l->current, l->lines[i]);
	}
}

static void listing_json(struct json_writer *w, const void *part)
{
	const struct listing *l = part;

	json_open_object(w, "listing");
	json_put_text(w, "file", l->file);
	json_put_text(w, "path", l->path);
	out_json_number_if(w, "current", l->current != 0, l->current);
	json_open_array(w, "lines");
	for (size_t i = 0; i < l->nlines; i++) {
		json_open_object(w, NULL);
		json_put_int(w, "line", (int64_t)(l->first + i));
		json_put_text(w, "text", l->lines[i]);
		json_close_object(w);
	}
	json_close_array(w);
	json_close_object(w);
}

static const struct part_kind listing_part = { sizeof(struct listing), listing_text, listing_json };

void part_listing(struct out *o, const struct listing *l)
{
	out_part(o, &listing_part, l);
}
