#include "debugger/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugger/base/arena.h"
#include "debugger/base/parallel.h"
#include "debugger/base/path.h"

enum { PART = 1 << 20 /* bytes that a thread reads at a time */ };

void file_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

void file_bytes_free(uint8_t **bytes)
{
	free(*bytes);
}

static bool is_regular(int fd, struct stat *ret)
{
	return fstat(fd, ret) == 0 && S_ISREG(ret->st_mode);
}

/*
 * Opens for reading a file that was found with O_PATH, which does not open it. The link in /proc
 * opens the same file. Without /proc it is opened by name, which may be another file by now: so it
 * is compared with the expected one.
 */
static int reopen(int found, int folder, const char *path, const struct stat *expected)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	char link[64];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	int fd = open(link, flags);
	if (fd >= 0 || access("/proc/self/fd", F_OK) == 0)
		return fd;
	fd = openat(folder, path, flags);
	if (fd < 0 ||
	    (is_regular(fd, &st) && st.st_dev == expected->st_dev && st.st_ino == expected->st_ino))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* Opens what was found, if it is a regular file, and closes found. */
static int open_found(int found, int folder, const char *path)
{
	struct stat st;
	int fd = -1, errnum = EINVAL;

	if (found < 0)
		return -1;
	if (is_regular(found, &st)) {
		fd = reopen(found, folder, path, &st);
		errnum = errno;
	} else if (S_ISLNK(st.st_mode)) {
		errnum = ELOOP;
	}
	close(found);
	errno = errnum;
	return fd;
}

int file_open_regular(const char *path)
{
	return open_found(path_find(path, 0, NULL), AT_FDCWD, path);
}

int file_open_regular_at(int folder, const char *name)
{
	return open_found(openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), folder, name);
}

struct error *file_open(const char *path, int *ret)
{
	int fd = file_open_regular(path);

	if (fd < 0 && errno == EINVAL)
		return error_new(ERR_USAGE, "%s is not a regular file", path);
	if (fd < 0)
		return error_os(errno, "%s", path);
	*ret = fd;
	return NULL;
}

/*
 * Allocates memory for a file. Large files are accessed at random: huge pages avoid most page table
 * walks.
 */
static uint8_t *new_bytes(size_t size)
{
	enum { HUGE_PAGE = 2 << 20 };
	uint8_t *data;

	if (size < HUGE_PAGE) {
		data = malloc(size);
	} else {
		size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
		data = aligned_alloc(HUGE_PAGE, size);
		if (data)
			madvise(data, size, MADV_HUGEPAGE);
	}
	if (!data)
		out_of_memory();
	return data;
}

/* A file that is being read by several threads. */
struct parts {
	int fd;
	uint8_t *data;
	size_t size;
	atomic_size_t next; /* first byte that no thread reads yet */
	atomic_size_t end;  /* end of the bytes that could be read */
};

static size_t read_part(int fd, uint8_t *data, size_t at, size_t end)
{
	while (at < end) {
		ssize_t n = pread(fd, data + at, end - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	return at;
}

static void *read_parts(void *arg)
{
	struct parts *p = arg;
	size_t at;

	while ((at = atomic_fetch_add(&p->next, PART)) < p->size) {
		size_t end = at + PART < p->size ? at + PART : p->size;
		size_t got = read_part(p->fd, p->data, at, end), known = p->end;

		while (got < end && got < known &&
		       !atomic_compare_exchange_weak(&p->end, &known, got))
			;
	}
	return NULL;
}

struct error *file_read(int fd, const char *name, size_t max, uint8_t **ret, size_t *size)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return error_os(errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return error_new(ERR_USAGE, "%s is not a regular file", name);
	if (st.st_size <= 0 || (uint64_t)st.st_size > max)
		return error_new(ERR_USAGE, "%s is %s", name,
		                 st.st_size > 0 ? "too large" : "empty");
	struct parts p = { .fd = fd, .size = (size_t)st.st_size };
	p.data = new_bytes(p.size);
	p.end = p.size;
	parallel_run(read_parts, &p, p.size / PART + 1);
	*ret = p.data;
	*size = p.end;
	return NULL;
}

struct error *file_write(int fd, const char *name, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_os(n < 0 ? errno : ENOSPC, "%s", name);
		data += n;
		size -= (size_t)n;
	}
	return NULL;
}

void file_raise_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}
