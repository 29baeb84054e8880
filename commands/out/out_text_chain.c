/* Formats chains of frames that many tasks share. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/out/out_text_chain.h"

#include "dwarf/names/demangle.h"
#include "runtimes/analysis/group_lines.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/names.h"

void text_chain_free(struct elements *e)
{
	vec_free(&e->list);
}

static void out_text_chain_append_clean(struct str *s, const char *text)
{
	str_append_clean(s, text, strlen(text));
}

/* "[select arm 0, disabled] " */
static void append_edge(struct arena *a, struct str *s, const struct group_node *n)
{
	const struct future *f = n->frame;
	bool plain = edge_is_plain(f->edge);
	size_t parents = n->parent ? n->parent->futures : n->count.tasks;
	bool many = n->futures > n->count.tasks && n->futures > parents;

	if (plain && f->branch == BRANCH_POLLED && !many)
		return;
	str_append(s, "[");
	if (!plain)
		out_text_chain_append_clean(s, f->edge);
	if (many)
		str_printf(s, "%s%s of them", plain ? "" : ", ", text_big_number(a, n->futures));
	if (f->branch == BRANCH_HELD)
		str_append(s, plain || strcmp(f->edge, "held") != 0 ? ", held, not polled"
		                                                    : ", not polled");
	else if (f->branch != BRANCH_POLLED)
		str_printf(s, "%s%s", plain && !many ? "" : ", ", branch_name(f->branch));
	str_append(s, "] ");
}

static void out_text_chain_append_place(struct str *s, const struct future *f)
{
	const char *file = f->file_short ? f->file_short : f->file;

	str_append(s, f->running ? " running" : "");
	if (!file || (f->kind == FUTURE_OTHER && !f->running))
		return;
	str_append(s, " at ");
	out_text_chain_append_clean(s, file);
	if (f->line)
		str_printf(s, ":%u", f->line);
}

static void append_state(struct arena *a, struct str *s, const struct group_node *n)
{
	const struct future *f = n->frame;

	if (f->kind != FUTURE_OTHER && !f->running && f->state != FUTURE_STATE_NONE &&
	    f->state != FUTURE_SUSPENDED)
		str_printf(s, " %s", future_state_name(f->state));
	if (f->aliases) {
		str_append(s, " [or ");
		out_text_chain_append_clean(s, f->aliases);
		str_append(s, "]");
	} else if (f->uncertain) {
		str_append(s, " [uncertain]");
	}
	if (f->problem) {
		str_append(s, " ! ");
		out_text_chain_append_clean(s, group_range_text(a, &n->problem));
	}
}

static void append_name(const struct text *t, struct str *s, const struct future *f)
{
	SCRATCH(tmp);
	const char *name = group_frame_name(f);

	if (name)
		name = text_short_name(t, &tmp, name);
	out_text_chain_append_clean(s, name ? name : "?");
}

static const char *frame_text(const struct text *t, struct arena *a, const struct group_node *n,
                              bool place)
{
	const struct future *f = n->frame;
	const char *phrase = group_range_text(a, &n->wait);
	STR(s);

	if (!f) {
		out_text_chain_append_clean(&s, n->task->type ? n->task->type
		                                              : "a task of unknown type");
		if (phrase)
			str_append(&s, " ! ");
		out_text_chain_append_clean(&s, phrase ? phrase : "");
		return arena_strdup(a, str_text(&s));
	}
	append_edge(a, &s, n);
	/* The phrase of a leaf of tokio already names it. */
	bool named = f->kind != FUTURE_OTHER || !phrase || f->wait->within || f->wait->anonymous;

	if (named)
		append_name(t, &s, f);
	if (place)
		out_text_chain_append_place(&s, f);
	if (phrase) {
		str_append(&s, named ? ": " : "");
		out_text_chain_append_clean(&s, phrase);
	}
	append_state(a, &s, n);
	return arena_strdup(a, str_text(&s));
}

static struct element make_element(const struct text *t, struct arena *a,
                                   const struct group_node *n)
{
	const struct future *f = n->frame;
	bool place = f && f->kind != FUTURE_OTHER && (f->file_short || f->file);

	return (struct element){
		.whole = frame_text(t, a, n, true),
		.brief = place ? frame_text(t, a, n, false) : NULL,
		.has_place = place,
		.own = place && future_is_own(f),
	};
}

const struct group_node *text_chain_elements(const struct text *t, struct arena *a,
                                             const struct group_node *first, struct elements *ret)
{
	const struct group_node *n = first;

	for (;; n = n->children[0]) {
		*vec_push(&ret->list) = make_element(t, a, n);
		if (n->nchildren != 1 || !group_is_folded(n->children[0]))
			return n;
	}
}

const char *text_chain_text(const struct text *t, struct arena *a, const struct elements *e,
                            enum cut cut)
{
	const char *arrow = t->out.options.ascii ? " > " : " › ";
	const char *dots = t->out.options.ascii ? "..." : "…";
	size_t own = SIZE_MAX, n = e->list.n;
	bool dotted = false;
	STR(s);

	for (size_t i = 0; i < n; i++)
		own = e->list.data[i].own ? i : own;
	for (size_t i = 0; i < n; i++) {
		const struct element *each = &e->list.data[i];
		bool kept = i == 0 || i == own || i + 1 == n;
		bool placed = cut == CUT_NONE || !each->brief || (i == own && cut != CUT_OWN);

		if (cut >= CUT_MIDDLE && !kept && dotted)
			continue;
		str_append(&s, i ? arrow : "");
		dotted = cut >= CUT_MIDDLE && !kept;
		if (dotted)
			str_append(&s, dots);
		else
			str_append(&s, placed ? each->whole : each->brief);
	}
	return arena_strdup(a, str_text(&s));
}

void text_append_chain(struct text *t, struct arena *a, const struct elements *e, size_t width)
{
	const char *text = NULL;

	for (int cut = CUT_NONE; cut <= CUT_OWN; cut++) {
		text = text_chain_text(t, a, e, (enum cut)cut);
		if (text_width(text) <= width)
			break;
	}
	table_append_cut(&t->line, text, width, t->out.options.ascii ? "..." : "…");
}
