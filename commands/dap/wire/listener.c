#include "commands/dap/wire/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "commands/base/words.h"
#include "debugger/base/arena.h"
#include "debugger/base/file.h"
#include "debugger/base/path.h"

enum { ESTABLISHED = 1 /* st of /proc/net/tcp */ };

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

static bool listener_is_path(const char *text)
{
	return strchr(text, '/') != NULL;
}

/* Parses an address of this machine; another machine may not connect. */
static struct error *read_address(const char *text, union address *ret, socklen_t *len)
{
	const char *colon = strrchr(text, ':');
	uint64_t port = 0;

	*ret = (union address){ 0 };
	if (colon)
		TRY(words_number(colon + 1, "a port", 65535, &port));
	size_t host = colon ? (size_t)(colon - text) : 0;
	if ((host == 9 && strncmp(text, "127.0.0.1", host) == 0) ||
	    (host == 9 && strncmp(text, "localhost", host) == 0)) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons((uint16_t)port);
		ret->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		*len = sizeof(ret->v4);
	} else if (host == 5 && strncmp(text, "[::1]", host) == 0) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons((uint16_t)port);
		ret->v6.sin6_addr = in6addr_loopback;
		*len = sizeof(ret->v6);
	} else {
		return error_new(ERR_USAGE,
		                 "--listen takes the path of a socket, such as ./dap.sock, or an "
		                 "address of this machine and a port: 127.0.0.1:4711 or "
		                 "[::1]:4711");
	}
	return NULL;
}

struct error *listener_check(const char *text)
{
	union address address;
	socklen_t len;

	return listener_is_path(text) ? NULL : read_address(text, &address, &len);
}

/* ---- a Unix socket ---- */

/* bind(2) and connect(2) take short paths only, and follow links on the way: this has neither. */
static void name_in_folder(const struct listener *l, union address *ret)
{
	*ret = (union address){ .local.sun_family = AF_UNIX };
	snprintf(ret->local.sun_path, sizeof(ret->local.sun_path), "/proc/self/fd/%d/%s", l->folder,
	         l->name);
}

/* Removes a socket of ours that nobody listens on any more. */
static void remove_stale(const struct listener *l)
{
	union address address;
	struct stat st;

	if (fstatat(l->folder, l->name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(st.st_mode) ||
	    st.st_uid != geteuid())
		return;
	/* A datagram socket: connecting fails either way, and takes no place in the backlog. */
	int fd CLEANUP(file_close) = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	name_in_folder(l, &address);
	if (fd >= 0 && connect(fd, &address.any, sizeof(address.local)) != 0 &&
	    errno == ECONNREFUSED)
		unlinkat(l->folder, l->name, 0);
}

static struct error *open_socket(const char *text, struct listener *l)
{
	const char *folder, *name;
	union address address;
	SCRATCH(tmp);

	path_split(&tmp, text, &folder, &name);
	if (!*name ||
	    strlen(name) >= sizeof(address.local.sun_path) - sizeof("/proc/self/fd/2147483647/"))
		return error_new(ERR_USAGE, "%s: the name of the socket is %s", text,
		                 *name ? "too long" : "missing");
	l->folder = path_find(folder, O_DIRECTORY, NULL);
	if (l->folder < 0)
		return error_os(errno, "%s", text);
	l->name = strdup(name);
	if (!l->name)
		out_of_memory();
	remove_stale(l);
	/* The socket is created with the mode of its inode: nobody else can connect even briefly.
	 */
	name_in_folder(l, &address);
	if (fchmod(l->fd, 0600) == 0 && bind(l->fd, &address.any, sizeof(address.local)) == 0)
		return NULL;
	int errnum = errno;
	free(l->name); /* it is not ours to remove */
	l->name = NULL;
	return error_os(errnum, "%s", text);
}

/* ---- a port ---- */

static void make_token(struct listener *l)
{
	unsigned char bytes[LISTENER_TOKEN / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		abort();
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(l->token + 2 * i, 3, "%02x", bytes[i]);
}

static struct error *open_port(const char *text, struct listener *l, const union address *address,
                               socklen_t len)
{
	union address bound = { 0 };
	socklen_t size = sizeof(bound);
	int yes = 1;

	setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(l->fd, &address->any, len) != 0 || getsockname(l->fd, &bound.any, &size) != 0)
		return error_os(errno, "%s", text);
	l->port = ntohs(bound.any.sa_family == AF_INET ? bound.v4.sin_port : bound.v6.sin6_port);
	make_token(l);
	return NULL;
}

struct error *listener_open(const char *text, struct listener *ret)
{
	struct listener l CLEANUP(listener_close) = { .folder = -1, .fd = -1 };
	union address address = { .any.sa_family = AF_UNIX };
	socklen_t len = 0;

	if (!listener_is_path(text))
		TRY(read_address(text, &address, &len));
	l.fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l.fd < 0)
		return error_os(errno, "%s", text);
	l.is_open = true;
	if (listener_is_path(text))
		TRY(open_socket(text, &l));
	else
		TRY(open_port(text, &l, &address, len));
	if (listen(l.fd, LISTENER_WAITING) != 0)
		return error_os(errno, "%s", text);
	*ret = l;
	l = (struct listener){ 0 };
	return NULL;
}

/* ---- whose client it is ---- */

/* An address as /proc/net/tcp has it: words of memory in hexadecimal, a colon, the port. */
static void print_address(const union address *at, char *text, size_t size)
{
	uint32_t words[4];
	size_t n = at->any.sa_family == AF_INET ? 1 : 4, len = 0;
	unsigned port = ntohs(n == 1 ? at->v4.sin_port : at->v6.sin6_port);

	if (n == 1)
		memcpy(words, &at->v4.sin_addr, 4);
	else
		memcpy(words, &at->v6.sin6_addr, 16);
	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, size - len, "%08" PRIX32, words[i]);
	snprintf(text + len, size - len, ":%04X", port);
}

