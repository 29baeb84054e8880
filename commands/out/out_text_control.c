/* A program under control, and its breakpoints, as text. */
#include <inttypes.h>
#include <time.h>

#include "commands/base/seen_variables.h"
#include "commands/out/out_text.h"
#include "commands/out/stopped.h"
#include "runtimes/model/names.h"

enum { PLACES = 20 /* shown of one breakpoint */, SIGNALS = 64 };

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
		str_printf(&t->line, "process %d was ended by %s", (int)s->pid,
		           signal_name(&tmp, why->signal));
		break;
	case CONTROL_EXEC:
		str_printf(&t->line, "process %d runs another program now", (int)s->pid);
		break;
	default:
		str_printf(&t->line, "process %d: %s", (int)s->pid, stopped_reason_name(s));
		break;
	}
}

/* How often it was polled meanwhile, and where the step went to. */
static void step(struct text *t, const struct stopped *s)
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

static void watched_value(struct text *t, const char *what, const char *value)
{
	str_printf(&t->line, "    %s: ", what);
	text_clean(t, value);
	text_end_line(t);
}

/* What has been returned, at the end of `finish`. */
static void returned(struct text *t, const struct step_end *end)
{
	if (end->value) {
		watched_value(t, "value returned", end->value);
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

/* What a step has changed, with the old value where that is short. */
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

/* It stops because its condition cannot be read. */
static void undecided(struct text *t, const char *problem)
{
	SCRATCH(tmp);

	if (problem)
		text_problem(
			t, "    ",
			arena_printf(&tmp,
		                     "its condition cannot be read, for which it stops once: %s",
		                     problem));
}

static void watched_values(struct text *t, const struct watchpoint *w)
{
	if (w->ended) {
		text_problem(t, "    ", w->note);
		return;
	}
	if (w->changed)
		watched_value(t, "old", w->old);
	watched_value(t, w->changed ? "new" : "value", w->value);
}

static void also(struct text *t, const char *noun, unsigned number, const char *text)
{
	str_printf(&t->line, "also %s %u: ", noun, number);
	text_clean(t, text);
	text_end_line(t);
}

/* What halts it beside what the headline names. */
static void others(struct text *t, const struct stopped *s)
{
	for (size_t i = 0; i < s->nwatches; i++) {
		const struct watchpoint *w = s->watches[i];

		if (w == s->watch)
			continue;
		also(t, watch_noun(w), w->number, w->text);
		undecided(t, w->undecided ? w->problem : NULL);
		watched_values(t, w);
	}
	for (size_t i = 0; i < s->nbreakpoints; i++) {
		const struct breakpoint *bp = s->breakpoints[i];

		if (bp == s->breakpoint && !s->watch)
			continue;
		also(t, breakpoint_noun(bp), bp->number, bp->text);
		undecided(t, bp->undecided ? bp->problem : NULL);
	}
}

void text_stopped(struct out *o, const struct stopped *s)
{
	struct text *t = (struct text *)o;

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
	step(t, s);
	text_end_line(t);
	undecided(t, !s->watch             ? stopped_problem(s)
	             : s->watch->undecided ? s->watch->problem
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

/* The time of the day here, in microseconds. */
static void append_time(struct text *t, uint64_t when_ns)
{
	const uint64_t second = 1000000000;
	time_t when = (time_t)(when_ns / second);
	struct tm tm;

	if (localtime_r(&when, &tm))
		str_printf(&t->line, "%02d:%02d:%02d.%06u ", tm.tm_hour, tm.tm_min, tm.tm_sec,
		           (unsigned)(when_ns % second / 1000));
}

void text_logged(struct out *o, const struct logged *line)
{
	struct text *t = (struct text *)o;

	append_time(t, line->when_ns);
	if (line->task) {
		str_append(&t->line, "task ");
		text_clean(t, line->task);
	} else {
		str_printf(&t->line, "thread %d", (int)line->tid);
	}
	str_printf(&t->line, ": %s", line->text);
	text_end_line(t);
}

static void breakpoint_places(struct text *t, const struct breakpoint *bp)
{
	for (size_t i = 0; i < bp->nplaces && i < PLACES; i++) {
		const struct breakpoint_place *p = &bp->places[i];

		str_printf(&t->line, "    0x%" PRIx64 " ", p->addr);
		if (p->function)
			text_name(t, p->function);
		text_place(t, p->file, p->line);
		str_append(&t->line, p->inlined ? ", inlined" : "");
		text_end_line(t);
	}
	if (bp->nplaces > PLACES) {
		str_printf(&t->line, "    and %zu more places", bp->nplaces - PLACES);
		text_end_line(t);
	}
}

/* Which hits halt. */
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

static void breakpoint(struct text *t, const struct breakpoint *bp)
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

void text_breakpoints(struct out *o, struct breakpoint *const *list, size_t n)
{
	struct text *t = (struct text *)o;

	for (size_t i = 0; i < n; i++)
		breakpoint(t, list[i]);
	if (!n) {
		str_append(&t->line, "no breakpoints");
		text_end_line(t);
	}
}

void text_signals(struct out *o, const struct control_signals *s, uint64_t which)
{
	struct text *t = (struct text *)o;

	for (int signal = 1; signal <= SIGNALS; signal++) {
		SCRATCH(tmp);
		uint64_t bit = UINT64_C(1) << (signal - 1);

		if (!(which & bit))
			continue;
		str_printf(&t->line, "%-12s %-7s %-8s %s", signal_name(&tmp, signal),
		           s->stop & bit ? "stop" : "nostop", s->print & bit ? "print" : "noprint",
		           s->drop & bit ? "nopass" : "pass");
		text_end_line(t);
	}
}

static void watchpoint(struct text *t, const struct watchpoint *w)
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
	if (w->hits) {
		str_append(&t->line, ", ");
		text_count(t, w->hits, "hit");
	}
	if (w->unchanged) {
		str_append(&t->line, ", ");
		text_count(t, w->unchanged, "write");
		str_append(&t->line, " of the same value");
	}
	text_end_line(t);
	watched_value(t, "value", w->value);
	text_problem(t, "    ", w->note);
	unreadable(t, w->problem, w->unreadable);
}

void text_watchpoints(struct out *o, struct watchpoint *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		watchpoint((struct text *)o, list[i]);
}
