/* Breakpoints and watchpoints, with their hits. */
#include <inttypes.h>

#include "commands/control/stopped.h"
#include "commands/json/out_json.h"
#include "commands/out/out_text.h"

enum { MAX_PLACES = 20 /* shown of one breakpoint */ };

struct breakpoint_list {
	struct breakpoint *const *list;
	size_t n;
};

struct watchpoint_list {
	struct watchpoint *const *list;
	size_t n;
};

static void breakpoint_places(struct text *t, const struct breakpoint *bp)
{
	for (size_t i = 0; i < bp->nplaces && i < MAX_PLACES; i++) {
		const struct breakpoint_place *p = &bp->places[i];

		str_printf(&t->line, "    0x%" PRIx64 " ", p->addr);
		if (p->function)
			text_name(t, p->function);
		text_place(t, p->file, p->line);
		str_append(&t->line, p->inlined ? ", inlined" : "");
		text_end_line(t);
	}
	if (bp->nplaces > MAX_PLACES) {
		str_printf(&t->line, "    and %zu more places", bp->nplaces - MAX_PLACES);
		text_end_line(t);
	}
}

/* Prints the condition and the counts that decide which hits halt. */
static void rule(struct text *t, const char *condition, uint64_t skip, uint64_t every)
{
	if (condition) {
		str_append(&t->line, " if ");
		text_clean(t, condition);
	}
	if (skip)
		str_printf(&t->line, ", after %" PRIu64 " hits", skip);
	if (every)
		str_printf(&t->line, ", each %" PRIu64 ". hit", every);
}

static void unreadable(struct text *t, const char *problem, uint64_t hits)
{
	SCRATCH(tmp);

	if (problem)
		text_problem(t, "    ",
		             arena_printf(&tmp,
		                          "the condition could not be read at %" PRIu64
		                          " hit%s: %s",
		                          hits, hits == 1 ? "" : "s", problem));
}

static void breakpoints_text_line(struct text *t, const struct breakpoint *bp)
{
	text_style(t, STYLE_HEADING);
	str_printf(&t->line, "%s %u", breakpoint_noun(bp), bp->number);
	text_style(t, STYLE_PLAIN);
	str_append(&t->line, ": ");
	text_clean(t, bp->text);
	if (bp->log) {
		str_append(&t->line, " '");
		text_clean(t, bp->log);
		str_append(&t->line, "'");
	}
	text_property(t, "task ", bp->task);
	rule(t, bp->condition, bp->skip, bp->every);
	if (bp->temporary)
		str_append(&t->line, ", once");
	if (bp->pending)
		str_append(&t->line, ", pending");
	if (!bp->enabled)
		str_append(&t->line, ", disabled");
	if (bp->hits) {
		str_append(&t->line, ", ");
		text_count(t, bp->hits, "hit");
	}
	text_end_line(t);
	breakpoint_places(t, bp);
	text_problem(t, "    ", bp->note);
	unreadable(t, bp->problem, bp->unreadable);
}

static void breakpoints_text(struct text *t, const void *part)
{
	const struct breakpoint_list *b = part;

	for (size_t i = 0; i < b->n; i++)
		breakpoints_text_line(t, b->list[i]);
	if (!b->n) {
		str_append(&t->line, "no breakpoints");
		text_end_line(t);
	}
}

static void watchpoints_text_line(struct text *t, const struct watchpoint *w)
{
	text_style(t, STYLE_HEADING);
	str_printf(&t->line, "%s %u", watch_noun(w), w->number);
	text_style(t, STYLE_PLAIN);
	str_append(&t->line, ": ");
	text_clean(t, w->text);
	str_printf(&t->line, ", %" PRIu64 " byte%s at 0x%" PRIx64, w->size, w->size == 1 ? "" : "s",
	           w->addr);
	if (w->task) {
		str_append(&t->line, ", task ");
		text_clean(t, w->task);
	}
	rule(t, w->rule.condition, w->rule.skip, w->rule.every);
	if (!w->enabled)
		str_append(&t->line, ", disabled");
	if (w->hits.n) {
		str_append(&t->line, ", ");
		text_count(t, w->hits.n, "hit");
	}
	if (w->hits.unchanged) {
		str_append(&t->line, ", ");
		text_count(t, w->hits.unchanged, "write");
		str_append(&t->line, " of the same value");
	}
	text_end_line(t);
	str_append(&t->line, "    value: ");
	text_clean(t, w->value);
	text_end_line(t);
	text_problem(t, "    ", w->note);
	unreadable(t, w->hits.problem, w->hits.unreadable);
}

static void watchpoints_text(struct text *t, const void *part)
{
	const struct watchpoint_list *watches = part;

	for (size_t i = 0; i < watches->n; i++)
		watchpoints_text_line(t, watches->list[i]);
}

