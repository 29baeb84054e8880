/* The tasks that an answer does not show: a line at its end. */
#include <string.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"

static void shown_groups(struct text *t, const struct shown *s)
{
	str_append(&t->line, "; showing ");
	text_big(t, s->groups_shown);
	str_append(&t->line, " of ");
	text_big_count(t, s->groups, "group");
	str_append(&t->line, " with ");
	text_big_count(t, s->tasks, "task");
	str_append(&t->line, ", --limit 0 shows all");
}

static void shown_jobs(struct text *t, const struct shown *s)
{
	if (!s->matched_jobs)
		return;
	str_append(&t->line, " and ");
	text_big(t, s->jobs);
	str_append(&t->line, " of ");
	text_big_count(t, s->matched_jobs, "blocking job");
}

static void shown_text_line(struct text *t, const void *part)
{
	const struct shown *s = part;
	size_t before = t->line.len;

	if (s->filtered) {
		str_append(&t->line, "; ");
		text_big(t, s->matched);
		str_append(&t->line, " of ");
		text_big_count(t, s->total, "task");
		if (s->total_jobs && !s->groups) {
			str_append(&t->line, " and ");
			text_big(t, s->matched_jobs);
			str_append(&t->line, " of ");
			text_big_count(t, s->total_jobs, "blocking job");
		}
		str_append(&t->line, s->matched + s->matched_jobs == 1 ? " matches" : " match");
	}
	if (s->groups_shown < s->groups) {
		shown_groups(t, s);
	} else if (s->tasks < s->matched) {
		str_append(&t->line, "; showing ");
		text_big(t, s->tasks);
		str_append(&t->line, " of ");
		text_big_count(t, s->matched, "task");
		shown_jobs(t, s);
		str_append(&t->line, ", --limit 0 shows all");
	} else if (s->jobs < s->matched_jobs && !s->groups) {
		str_append(&t->line, "; showing all tasks");
		shown_jobs(t, s);
		str_append(&t->line, ", --limit 0 shows all");
	}
	if (s->by_default)
		str_append(&t->line, "; --no-group shows each task");
	if (t->line.len == before)
		return;
	/* Without the first "; ". */
	memmove(t->line.data + before, t->line.data + before + 2, t->line.len - before - 1);
	t->line.len -= 2;
	text_end_line(t);
}

static void shown_text(struct text *t, const void *part)
{
	text_at_end(t, shown_text_line, part);
}

static void shown_json(struct json_writer *w, const void *part)
{
	const struct shown *shown = part;

	json_open_object(w, "shown");
	json_put_int(w, "total", (int64_t)shown->total);
	json_put_int(w, "matched", (int64_t)shown->matched);
	json_put_int(w, "tasks", (int64_t)shown->tasks);
	json_put_int(w, "groups", (int64_t)shown->groups);
	json_put_int(w, "groups_shown", (int64_t)shown->groups_shown);
	json_close_object(w);
}

static const struct part_kind shown_part = { sizeof(struct shown), shown_text, shown_json };

void part_shown(struct out *o, const struct shown *shown)
{
	out_part(o, &shown_part, shown);
}
