#include <inttypes.h>
#include <string.h>

#include "commands/out_text.h"
#include "commands/view.h"

enum { FORK_INDENT = 2 };

static void coroutine(struct text *t, const struct future *f)
{
	const char *file = f->file_short ? f->file_short : f->file;
	const char *name = f->function ? f->function : f->type;

	/* Scripts match these words for every kind of coroutine; `function` tells blocks apart. */
	str_append(&t->line, "async fn ");
	text_clean(t, name ? name : "?");
	if (f->running) {
		str_append(&t->line, " running");
		text_place(t, file, f->line);
	} else if (f->state == FUTURE_SUSPENDED) {
		str_append(&t->line, " suspended");
		if (f->await_point >= 0)
			str_printf(&t->line, " at await point %d", f->await_point);
		text_place(t, file, f->line);
	} else if (f->state != FUTURE_STATE_NONE) {
		str_printf(&t->line, " %s", future_state_name(f->state));
	}
	if (f->wait && f->wait->phrase) {
		str_append(&t->line, " [");
		text_clean(t, f->wait->phrase);
		str_append(&t->line, "]");
	}
	if (t->out.options.full_names && f->type) {
		str_append(&t->line, " [");
		text_clean(t, f->type);
		str_append(&t->line, "]");
	}
}

static void hand_written(struct text *t, const struct future *f)
{
	const char *name = f->type ? f->type : f->function;

	if (!f->wait || f->wait->within) {
		str_append(&t->line, "future ");
		text_name(t, name ? name : "?");
		str_append(&t->line, f->wait && f->wait->phrase ? ": " : "");
	}
	if (f->wait && f->wait->phrase) {
		text_style(t, STYLE_WAIT);
		text_clean(t, f->wait->phrase);
		text_style(t, STYLE_PLAIN);
	}
	if (f->running) {
		str_append(&t->line, " running");
		text_place(t, f->file_short ? f->file_short : f->file, f->line);
	}
}

static void wait_list(struct text *t, const struct wait_detail *d)
{
	str_append(&t->line, "[");
	for (size_t i = 0; i < d->nlist; i++) {
		str_append(&t->line, i ? ", " : "");
		text_clean(t, d->list[i]);
	}
	str_append(&t->line, "]");
}

static void wait_facts(struct text *t, const struct wait *wait)
{
	if (wait->object)
		str_printf(&t->line, ", object 0x%" PRIx64, wait->object);
	if (wait->task) {
		str_append(&t->line, ", task ");
		text_clean(t, wait->task);
	}
	for (size_t i = 0; i < wait->ndetails; i++) {
		const struct wait_detail *d = &wait->details[i];

		str_append(&t->line, ", ");
		text_clean(t, d->key);
		str_append(&t->line, " ");
		if (d->kind == DETAIL_STRING)
			text_clean(t, d->string ? d->string : "-");
		else if (d->kind == DETAIL_BOOL)
			str_append(&t->line, d->number ? "yes" : "no");
		else if (d->kind == DETAIL_LIST)
			wait_list(t, d);
		else
			str_printf(&t->line, "%" PRId64, d->number);
	}
}

/* What only the full view of a task says. */
static void future_facts(struct text *t, const struct future *f, unsigned indent)
{
	if (!f->addr && !f->type && !f->wait)
		return;
	str_printf(&t->line, "%*s     ", (int)indent, "");
	if (f->addr)
		str_printf(&t->line, "0x%" PRIx64 ": ", f->addr);
	if (f->type)
		text_name(t, f->type);
	else
		str_append(&t->line, "type unknown");
	if (f->wait)
		wait_facts(t, f->wait);
	text_end_line(t);
}

static void future_line(struct text *t, const struct future *f, unsigned indent)
{
	str_printf(&t->line, "%*s#%u ", (int)indent, "", f->number);
	if (f->kind == FUTURE_OTHER)
		hand_written(t, f);
	else
		coroutine(t, f);
	if (f->dyn)
		str_append(&t->line, " [dyn]");
	if (f->edge && strcmp(f->edge, "await") != 0) {
		str_append(&t->line, " [");
		text_clean(t, f->edge);
		str_append(&t->line, "]");
	}
	if (f->inferred)
		str_append(&t->line, " [inferred: the debug info does not place it]");
	if (f->aliases) {
		str_append(&t->line, " [or ");
		text_clean(t, f->aliases);
		str_append(&t->line, ": they share their code]");
	} else if (f->uncertain) {
		str_append(&t->line, " [one of several types that share this code]");
	}
	text_end_line(t);
}

/* The seam for a tree: only the end of this function knows how forks look. */
static void chain(struct text *t, const struct future *f, unsigned indent, bool full)
{
	for (;; f = f->children[0]) {
		future_line(t, f, indent);
		if (full)
			future_facts(t, f, indent);
		text_problem(t, indent, f->problem);
		if (f->nchildren != 1)
			break;
	}
	for (size_t i = 0; i < f->nchildren; i++)
		chain(t, f->children[i], indent + FORK_INDENT, full);
}

void text_futures(struct text *t, const struct future *root, unsigned indent, bool full)
{
	chain(t, root, indent, full);
}
