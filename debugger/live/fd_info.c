#include "debugger/live/fd_info.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/live/live.h"
#include "debugger/live/socket_table.h"

enum {
	MAX_LINE = 512, /* bytes; longer ones are cut */
	MAX_DESCRIPTORS = 1 << 20,
	MAX_EPOLLS = 1024,    /* a runtime has one, and a program may have one for each CPU */
	MAX_LOOKED = 1 << 12, /* descriptors that are read in advance */
	MAX_LISTED = 1 << 20, /* descriptors that are read to find all sockets */
};

/* Referent of a descriptor or of an epoll instance's entry, and when it was seen. */
struct fd_info_seen {
	const char *text;     /* the link of a descriptor */
	int fd;               /* of an epoll instance's entry; -1: several */
	unsigned first, last; /* generations in which it was first and last seen */
	bool stopped;         /* seen while the process was stopped, in generation last */
};

struct fd_info {
	struct socket_table sockets;
	unsigned sockets_read; /* generation + 1; 0 never */
	struct map by_fd;      /* fd + 1 -> struct fd_info_seen */
	struct map by_data;    /* epoll data -> struct fd_info_seen */
	unsigned all_read;     /* (generation + 1) * 2, + 1 if read during a stop; 0 never */
	bool all_kept;         /* all descriptors were read, not only the first ones */
};

static struct fd_info *fd_info_sockets_of(struct target *t)
{
	if (!t->sockets) {
		t->sockets = calloc(1, sizeof(*t->sockets));
		if (!t->sockets)
			out_of_memory();
	}
	return t->sockets;
}

void fd_info_close(struct target *t)
{
	if (!t->sockets)
		return;
	socket_table_free(&t->sockets->sockets);
	map_free(&t->sockets->by_fd);
	map_free(&t->sockets->by_data);
	free(t->sockets);
	t->sockets = NULL;
}

/* Whether the entry certainly had the same referent during the last stop. */
static bool fd_info_is_sure(const struct target *t, const struct fd_info_seen *seen)
{
	return seen->last == t->generation && (seen->stopped || seen->first < seen->last);
}

/* The thread by which its descriptors are found: the main one has none any more when it has ended.
 */
static pid_t fd_info_reader_of(const struct target *t)
{
	return ((const struct live *)t->private)->reader;
}

/* ---- sockets ---- */

static void read_sockets(struct target *t)
{
	t->sockets->sockets_read = t->generation + 1;
	socket_table_read(&t->sockets->sockets, fd_info_reader_of(t));
}

/*
 * Reads the sockets again unless that was done since the last stop. Not during a stop if it was
 * done before: many sockets would make the stop long.
 */
static void reread_sockets(struct target *t)
{
	const struct fd_info *s = t->sockets;

	if (s->sockets_read != t->generation + 1 && (!t->stopped || !s->sockets_read))
		read_sockets(t);
}

static bool find_socket(struct target *t, uint64_t inode, struct descriptor *ret)
{
	struct fd_info *s = t->sockets;
	bool found = socket_table_find(&s->sockets, inode, ret);

	/* A socket gets its addresses when it connects. */
	if (!found || !ret->peer) {
		reread_sockets(t);
		found = socket_table_find(&s->sockets, inode, ret);
	}
	if (found)
		ret->current = s->sockets_read == t->generation + 1;
	return found;
}

void fd_info_refresh(struct target *t)
{
	if (t->ops->stop) {
		fd_info_sockets_of(t);
		reread_sockets(t);
	}
}

/* ---- descriptors ---- */

/* Records what was seen now for that key. */
static struct fd_info_seen *fd_info_see(struct target *t, struct map *map, uint64_t key,
                                        const char *text, int fd)
{
	struct fd_info_seen *seen = map_get(map, key);
	bool same = seen && seen->fd == fd && strcmp(seen->text, text) == 0;

	if (!same) {
		seen = NEW(&t->arena, struct fd_info_seen);
		seen->text = arena_strdup(&t->arena, text);
		seen->fd = fd;
		seen->first = t->generation;
		map_put(map, key, seen);
	}
	seen->last = t->generation;
	seen->stopped = t->stopped;
	return seen;
}

static const char *fd_info_copy(struct arena *a, const char *text)
{
	return text ? arena_strdup(a, text) : NULL;
}

static struct descriptor copy_socket(struct arena *a, const struct descriptor *from)
{
	struct descriptor d = *from;

	d.what = fd_info_copy(a, d.what);
	d.local = fd_info_copy(a, d.local);
	d.peer = fd_info_copy(a, d.peer);
	return d;
}

static struct descriptor not_listed(const char *what)
{
	return (struct descriptor){
		.what = what, .unacknowledged = -1, .retransmits = -1, .peer_window = -1
	};
}

