/* `--exec COMMANDS`: other commands for each task that was chosen. */
#ifndef COMMANDS_ASK_EACH_H
#define COMMANDS_ASK_EACH_H

#include "commands/ask/select.h"
#include "commands/base/call.h"
#include "debugger/base/error.h"

/* A row of a command's table of options. */
#define EACH_OPTION                                                                                \
	{                                                                                          \
		"exec", "COMMAND", false, "Run COMMAND for each task, {} in it is the task's id"   \
	}

/* ERR_USAGE for commands that are none. */
struct error *each_check(const struct call *call) MUST_CHECK;
/* What the commands want of a snapshot, so that one is enough for all of them. */
unsigned each_wants(const struct call *call);
/*
 * Runs them, and says at the end what was not chosen. An error of one is told, and the next task
 * is taken; the worst is the session's finding. They look at the snapshot at hand as far as it
 * answers them; the focus is afterwards where it was.
 */
struct error *each_run(struct session *s, const struct answer *answer, const struct call *call,
                       const struct selection *chosen, struct out *out) MUST_CHECK;

#endif
