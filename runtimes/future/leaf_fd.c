/* Describes file descriptors at which leaves wait. */
#include "runtimes/future/leaf_fd.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/future/leaf_queue.h"

/*
 * Describes a TCP socket whose peer has not answered yet by the number of SYNs sent. A SYN counts
 * as a byte that is not acknowledged, and no window is known: these numbers tell nothing.
 */
static const char *connecting(const struct leaf *l, int fd, struct descriptor d)
{
	struct target *t = l->d->c->in->target;
	struct arena *a = l->d->c->a;

	if (!leaf_fd_is_connecting(&d) || l->d->c->warm_up)
		return "";
	fd_info_refresh(t);
	if (!fd_info_read(t, a, fd, &d) || !leaf_fd_is_connecting(&d))
		return "";
	wait_string(l, "tcp_state", d.state);
	if (!d.current || d.retransmits < 0)
		return ", connecting";
	wait_int(l, "syns_sent", d.retransmits + 1);
	return leaf_text(l, ", connecting, %s sent",
	                 leaf_count(l, (uint64_t)d.retransmits + 1, "SYN"));
}

bool leaf_fd_is_connecting(const struct descriptor *d)
{
	return d->state && strcmp(d->state, "syn_sent") == 0;
}

const char *leaf_fd_describe(const struct leaf *l, int fd)
{
	struct arena *a = l->d->c->a;
	struct descriptor d;

	wait_int(l, "fd", fd);
	if (!fd_info_read(l->d->c->in->target, a, fd, &d))
		return leaf_text(l, ", fd %d", fd);
	wait_string(l, "descriptor", d.what);
	if (d.local)
		wait_string(l, "local", d.local);
	if (d.peer)
		wait_string(l, "peer", d.peer);
	if (d.local && d.peer)
		return leaf_text(l,
		                 ", fd %d, " MARKED_ADDRESS("%s") " -> " MARKED_ADDRESS("%s") "%s",
		                 fd, d.local, d.peer, connecting(l, fd, d));
	if (d.local || d.peer)
		return leaf_text(l, ", fd %d, " MARKED_ADDRESS("%s"), fd,
		                 d.local ? d.local : d.peer);
	/* The kernel's text for a descriptor that is no socket: "/dev/null", "pipe:[4711]". */
	const char *inode = strstr(d.what, ":[");
	if (inode && isdigit((unsigned char)inode[2]))
		return leaf_text(l, ", fd %d, %.*s%" PRIu64 "]", fd, (int)(inode + 2 - d.what),
		                 d.what, (uint64_t)strtoull(inode + 2, NULL, 10));
	if (strpbrk(d.what, ":/"))
		return leaf_text(l, ", fd %d, %s", fd, d.what);
	return leaf_text(l, ", fd %d", fd);
}

/* Directions of operations, by the beginning of their names. */
static const struct {
	const char *begins, *direction;
} directions[] = {
	{ "Recv", "readable" }, { "Read", "readable" },  { "Accept", "readable" },
	{ "Send", "writable" }, { "Write", "writable" }, { "Connect", "writable" },
};

const char *leaf_fd_direction(const char *operation)
{
	for (size_t i = 0; i < sizeof(directions) / sizeof(*directions); i++) {
		if (str_begins(operation, directions[i].begins))
			return directions[i].direction;
	}
	return NULL;
}

const char *leaf_fd_interest(unsigned interest)
{
	switch (interest & (IO_READS | IO_WRITES)) {
	case IO_READS:
		return "readable";
	case IO_WRITES:
		return "writable";
	case IO_READS | IO_WRITES:
		return "readable or writable";
	default:
		return interest ? "an event" : NULL;
	}
}

const char *leaf_fd_send_queue(const struct leaf *l, int fd)
{
	struct arena *a = l->d->c->a;
	struct descriptor d;

	if (l->d->c->warm_up)
		return "";
	fd_info_refresh(l->d->c->in->target);
	if (!fd_info_read(l->d->c->in->target, a, fd, &d) || !d.current || !d.unsent ||
	    leaf_fd_is_connecting(&d))
		return "";
	wait_int(l, "send_queue", (int64_t)d.unsent);
	if (d.unacknowledged >= 0)
		wait_int(l, "unacknowledged", d.unacknowledged);
	if (d.peer_window >= 0)
		wait_int(l, "peer_window", d.peer_window);
	if (d.retransmits >= 0)
		wait_int(l, "retransmits", d.retransmits);
	return leaf_text(l, ", Send-Q %" PRIu64 "%s", d.unsent,
	                 d.peer_window == 0 ? ", the peer's window is 0" : "");
}
