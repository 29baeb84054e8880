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
#include "debugger/base/str.h"

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
static int reopen(int found, const char *path, const struct stat *expected)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	char link[64];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	int fd = open(link, flags);
	if (fd >= 0 || access("/proc/self/fd", F_OK) == 0)
		return fd;
	fd = open(path, flags);
	if (fd < 0 ||
	    (is_regular(fd, &st) && st.st_dev == expected->st_dev && st.st_ino == expected->st_ino))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

int file_open_regular(const char *path)
{
	int found = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	int fd = -1, errnum = EINVAL;

	if (found < 0)
		return -1;
	if (is_regular(found, &st)) {
		fd = reopen(found, path, &st);
		errnum = errno;
	}
	close(found);
	errno = errnum;
	return fd;
}

struct error *file_open(const char *path, int *ret)
{
	int fd = file_open_regular(path);

	if (fd < 0 && errno == EINVAL)
		return error_new(ERR_USAGE, "%s is no regular file", path);
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
		return error_new(ERR_USAGE, "%s is no regular file", name);
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

static void forget(struct new_file *file)
{
	free(file->path);
	free(file->temporary);
	*file = (struct new_file){ 0 };
}

/* Creates the temporary file; -1 with errno. */
static int open_beside(struct new_file *file, mode_t mode)
{
	STR(name);

	str_printf(&name, "%s.%d.new", file->path, (int)getpid());
	file->temporary = strdup(str_text(&name));
	if (!file->temporary)
		out_of_memory();
	/* An existing one was left by a process that died. */
	unlink(file->temporary);
	return open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

static bool does_begin(const char *path, const char *with)
{
	int fd CLEANUP(file_close) = file_open_regular(path);
	char start[64];
	size_t n = strlen(with);

	return fd >= 0 && n <= sizeof(start) && read(fd, start, n) == (ssize_t)n &&
	       memcmp(start, with, n) == 0;
}

static struct error *open_standard_output(struct new_file *ret)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	struct new_file file = { .path = strdup("standard output") };

	if (!file.path)
		out_of_memory();
	file.f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file.f) {
		forget(&file);
		return error_os(errno, "standard output");
	}
	*ret = file;
	return NULL;
}

struct error *new_file_open(const char *path, mode_t mode, const char *begins, struct new_file *ret)
{
	struct stat st;

	if (strcmp(path, "-") == 0)
		return open_standard_output(ret);
	bool exists = stat(path, &st) == 0;

	if (exists && S_ISREG(st.st_mode) && st.st_size && begins && !does_begin(path, begins))
		return error_new(ERR_USAGE,
		                 "%s exists and is something else: choose another name, or remove "
		                 "it",
		                 path);
	char *real = exists && S_ISREG(st.st_mode) ? realpath(path, NULL) : NULL;
	struct new_file file = { .path = real ? real : strdup(path) };
	int fd;

	if (!file.path)
		out_of_memory();
	if (exists && !S_ISREG(st.st_mode))
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	else
		fd = open_beside(&file, mode);
	file.f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file.f) {
		struct error *err = error_os(errno, "%s", path);

		forget(&file);
		return err;
	}
	*ret = file;
	return NULL;
}

struct error *new_file_finish(struct new_file *file)
{
	struct error *err = NULL;
	bool failed;

	errno = 0;
	failed = fflush(file->f) != 0 || ferror(file->f);
	failed = failed || (file->temporary && fsync(fileno(file->f)) != 0);
	failed |= fclose(file->f) != 0;
	if (failed)
		err = error_os(errno ? errno : EIO, "%s", file->path);
	else if (file->temporary && rename(file->temporary, file->path) != 0)
		err = error_os(errno, "%s", file->path);
	if (err && file->temporary)
		unlink(file->temporary);
	forget(file);
	return err;
}

void new_file_drop(struct new_file *file)
{
	if (!file->f)
		return;
	fclose(file->f);
	if (file->temporary)
		unlink(file->temporary);
	forget(file);
}

void file_raise_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}
