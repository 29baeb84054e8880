/*
 * What the kernel says about the file descriptors of a live process: /proc/PID/fd, and the tables
 * of sockets of its own network namespace, /proc/PID/net (proc(5)). A core has none of it.
 *
 * A descriptor may be closed and its number used again while the process runs, so that asking
 * after a stop may be too late. What is told here was seen during a stop, or the same before it
 * and after it.
 */
#ifndef DEBUGGER_LIVE_FD_INFO_H
#define DEBUGGER_LIVE_FD_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/target/target.h"

struct descriptor {
	/*
	 * "tcp", "udp", "unix" or "socket" of a socket, else the kernel's words, sanitised: a
	 * path, "pipe:[123]", "anon_inode:[eventfd]".
	 */
	const char *what;
	/*
	 * As Rust prints a SocketAddr: "127.0.0.1:80", "[::1]:80". Of a Unix socket the path it is
	 * bound to, or "@name" of an abstract one. NULL: none or unknown; so is the peer of a
	 * Unix socket.
	 */
	const char *local, *peer;
	const char *state; /* of a TCP socket: "listen", "established"; NULL: none or unknown */
	uint64_t unsent; /* bytes in its queues, of internet sockets: written by the process and */
	uint64_t unread; /* not yet acknowledged, received and not yet read by it */
};

/* A descriptor that is a socket. */
struct open_socket {
	int fd;
	struct descriptor is;
};

/*
 * False when nothing is known: no live target, no such descriptor, or it may be another one by now
 * (the next stop will tell). The strings are in a.
 */
bool fd_info_read(struct target *t, struct arena *a, int fd, struct descriptor *ret);

/*
 * All sockets of a live process by number, those that were seen before the last stop and again
 * now; at most MAX_OPEN_SOCKETS: *more says that there are others. Returns how many; the list is in
 * a. None for a core.
 */
enum { MAX_OPEN_SOCKETS = 1 << 16 };
size_t fd_info_sockets(struct target *t, struct arena *a, struct open_socket **ret, bool *more);

/*
 * Looks at the descriptors, so that of one that is asked about only after the next stop it is known
 * what it was before: at the first 4,096, or at all. Nothing for a core.
 */
void fd_info_look(struct target *t, bool all);

/*
 * The descriptor that an epoll instance of the process watches with this number as its data
 * (/proc/PID/fdinfo). False when there is none or several, or as above.
 */
bool fd_info_by_epoll_data(struct target *t, uint64_t data, int *fd);

/* For the close() of a live target. */
void fd_info_close(struct target *t);

#endif
