/* The places that contain an address. */
#include <inttypes.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"

struct place_list {
	const struct place *list;
	size_t n;
};

static void places_text_row(struct text *t, const struct place *place)
{
	if (place->addr)
		str_printf(&t->line, "0x%016" PRIx64 "  ", place->addr);
	else
		str_printf(&t->line, "%20s", "");
	text_clean(t, place->phrase ? place->phrase : place->what ? place->what : "?");
	text_end_line(t);
}

static void places_text(struct text *t, const void *part)
{
	const struct place_list *places = part;

	for (size_t i = 0; i < places->n; i++)
		places_text_row(t, &places->list[i]);
}

static void places_json_row(struct json_writer *w, const struct place *place)
{
	json_open_object(w, NULL);
	json_put_text(w, "what", place->what);
	json_put_text(w, "phrase", place->phrase);
	json_put_address(w, "addr", place->addr);
	json_put_text(w, "task", place->task);
	out_json_number_if(w, "thread", place->thread, place->thread);
	json_close_object(w);
}

static void places_json(struct json_writer *w, const void *part)
{
	const struct place_list *places = part;

	json_open_array(w, "places");
	for (size_t i = 0; i < places->n; i++)
		places_json_row(w, &places->list[i]);
	json_close_array(w);
}

static const struct part_kind places_part = { sizeof(struct place_list), places_text, places_json };

void part_places(struct out *o, const struct place *list, size_t n)
{
	out_part(o, &places_part, &(struct place_list){ list, n });
}
