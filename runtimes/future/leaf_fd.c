/* Describes file descriptors at which leaves wait. */
#include "runtimes/future/leaf_fd.h"

#include <string.h>

#include "debugger/base/str.h"
#include "debugger/live/fd_info.h"

const char *leaf_fd_describe(const struct leaf *l, int fd)
{
	struct arena *a = l->d->c->a;
	struct descriptor d;

	wait_int(l, "fd", fd);
	if (!fd_info_read(l->d->c->in->target, a, fd, &d))
		return arena_printf(a, ", fd %d", fd);
	wait_string(l, "descriptor", d.what);
	if (d.local)
		wait_string(l, "local", d.local);
	if (d.peer)
		wait_string(l, "peer", d.peer);
	if (d.local && d.peer)
		return arena_printf(a, ", fd %d, %s -> %s", fd, d.local, d.peer);
	if (d.local || d.peer)
		return arena_printf(a, ", fd %d, %s", fd, d.local ? d.local : d.peer);
	/* The kernel's text for a descriptor that is no socket. */
	if (strpbrk(d.what, ":/"))
		return arena_printf(a, ", fd %d, %s", fd, d.what);
	return arena_printf(a, ", fd %d", fd);
}

/* What tells the direction of an operation: the beginning of its name. */
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
