/* The stop of a debuggee: its reason, its place and what has changed. */
#include <inttypes.h>

#include "commands/base/seen_variables.h"
#include "commands/control/stopped.h"
#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "runtimes/model/names.h"

bool stopped_is_step(const struct stopped *s)
{
	return (s->why.reason == CONTROL_BREAKPOINT || s->why.reason == CONTROL_CAUGHT) &&
	       !s->breakpoint && s->step.reason != STEP_NONE && s->step.reason != STEP_BROKEN;
}

const char *stopped_problem(const struct stopped *s)
{
	if (s->breakpoint && s->breakpoint->undecided)
		return s->breakpoint->problem;
	return s->watch && s->watch->hits.undecided ? s->watch->hits.problem : NULL;
}

const char *stopped_reason_name(const struct stopped *s)
{
	static const char *const names[] = {
		[CONTROL_STARTED] = "started",
		[CONTROL_ATTACHED] = "attached",
		[CONTROL_BREAKPOINT] = "breakpoint",
		[CONTROL_CAUGHT] = "breakpoint",
		[CONTROL_WATCH] = "watchpoint",
		[CONTROL_SIGNAL] = "signal",
		[CONTROL_INTERRUPTED] = "interrupted",
		[CONTROL_STEPPED] = "stepped",
		[CONTROL_EXEC] = "exec",
		[CONTROL_EXITED] = "exited",
		[CONTROL_KILLED] = "killed",
		[CONTROL_GONE] = "gone",
	};

	return stopped_is_step(s) ? step_reason_name(s->step.reason) : names[s->why.reason];
}

static void reason(struct text *t, const struct stopped *s)
{
	const struct control_stop *why = &s->why;
	SCRATCH(tmp);

	switch (why->reason) {
	case CONTROL_BREAKPOINT:
	case CONTROL_CAUGHT:
		if (stopped_is_step(s))
			str_append(&t->line, stopped_reason_name(s));
		else if (s->breakpoint)
			str_printf(&t->line, "breakpoint %u", s->breakpoint->number);
		else
			str_append(&t->line, "breakpoint");
		if (s->event) {
			str_append(&t->line, ": ");
			text_clean(t, s->event);
		}
		break;
	case CONTROL_WATCH:
		str_append(&t->line, s->watch ? watch_noun(s->watch) : "watchpoint");
		if (s->watch) {
			str_printf(&t->line, " %u: ", s->watch->number);
			text_clean(t, s->watch->text);
		}
		break;
	case CONTROL_SIGNAL:
		str_printf(&t->line, "signal %s", signal_name(&tmp, why->signal));
		break;
	case CONTROL_EXITED:
		str_printf(&t->line, "process %d has ended, exit status ", (int)s->pid);
		if (why->status >= 0)
			str_printf(&t->line, "%d", why->status);
		else
			str_append(&t->line, "unknown");
		break;
	case CONTROL_KILLED:
		str_printf(&t->line, "process %d was killed by %s", (int)s->pid,
		           signal_name(&tmp, why->signal));
		break;
	case CONTROL_EXEC:
		str_printf(&t->line, "process %d executes another program now", (int)s->pid);
		break;
	default:
		str_printf(&t->line, "process %d: %s", (int)s->pid, stopped_reason_name(s));
		break;
	}
}

/* Prints how often the future was polled meanwhile, and where the step went. */
static void stopped_text_step(struct text *t, const struct stopped *s)
{
	if (s->step.polls) {
		str_append(&t->line, ", resumed after ");
		text_count(t, s->step.polls, "poll");
	}
	if (s->from && s->thread && s->from != s->thread)
		str_printf(&t->line, " (was #%u)", s->from->number);
	if (s->step.note && s->step.reason != STEP_BROKEN)
		str_printf(&t->line, "; %s", s->step.note);
}

static void stopped_text_watched_value(struct text *t, const char *what, const char *value)
{
	str_printf(&t->line, "    %s: ", what);
	text_clean(t, value);
	text_end_line(t);
}

/* Prints the value returned, at the end of `finish`. */
static void returned(struct text *t, const struct step_exit *end)
{
	if (end->value) {
		stopped_text_watched_value(t, "value returned", end->value);
	} else if (end->value_problem) {
		SCRATCH(tmp);

		text_problem(t, "    ",
		             arena_printf(&tmp, "the value returned is not known: %s",
		                          end->value_problem));
	}
}

enum {
	MAX_CHANGED = 10,     /* lines */
	MAX_BEFORE_SIZE = 40, /* bytes of a value that is shown behind the new one */
};

/* Prints the variables that a step has changed, with the old value where that is short. */
static void changed(struct text *t, const struct stopped *s)
{
	for (size_t i = 0; i < s->nchanged && i < MAX_CHANGED; i++) {
		const struct changed_variable *c = &s->changed[i];

		str_append(&t->line, "    ");
		text_local(t, c->now);
		if (c->before && strlen(c->before) <= MAX_BEFORE_SIZE) {
			str_append(&t->line, ", was ");
			text_clean(t, c->before);
		}
		text_end_line(t);
	}
	if (s->nchanged > MAX_CHANGED) {
		str_printf(&t->line, "    and %zu more have changed: \"locals\" shows all",
		           s->nchanged - MAX_CHANGED);
		text_end_line(t);
	}
}

/* Prints why a condition cannot be read, for which the program stops. */
static void stopped_text_undecided(struct text *t, const char *problem)
{
	SCRATCH(tmp);

	if (problem)
		text_problem(t, "    ",
		             arena_printf(&tmp,
		                          "its condition cannot be read, so it stops once: %s",
		                          problem));
}

