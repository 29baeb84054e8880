/* Prints trees of futures as text. */
#include <inttypes.h>
#include <string.h>

#include "commands/out/out_text.h"
#include "runtimes/model/names.h"

static void coroutine(struct text *t, const struct future *f)
{
	const char *file = f->file_short ? f->file_short : f->file;
	const char *name = f->function ? f->function : f->type;

	/* Scripts match these words for every kind of coroutine; the name distinguishes blocks. */
	str_append(&t->line, "async fn ");
	text_clean(t, name ? name : "?");
	if (f->running) {
		str_append(&t->line, " running");
		text_place(t, file, f->line);
	} else if (f->state == FUTURE_SUSPENDED) {
		str_append(&t->line, " suspended");
		if (f->await_point >= 0)
			text_number(t, " at await point ", (uint64_t)f->await_point);
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
		str_append(&t->line, f->stream ? "stream " : "future ");
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

enum { MAX_LISTED = 16 };

/* Appends a list, cut when it is long: a JoinSet can have thousands of tasks. JSON has all. */
static void wait_list(struct text *t, const struct wait_detail *d)
{
	str_append(&t->line, "[");
	for (size_t i = 0; i < d->nlist && i < MAX_LISTED; i++) {
		str_append(&t->line, i ? ", " : "");
		text_clean(t, d->list[i]);
	}
	if (d->nlist > MAX_LISTED)
		str_printf(&t->line, " and %u more", d->nlist - MAX_LISTED);
	str_append(&t->line, "]");
}

static void wait_details(struct text *t, const struct wait *wait)
{
	if (wait->object)
		str_printf(&t->line, ", object 0x%" PRIx64, wait->object);
	if (wait->name) {
		str_append(&t->line, " (`");
		text_clean(t, wait->name);
		str_append(&t->line, "`)");
	}
	if (wait->task) {
		str_append(&t->line, ", task ");
		text_clean(t, wait->task);
	}
	str_printf(&t->line, ", armed %s", waker_registered_name(wait->armed));
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

/* Prints the details that only the full view of a task has. */
static void future_details(struct text *t, const struct future *f, const char *indent)
{
	if (!f->addr && !f->type && !f->wait)
		return;
	str_printf(&t->line, "%s  ", indent);
	if (f->addr)
		str_printf(&t->line, "0x%" PRIx64 ": ", f->addr);
	if (f->type)
		text_name(t, f->type);
	else
		str_append(&t->line, "type unknown");
	if (f->wait)
		wait_details(t, f->wait);
	if (f->properties)
		wait_details(t, f->properties);
	text_end_line(t);
}

void text_local(struct text *t, const struct local *local)
{
	text_clean(t, local->name ? local->name : "_");
	if (local->type) {
		str_append(&t->line, ": ");
		text_whole_name(t, local->type);
	}
	const char *doubt = local_uncertainty(local);

	if (local->value) {
		text_style(t, doubt ? STYLE_DOUBT : STYLE_PLAIN);
		str_append(&t->line, " = ");
		text_clean(t, local->value);
	} else {
		text_style(t, STYLE_PROBLEM);
		str_append(&t->line, " ! ");
		text_clean(t, local->problem ? local->problem : "unknown");
		text_style(t, STYLE_PLAIN);
	}
	if (doubt)
		str_printf(&t->line, " (%s)", doubt);
	text_style(t, STYLE_PLAIN);
}

void text_locals(struct text *t, const struct future *f, const char *indent)
{
	for (int argument = 1; argument >= 0; argument--) {
		for (size_t i = 0; i < f->nlocals; i++) {
			if (f->locals[i].argument != argument)
				continue;
			str_printf(&t->line, "%s  %s", indent, argument ? "argument " : "");
			text_local(t, &f->locals[i]);
			text_end_line(t);
		}
	}
}

/* Appends the edge from the parent and the state of the branch: "[select arm 1, disabled]". */
static void branch(struct text *t, const struct future *f)
{
	bool held = f->branch == BRANCH_HELD;
	bool plain =
		edge_is_plain(f->edge) || (held && strcmp(f->edge, branch_name(BRANCH_HELD)) == 0);

	if (plain && f->branch == BRANCH_POLLED)
		return;
	str_append(&t->line, " [");
	if (!plain)
		text_clean(t, f->edge);
	if (f->branch != BRANCH_POLLED)
		str_printf(&t->line, "%s%s", plain ? "" : ", ",
		           held ? "held, not polled" : branch_name(f->branch));
	str_append(&t->line, "]");
}

static void in_brackets(struct text *t, const char *text)
{
	str_append(&t->line, " [");
	text_clean(t, text);
	str_append(&t->line, "]");
}

void text_future(struct text *t, const struct future *f)
{
	str_append(&t->line, "#");
	str_append_uint(&t->line, f->number);
	str_append(&t->line, " ");
	if (f->kind == FUTURE_OTHER)
		hand_written(t, f);
	else
		coroutine(t, f);
	if (f->dyn)
		str_append(&t->line, " [dyn]");
	branch(t, f);
	if (f->inferred)
		str_append(&t->line, " [inferred: the debug info does not place it]");
	if (f->aliases) {
		str_append(&t->line, " [or ");
		text_clean(t, f->aliases);
		str_append(&t->line, ": they share their code]");
	} else if (f->uncertain) {
		str_append(&t->line, " [one of several types that share this code]");
	}
	if (f->properties && f->properties->phrase)
		in_brackets(t, f->properties->phrase);
	if (f->note)
		in_brackets(t, f->note);
}

/* The characters that draw the tree, each string three columns wide. */
struct out_text_future_glyphs {
	const char *branch, *last, *trunk;
};

static const struct out_text_future_glyphs unicode = { "├─ ", "└─ ", "│  " };
static const struct out_text_future_glyphs ascii = { "|- ", "`- ", "|  " };

struct tree {
	struct text *t;
	const struct out_text_future_glyphs *glyphs;
	struct str indent;       /* of the lines below the current branch */
	const struct task *full; /* NULL: without full details */
};

/*
 * The child that is printed below f without indentation, so that a chain of awaits stays straight:
 * the only child that is not an unpolled (BRANCH_HELD) one. NULL at a fork and at the end.
 */
static const struct future *straight(const struct future *f)
{
	const struct future *found = NULL;

	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch == BRANCH_HELD)
			continue;
		if (found)
			return NULL;
		found = f->children[i];
	}
	return found;
}

/* Prints the details of a future below its line. */
static void details(struct tree *tree, const struct future *f, bool branches)
{
	STR(indent);

	str_append(&indent, str_text(&tree->indent));
	str_append(&indent, branches ? tree->glyphs->trunk : "   ");
	if (tree->full)
		future_details(tree->t, f, indent.data);
	str_append(&indent, "  ");
	if (tree->full)
		text_holders(tree->t, f->wait, tree->full, indent.data);
	str_truncate(&indent, indent.len - 2);
	if (tree->t->out.answer.verbose)
		text_locals(tree->t, f, indent.data);
	text_problem(tree->t, indent.data, f->problem);
}

static void out_text_future_chain(struct tree *tree, const struct future *f);

static void side_branch(struct tree *tree, const struct future *f, bool last)
{
	size_t len = tree->indent.len;

	str_append(&tree->t->line, str_text(&tree->indent));
	str_append(&tree->t->line, last ? tree->glyphs->last : tree->glyphs->branch);
	str_append(&tree->indent, last ? "   " : tree->glyphs->trunk);
	out_text_future_chain(tree, f);
	str_truncate(&tree->indent, len);
}

/* Prints a chain. The text before f is already on the line. */
static void out_text_future_chain(struct tree *tree, const struct future *f)
{
	for (;;) {
		const struct future *next = straight(f);
		size_t branches = f->nchildren - (next != NULL);

		text_future(tree->t, f);
		text_end_line(tree->t);
		details(tree, f, branches > 0);
		/* When the trunk continues to next, no branch is the last one. */
		for (size_t i = 0; i < f->nchildren; i++) {
			if (f->children[i] != next)
				side_branch(tree, f->children[i], !next && --branches == 0);
		}
		if (!next)
			return;
		f = next;
		str_append(&tree->t->line, str_text(&tree->indent));
	}
}

void text_futures(struct text *t, const struct future *root, const char *indent,
                  const struct task *full)
{
	struct tree tree = {
		.t = t,
		.glyphs = t->out.options.ascii ? &ascii : &unicode,
		.full = full,
	};

	str_append(&tree.indent, indent);
	str_append(&t->line, indent);
	out_text_future_chain(&tree, root);
	str_free(&tree.indent);
}
