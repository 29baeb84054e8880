/*
 * File descriptors of a live process as the kernel reports them: /proc/PID/fd, and the socket
 * tables of its network namespace, /proc/PID/net (proc(5)). A core has no such information.
 *
 * While the process runs, it may close a descriptor and reuse its number, so a query after a stop
 * may be too late. These functions return only what was seen during a stop, or what was the same
 * before and after it.
 */
#ifndef DEBUGGER_LIVE_FD_INFO_H
#define DEBUGGER_LIVE_FD_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/target/target.h"

struct descriptor {
	/*
	 * For a socket "tcp", "udp", "unix" or "socket". Otherwise the kernel's text, sanitised: a
	 * path, "pipe:[123]", "anon_inode:[eventfd]".
	 */
	const char *what;
	/*
	 * Formatted as Rust prints a SocketAddr: "127.0.0.1:80", "[::1]:80". For a Unix socket,
	 * local is the path it is bound to, or "@name" if that is abstract, and peer is NULL. NULL:
	 * none or unknown.
	 */
	const char *local, *peer;
	const char *state; /* of a TCP socket: "listen", "established"; NULL: none or unknown */
	uint64_t unsent;   /* internet sockets: bytes written, not yet acknowledged */
	uint64_t unread;   /* internet sockets: bytes received, not yet read */
};

/* A descriptor that refers to a socket. */
struct open_socket {
	int fd;
	struct descriptor is;
};

/*
 * Describes a descriptor. False if nothing is known: no live target, no such descriptor, or the
 * descriptor may have changed since the stop (after the next stop it is known). The strings are in
 * a.
 */
bool fd_info_read(struct target *t, struct arena *a, int fd, struct descriptor *ret);

/*
 * All sockets of a live process in ascending order of descriptors, those that were seen both before
 * the last stop and now. At most MAX_OPEN_SOCKETS; *more: there are others. Returns how many; the
 * list is in a. None for a core.
 */
enum { MAX_OPEN_SOCKETS = 1 << 16 };
size_t fd_info_sockets(struct target *t, struct arena *a, struct open_socket **ret, bool *more);

/*
 * Records what the descriptors refer to now, so that a query after the next stop can tell whether a
 * descriptor is still the same. Without all, only the first 4,096. Does nothing for a core.
 */
void fd_info_look(struct target *t, bool all);

/*
 * Finds the descriptor that an epoll instance of the process watches with this number as its data
 * (/proc/PID/fdinfo). False if there is none or several, or nothing is known, as above.
 */
bool fd_info_by_epoll_data(struct target *t, uint64_t data, int *fd);

/* Frees the records; called by close() of a live target. */
void fd_info_close(struct target *t);

#endif
