/* Texts of breakpoints on events. */
#include <string.h>

#include "runtimes/stepping/event_break_private.h"

static const char *const names[EVENT_BREAK_NKINDS] = {
	[EVENT_BREAK_RESUME] = "on-resume",      [EVENT_BREAK_WAKE] = "on-wake",
	[EVENT_BREAK_SPAWN] = "on-spawn",        [EVENT_BREAK_DONE] = "on-done",
	[EVENT_BREAK_DROP] = "on-drop",          [EVENT_BREAK_PANIC] = "panic",
	[EVENT_BREAK_TASK_PANIC] = "task-panic", [EVENT_BREAK_DEADLOCK] = "deadlock"
};

const char *event_break_name(enum event_break_kind kind)
{
	return names[kind];
}

bool event_break_is_catch(enum event_break_kind kind)
{
	return kind >= EVENT_BREAK_PANIC;
}

enum event_break_kind event_break_kind_of(const struct event_break *e)
{
	return e->kind;
}

const char *event_break_task(const struct event_break *e)
{
	return e->task;
}

static const char *describe_panic(const struct event_break *e, struct arena *a)
{
	bool ends = e->kind == EVENT_BREAK_TASK_PANIC;

	return arena_printf(a, "%s%s %s%s%s", e->task ? "task " : "a thread without a task",
	                    e->task ? e->task : "", ends ? "is about to end by a panic" : "panics",
	                    e->message ? ": " : "", e->message ? e->message : "");
}

const char *event_break_describe(const struct event_break *e, const char *by, struct arena *a)
{
	static const char *const words[EVENT_BREAK_NKINDS] = { [EVENT_BREAK_RESUME] = "is polled",
		                                               [EVENT_BREAK_WAKE] = "is woken",
		                                               [EVENT_BREAK_SPAWN] = "is spawned",
		                                               [EVENT_BREAK_DONE] = "has ended",
		                                               [EVENT_BREAK_DROP] = "is dropped" };
	bool is_self = by && e->task && strcmp(by, e->task) == 0;
	const char *who = "";

	if (e->kind == EVENT_BREAK_DEADLOCK)
		return arena_printf(a, "deadlock: %s", e->message ? e->message : "?");
	if (event_break_is_catch(e->kind))
		return describe_panic(e, a);
	if (e->kind == EVENT_BREAK_WAKE || e->kind == EVENT_BREAK_SPAWN) {
		who = by ? arena_printf(a, " by task %s", by) : " by no task";
		who = is_self ? " by itself" : who;
	}
	/* While a future is dropped, tokio has its own task as the one that runs. */
	if (e->kind == EVENT_BREAK_DROP)
		who = arena_printf(a, " before it has returned, %s%s%s", e->message,
		                   by && !is_self ? ", by task " : "", by && !is_self ? by : "");
	return arena_printf(a, "task %s%s%s%s %s%s", e->task ? e->task : "?", e->type ? " (" : "",
	                    e->type ? e->type : "", e->type ? ")" : "", words[e->kind], who);
}
