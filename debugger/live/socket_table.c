#include "debugger/live/socket_table.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/str.h"
#include "debugger/live/sock_diag.h"

enum {
	MAX_SOCKETS = 1 << 20, /* of all tables together */
	MAX_LINE = 512,        /* bytes of a line in /proc; longer ones are cut */
};

struct socket_entry {
	struct descriptor is;
	uint64_t inode;
	uint64_t peer_inode; /* of a connected Unix stream; else 0 */
};

static void socket_table_add(struct socket_table *t, const struct socket_entry *e)
{
	if (e->inode)
		map_put(&t->by_inode, e->inode, arena_memdup(&t->memory, e, sizeof(*e)));
}

/* State names, indexed by number: include/net/tcp_states.h of the kernel. */
static const char *const tcp_states[] = {
	NULL,         "established", "syn_sent",     "syn_received", "fin_wait_1",
	"fin_wait_2", "time_wait",   "close",        "close_wait",   "last_ack",
	"listen",     "closing",     "syn_received",
};

static const char *tcp_state(unsigned number)
{
	return number < sizeof(tcp_states) / sizeof(*tcp_states) ? tcp_states[number] : NULL;
}

/* The text of an address, as Rust prints a SocketAddr; NULL where it is all zero: there is none. */
static const char *socket_table_address(struct socket_table *t, const void *bytes, size_t len,
                                        unsigned port)
{
	static const unsigned char zero[16];
	char text[INET6_ADDRSTRLEN];

	if (!port && memcmp(bytes, zero, len) == 0)
		return NULL;
	if (!inet_ntop(len == 4 ? AF_INET : AF_INET6, bytes, text, sizeof(text)))
		return NULL;
	return arena_printf(&t->memory, len == 4 ? "%s:%u" : "[%s]:%u", text, port);
}

/* ---- sock_diag ---- */

static void add_inet(struct socket_table *t, const struct sock_diag *s, size_t len)
{
	const struct socket_entry e = {
		.inode = s->inode,
		.is = { .what = "tcp",
		        .local = socket_table_address(t, s->local, len, s->local_port),
		        .peer = socket_table_address(t, s->peer, len, s->peer_port),
		        .state = tcp_state(s->state),
		        .unsent = s->unsent,
		        .unread = s->unread,
		        .unacknowledged = s->unacknowledged,
		        .retransmits = s->retransmits,
		        .peer_window = s->peer_window },
	};

	t->n++;
	socket_table_add(t, &e);
}

static void add_tcp4(void *arg, const struct sock_diag *s)
{
	add_inet(arg, s, 4);
}

static void add_tcp6(void *arg, const struct sock_diag *s)
{
	add_inet(arg, s, 16);
}

/* The name of a Unix socket as /proc/net/unix prints it: "@name" where it is abstract. */
static const char *unix_name(struct socket_table *t, const char *name, size_t len)
{
	if (!name || !len)
		return NULL;
	if (name[0])
		return str_clean(&t->memory, name, len);
	return arena_printf(&t->memory, "@%s", str_clean(&t->memory, name + 1, len - 1));
}

static void add_unix(void *arg, const struct sock_diag *s)
{
	struct socket_table *t = arg;
	const struct socket_entry e = {
		.inode = s->inode,
		.peer_inode = s->stream ? s->peer_inode : 0,
		.is = { .what = "unix",
		        .local = unix_name(t, s->name, s->name_len),
		        .unread = s->unread,
		        .unacknowledged = -1,
		        .retransmits = -1,
		        .peer_window = -1 },
	};

	t->n++;
	socket_table_add(t, &e);
}

/* ---- /proc ---- */

/*
 * Parses an address as "0100007F:1F90", or with 32 digits: words in the byte order of the machine.
 */
static const char *parse_address(struct socket_table *t, const char *hex)
{
	size_t digits = strcspn(hex, ":");
	unsigned char bytes[16];
	unsigned port;

	if ((digits != 8 && digits != 32) || sscanf(hex + digits, ":%4x", &port) != 1)
		return NULL;
	for (size_t i = 0; i < digits; i += 8) {
		uint32_t word;

		if (sscanf(hex + i, "%8" SCNx32, &word) != 1)
			return NULL;
		memcpy(bytes + i / 2, &word, sizeof(word));
	}
	return socket_table_address(t, bytes, digits / 2, port);
}

