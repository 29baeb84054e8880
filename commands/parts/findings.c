/* Findings of checks, and when a watchdog found them. */
#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"
#include "runtimes/analysis/finding.h"
#include "runtimes/saved/saved.h"

struct shown_findings {
	const struct finding *list;
	size_t n;
	const char *const *skipped;
	size_t nskipped;
};

static void findings_text_one(struct text *t, const struct finding *f)
{
	text_style(t, f->severity == SEVERITY_INFO ? STYLE_WAIT : STYLE_PROBLEM);
	str_printf(&t->line, "%s: ", severity_name(f->severity));
	text_style(t, STYLE_HEADING);
	str_append(&t->line, f->check);
	text_style(t, STYLE_PLAIN);
	text_clean_after(t, ": ", f->text);
	if (f->more) {
		text_clean_after(t, " (more: ", f->more);
		str_append(&t->line, ")");
	}
	text_end_line(t);
	for (size_t i = 0; i < f->ndoubts; i++)
		text_problem(t, "   ", f->doubts[i]);
	if (f->others) {
		text_clean_after(t, "   ", f->others);
		text_end_line(t);
	}
}

static void findings_text(struct text *t, const void *part)
{
	const struct shown_findings *f = part;

	for (size_t i = 0; i < f->n; i++)
		findings_text_one(t, &f->list[i]);
	if (f->n == 0)
		text_nothing_found(t, "nothing found");
	for (size_t i = 0; i < f->nskipped; i++) {
		text_clean_after(t, "not checked: ", f->skipped[i]);
		text_end_line(t);
	}
	t->unsearched = true;
}

static void findings_json(struct json_writer *w, const void *part)
{
	const struct shown_findings *f = part;

	json_open_array(w, "findings");
	for (size_t i = 0; i < f->n; i++) {
		const struct finding *one = &f->list[i];

		json_open_object(w, NULL);
		json_put_text(w, "check", one->check);
		json_put_text(w, "severity", severity_name(one->severity));
		json_put_bool(w, "possible", one->possible);
		json_put_text(w, "text", one->text);
		json_put_text(w, "more", one->more);
		json_put_list(w, "tasks", one->tasks, one->ntasks);
		out_json_number_if(w, "task_count", one->all_tasks, one->all_tasks);
		json_put_list(w, "doubts", one->doubts, one->ndoubts);
		out_json_number_if(w, "verdict_count", one->count, one->count);
		json_close_object(w);
	}
	json_close_array(w);
	json_put_list(w, "skipped", f->skipped, f->nskipped);
}

static const struct part_kind findings_part = { sizeof(struct shown_findings), findings_text,
	                                        findings_json };

void part_findings(struct out *o, const struct finding *list, size_t n, const char *const *skipped,
                   size_t nskipped)
{
	out_part(o, &findings_part, &(struct shown_findings){ list, n, skipped, nskipped });
}

static void watched_text(struct text *t, const void *part)
{
	const struct watched *w = part;
	SCRATCH(tmp);
	const char *when = saved_time(&tmp, w->when);

	str_printf(&t->line, "%s: ", when ? when : "?");
	if (w->gone) {
		str_append(&t->line, "not found any more");
	} else {
		str_append(&t->line, "found by ");
		text_count(t, w->checks, "check");
		str_append(&t->line, w->checks == 1 ? "" : " in a row");
	}
	text_end_line(t);
}

static void watched_json(struct json_writer *w, const void *part)
{
	const struct watched *watched = part;
	SCRATCH(tmp);

	json_open_object(w, "watched");
	json_put_text(w, "event", watched->gone ? "gone" : "found");
	json_put_text(w, "when", saved_time(&tmp, watched->when));
	out_json_number_if(w, "checks", !watched->gone, watched->checks);
	json_close_object(w);
}

static const struct part_kind watched_part = { sizeof(struct watched), watched_text, watched_json };

void part_watched(struct out *o, const struct watched *w)
{
	out_part(o, &watched_part, w);
}
