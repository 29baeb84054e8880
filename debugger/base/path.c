#include "debugger/base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "debugger/base/file.h"

enum {
	MAX_LINKS = 40, /* as the kernel's */
	MAX_TRIES = 32, /* of openat2, which gives up where something is renamed meanwhile */
	MAX_REST = 4 * PATH_MAX,
};

/* openat2(2), which the C library does not wrap. */
static int open_resolved(int at, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_PATH | O_CLOEXEC),
		                .resolve = resolve };
	int fd = -1;

	for (unsigned i = 0; i < MAX_TRIES; i++) {
		fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd;
}

/* Whether openat2 failed because there is none: filters of old containers answer EPERM instead. */
static bool lacks_openat2(void)
{
	return errno == ENOSYS || errno == EPERM;
}

/* Takes the next name of *rest, without slashes. False: none is left, or it is too long. */
static bool next_name(const char **rest, char name[NAME_MAX + 1])
{
	const char *start = *rest + strspn(*rest, "/");
	size_t len = strcspn(start, "/");

	if (!len || len > NAME_MAX) {
		errno = len ? ENAMETOOLONG : ENOENT;
		*rest = start;
		return false;
	}
	memcpy(name, start, len);
	name[len] = '\0';
	*rest = start + len + strspn(start + len, "/");
	return true;
}

/* Opens rest below the folder root name by name, through no link; ".." could lead out of it. */
static int open_names(int root, const char *rest, int flags)
{
	char name[NAME_MAX + 1];
	struct stat st;
	int at = fcntl(root, F_DUPFD_CLOEXEC, 0);

	while (at >= 0 && *rest) {
		int before = at;

		if (!next_name(&rest, name) || strcmp(name, "..") == 0) {
			close(before);
			errno = ELOOP;
			return -1;
		}
		at = openat(before, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		int errnum = errno;
		close(before);
		errno = errnum;
	}
	if (at < 0 || fstat(at, &st) != 0)
		return at;
	bool is_link = S_ISLNK(st.st_mode) && !(flags & O_NOFOLLOW);
	if (is_link || ((flags & O_DIRECTORY) && !S_ISDIR(st.st_mode))) {
		close(at);
		errno = is_link ? ELOOP : ENOTDIR;
		return -1;
	}
	return at;
}

static int open_inside(int root, const char *rest, int flags)
{
	int fd = open_resolved(root, rest, flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);

	return fd >= 0 || !lacks_openat2() ? fd : open_names(root, rest, flags);
}

/* ---- the way to a link of /proc ---- */

/* A walk from name to name, as the kernel does it, which ends at a link of /proc. */
struct path_walk {
	int at;
	unsigned links;
	char rest[MAX_REST];
};

/* Whether a link leads where its text does not say: all of /proc, but for these. */
static bool is_magic(int link, const char *name)
{
	static const char *const plain[] = { "self", "thread-self", "net", "mounts" };
	struct statfs fs;

	if (fstatfs(link, &fs) != 0 || fs.f_type != PROC_SUPER_MAGIC)
		return false;
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		if (strcmp(name, plain[i]) == 0)
			return false;
	}
	return true;
}

/* Whether the kernel would follow the link where fs.protected_symlinks is set. */
static bool may_follow(int folder, const struct stat *link)
{
	const mode_t shared = S_ISVTX | S_IWOTH;
	struct stat st;

	return fstat(folder, &st) == 0 && ((st.st_mode & shared) != shared ||
	                                   link->st_uid == geteuid() || link->st_uid == st.st_uid);
}