/*
 * Whether the kernel's table has the peer's end of the connection, established, as a socket of our
 * user. One that was closed has no inode and is shown as root's, though it was another user's.
 */
static bool find_peer(FILE *table, const char *local, const char *peer)
{
	char line[512], a[64], b[64];
	unsigned state, uid;
	unsigned long inode;

	while (fgets(line, sizeof(line), table)) {
		if (sscanf(line, " %*[^:]: %63s %63s %x %*s %*s %*s %u %*s %lu", a, b, &state, &uid,
		           &inode) == 5 &&
		    strcmp(a, peer) == 0 && strcmp(b, local) == 0)
			return state == ESTABLISHED && inode != 0 && uid == geteuid();
	}
	return false;
}

/* The overflow uid stands for every unmapped user in a user namespace: it proves nothing. */
static bool is_overflow_user(uid_t uid)
{
	FILE *f = fopen("/proc/sys/kernel/overflowuid", "re");
	unsigned overflow = 65534;

	if (f) {
		if (fscanf(f, "%u", &overflow) != 1)
			overflow = 65534;
		fclose(f);
	}
	return uid == overflow;
}

static bool is_port_trusted(int fd)
{
	union address here, there;
	socklen_t a = sizeof(here), b = sizeof(there);
	char local[64], peer[64];

	if (is_overflow_user(geteuid()) || getsockname(fd, &here.any, &a) != 0 ||
	    getpeername(fd, &there.any, &b) != 0)
		return false;
	print_address(&here, local, sizeof(local));
	print_address(&there, peer, sizeof(peer));
	FILE *table = fopen(
		here.any.sa_family == AF_INET ? "/proc/self/net/tcp" : "/proc/self/net/tcp6", "re");
	bool found = table && find_peer(table, local, peer);
	if (table)
		fclose(table);
	return found;
}

static bool is_socket_trusted(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

/* ---- clients that wait ---- */

static void remove_waiting(struct listener *l, size_t i)
{
	l->nwaiting--;
	memmove(&l->waiting[i], &l->waiting[i + 1], (l->nwaiting - i) * sizeof(*l->waiting));
}

/* Closes the oldest connection of another user, or the oldest one of all, if there is no room. */
static void make_room(struct listener *l)
{
	size_t i = 0;

	if (l->nwaiting < LISTENER_WAITING)
		return;
	while (i < l->nwaiting && l->waiting[i].is_trusted)
		i++;
	i = i < l->nwaiting ? i : 0;
	close(l->waiting[i].fd);
	remove_waiting(l, i);
}

static struct error *accept_waiting(struct listener *l)
{
	int yes = 1, fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return errno == EINTR || errno == ECONNABORTED || errno == EAGAIN
		               ? NULL
		               : error_os(errno, "waiting for a client");
	make_room(l);
	l->waiting[l->nwaiting++] = (struct waiting_client){
		.fd = fd,
		.is_trusted = l->port ? is_port_trusted(fd) : is_socket_trusted(fd),
	};
	/* Small messages in both directions: Nagle's algorithm delays each answer by 40 ms. */
	if (l->port)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return NULL;
}

/* Index of a client that has sent something, preferably a trusted one; l->nwaiting: none has. */
static size_t find_speaker(const struct listener *l, const struct pollfd *fds)
{
	size_t found = l->nwaiting;

	for (size_t i = 0; i < l->nwaiting; i++) {
		if (fds[i].revents && (found == l->nwaiting || l->waiting[i].is_trusted))
			found = i;
		if (found < l->nwaiting && l->waiting[found].is_trusted)
			break;
	}
	return found;
}

/*
 * A client that connects and says nothing, as a scanner of ports or a browser does, keeps no other
 * one out.
 */
struct error *listener_accept(struct listener *l, int *ret, bool *is_trusted)
{
	for (;;) {
		struct pollfd fds[LISTENER_WAITING + 1];
		size_t n = l->nwaiting;

		TRY(interrupt_check());
		for (size_t i = 0; i < n; i++)
			fds[i] = (struct pollfd){ .fd = l->waiting[i].fd, .events = POLLIN };
		fds[n] = (struct pollfd){ .fd = l->fd, .events = POLLIN };
		if (poll(fds, n + 1, -1) < 0) {
			if (errno != EINTR)
				return error_os(errno, "waiting for a client");
			continue;
		}
		/* A client that has just connected may be trusted, and goes before others. */
		if (fds[n].revents) {
			TRY(accept_waiting(l));
			continue;
		}
		size_t i = find_speaker(l, fds);

		if (i < n) {
			*ret = l->waiting[i].fd;
			*is_trusted = l->waiting[i].is_trusted;
			remove_waiting(l, i);
			return NULL;
		}
	}
}

void listener_close(struct listener *l)
{
	if (!l->is_open)
		return;
	close(l->fd);
	for (size_t i = 0; i < l->nwaiting; i++)
		close(l->waiting[i].fd);
	if (l->name)
		unlinkat(l->folder, l->name, 0);
	file_close(&l->folder);
	free(l->name);
	*l = (struct listener){ 0 };
}

bool listener_knows_token(const struct listener *l, const char *token)
{
	unsigned char different = 0;

	if (!token || !*l->token || strlen(token) != LISTENER_TOKEN)
		return false;
	for (size_t i = 0; i < LISTENER_TOKEN; i++)
		different |= (unsigned char)(token[i] ^ l->token[i]);
	return !different;
}