bool fd_info_read(struct target *t, struct arena *a, int fd, struct descriptor *ret)
{
	char path[64], link[PATH_MAX];
	struct descriptor socket;
	uint64_t inode;

	if (!t->ops->stop || fd < 0)
		return false;
	struct fd_info *s = fd_info_sockets_of(t);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)fd_info_reader_of(t), fd);
	ssize_t len = readlink(path, link, sizeof(link) - 1);
	if (len <= 0 || s->by_fd.n > MAX_DESCRIPTORS)
		return false;
	link[len] = '\0';
	const struct fd_info_seen *seen = fd_info_see(t, &s->by_fd, (uint64_t)fd + 1, link, fd);
	bool is_socket = sscanf(link, "socket:[%" SCNu64 "]", &inode) == 1;
	/* Even if it is not certain now: the result may be needed after the next stop. */
	bool is_listed = is_socket && find_socket(t, inode, &socket);
	if (!fd_info_is_sure(t, seen))
		return false;
	if (is_listed)
		*ret = copy_socket(a, &socket);
	else
		*ret = not_listed(is_socket ? "socket" : str_clean(a, link, (size_t)len));
	return true;
}

/* ---- epoll ---- */

/* Parses lines such as "tfd: N events: HEX data: HEX ...". */
static void read_epoll(struct target *t, int epoll)
{
	char path[64], line[MAX_LINE];
	uint64_t data;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)fd_info_reader_of(t), epoll);
	FILE *file = fopen(path, "re");
	while (file && t->sockets->by_data.n < MAX_DESCRIPTORS && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "tfd: %d events: %*x data: %" SCNx64, &fd, &data) != 2 || !data)
			continue;
		const struct fd_info_seen *seen = map_get(&t->sockets->by_data, data);
		bool several = seen && seen->last == t->generation && seen->fd != fd;
		fd_info_see(t, &t->sockets->by_data, data, "", several ? -1 : fd);
	}
	if (file)
		fclose(file);
}

/*
 * Reads the links of the first descriptors and the entries of epoll instances, once during a stop
 * and once before it.
 */
static void fd_info_look_at(struct target *t, int most)
{
	struct fd_info *s = fd_info_sockets_of(t);
	unsigned now = (t->generation + 1) * 2 + t->stopped;
	char path[64], link[PATH_MAX];
	const struct dirent *entry;
	int epolls = 0;

	if (s->all_read == now && (s->all_kept || most <= MAX_LOOKED))
		return;
	s->all_read = now;
	s->all_kept = most > MAX_LOOKED;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)fd_info_reader_of(t));
	DIR *dir = opendir(path);
	for (int i = 0; dir && i < MAX_DESCRIPTORS && (entry = readdir(dir)); i++) {
		int fd = (int)strtol(entry->d_name, NULL, 10);
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		if (len <= 0)
			continue;
		link[len] = '\0';
		if (i < most)
			fd_info_see(t, &s->by_fd, (uint64_t)fd + 1, link, fd);
		if (strcmp(link, "anon_inode:[eventpoll]") == 0 && epolls++ < MAX_EPOLLS)
			read_epoll(t, fd);
	}
	if (dir)
		closedir(dir);
}

void fd_info_look(struct target *t, bool all)
{
	if (t->ops->stop)
		fd_info_look_at(t, all ? MAX_LISTED : MAX_LOOKED);
}

bool fd_info_by_epoll_data(struct target *t, uint64_t data, int *fd)
{
	if (!t->ops->stop)
		return false;
	fd_info_look_at(t, MAX_LOOKED);
	const struct fd_info_seen *seen = map_get(&t->sockets->by_data, data);
	if (!seen || seen->fd < 0 || !fd_info_is_sure(t, seen))
		return false;
	*fd = seen->fd;
	return true;
}

/* ---- all sockets ---- */

static int by_number(const void *a, const void *b)
{
	const struct open_socket *x = a, *y = b;

	return (x->fd > y->fd) - (x->fd < y->fd);
}

size_t fd_info_sockets(struct target *t, struct arena *a, struct open_socket **ret, bool *more)
{
	VEC(struct open_socket) list = { 0 };
	struct descriptor socket;
	uint64_t inode;

	*more = false;
	*ret = NULL;
	if (!t->ops->stop)
		return 0;
	fd_info_look_at(t, MAX_LISTED);
	read_sockets(t);
	for (size_t i = 0; i < t->sockets->by_fd.capacity; i++) {
		const struct fd_info_seen *seen = t->sockets->by_fd.slots[i].value;

		if (!seen || !fd_info_is_sure(t, seen) ||
		    sscanf(seen->text, "socket:[%" SCNu64 "]", &inode) != 1)
			continue;
		*more = list.n == MAX_OPEN_SOCKETS;
		if (*more)
			break;
		bool found = socket_table_find(&t->sockets->sockets, inode, &socket);
		*vec_push(&list) = (struct open_socket){
			seen->fd,
			found ? copy_socket(a, &socket) : not_listed("socket"),
		};
	}
	if (list.n)
		qsort(list.data, list.n, sizeof(*list.data), by_number);
	size_t n = list.n;
	*ret = vec_to_arena(&list, a);
	return n;
}
