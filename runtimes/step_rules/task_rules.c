#include "runtimes/step_rules/task_rules.h"

#include <string.h>

/* ---- the whole task ---- */

const char *task_rules_type(const char *types, size_t nth, struct arena *a)
{
	static const char between[] = " or ";
	const char *at = types;

	for (; at && nth; nth--) {
		at = strstr(at, between);
		at = at ? at + strlen(between) : NULL;
	}
	if (!at)
		return NULL;
	const char *end = strstr(at, between);
	return end ? arena_strndup(a, at, (size_t)(end - at)) : at;
}

size_t task_rules_find_poll(const struct task_frames *f, bool *found)
{
	size_t frame = 0;

	*found = false;
	for (size_t i = 0; i + 1 < f->n; i++) {
		if (!f->polls_task(f->arg, i))
			continue;
		*found = true;
		frame = i;
	}
	return frame;
}

/* ---- the spawned task ---- */

bool task_rules_takes_spawn(const struct task_spawn *s)
{
	return s->is_own && !s->has_task && s->header;
}

bool task_rules_follows(const struct task_first_poll *p)
{
	return !p->is_followed && p->has_task;
}

enum task_places_action task_rules_places(const struct task_places *p)
{
	if (p->failed && !p->no_hardware)
		return TASK_PLACES_ERROR;
	return p->failed || p->is_unseen ? TASK_PLACES_UNSEEN : TASK_PLACES_KNOWN;
}

const char *task_rules_note(const struct task_end *e, struct arena *a)
{
	const bool left = e->reason == STEP_LINE || e->reason == STEP_RETURNED;

	if (!e->spawned || e->has_task || !left || e->has_note)
		return NULL;
	if (e->unseen)
		return arena_printf(a, "the task spawned by the line was not seen: %s", e->unseen);
	return e->has_foreign ? "the task spawned by the line has no known user code"
	                      : "the line did not spawn a task";
}
