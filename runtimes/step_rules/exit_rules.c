#include "runtimes/step_rules/exit_rules.h"

#include <string.h>

const char exit_rules_inlined_note[] =
	"its code is inlined into another function: whether it has returned, "
	"is suspended or was dropped is not known";

/* ---- the function returns ---- */

bool exit_rules_is_inlined_poll(const struct exit_code *c)
{
	return c->is_coroutine && (!c->is_instances || !c->polls);
}

enum step_reason exit_rules_reason(const struct exit_code *c)
{
	bool known = c->is_inlined_poll ? c->instance_returned : !exit_rules_is_inlined_poll(c);

	return known ? STEP_RETURNED : STEP_LEFT;
}

enum exit_return exit_rules_at_return(const struct exit_poll *poll)
{
	bool unseen = poll->is_inlined && !poll->has_entries && !poll->later_entries;

	if (!poll->pending)
		return EXIT_RETURNED;
	return !poll->has_address || unseen ? EXIT_LOST : EXIT_SUSPENDED;
}

const char *exit_rules_return_note(enum step_reason reason, bool whole)
{
	if (whole)
		return "its task has finished";
	return reason == STEP_LEFT ? exit_rules_inlined_note : NULL;
}

const char *exit_rules_library_note(bool polls)
{
	return polls ? "no user async function awaits it" : "no user code called it";
}

static bool exit_rules_is_of_task(const struct exit_frames *f, size_t frame)
{
	if (!f->in_task)
		return true;
	for (; frame < f->n; frame++) {
		if (f->polls_users(f->arg, frame, false))
			return true;
	}
	return false;
}

size_t exit_rules_find_caller(const struct exit_frames *f, bool polling)
{
	size_t n = 1;

	while (n < f->n && !f->has_users(f->arg, n))
		n++;
	if (n >= f->n || !exit_rules_is_of_task(f, n))
		return 0;
	return !polling || f->polls_users(f->arg, n, true) ? n : 0;
}

/* ---- the instance is polled again ---- */

bool exit_rules_was_polled(const struct exit_progress *e)
{
	return e->was_suspended || e->polls || !e->active;
}

bool exit_rules_is_replaced(enum instance_state state)
{
	return state == INSTANCE_UNRESUMED;
}

bool exit_rules_is_same_poll(const struct exit_progress *e, pid_t tid, uint64_t cfa)
{
	return e->active && tid == e->tid && cfa == e->cfa;
}

/* ---- its thread ends ---- */

enum { MAX_STACK = 64 << 20 };

bool exit_rules_is_near(uint64_t addr, uint64_t cfa)
{
	return addr - cfa < MAX_STACK;
}

bool exit_rules_is_on_stack(const struct exit_stack *s)
{
	if (!exit_rules_is_near(s->addr, s->cfa))
		return false;
	if (exit_rules_is_near(s->thread_pointer, s->cfa) && s->addr >= s->thread_pointer)
		return false;
	return s->addr < s->end;
}

bool exit_rules_needs_thread(const struct exit_thread *t)
{
	return (t->active || t->leaving || t->on_stack) && !t->on_any;
}

const char *exit_rules_thread_note(const struct exit_thread *t, struct arena *a)
{
	bool goes_on = t->kind == STEP_FINISH || t->kind == STEP_UNTIL;
	unsigned suspended = t->active ? 0 : t->suspended;

	return arena_printf(a,
	                    t->active && !goes_on ? "thread %d has ended in the middle of line %u"
	                    : t->active ? "thread %d has ended in the middle of a step from "
	                                  "line %u"
	                    : suspended ? "thread %d has ended, on whose stack it was "
	                                  "suspended at line %u"
	                                : "thread %d has ended, on whose stack it was "
	                                  "suspended, in a step from line %u",
	                    (int)t->tid, suspended ? suspended : t->line);
}

/* ---- a panic ---- */

bool exit_rules_is_catch(const char *name)
{
	return strstr(name, "panicking::catch_unwind") || strstr(name, "panicking::try") ||
	       strcmp(name, "__rust_try") == 0;
}

bool exit_rules_is_unwound(const struct exit_panic *p)
{
	for (size_t i = 0; i < p->n; i++) {
		uint64_t sp = p->sp(p->arg, i);

		if (i && sp == p->cfa)
			return true;
		if (sp > p->cfa || p->catches(p->arg, i))
			return false;
	}
	return false;
}
