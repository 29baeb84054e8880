/* Tasks grouped by place: as text, the merged tree of their frames. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/out/out_text_chain.h"
#include "commands/parts/parts.h"
#include "debugger/base/vec.h"
#include "runtimes/analysis/group_lines.h"
#include "runtimes/model/names.h"

struct shown_groups {
	const struct groups *groups;
	const struct group_lines *lines;
	bool whole, verbose;
};

enum {
	FILE_WIDTH = 140,  /* width of a line without a terminal */
	MOST_LINES = 80,   /* lines of one group */
	VALUE_WIDTH = 100, /* width of a value */
	LEAST_WIDTH = 24,  /* minimum width for the text of a line at any depth */
};

struct merged {
	struct text *t;
	const struct groups *groups;
	const struct group_lines *lines;
	bool whole;
	size_t number_width;
	size_t nlines;     /* number of node lines printed */
	struct str indent; /* indentation after the number */
	struct arena a;    /* freed after each line */
};

/* The characters that draw the tree, each string three columns wide. */
struct groups_text_glyphs {
	const char *branch, *last, *trunk, *none;
};

static const struct groups_text_glyphs *groups_text_glyphs(const struct text *t)
{
	static const struct groups_text_glyphs unicode = { "├─ ", "└─ ", "│  ", "   " };
	static const struct groups_text_glyphs ascii = { "|- ", "`- ", "|  ", "   " };

	return t->out.options.ascii ? &ascii : &unicode;
}

static void groups_text_begin_line(struct merged *m, const char *number, const char *glyph)
{
	size_t used = text_width(number);

	str_printf(&m->t->line, "%*s%s  ",
	           (int)(m->number_width > used ? m->number_width - used : 0), "", number);
	str_append(&m->t->line, str_text(&m->indent));
	str_append(&m->t->line, glyph);
}

/*
 * " [tasks 5..90,000, 2 running]", or " [task async_executor:0x7f00 and 7 more]", printed at the
 * end of a leaf's line.
 */
static const char *groups_text_who(struct arena *a, const struct group_count *c)
{
	STR(s);

	str_append(&s, c->tasks == 1 || c->keyed ? "  [task " : "  [tasks ");
	str_append_clean(&s, c->oldest->id, strlen(c->oldest->id));
	if (c->tasks > 1 && c->keyed) {
		str_printf(&s, " and %s more", text_big_number(a, c->tasks - 1));
	} else if (c->tasks > 1) {
		str_append(&s, "..");
		str_append_clean(&s, c->newest->id, strlen(c->newest->id));
	}
	if (c->states[TASK_IDLE] != c->tasks || c->changed) {
		str_append(&s, ", ");
		text_append_states(a, &s, c);
	}
	str_append(&s, "]");
	return arena_strdup(a, str_text(&s));
}

static size_t room(const struct merged *m, const char *behind)
{
	size_t width = m->t->out.options.width ? m->t->out.options.width : FILE_WIDTH;
	size_t used = text_width(str_text(&m->t->line)) + text_width(behind);

	return width > used + LEAST_WIDTH ? width - used : LEAST_WIDTH;
}

static void local_line(struct merged *m, const struct group_local *l)
{
	struct text *t = m->t;

	groups_text_begin_line(m, "", "  ");
	str_printf(&t->line, "%s", l->argument ? "argument " : "");
	text_clean(t, l->name ? l->name : "_");
	if (l->type) {
		str_append(&t->line, ": ");
		text_name(t, l->type);
	}
	if (l->distinct > 1) {
		str_append(&t->line, " = ");
		text_big(t, l->distinct);
		str_append(&t->line,
		           l->distinct < GROUP_DISTINCT ? " values: " : " values or more: ");
	} else if (l->distinct) {
		str_append(&t->line, " = ");
	}
	for (size_t i = 0; i < l->nexamples; i++) {
		STR(value);

		str_append(&t->line, i ? ", " : "");
		str_append_clean(&value, l->examples[i], strlen(l->examples[i]));
		table_append_cut(&t->line, str_text(&value), VALUE_WIDTH,
		                 t->out.options.ascii ? "..." : "…");
	}
	if (l->nexamples < l->distinct)
		str_append(&t->line, ", ...");
	if (l->unknown) {
		str_append(&t->line, l->distinct ? " (unknown in " : " unknown in ");
		text_big(t, l->unknown);
		str_append(&t->line, l->distinct ? ")" : "");
	}
	text_end_line(t);
}

static void locals(struct merged *m, const struct group_node *n, bool below)
{
	size_t len = m->indent.len;

	str_append(&m->indent,
	           below ? groups_text_glyphs(m->t)->trunk : groups_text_glyphs(m->t)->none);
	for (size_t i = 0; i < n->nlocals; i++)
		local_line(m, &n->locals[i]);
	str_truncate(&m->indent, len);
}

