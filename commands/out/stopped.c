#include "commands/out/stopped.h"

bool stopped_is_step(const struct stopped *s)
{
	return (s->why.reason == CONTROL_BREAKPOINT || s->why.reason == CONTROL_CAUGHT) &&
	       !s->breakpoint && s->step.reason != STEP_NONE && s->step.reason != STEP_BROKEN;
}

const char *stopped_problem(const struct stopped *s)
{
	if (s->breakpoint && s->breakpoint->undecided)
		return s->breakpoint->problem;
	return s->watch && s->watch->undecided ? s->watch->problem : NULL;
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