/* "sl local_address rem_address st tx:rx timer retransmits uid timeout inode ..." */
static void socket_table_parse_inet(struct socket_table *t, const char *what, const char *line)
{
	struct socket_entry e = {
		.is = { .what = what, .unacknowledged = -1, .retransmits = -1, .peer_window = -1 }
	};
	char local[48], peer[48];
	unsigned state;

	if (sscanf(line, "%*s %47s %47s %x %" SCNx64 ":%" SCNx64 " %*s %*s %*s %*s %" SCNu64, local,
	           peer, &state, &e.is.unsent, &e.is.unread, &e.inode) != 6)
		return;
	e.is.state = strcmp(what, "tcp") == 0 ? tcp_state(state) : NULL;
	e.is.local = parse_address(t, local);
	e.is.peer = parse_address(t, peer);
	socket_table_add(t, &e);
}

/* "Num RefCount Protocol Flags Type St Inode Path", the path only when it has one. */
static void socket_table_parse_unix(struct socket_table *t, const char *what, const char *line)
{
	struct socket_entry e = {
		.is = { .what = what, .unacknowledged = -1, .retransmits = -1, .peer_window = -1 }
	};
	int path = 0;

	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %" SCNu64 " %n", &e.inode, &path) != 1 || !path)
		return;
	size_t len = strcspn(line + path, "\n");
	if (len)
		e.is.local = str_clean(&t->memory, line + path, len);
	socket_table_add(t, &e);
}

/* ---- all tables ---- */

static const struct {
	const char *file, *what;
	void (*parse)(struct socket_table *t, const char *what, const char *line);
	sock_diag_fn *diag; /* NULL: read from /proc alone */
	enum sock_diag_table table;
} tables[] = {
	{ "tcp", "tcp", socket_table_parse_inet, add_tcp4, SOCK_DIAG_TCP4 },
	{ "tcp6", "tcp", socket_table_parse_inet, add_tcp6, SOCK_DIAG_TCP6 },
	{ "udp", "udp", socket_table_parse_inet, NULL, 0 },
	{ "udp6", "udp", socket_table_parse_inet, NULL, 0 },
	{ "unix", "unix", socket_table_parse_unix, add_unix, SOCK_DIAG_UNIX },
};

static void read_file(struct socket_table *t, pid_t pid, size_t i)
{
	char path[64], line[MAX_LINE];

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, tables[i].file);
	FILE *file = fopen(path, "re");
	while (file && t->n < MAX_SOCKETS && fgets(line, sizeof(line), file)) {
		t->n++;
		tables[i].parse(t, tables[i].what, line);
	}
	if (file)
		fclose(file);
}

/* netlink: a socket for sock_diag; -1: there is none. */
static void read_all(struct socket_table *t, pid_t pid, int netlink)
{
	socket_table_free(t);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (netlink >= 0 && tables[i].diag) {
			if (sock_diag_list(netlink, tables[i].table, tables[i].diag, t))
				continue;
			/* The rest of that answer would be taken for the next one. */
			close(netlink);
			netlink = sock_diag_open(pid);
		}
		read_file(t, pid, i);
	}
	if (netlink >= 0)
		close(netlink);
}

void socket_table_read(struct socket_table *t, pid_t pid)
{
	read_all(t, pid, sock_diag_open(pid));
}

void socket_table_read_proc(struct socket_table *t, pid_t pid)
{
	read_all(t, pid, -1);
}

/*
 * Adds what the peer of a connected Unix stream tells: unsent bytes lie in the queue of the peer.
 */
static void add_unix_peer(const struct socket_table *t, const struct socket_entry *e,
                          struct descriptor *ret)
{
	const struct socket_entry *peer =
		e->peer_inode ? map_get(&t->by_inode, e->peer_inode) : NULL;

	if (!peer || peer->peer_inode != e->inode)
		return;
	ret->peer = peer->is.local;
	ret->unsent = peer->is.unread;
}

bool socket_table_find(const struct socket_table *t, uint64_t inode, struct descriptor *ret)
{
	const struct socket_entry *e = map_get(&t->by_inode, inode);

	if (!e)
		return false;
	*ret = e->is;
	add_unix_peer(t, e, ret);
	return true;
}

void socket_table_free(struct socket_table *t)
{
	map_free(&t->by_inode);
	arena_free(&t->memory);
	t->n = 0;
}
