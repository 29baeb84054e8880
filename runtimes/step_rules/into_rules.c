#include "runtimes/step_rules/into_rules.h"

enum {
	MAX_INSTRUCTION = 16, /* bytes */
	ALONE = 1000,         /* instructions */
};

/* ---- an instruction was executed ---- */

/* A call leads far away, and returns to the instruction behind it. */
static bool into_rules_has_called(const struct into_instruction *i)
{
	const uint64_t size = i->returns_to - i->before.pc;

	return i->before.sp - i->now.sp == i->pushed && size && size < MAX_INSTRUCTION &&
	       i->now.pc - i->before.pc >= MAX_INSTRUCTION;
}

enum into_after into_rules_after_instruction(const struct into_instruction *i)
{
	if (i->on_any)
		return INTO_SPAWNED;
	if (into_rules_has_called(i))
		return INTO_CALLED;
	if (i->kind == STEP_INSTRUCTION)
		return INTO_STEPPED;
	if (i->now.pc == i->returns && i->now.sp == i->cfa)
		return INTO_RETURNED;
	return i->ends ? INTO_LINE : INTO_ON;
}

bool into_rules_yields(unsigned nexecuted)
{
	return nexecuted % ALONE == 0;
}

/* ---- a call ---- */

bool into_rules_enters(const struct into_call *c)
{
	return c->kind == STEP_INTO && !c->spawned && c->is_users && c->has_lines &&
	       !c->makes_coroutine;
}

enum into_targets into_rules_targets(const struct into_call *c)
{
	if (c->kind != STEP_INTO)
		return INTO_NO_TARGETS;
	if (!c->spawned)
		return INTO_CALLED_ONES;
	/* The spawn on the line tells what to wait for. */
	return c->is_unseen && !c->on_any ? INTO_SPAWNED_ONES : INTO_NO_TARGETS;
}

bool into_rules_has_returned(const struct into_halt *h)
{
	return h->at_breakpoint && !h->is_numbered && !h->has_entered && !h->has_ended &&
	       h->at.pc == h->expected.pc && h->at.tid == h->expected.tid;
}

enum into_after_call into_rules_after_call(const struct into_call_end *e)
{
	if (e->has_entered)
		return INTO_CALL_ENTERED;
	if (!e->has_returned)
		return INTO_CALL_HALTED;
	if (e->on_any || e->has_targets)
		return INTO_CALL_SPAWNED;
	return e->kind == STEP_INSTRUCTION ? INTO_CALL_STEPPED : INTO_CALL_DONE;
}

/* ---- a function is entered ---- */

bool into_rules_stops_at_body(uint64_t body, bool is_coroutine, bool has_other_lines)
{
	return body && !(is_coroutine && has_other_lines);
}

/* ---- the coroutine is resumed ---- */

bool into_rules_walks_again(const struct into_run *r)
{
	return r->ran && r->was_resumed && !r->has_ended && r->is_alive;
}
