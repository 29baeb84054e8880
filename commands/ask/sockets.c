/* info sockets: the open sockets as reported by the kernel, who waits for them, and who owns them.
 */
#include "commands/ask/ask.h"
#include "commands/parts/parts.h"
#include "runtimes/analysis/socket_use.h"

static struct error *sockets_run(struct session *s, const struct answer *answer,
                                 const struct call *call, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;

	(void)s;
	(void)call;
	if (!snap->has_sockets)
		return error_new(ERR_STATE,
		                 "the open sockets are unknown: a core does not have them, and a "
		                 "saved snapshot only if it is of a live process");
	out_begin(out, answer);
	part_sockets(out, socket_uses(&out->arena, snap), snap->nsockets);
	return NULL;
}

const struct command info_sockets_command = {
	.name = "info sockets",
	.summary = "Show the sockets of a live process, and the tasks that wait for or hold them",
	.help = "    WAITED FOR BY is \"nobody\" if no task, and no thread in block_on, waits for\n"
		"    the socket. SEND-Q and RECV-Q are bytes in the kernel's queues; for a\n"
		"    listening socket, pending connections. UNACKED is the part of SEND-Q that\n"
		"    was sent and not yet acknowledged, WINDOW how much the peer is willing to\n"
		"    receive, RETRANS the number of segments retransmitted so far. SEND-Q stays\n"
		"    and WINDOW is 0: the peer does not read. UNACKED and RETRANS grow: the\n"
		"    network loses data.\n"
		"    HELD BY lists the tasks and threads whose variables own the socket,\n"
		"    waiting or not, with the path to it; several if they share it; \"maybe\" if\n"
		"    the value may have been moved out; \"-\" if no owner was found.",
	.wants = WANT_TASKS | WANT_RUNNING | WANT_SOCKETS | WANT_DESCRIPTORS,
	.run = sockets_run,
};
