/*
 * Sockets of a process's network namespace, as the kernel's sock_diag interface reports them
 * (sock_diag(7), linux/inet_diag.h, linux/unix_diag.h). The interface needs no privilege in the
 * namespace of the debugger; entering another one needs CAP_SYS_ADMIN. The process is not stopped
 * or changed.
 */
#ifndef DEBUGGER_LIVE_SOCK_DIAG_H
#define DEBUGGER_LIVE_SOCK_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum sock_diag_table { SOCK_DIAG_TCP4, SOCK_DIAG_TCP6, SOCK_DIAG_UNIX };

/* A socket; its pointers are valid during the call that passes it. */
struct sock_diag {
	uint64_t inode;
	unsigned state;  /* tcp_states.h of the kernel; also of Unix sockets */
	uint64_t unread; /* bytes received and not yet read; of a listening socket, connections */
	/* Members of TCP sockets. */
	const void *local, *peer; /* addresses of 4 or 16 bytes in network order */
	uint16_t local_port, peer_port;
	uint64_t unsent; /* bytes written and not yet acknowledged; of a listening socket 0 */
	/* Numbers from struct tcp_info; -1: unknown. */
	int64_t unacknowledged; /* bytes sent and not yet acknowledged */
	int64_t retransmits;    /* segments sent again in the life of the connection */
	int64_t peer_window;    /* bytes that the peer is ready to receive */
	/* Members of Unix sockets. */
	bool stream;         /* SOCK_STREAM or SOCK_SEQPACKET */
	uint64_t peer_inode; /* 0: none */
	const char *name;    /* not terminated; an abstract one starts with NUL; NULL none */
	size_t name_len;
};

/* Called for each socket. */
typedef void sock_diag_fn(void *arg, const struct sock_diag *s);

/* A netlink socket in the network namespace of the process; -1 where there is none. Close it. */
int sock_diag_open(pid_t pid);
/* Lists all sockets of a table but those in TIME_WAIT. False: the list is missing or cut short. */
bool sock_diag_list(int netlink, enum sock_diag_table table, sock_diag_fn *fn, void *arg);

#endif
