/* A program under control, and its breakpoints, as JSON. */
#include "commands/base/seen_variables.h"
#include "commands/json/out_json.h"
#include "commands/out/stopped.h"
#include "runtimes/model/names.h"

static void put_thread(struct json_writer *w, const struct stopped *s)
{
	if (!s->thread) {
		json_put_null(w, "thread");
		return;
	}
	json_open_object(w, "thread");
	json_put_int(w, "number", s->thread->number);
	json_put_int(w, "tid", s->thread->tid);
	json_put_text(w, "name", s->thread->name);
	json_close_object(w);
}

static void put_step(struct json_writer *w, const struct stopped *s)
{
	const struct step_end *end = &s->step;

	if (end->reason == STEP_NONE) {
		json_put_null(w, "step");
		return;
	}
	json_open_object(w, "step");
	json_put_text(w, "command", step_kind_name(end->kind));
	json_put_text(w, "end", step_reason_name(end->reason));
	json_put_bool(w, "async", end->async);
	json_put_int(w, "polls", (int64_t)end->polls);
	json_put_int(w, "from_tid", end->from);
	json_put_text(w, "note", end->note);
	json_put_text(w, "value", end->value);
	json_put_text(w, "value_type", end->value_type);
	json_put_text(w, "value_problem", end->value_problem);
	json_close_object(w);
}

static void put_event(struct json_writer *w, const struct stopped *s)
{
	const struct event_break *e = s->breakpoint ? s->breakpoint->event : NULL;

	if (!e || !s->event) {
		json_put_null(w, "event");
		return;
	}
	json_open_object(w, "event");
	json_put_text(w, "kind", event_break_name(event_break_kind_of(e)));
	json_put_text(w, "task", event_break_task(e));
	json_put_text(w, "text", s->event);
	json_close_object(w);
}

static void put_watch(struct json_writer *w, const char *key, const struct watchpoint *watch)
{
	json_open_object(w, key);
	json_put_int(w, "number", watch->number);
	json_put_text(w, "expression", watch->text);
	json_put_text(w, "old", watch->old);
	json_put_text(w, "new", watch->value);
	json_put_text(w, "access", watch_kind_name(watch->kind));
	json_put_bool(w, "changed", watch->changed);
	json_put_text(w, "ended", watch->ended ? watch->note : NULL);
	json_close_object(w);
}

/* All that halt it; the first ones are there by themselves, too. */
static void put_hits(struct json_writer *w, const struct stopped *s)
{
	json_open_array(w, "breakpoints");
	for (size_t i = 0; i < s->nbreakpoints; i++)
		json_put_int(w, NULL, s->breakpoints[i]->number);
	json_close_array(w);
	json_open_array(w, "watchpoints");
	for (size_t i = 0; i < s->nwatches; i++)
		put_watch(w, NULL, s->watches[i]);
	json_close_array(w);
}

static void put_changed(struct json_writer *w, const struct stopped *s)
{
	json_open_array(w, "changed");
	for (size_t i = 0; i < s->nchanged; i++) {
		json_open_object(w, NULL);
		out_json_local(w, "variable", s->changed[i].now);
		json_put_text(w, "before", s->changed[i].before);
		json_close_object(w);
	}
	json_close_array(w);
}

void out_json_stopped(struct json_writer *w, const struct stopped *s)
{
	const struct control_stop *why = &s->why;
	const struct breakpoint *bp = s->breakpoint;
	SCRATCH(tmp);

	json_open_object(w, "stopped");
	json_put_text(w, "reason", stopped_reason_name(s));
	json_put_int(w, "pid", s->pid);
	out_json_number_if(w, "breakpoint", bp != NULL, bp ? bp->number : 0);
	json_put_text(w, "problem", stopped_problem(s));
	put_event(w, s);
	if (s->watch)
		put_watch(w, "watchpoint", s->watch);
	put_hits(w, s);
	json_put_text(w, "signal", why->signal ? signal_name(&tmp, why->signal) : NULL);
	out_json_number_if(w, "status", why->reason == CONTROL_EXITED && why->status >= 0,
	                   (uint64_t)why->status);
	json_put_text(w, "task", s->thread ? s->thread->task : NULL);
	put_thread(w, s);
	json_put_text(w, "function", s->function);
	if (s->aliases)
		json_put_text(w, "aliases", s->aliases);
	json_put_text(w, "file", s->file);
	out_json_number_if(w, "line", s->line != 0, s->line);
	json_put_text(w, "source", s->source);
	put_step(w, s);
	put_changed(w, s);
	json_close_object(w);
}

void out_json_logged(struct json_writer *w, const struct logged *line)
{
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

void out_json_breakpoints(struct json_writer *w, struct breakpoint *const *list, size_t n)
{
	json_open_array(w, "breakpoints");
	for (size_t i = 0; i < n; i++)
		put_breakpoint(w, list[i]);
	json_close_array(w);
}

void out_json_signals(struct json_writer *w, const struct control_signals *s, uint64_t which)
{
	enum { SIGNALS = 64 };

	json_open_array(w, "signals");
	for (int signal = 1; signal <= SIGNALS; signal++) {
		SCRATCH(tmp);
		uint64_t bit = UINT64_C(1) << (signal - 1);

		if (!(which & bit))
			continue;
		json_open_object(w, NULL);
		json_put_int(w, "number", signal);
		json_put_text(w, "name", signal_name(&tmp, signal));
		json_put_bool(w, "stop", s->stop & bit);
		json_put_bool(w, "print", s->print & bit);
		json_put_bool(w, "pass", !(s->drop & bit));
		json_close_object(w);
	}
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
	json_put_int(w, "hits", (int64_t)watch->hits);
	json_put_int(w, "unchanged", (int64_t)watch->unchanged);
	json_put_bool(w, "enabled", watch->enabled);
	json_put_text(w, "note", watch->note);
	json_put_int(w, "unreadable", (int64_t)watch->unreadable);
	json_put_text(w, "problem", watch->problem);
	json_close_object(w);
}

void out_json_watchpoints(struct json_writer *w, struct watchpoint *const *list, size_t n)
{
	json_open_array(w, "watchpoints");
	for (size_t i = 0; i < n; i++)
		put_watchpoint(w, list[i]);
	json_close_array(w);
}
