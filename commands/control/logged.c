/* Lines of logpoints. */
#include <time.h>

#include "commands/control/stopped.h"
#include "commands/json/out_json.h"
#include "commands/out/out_text.h"

/* The time of the day here, in microseconds. */
static void append_time(struct text *t, uint64_t when_ns)
{
	const uint64_t second = 1000000000;
	time_t when = (time_t)(when_ns / second);
	struct tm tm;

	if (localtime_r(&when, &tm))
		str_printf(&t->line, "%02d:%02d:%02d.%06u ", tm.tm_hour, tm.tm_min, tm.tm_sec,
		           (unsigned)(when_ns % second / 1000));
}

static void logged_text(struct text *t, const void *part)
{
	const struct logged *line = part;

	append_time(t, line->when_ns);
	if (line->task) {
		str_append(&t->line, "task ");
		text_clean(t, line->task);
	} else {
		str_printf(&t->line, "thread %d", (int)line->tid);
	}
	str_printf(&t->line, ": %s", line->text);
	text_end_line(t);
}

static void logged_json(struct json_writer *w, const void *part)
{
	const struct logged *line = part;

	json_open_object(w, "logged");
	json_put_int(w, "number", line->breakpoint->number);
	json_put_int(w, "time_ns", (int64_t)line->when_ns);
	json_put_int(w, "tid", line->tid);
	json_put_text(w, "task", line->task);
	json_put_text(w, "text", line->text);
	json_open_array(w, "values");
	for (size_t i = 0; i < line->breakpoint->message->npaths; i++) {
		const struct log_value *v = &line->values[i];

		json_open_object(w, NULL);
		json_put_text(w, "path", v->path);
		json_put_text(w, "value", v->value);
		json_put_text(w, "problem", v->problem);
		if (v->doubt)
			json_put_text(w, "doubt", v->doubt);
		json_close_object(w);
	}
	json_close_array(w);
	json_close_object(w);
}

static const struct part_kind logged_part = { sizeof(struct logged), logged_text, logged_json };

void part_logged(struct out *o, const struct logged *line)
{
	out_part(o, &logged_part, line);
}
