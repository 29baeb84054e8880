/* The difference between two snapshots. */
#include "runtimes/analysis/diff.h"
#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"

enum { SHOWN_IDS = 5 };

static void diff_text_place(struct text *t, const struct diff_place *p)
{
	if (p->function)
		text_clean(t, p->function);
	else
		str_append(&t->line, "a task without frames");
	text_place(t, p->file, p->line);
	if (p->on) {
		str_append(&t->line, " [");
		text_style(t, STYLE_WAIT);
		text_name(t, p->on);
		text_style(t, STYLE_PLAIN);
		str_append(&t->line, "]");
	}
	if (p->state)
		str_printf(&t->line, " (%s)", p->state);
}

/* "task 5", "thread #1" */
static void diff_text_who(struct text *t, const struct diff_item *item, bool first)
{
	const struct task *task = item->after ? item->after : item->before;
	const struct thread_info *th =
		item->thread_after ? item->thread_after : item->thread_before;

	str_append(&t->line, first ? ": " : ", ");
	if (task) {
		text_clean(t, task->id);
		return;
	}
	text_number(t, "thread #", th->number);
}

static void group(struct text *t, const struct diff_group *g)
{
	const struct diff_item *first = g->items[0];

	str_printf(&t->line, "%8zu  ", g->n);
	diff_text_place(t, &first->from);
	if (first->kind == DIFF_MOVED && first->again) {
		str_append(&t->line, " -> there again");
	} else if (first->kind == DIFF_MOVED) {
		str_append(&t->line, " -> ");
		diff_text_place(t, &first->to);
	}
	for (size_t i = 0; i < g->n && i < SHOWN_IDS; i++)
		diff_text_who(t, g->items[i], i == 0);
	if (g->n > SHOWN_IDS)
		str_printf(&t->line, " and %zu more", g->n - SHOWN_IDS);
	text_end_line(t);
}

static const char *const headings[DIFF_KINDS] = {
	[DIFF_MOVED] = "Moved",
	[DIFF_REARMED] = "Timer re-armed, else unchanged",
	[DIFF_NEW] = "New",
	[DIFF_GONE] = "Gone",
	[DIFF_UNKNOWN] = "Unknown: could not be read completely",
	[DIFF_UNCHANGED] = "Unchanged",
};

static void diff_text_heading(struct text *t, const struct diff_item *first)
{
	text_style(t, STYLE_HEADING);
	str_append(&t->line, headings[first->kind]);
	if (first->kind == DIFF_UNCHANGED && first->looks > 2)
		str_printf(&t->line, " for %u looks", first->looks);
	text_end_line(t);
}

static void totals(struct text *t, const struct diff *d)
{
	static const char *const words[DIFF_KINDS] = {
		[DIFF_MOVED] = "moved",       [DIFF_REARMED] = "with a timer re-armed",
		[DIFF_NEW] = "new",           [DIFF_GONE] = "gone",
		[DIFF_UNKNOWN] = "not known", [DIFF_UNCHANGED] = "unchanged",
	};
	const char *separator = ": ";

	str_append(&t->line, "From ");
	text_clean(t, d->before_name ? d->before_name : "the first look");
	str_append(&t->line, " to ");
	text_clean(t, d->after_name ? d->after_name : "the second");
	for (size_t i = 0; i < DIFF_KINDS; i++) {
		if (!d->counts[i])
			continue;
		str_printf(&t->line, "%s%zu %s", separator, d->counts[i], words[i]);
		separator = ", ";
	}
	if (!diff_has_moved(d))
		str_append(&t->line, d->nitems ? "; nothing has moved" : ": there are no tasks");
	text_end_line(t);
}

static void diff_text(struct text *t, const void *part)
{
	const struct diff *diff = part;
	const struct diff_item *last = NULL;

	totals(t, diff);
	for (size_t i = 0; i < diff->ndoubts; i++)
		text_problem(t, "   ", diff->doubts[i]);
	for (size_t i = 0; i < diff->ngroups; i++) {
		const struct diff_item *first = diff->groups[i].items[0];

		if (!last || last->kind != first->kind ||
		    (first->kind == DIFF_UNCHANGED && last->looks != first->looks))
			diff_text_heading(t, first);
		last = first;
		group(t, &diff->groups[i]);
	}
}

static void diff_json_place(struct json_writer *w, const char *key, const struct diff_place *p)
{
	json_open_object(w, key);
	json_put_text(w, "function", p->function);
	json_put_text(w, "file_short", p->file);
	out_json_number_if(w, "line", p->line, p->line);
	json_put_text(w, "on", p->on);
	json_put_text(w, "state", p->state);
	json_close_object(w);
}

/* A task is identified by id and runtime, because ids are unique only within a runtime. */
static void diff_json_task(struct json_writer *w, const struct task *task)
{
	json_open_object(w, NULL);
	json_put_text(w, "id", task->id);
	out_json_number_if(w, "runtime", !task->undriven, task->runtime);
	json_put_address(w, "addr", task->addr);
	json_close_object(w);
}

static void put_members(struct json_writer *w, const struct diff_group *g)
{
	json_open_array(w, "tasks");
	for (size_t i = 0; i < g->n; i++) {
		const struct diff_item *item = g->items[i];

		if (item->after || item->before)
			diff_json_task(w, item->after ? item->after : item->before);
	}
	json_close_array(w);
	json_open_array(w, "threads");
	for (size_t i = 0; i < g->n; i++) {
		const struct diff_item *item = g->items[i];

		if (item->thread_after || item->thread_before)
			json_put_int(w, NULL,
			             (item->thread_after ? item->thread_after : item->thread_before)
			                     ->number);
	}
	json_close_array(w);
}

static void diff_json_group(struct json_writer *w, const struct diff_group *g)
{
	const struct diff_item *first = g->items[0];

	json_open_object(w, NULL);
	json_put_text(w, "kind", diff_kind_name(first->kind));
	json_put_int(w, "count", (int64_t)g->n);
	if (first->kind == DIFF_NEW)
		json_put_null(w, "from");
	else
		diff_json_place(w, "from", &first->from);
	if (first->kind == DIFF_GONE)
		json_put_null(w, "to");
	else
		diff_json_place(w, "to", first->kind == DIFF_MOVED ? &first->to : &first->from);
	json_put_int(w, "looks", first->looks);
	put_members(w, g);
	json_close_object(w);
}

static void diff_json(struct json_writer *w, const void *part)
{
	const struct diff *diff = part;

	json_open_object(w, "diff");
	json_put_text(w, "before", diff->before_name);
	json_put_text(w, "after", diff->after_name);
	json_put_bool(w, "has_moved", diff_has_moved(diff));
	json_put_bool(w, "before_complete", diff->before->complete);
	json_put_list(w, "doubts", diff->doubts, diff->ndoubts);
	json_open_object(w, "counts");
	for (size_t i = 0; i < DIFF_KINDS; i++)
		json_put_int(w, diff_kind_name(i), (int64_t)diff->counts[i]);
	json_close_object(w);
	json_open_array(w, "groups");
	for (size_t i = 0; i < diff->ngroups; i++)
		diff_json_group(w, &diff->groups[i]);
	json_close_array(w);
	json_close_object(w);
}

static const struct part_kind diff_part = { sizeof(struct diff), diff_text, diff_json };

void part_diff(struct out *o, const struct diff *diff)
{
	out_part(o, &diff_part, diff);
}
