/* `--exec COMMANDS`: runs other commands for each selected task. */
#ifndef COMMANDS_ASK_EACH_H
#define COMMANDS_ASK_EACH_H

#include "commands/ask/select.h"
#include "commands/base/call.h"
#include "debugger/base/error.h"

/* A row for a command's table of options. */
#define EACH_OPTION                                                                                \
	{                                                                                          \
		"exec", "COMMAND", false, "Run COMMAND for each task; {} stands for its id"        \
	}

/* ERR_USAGE when the text of --exec has no valid commands. */
struct error *each_check(const struct call *call) MUST_CHECK;
/* The union of the wants of the commands, so that one snapshot serves all of them. */
unsigned each_wants(const struct call *call);
/*
 * Runs the commands for each task, then prints which tasks were not shown. A failing command is
 * reported, and the next task follows. The worst status becomes the session's finding. The commands
 * use the current snapshot where it has what they want. The focus is restored afterwards.
 */
struct error *each_run(struct session *s, const struct answer *answer, const struct call *call,
                       const struct selection *chosen, struct out *out) MUST_CHECK;

#endif
