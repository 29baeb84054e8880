/* What can be watched. */
#ifndef COMMANDS_CONTROL_WATCHING_H
#define COMMANDS_CONTROL_WATCHING_H

#include "commands/base/call.h"
#include "runtimes/common/request.h"

/*
 * ERR_STATE where an address is on the stack of a thread, only as long as a function runs. global:
 * it is watched nevertheless. *task: the id of the task in whose future it is, of s->answer; NULL:
 * unknown. *owner: that future; NULL: it is not asked for.
 */
struct error *watching_check_lasts(struct session *s, uint64_t addr, bool global, const char **task,
                                   struct watch_owner *owner) MUST_CHECK;

/* Finds what an expression of print is now, for a condition. in_memory: it has a place. */
typedef struct error *watching_find(void *arg, const char *expression, struct typed_local *ret)
	MUST_CHECK;

/*
 * Finds what the paths of a condition mean: the place of what is watched (own, as own_text), and
 * where find says that others are now. ret->condition, names and nnames; of s->answer. ERR_STATE
 * for a path that has no place, or none that lasts.
 */
struct error *watching_read_condition(struct session *s, const char *condition,
                                      const struct watch_name *own, watching_find *find, void *arg,
                                      struct watch_rule *ret) MUST_CHECK;
/* The rule of a watchpoint with another condition, of which paths are those of the frame in focus.
 */
struct error *watching_change_condition(struct session *s, struct watchpoint *w,
                                        const char *condition) MUST_CHECK;

#endif