/* Prints a line for each frame of the chain; the first has the number and ends with behind. */
static void whole_chain(struct merged *m, const struct elements *e, const struct group_node *first,
                        const struct group_node *last, const char *behind)
{
	const struct group_node *n = first;
	struct text *t = m->t;

	for (size_t i = 0; i < e->list.n; i++) {
		if (i)
			groups_text_begin_line(m, "", "");
		str_append(&t->line, e->list.data[i].whole);
		str_append(&t->line, i + 1 == e->list.n ? behind : "");
		text_end_line(t);
		if (t->out.answer.verbose)
			locals(m, n, n == last && n->nchildren);
		n = n == last ? n : n->children[0];
	}
}

/* Prints the line that begins with first, after its glyph. Returns the last node on it. */
static const struct group_node *node_line(struct merged *m, const struct group_node *first,
                                          const char *glyph, const char *below)
{
	struct elements e CLEANUP(text_chain_free) = { 0 };
	const struct group_node *last = text_chain_elements(m->t, &m->a, first, &e);
	const char *behind =
		last->nchildren && !last->ends ? "" : groups_text_who(&m->a, &last->count);
	struct text *t = m->t;

	m->nlines++;
	groups_text_begin_line(m, text_big_number(&m->a, first->count.tasks), glyph);
	str_append(&m->indent, below);
	if (m->whole && (t->out.answer.verbose ||
	                 text_width(text_chain_text(t, &m->a, &e, CUT_NONE)) > room(m, behind))) {
		whole_chain(m, &e, first, last, behind);
	} else {
		text_append_chain(t, &m->a, &e, room(m, behind));
		str_append(&t->line, behind);
		text_end_line(t);
	}
	arena_reset(&m->a);
	return last;
}

static void more_line(struct merged *m, size_t nodes, size_t tasks)
{
	groups_text_begin_line(m, text_big_number(&m->a, tasks), groups_text_glyphs(m->t)->last);
	str_append(&m->t->line, "in ");
	text_big_count(m->t, nodes, "other");
	str_append(&m->t->line, ", not shown");
	text_end_line(m->t);
}

/* A node on the path of the depth-first walk, whose children are printed one by one. */
struct level {
	struct group_node *const *children;
	size_t n, next, shown, left; /* left: children still to print */
	size_t indent;               /* indentation of their lines */
};

struct levels {
	VEC(struct level) list;
};

static void free_levels(struct levels *l)
{
	vec_free(&l->list);
}

static void end_level(struct merged *m, const struct level *l)
{
	size_t hidden = l->n - l->shown, tasks = 0;

	str_truncate(&m->indent, l->indent);
	for (size_t i = 0; i < l->n && hidden; i++)
		tasks += m->lines->shown[l->children[i]->serial] ? 0 : l->children[i]->count.tasks;
	if (hidden)
		more_line(m, hidden, tasks);
}

/*
 * Whether the limit on lines is reached. Needed for a single group only: of several, only as many
 * are chosen as fit.
 */
static bool is_cut(const struct merged *m)
{
	return !m->whole && m->lines->ngroups == 1 && m->nlines >= MOST_LINES;
}

static void tree(struct merged *m)
{
	struct levels levels CLEANUP(free_levels) = { 0 };
	const struct groups *g = m->groups;

	*vec_push(&levels.list) = (struct level){ .children = g->roots,
		                                  .n = g->nroots,
		                                  .shown = m->lines->nroots,
		                                  .left = m->lines->nroots };
	while (levels.list.n && !is_cut(m)) {
		struct level *l = &levels.list.data[levels.list.n - 1];

		while (l->next < l->n && !m->lines->shown[l->children[l->next]->serial])
			l->next++;
		if (l->next == l->n) {
			end_level(m, l);
			levels.list.n--;
			continue;
		}
		const struct group_node *n = l->children[l->next++];
		bool last = --l->left == 0 && l->shown == l->n;

		str_truncate(&m->indent, l->indent);
		n = node_line(
			m, n,
			last ? groups_text_glyphs(m->t)->last : groups_text_glyphs(m->t)->branch,
			last ? groups_text_glyphs(m->t)->none : groups_text_glyphs(m->t)->trunk);
		if (!n->nchildren)
			continue;
		size_t shown = m->lines->nchildren[n->serial];
		*vec_push(&levels.list) = (struct level){ .children = n->children,
			                                  .n = n->nchildren,
			                                  .shown = shown,
			                                  .left = shown,
			                                  .indent = m->indent.len };
	}
}

static void lines_cut(struct merged *m)
{
	if (!is_cut(m))
		return;
	str_truncate(&m->indent, 0);
	groups_text_begin_line(m, "", "... up to ");
	text_big_count(m->t, m->lines->nlines - m->nlines, "line");
	str_append(&m->t->line, " more, --limit 0 shows all");
	text_end_line(m->t);
}

