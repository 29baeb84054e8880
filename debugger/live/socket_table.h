/*
 * The sockets of a process's network namespace by inode, as the kernel reports them: by sock_diag
 * (sock_diag.h) where that answers, else from the tables of /proc/PID/net (proc_net(5)), which lack
 * queues of Unix sockets and what TCP knows of its peer.
 */
#ifndef DEBUGGER_LIVE_SOCKET_TABLE_H
#define DEBUGGER_LIVE_SOCKET_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "debugger/live/fd_info.h"

struct socket_table {
	struct map by_inode; /* struct socket_entry */
	struct arena memory; /* of the entries and their strings */
	size_t n;            /* entries read */
};

/* Reads all sockets. The entries of the read before are freed. */
void socket_table_read(struct socket_table *t, pid_t pid);
/* socket_table_read() from /proc alone; for tests. */
void socket_table_read_proc(struct socket_table *t, pid_t pid);
/* The socket of that inode, with strings that live until the next read; false: there is none. */
bool socket_table_find(const struct socket_table *t, uint64_t inode, struct descriptor *ret);
void socket_table_free(struct socket_table *t);

#endif
