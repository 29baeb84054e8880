/* info sockets: the open sockets as reported by the kernel, who waits for them, and who owns them.
 */
#include "commands/ask/ask.h"
#include "runtimes/analysis/socket_use.h"

static struct error *run(struct session *s, const struct answer *answer, const struct call *call,
                         struct out *out)
{
	const struct snapshot *snap = answer->snapshot;

	(void)s;
	(void)call;
	if (!snap->has_sockets)
		return error_new(
			ERR_STATE,
			"which sockets were open is not known: a core does not say it, and "
			"a saved snapshot only if one of a live process was saved");
	out_begin(out, answer);
	out->ops->sockets(out, socket_uses(&out->arena, snap), snap->nsockets);
	return NULL;
}

const struct command info_sockets_command = {
	.name = "info sockets",
	.summary = "The sockets of a live process, and which tasks wait for them and hold them",
	.help = "    \"nobody\" where no task and no thread in block_on waits for a socket: its "
		"owner\n"
		"    waits for something else, or nobody uses it. SEND-Q and RECV-Q are bytes in\n"
		"    the kernel's queues; of a socket that listens, connections to be accepted.\n"
		"    UNACKED is the part of SEND-Q that was sent and not acknowledged yet, WINDOW\n"
		"    how many bytes the peer is ready to receive, RETRANS how many segments were\n"
		"    sent again so far. A SEND-Q that stays and a WINDOW of 0: the peer does not\n"
		"    read. UNACKED and RETRANS that grow: the network loses what is sent.\n"
		"    HELD BY are the tasks and threads in whose variables a value was found that\n"
		"    owns the socket, whether they wait for it or not, with the path to it;\n"
		"    several where they share it; \"maybe\" where it may have been moved out. "
		"\"-\":\n"
		"    no owner was found.",
	.wants = WANT_TASKS | WANT_RUNNING | WANT_SOCKETS | WANT_DESCRIPTORS,
	.run = run,
};
