/* Expressions and conditions of watchpoints. */
#ifndef COMMANDS_CONTROL_WATCH_CMD_H
#define COMMANDS_CONTROL_WATCH_CMD_H

#include "commands/base/call.h"
#include "runtimes/session/asyncdbg.h"

/*
 * *task: the id of the task in whose future the address of an expression is, of s->answer; NULL:
 * unknown. *owner: that future, and the frame that has it; NULL: it is not asked for. ERR_STATE
 * where the address is on the stack of a thread, only as long as a function runs, and no frame is
 * known or asked for. global: it is watched nevertheless.
 */
struct error *watch_cmd_check_lasts(struct session *s, const char *text, uint64_t addr, bool global,
                                    const char **task, struct watch_owner *owner) MUST_CHECK;

/* Evaluates an expression of print for a condition. in_memory: it has an address. */
typedef struct error *watch_cmd_find(void *arg, const char *expression, struct typed_local *ret)
	MUST_CHECK;

/*
 * Resolves the paths of a condition: the watched place (own, as own_text), and the others by find,
 * which returns their present places. ret->condition, names and nnames; of s->answer. ERR_STATE for
 * a path that has no place, or none that lasts.
 */
struct error *watch_cmd_read_condition(struct session *s, const char *condition,
                                       const struct watch_name *own, watch_cmd_find *find,
                                       void *arg, struct watch_rule *ret) MUST_CHECK;
/* The rule of a watchpoint with another condition, of which paths are those of the frame in focus.
 */
struct error *watch_cmd_change_condition(struct session *s, struct watchpoint *w,
                                         const char *condition) MUST_CHECK;

#endif
