#include "runtimes/step_rules/target_rules.h"

/* The stack grows down: what the function of the step has called has its frame farther down. */
static bool target_rules_is_inner(const struct target_hit *hit)
{
	return hit->is_own && hit->cfa && hit->cfa < hit->from;
}

enum target_action target_rules_at(enum target_place place, const struct target_hit *hit)
{
	switch (place) {
	case TARGET_CALLED:
		return target_rules_is_inner(hit) ? TARGET_ENTER : TARGET_PASS;
	case TARGET_CLOSURE:
		return target_rules_is_inner(hit) ? TARGET_END : TARGET_PASS;
	case TARGET_SPAWNED:
		return hit->is_new ? TARGET_ENTER : TARGET_PASS;
	case TARGET_SPAWNED_BODY:
		return hit->is_users ? TARGET_END : TARGET_PASS;
	case TARGET_TASK:
		return hit->is_own ? TARGET_ENTER : TARGET_PASS;
	case TARGET_TASK_BODY:
		return hit->is_own && hit->is_users ? TARGET_END : TARGET_PASS;
	}
	return TARGET_PASS;
}
