/* What can be watched. */
#ifndef COMMANDS_CONTROL_WATCHING_H
#define COMMANDS_CONTROL_WATCHING_H

#include "commands/base/call.h"

/*
 * ERR_STATE where an address is on the stack of a thread, only as long as a function runs. global:
 * it is watched nevertheless. *task: the id of the task in whose future it is, of s->answer; NULL:
 * unknown.
 */
struct error *watching_check_lasts(struct session *s, uint64_t addr, bool global, const char **task)
	MUST_CHECK;

#endif
