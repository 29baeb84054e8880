/* Prints a diff as text. */
#include "commands/out/out_text.h"
#include "runtimes/analysis/diff.h"

enum { SHOWN_IDS = 5 };

static void place(struct text *t, const struct diff_place *p)
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
static void who(struct text *t, const struct diff_item *item, bool first)
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
	place(t, &first->from);
	if (first->kind == DIFF_MOVED && first->again) {
		str_append(&t->line, " -> there again");
	} else if (first->kind == DIFF_MOVED) {
		str_append(&t->line, " -> ");
		place(t, &first->to);
	}
	for (size_t i = 0; i < g->n && i < SHOWN_IDS; i++)
		who(t, g->items[i], i == 0);
	if (g->n > SHOWN_IDS)
		str_printf(&t->line, " and %zu more", g->n - SHOWN_IDS);
	text_end_line(t);
}

static const char *const headings[DIFF_KINDS] = {
	[DIFF_MOVED] = "Moved",
	[DIFF_REARMED] = "Timer re-armed, else unchanged",
	[DIFF_NEW] = "New",
	[DIFF_GONE] = "Gone",
	[DIFF_UNKNOWN] = "Not known: could not be read whole",
	[DIFF_UNCHANGED] = "Unchanged",
};

static void heading(struct text *t, const struct diff_item *first)
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

void text_diff(struct out *o, const struct diff *diff)
{
	struct text *t = (struct text *)o;
	const struct diff_item *last = NULL;

	totals(t, diff);
	for (size_t i = 0; i < diff->ndoubts; i++)
		text_problem(t, "   ", diff->doubts[i]);
	for (size_t i = 0; i < diff->ngroups; i++) {
		const struct diff_item *first = diff->groups[i].items[0];

		if (!last || last->kind != first->kind ||
		    (first->kind == DIFF_UNCHANGED && last->looks != first->looks))
			heading(t, first);
		last = first;
		group(t, &diff->groups[i]);
	}
}
