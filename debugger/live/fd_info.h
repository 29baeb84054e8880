/*
 * File descriptors of a live process as the kernel reports them: /proc/PID/fd, and the sockets
 * of its network namespace (socket_table.h). A core has no such information.
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
	 * "tcp", "udp", "unix" or "socket" for a socket. Otherwise the kernel's text, sanitised: a
	 * path, "pipe:[123]", "anon_inode:[eventfd]".
	 */
	const char *what;
	/*
	 * Formatted as Rust prints a SocketAddr: "127.0.0.1:80", "[::1]:80". For a Unix socket, the
	 * path to which it or its peer is bound, or "@name" if that is abstract. NULL: none or
	 * unknown.
	 */
	const char *local, *peer;
	const char *state; /* of a TCP socket: "listen", "established"; NULL: none or unknown */
	/*
	 * Bytes in the kernel's queues; of a listening socket, unread is the number of connections
	 * that are not accepted yet. Unix sockets: 0 where only /proc could be read.
	 */
	uint64_t unsent; /* written, and not yet acknowledged, or not yet read by a Unix peer */
	uint64_t unread; /* received, not yet read */
	/* Numbers of a TCP connection; -1: unknown. */
	int64_t unacknowledged; /* the part of unsent that was sent: the rest waits to be sent */
	int64_t retransmits;    /* segments sent again in the life of the connection */
	int64_t peer_window;    /* bytes that the peer is ready to receive */
	bool current;           /* these numbers were read since the last stop */
};

/* A descriptor that refers to a socket; its numbers are current. */
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
 * Makes the numbers of all sockets current: they are read again unless they were read since the
 * last stop. Not during a stop. It takes about 1.3 microseconds for each socket of the network
 * namespace.
 */
void fd_info_refresh(struct target *t);

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
