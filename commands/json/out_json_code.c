/* Source text as JSON. */
#include "commands/base/listing.h"
#include "commands/json/out_json.h"

void out_json_listing(struct json_writer *w, const struct listing *l)
{
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
