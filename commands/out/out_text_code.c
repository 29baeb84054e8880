/* Source text as text. */
#include "commands/base/listing.h"
#include "commands/out/out_text.h"

void text_source_line(struct text *t, unsigned number, bool current, const char *line)
{
	if (current)
		text_style(t, STYLE_PLACE);
	str_printf(&t->line, "%s %5u  ", current ? "=>" : "  ", number);
	text_clean(t, line);
	text_style(t, STYLE_PLAIN);
	text_end_line(t);
}

void text_listing(struct out *o, const struct listing *l)
{
	struct text *t = (struct text *)o;

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
