#include "runtimes/model/names.h"

#include <string.h>

const char *future_kind_name(enum future_kind kind)
{
	static const char *const names[] = {
		[FUTURE_ASYNC_FN] = "async_fn",
		[FUTURE_ASYNC_BLOCK] = "async_block",
		[FUTURE_ASYNC_CLOSURE] = "async_closure",
		[FUTURE_OTHER] = "future",
	};
	return names[kind];
}

const char *future_kind_of(const struct future *f)
{
	return f->stream ? "stream" : future_kind_name(f->kind);
}

bool edge_is_plain(const char *edge)
{
	return !edge || strcmp(edge, "await") == 0 || strcmp(edge, "next") == 0;
}

const char *future_state_name(enum future_state state)
{
	static const char *const names[] = {
		[FUTURE_STATE_NONE] = NULL,       [FUTURE_UNRESUMED] = "unresumed",
		[FUTURE_SUSPENDED] = "suspended", [FUTURE_RETURNED] = "returned",
		[FUTURE_PANICKED] = "panicked",
	};
	return names[state];
}

const char *branch_name(enum branch branch)
{
	static const char *const names[] = {
		[BRANCH_POLLED] = "polled", [BRANCH_DISABLED] = "disabled", [BRANCH_DONE] = "done",
		[BRANCH_GONE] = "gone",     [BRANCH_HELD] = "held",
	};
	return names[branch];
}

const char *waker_registered_name(enum waker_registered armed)
{
	static const char *const names[] = {
		[WAKER_REGISTERED_UNKNOWN] = "unknown",
		[WAKER_REGISTERED_YES] = "yes",
		[WAKER_REGISTERED_NO] = "no",
	};

	return names[armed];
}

const char *reading_how_name(enum reading_how how)
{
	static const char *const names[] = {
		[READ_STOPPED] = "stopped",
		[READ_LIMITED] = "limited",
		[READ_RUNNING] = "running",
	};

	return names[how];
}

const char *task_state_name(enum task_state state)
{
	static const char *const names[] = {
		[TASK_IDLE] = "idle",           [TASK_SCHEDULED] = "scheduled",
		[TASK_RUNNING] = "running",     [TASK_COMPLETE] = "complete",
		[TASK_CANCELLED] = "cancelled",
	};
	return names[state];
}

const char *completeness_name(enum completeness completeness)
{
	static const char *const names[] = {
		[COMPLETENESS_ALL] = "complete",
		[COMPLETENESS_PART] = "some are missing",
		[COMPLETENESS_REACHED] = "all that queues and wakers lead to",
		[COMPLETENESS_SCANNED] = "found by scan",
	};
	return names[completeness];
}

const char *thread_role_name(enum thread_role role)
{
	static const char *const names[] = {
		[THREAD_OTHER] = "other",
		[THREAD_BLOCK_ON] = "block_on",
		[THREAD_WORKER] = "worker",
		[THREAD_BLOCKING] = "blocking",
	};
	return names[role];
}

const char *row_status_name(enum row_status status)
{
	static const char *const names[] = {
		[ROW_OK] = "ok",
		[ROW_ABSENT] = "absent",
		[ROW_BROKEN] = "broken",
	};
	return names[status];
}

const char *debug_tier_name(enum debug_tier tier)
{
	static const char *const names[] = {
		[TIER_FULL] = "full",
		[TIER_LINES] = "lines",
		[TIER_SYMBOLS] = "symbols",
		[TIER_NONE] = "none",
	};
	return names[tier];
}

const char *signal_name(struct arena *a, int signal)
{
	const char *name = sigabbrev_np(signal);

	return name ? arena_printf(a, "SIG%s", name) : arena_printf(a, "signal %d", signal);
}

const char *holding_role_name(enum holding_role role)
{
	static const char *const names[] = { "lock",  "sender", "receiver",
		                             "waker", "slot",   "descriptor" };

	return names[role];
}

const char *local_uncertainty(const struct local *l)
{
	if (l->passed_in)
		return "as passed in";
	if (l->may_be_lost)
		return "may not have been set since the last await";
	if (l->may_be_unset)
		return "may not have been set";
	if (l->may_be_stale)
		return "a register may have a newer value";
	return l->uncertain ? "may have been moved out" : NULL;
}