static void groups_text(struct text *t, const void *part)
{
	const struct shown_groups *shown = part;
	const struct groups *g = shown->groups;
	struct merged m = {
		.t = t, .groups = shown->groups, .lines = shown->lines, .whole = shown->whole
	};

	text_brief_line(t);
	m.number_width = text_width(text_big_number(&m.a, g->count.tasks));
	text_style(t, STYLE_HEADING);
	text_big_count(t, g->count.tasks, "task");
	str_append(&t->line, " in ");
	text_big_count(t, g->ngroups, "group");
	if (g->count.tasks) {
		str_append(&t->line, ": ");
		text_append_states(&m.a, &t->line, &g->count);
	}
	text_end_line(t);
	tree(&m);
	lines_cut(&m);
	str_free(&m.indent);
	arena_free(&m.a);
}

static void groups_json_local(struct json_writer *w, const struct group_local *l)
{
	json_open_object(w, NULL);
	json_put_text(w, "name", l->name);
	json_put_text(w, "type", l->type);
	json_put_bool(w, "argument", l->argument);
	json_put_int(w, "values", (int64_t)l->distinct);
	json_put_bool(w, "more", l->distinct >= GROUP_DISTINCT);
	json_put_int(w, "seen", (int64_t)l->seen);
	json_put_int(w, "unknown", (int64_t)l->unknown);
	json_put_list(w, "examples", l->examples, l->nexamples);
	json_close_object(w);
}

static void groups_json_wait(struct json_writer *w, const struct group_node *n)
{
	SCRATCH(tmp);

	if (!n->frame->wait) {
		json_put_null(w, "wait");
		return;
	}
	json_open_object(w, "wait");
	json_put_text(w, "kind", n->frame->wait->kind);
	json_put_text(w, "phrase", group_range_text(&tmp, &n->wait));
	json_put_bool(w, "varies", n->wait.varies);
	json_close_object(w);
}

static void groups_json_frame(struct json_writer *w, const struct group_node *n, bool verbose)
{
	SCRATCH(tmp);
	const struct future *f = n->frame;

	json_open_object(w, NULL);
	json_put_int(w, "node", (int64_t)n->serial);
	out_json_number_if(w, "parent", n->parent, n->parent ? n->parent->serial : 0);
	json_put_int(w, "tasks", (int64_t)n->count.tasks);
	json_put_int(w, "futures", (int64_t)n->futures);
	json_put_text(w, "kind", future_kind_of(f));
	json_put_text(w, "function", f->function);
	json_put_text(w, "file", f->file);
	json_put_text(w, "file_short", f->file_short);
	out_json_number_if(w, "line", f->line, f->line);
	json_put_text(w, "state", future_state_name(f->state));
	json_put_bool(w, "running", f->running);
	json_put_bool(w, "uncertain", f->uncertain);
	json_put_text(w, "aliases", f->aliases);
	json_put_text(w, "edge", f->edge);
	json_put_text(w, "branch", branch_name(f->branch));
	groups_json_wait(w, n);
	json_put_text(w, "problem", group_range_text(&tmp, &n->problem));
	json_open_array(w, "locals");
	for (size_t i = 0; verbose && i < n->nlocals; i++)
		groups_json_local(w, &n->locals[i]);
	json_close_array(w);
	json_close_object(w);
}

static void groups_json_group(struct json_writer *w, const struct group *g, bool verbose)
{
	SCRATCH(tmp);

	json_open_object(w, NULL);
	out_json_group_count(w, &g->count);
	json_put_text(w, "example", g->task->id);
	json_put_text(w, "type", g->task->type);
	json_put_text(w, "problem",
	              g->root->frame ? g->task->problem : group_range_text(&tmp, &g->root->wait));
	json_open_array(w, "frames");
	for (size_t i = 0; i < g->nnodes; i++) {
		if (g->nodes[i]->frame)
			groups_json_frame(w, g->nodes[i], verbose);
	}
	json_close_array(w);
	json_close_object(w);
}

static void groups_json(struct json_writer *w, const void *part)
{
	const struct shown_groups *shown = part;

	json_open_array(w, "groups");
	for (size_t i = 0; i < shown->lines->ngroups; i++)
		groups_json_group(w, &shown->groups->groups[i], shown->verbose);
	json_close_array(w);
}

static const struct part_kind groups_part = { sizeof(struct shown_groups), groups_text,
	                                      groups_json };

void part_groups(struct out *o, const struct groups *g, const struct group_lines *lines, bool whole)
{
	out_part(o, &groups_part, &(struct shown_groups){ g, lines, whole, o->answer.verbose });
}