/* Puts the text of a link in front of the rest of the way. */
static bool path_follow(struct path_walk *w, int link, const char *rest)
{
	char text[MAX_REST];
	size_t len = strlen(rest);
	ssize_t n = readlinkat(link, "", text, PATH_MAX);

	if (n <= 0 || ++w->links > MAX_LINKS || (size_t)n + len + 2 > MAX_REST) {
		errno = n < 0 ? errno : ELOOP;
		return false;
	}
	text[n] = '/';
	memcpy(text + n + 1, rest, len + 1);
	memcpy(w->rest, text, (size_t)n + len + 2);
	if (*text == '/') {
		close(w->at);
		w->at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	return w->at >= 0;
}

/* Walks one name of the path. 1: go on; 0: *ret is the result; -1 with errno. */
static int walk_name(struct path_walk *w, int flags, bool *inside, int *ret)
{
	const char *rest = w->rest;
	char name[NAME_MAX + 1];
	struct stat st;

	/* Nothing is left behind a link to "/". */
	if (!rest[strspn(rest, "/")]) {
		*ret = w->at;
		w->at = -1;
		return 0;
	}
	if (!next_name(&rest, name))
		return -1;
	bool is_last = !*rest;
	int next CLEANUP(file_close) = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0 || fstat(next, &st) != 0)
		return -1;
	if (S_ISLNK(st.st_mode) && !(is_last && (flags & O_NOFOLLOW))) {
		if (!is_magic(next, name)) {
			errno = EACCES;
			return may_follow(w->at, &st) && path_follow(w, next, rest) ? 1 : -1;
		}
		int root = openat(w->at, name, O_PATH | O_CLOEXEC);
		*inside = true;
		*ret = root < 0 || is_last ? root : open_inside(root, rest, flags);
		if (root >= 0 && !is_last)
			close(root);
		return *ret < 0 ? -1 : 0;
	}
	if (is_last && (flags & O_DIRECTORY) && !S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return -1;
	}
	int before = w->at;
	w->at = next;
	next = before;
	memmove(w->rest, rest, strlen(rest) + 1);
	if (!is_last)
		return 1;
	*ret = w->at;
	w->at = -1;
	return 0;
}

static int path_walk(const char *path, int flags, bool *inside)
{
	const int folder = O_PATH | O_DIRECTORY | O_CLOEXEC;
	struct path_walk w = { .at = open(*path == '/' ? "/" : ".", folder) };
	size_t len = strlen(path);
	int ret = -1, more = len && len < PATH_MAX ? 1 : -1;

	if (more > 0)
		memcpy(w.rest, path, len + 1);
	else
		errno = len ? ENAMETOOLONG : ENOENT;
	while (more > 0 && w.at >= 0)
		more = walk_name(&w, flags, inside, &ret);
	int errnum = errno;
	file_close(&w.at);
	errno = errnum;
	return ret;
}

int path_find(const char *path, int flags, bool *inside)
{
	bool unused;
	int fd = open_resolved(AT_FDCWD, path, flags, RESOLVE_NO_MAGICLINKS);

	inside = inside ? inside : &unused;
	*inside = false;
	/* ELOOP: it leads through a link of /proc, or in a circle, which path_walk() finds, too. */
	return fd >= 0 || (errno != ELOOP && !lacks_openat2()) ? fd
	                                                       : path_walk(path, flags, inside);
}

void path_split(struct arena *a, const char *path, const char **folder, const char **name)
{
	const char *slash = strrchr(path, '/');

	*name = slash ? slash + 1 : path;
	*folder = !slash          ? "."
	          : slash == path ? "/"
	                          : arena_printf(a, "%.*s", (int)(slash - path), path);
}

/* ---- folders ---- */

struct error *path_open_own_folder(const char *path, int *ret)
{
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return error_os(errno, "%s", path);
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return error_new(ERR_USAGE, "%s belongs to another user, or others may write to it",
		                 path);
	*ret = fd;
	fd = -1;
	return NULL;
}

void path_make_own_folder(const char *path)
{
	SCRATCH(tmp);
	char *copy = arena_strdup(&tmp, path);
	bool ours = false;
	struct stat st;

	for (char *p = copy; p;) {
		char *slash = strchr(p + 1, '/');

		if (slash)
			*slash = '\0';
		if (ours)
			mkdir(copy, 0700);
		ours = stat(copy, &st) == 0 && st.st_uid == geteuid();
		if (slash)
			*slash = '/';
		p = slash;
	}
}

struct error *path_make_folder(const char *path)
{
	const char *folder, *name;
	SCRATCH(tmp);
	char *copy = arena_strdup(&tmp, path);

	for (size_t len = strlen(copy); len > 1 && copy[len - 1] == '/'; len--)
		copy[len - 1] = '\0';
	path_split(&tmp, copy, &folder, &name);
	int at CLEANUP(file_close) = path_find(folder, O_DIRECTORY, NULL);
	if (at < 0 || (*name && mkdirat(at, name, 0700) != 0 && errno != EEXIST))
		return error_os(errno, "%s", path);
	return NULL;
}