static void put_breakpoint(struct json_writer *w, const struct breakpoint *bp)
{
	json_open_object(w, NULL);
	json_put_int(w, "number", bp->number);
	json_put_text(w, "place", bp->text);
	json_put_text(w, "event",
	              bp->event ? event_break_name(event_break_kind_of(bp->event)) : NULL);
	json_put_text(w, "log", bp->log);
	json_put_text(w, "task", bp->task);
	json_put_text(w, "condition", bp->condition);
	json_put_int(w, "after", (int64_t)bp->skip);
	out_json_number_if(w, "every", bp->every != 0, bp->every);
	json_put_int(w, "hits", (int64_t)bp->hits);
	json_put_bool(w, "enabled", bp->enabled);
	json_put_bool(w, "once", bp->temporary);
	json_put_bool(w, "pending", bp->pending);
	json_put_text(w, "note", bp->note);
	json_put_int(w, "unreadable", (int64_t)bp->unreadable);
	json_put_text(w, "problem", bp->problem);
	json_open_array(w, "places");
	for (size_t i = 0; i < bp->nplaces; i++) {
		const struct breakpoint_place *p = &bp->places[i];

		json_open_object(w, NULL);
		json_put_address(w, "address", p->addr);
		json_put_text(w, "function", p->function);
		json_put_text(w, "file", p->file);
		out_json_number_if(w, "line", p->line != 0, p->line);
		json_put_bool(w, "inlined", p->inlined);
		json_close_object(w);
	}
	json_close_array(w);
	json_close_object(w);
}

static void breakpoints_json(struct json_writer *w, const void *part)
{
	const struct breakpoint_list *b = part;

	json_open_array(w, "breakpoints");
	for (size_t i = 0; i < b->n; i++)
		put_breakpoint(w, b->list[i]);
	json_close_array(w);
}

static void put_watchpoint(struct json_writer *w, const struct watchpoint *watch)
{
	json_open_object(w, NULL);
	json_put_int(w, "number", watch->number);
	json_put_text(w, "expression", watch->text);
	json_put_address(w, "address", watch->addr);
	json_put_int(w, "size", (int64_t)watch->size);
	json_put_text(w, "task", watch->task);
	json_put_text(w, "value", watch->value);
	json_put_text(w, "access", watch_kind_name(watch->kind));
	json_put_text(w, "condition", watch->rule.condition);
	json_put_int(w, "after", (int64_t)watch->rule.skip);
	out_json_number_if(w, "every", watch->rule.every != 0, watch->rule.every);
	json_put_int(w, "hits", (int64_t)watch->hits.n);
	json_put_int(w, "unchanged", (int64_t)watch->hits.unchanged);
	json_put_bool(w, "enabled", watch->enabled);
	json_put_text(w, "note", watch->note);
	json_put_int(w, "unreadable", (int64_t)watch->hits.unreadable);
	json_put_text(w, "problem", watch->hits.problem);
	json_close_object(w);
}

static void watchpoints_json(struct json_writer *w, const void *part)
{
	const struct watchpoint_list *watches = part;

	json_open_array(w, "watchpoints");
	for (size_t i = 0; i < watches->n; i++)
		put_watchpoint(w, watches->list[i]);
	json_close_array(w);
}

static const struct part_kind breakpoints_part = { sizeof(struct breakpoint_list), breakpoints_text,
	                                           breakpoints_json };

void part_breakpoints(struct out *o, struct breakpoint *const *list, size_t n)
{
	out_part(o, &breakpoints_part, &(struct breakpoint_list){ list, n });
}

static const struct part_kind watchpoints_part = { sizeof(struct watchpoint_list), watchpoints_text,
	                                           watchpoints_json };

void part_watchpoints(struct out *o, struct watchpoint *const *list, size_t n)
{
	out_part(o, &watchpoints_part, &(struct watchpoint_list){ list, n });
}

/* ---- internal breakpoints ---- */

struct internal_breakpoint_rows {
	const struct internal_breakpoint_row *rows;
	size_t n;
};

static void internal_breakpoints_text(struct text *t, const void *part)
{
	const struct internal_breakpoint_rows *internal = part;

	for (size_t i = 0; i < internal->n; i++) {
		const struct internal_breakpoint_row *row = &internal->rows[i];

		str_printf(&t->line, "0x%012" PRIx64 "  %-12s %s", row->addr,
		           internal_breakpoint_kind_name(row->kind),
		           internal_breakpoint_reason(row->kind));
		text_end_line(t);
	}
	if (!internal->n) {
		str_append(&t->line, "no internal breakpoints");
		text_end_line(t);
	}
}

static void internal_breakpoints_json(struct json_writer *w, const void *part)
{
	const struct internal_breakpoint_rows *internal = part;

	json_open_array(w, "internal_breakpoints");
	for (size_t i = 0; i < internal->n; i++) {
		const struct internal_breakpoint_row *row = &internal->rows[i];

		json_open_object(w, NULL);
		json_put_address(w, "address", row->addr);
		json_put_text(w, "kind", internal_breakpoint_kind_name(row->kind));
		json_put_text(w, "reason", internal_breakpoint_reason(row->kind));
		json_close_object(w);
	}
	json_close_array(w);
}

static const struct part_kind internal_breakpoints_part = {
	.size = sizeof(struct internal_breakpoint_rows),
	.text = internal_breakpoints_text,
	.json = internal_breakpoints_json,
};

void part_internal_breakpoints(struct out *o, const struct internal_breakpoint_row *rows, size_t n)
{
	out_part(o, &internal_breakpoints_part, &(struct internal_breakpoint_rows){ rows, n });
}