static void watched_values(struct text *t, const struct watchpoint *w)
{
	if (w->ended) {
		text_problem(t, "    ", w->note);
		return;
	}
	if (w->hits.changed)
		stopped_text_watched_value(t, "old", w->old);
	stopped_text_watched_value(t, w->hits.changed ? "new" : "value", w->value);
}

static void also(struct text *t, const char *noun, unsigned number, const char *text)
{
	str_printf(&t->line, "also %s %u: ", noun, number);
	text_clean(t, text);
	text_end_line(t);
}

/* Prints the breakpoints and watchpoints that halt it besides the one in the headline. */
static void others(struct text *t, const struct stopped *s)
{
	for (size_t i = 0; i < s->nwatches; i++) {
		const struct watchpoint *w = s->watches[i];

		if (w == s->watch)
			continue;
		also(t, watch_noun(w), w->number, w->text);
		stopped_text_undecided(t, w->hits.undecided ? w->hits.problem : NULL);
		watched_values(t, w);
	}
	for (size_t i = 0; i < s->nbreakpoints; i++) {
		const struct breakpoint *bp = s->breakpoints[i];

		if (bp == s->breakpoint && !s->watch)
			continue;
		also(t, breakpoint_noun(bp), bp->number, bp->text);
		stopped_text_undecided(t, bp->undecided ? bp->problem : NULL);
	}
}

static void stopped_text(struct text *t, const void *part)
{
	const struct stopped *s = part;

	text_style(t, STYLE_HEADING);
	reason(t, s);
	text_style(t, STYLE_PLAIN);
	if (s->function) {
		str_append(&t->line, s->event ? ", in " : ": ");
		text_name(t, s->function);
		text_place(t, s->file, s->line);
		if (s->aliases) {
			str_append(&t->line, " [or ");
			text_clean(t, s->aliases);
			str_append(&t->line, ": they share their code]");
		}
	}
	if (s->thread && s->thread->task) {
		str_append(&t->line, ", task ");
		text_clean(t, s->thread->task);
	}
	if (s->thread) {
		str_printf(&t->line, ", thread #%u", s->thread->number);
		if (s->thread->name) {
			str_append(&t->line, " (");
			text_clean(t, s->thread->name);
			str_append(&t->line, ")");
		}
	}
	stopped_text_step(t, s);
	text_end_line(t);
	stopped_text_undecided(t, !s->watch                  ? stopped_problem(s)
	                          : s->watch->hits.undecided ? s->watch->hits.problem
	                                                     : NULL);
	if (s->watch)
		watched_values(t, s->watch);
	others(t, s);
	returned(t, &s->step);
	changed(t, s);
	if (s->source)
		text_source_line(t, s->line, true, s->source);
	if (s->step.reason == STEP_BROKEN)
		text_problem(t, "", s->step.note);
}

static void stopped_json_thread(struct json_writer *w, const struct stopped *s)
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
	const struct step_exit *end = &s->step;

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

static void stopped_json_event(struct json_writer *w, const struct stopped *s)
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

static void stopped_json_watch(struct json_writer *w, const char *key,
                               const struct watchpoint *watch)
{
	json_open_object(w, key);
	json_put_int(w, "number", watch->number);
	json_put_text(w, "expression", watch->text);
	json_put_text(w, "old", watch->old);
	json_put_text(w, "new", watch->value);
	json_put_text(w, "access", watch_kind_name(watch->kind));
	json_put_bool(w, "changed", watch->hits.changed);
	json_put_text(w, "ended", watch->ended ? watch->note : NULL);
	json_close_object(w);
}

/*
 * All breakpoints and watchpoints that halt the program; the first of each is also a member of its
 * own.
 */
static void stopped_json_hits(struct json_writer *w, const struct stopped *s)
{
	json_open_array(w, "breakpoints");
	for (size_t i = 0; i < s->nbreakpoints; i++)
		json_put_int(w, NULL, s->breakpoints[i]->number);
	json_close_array(w);
	json_open_array(w, "watchpoints");
	for (size_t i = 0; i < s->nwatches; i++)
		stopped_json_watch(w, NULL, s->watches[i]);
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

static void stopped_json(struct json_writer *w, const void *part)
{
	const struct stopped *s = part;
	const struct control_stop *why = &s->why;
	const struct breakpoint *bp = s->breakpoint;
	SCRATCH(tmp);

	json_open_object(w, "stopped");
	json_put_text(w, "reason", stopped_reason_name(s));
	json_put_int(w, "pid", s->pid);
	out_json_number_if(w, "breakpoint", bp != NULL, bp ? bp->number : 0);
	json_put_text(w, "problem", stopped_problem(s));
	stopped_json_event(w, s);
	if (s->watch)
		stopped_json_watch(w, "watchpoint", s->watch);
	stopped_json_hits(w, s);
	json_put_text(w, "signal", why->signal ? signal_name(&tmp, why->signal) : NULL);
	out_json_number_if(w, "status", why->reason == CONTROL_EXITED && why->status >= 0,
	                   (uint64_t)why->status);
	json_put_text(w, "task", s->thread ? s->thread->task : NULL);
	stopped_json_thread(w, s);
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

static const struct part_kind stopped_part = { sizeof(struct stopped), stopped_text, stopped_json };

void part_stopped(struct out *o, const struct stopped *s)
{
	out_part(o, &stopped_part, s);
}
