/* A file that a flight recorder wrote. */
#include <inttypes.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/time/recorded.h"

static void recorded_text(struct text *t, const void *part)
{
	const struct recorded *what = part;

	text_clean(t, what->path);
	str_append(&t->line, ": ");
	text_clean(t, what->why);
	str_printf(&t->line, "; %" PRIu64 " events of %.1f s", what->events,
	           (double)what->duration_ns / 1e9);
	if (what->lost)
		str_printf(&t->line, ", %" PRIu64 " lost", what->lost);
	if (what->snapshot) {
		str_append(&t->line, "; snapshot ");
		text_clean(t, what->snapshot);
	}
	if (what->core) {
		str_append(&t->line, "; core ");
		text_clean(t, what->core);
	}
	text_end_line(t);
}

static void recorded_json(struct json_writer *w, const void *part)
{
	const struct recorded *what = part;

	json_open_object(w, "recorded");
	json_put_text(w, "file", what->path);
	json_put_text(w, "when", what->when);
	json_put_text(w, "why", what->why);
	json_put_int(w, "events", (int64_t)what->events);
	json_put_int(w, "lost", (int64_t)what->lost);
	json_put_int(w, "duration_ns", (int64_t)what->duration_ns);
	json_put_text(w, "snapshot", what->snapshot);
	json_put_text(w, "core", what->core);
	out_json_number_if(w, "signal", what->signal != 0, (uint64_t)what->signal);
	json_close_object(w);
}

static const struct part_kind recorded_part = { sizeof(struct recorded), recorded_text,
	                                        recorded_json };

void part_recorded(struct out *o, const struct recorded *what)
{
	out_part(o, &recorded_part, what);
}
