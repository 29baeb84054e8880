/* continue, detach: what users of other debuggers type to let the process run. */
#include "commands/ask/ask.h"

/* A session never keeps the process stopped: it is stopped only while a snapshot is taken. */
static struct error *run_running(struct session *s, const struct answer *answer,
                                 const struct call *call, struct out *out)
{
	enum asyncdbg_kind kind = asyncdbg_kind(s->handle);

	(void)answer;
	if (kind == ASYNCDBG_SAVED || kind == ASYNCDBG_CORE)
		return error_new(ERR_STATE, "a core or a snapshot does not run");
	if (kind == ASYNCDBG_NONE)
		return error_new(ERR_USAGE, "no target: say which with -p PID");
	fprintf(out->options.messages,
	        "asyncdbg: process %d runs: it is stopped only while an answer is read%s\n",
	        (int)asyncdbg_target(s->handle)->pid,
	        call->command == &detach_command ? ", and nothing is attached between them" : "");
	return NULL;
}

const struct command continue_command = {
	.name = "continue",
	.summary = "Says that the process runs: it is stopped only while an answer is read",
	.offline = true,
	.run = run_running,
};

const struct command detach_command = {
	.name = "detach",
	.summary = "The same: between two answers nothing is attached to the process",
	.offline = true,
	.run = run_running,
};
