#include "debugger/base/new_file.h"

#define ZLIB_CONST

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <zlib.h>

#include "debugger/base/arena.h"
#include "debugger/base/file.h"
#include "debugger/base/path.h"
#include "debugger/base/str.h"

enum { START = 64 << 10 /* bytes of a file that tell its format */ };

bool file_format_inflate(const uint8_t *start, size_t size, unsigned char *ret, size_t n)
{
	enum { GZIP = 16 + MAX_WBITS };
	z_stream z = {
		.next_in = start, .avail_in = (uInt)size, .next_out = ret, .avail_out = (uInt)n
	};

	if (inflateInit2(&z, GZIP) != Z_OK)
		return false;
	int result = inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	return (result == Z_OK || result == Z_STREAM_END) && !z.avail_out;
}

static char *new_file_copy_text(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		out_of_memory();
	return copy;
}

static void new_file_forget(struct new_file *file)
{
	free(file->path);
	free(file->name);
	if (file->temporary)
		close(file->folder);
	free(file->temporary);
	*file = (struct new_file){ 0 };
}

/* Makes the stream of fd. Takes file, which *ret becomes, and fd: -1 with errno is an error. */
static struct error *new_file_finish_opening(struct new_file *file, int fd, const char *how,
                                             struct new_file *ret)
{
	int errnum = errno;

	file->f = fd < 0 ? NULL : fdopen(fd, how);
	if (!file->f) {
		struct error *err = error_os(fd < 0 ? errnum : errno, "%s", file->path);

		file_close(&fd);
		new_file_forget(file);
		return err;
	}
	*ret = *file;
	return NULL;
}

static struct error *open_standard_output(struct new_file *ret)
{
	struct new_file file = { .path = new_file_copy_text("standard output") };

	return new_file_finish_opening(
		&file, fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), "w", ret);
}

static bool new_file_is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

static struct error *open_null_device(int folder, const char *path, const char *name,
                                      struct new_file *ret)
{
	const int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	struct new_file file = { .path = new_file_copy_text(path) };
	int fd = openat(folder, name, flags);
	struct stat st;

	/* Whoever may write to the folder may have put something else there. */
	if (fd >= 0 && (fstat(fd, &st) != 0 || !new_file_is_null_device(&st))) {
		file_close(&fd);
		fd = -1;
		errno = EINVAL;
	}
	return new_file_finish_opening(&file, fd, "w", ret);
}

/* ---- what may be replaced ---- */

/* NULL: it is a regular file, or the null device. */
static struct error *check_type(const char *path, const struct stat *st)
{
	if (S_ISREG(st->st_mode) || new_file_is_null_device(st))
		return NULL;
	if (S_ISDIR(st->st_mode))
		return error_new(ERR_USAGE, "%s is a directory", path);
	return error_new(ERR_USAGE,
	                 "%s is a %s, and only regular files are written: `-o -` writes to "
	                 "standard output",
	                 path,
	                 S_ISFIFO(st->st_mode)   ? "pipe"
	                 : S_ISSOCK(st->st_mode) ? "socket"
	                                         : "device");
}

static struct error *check_format(int folder, const char *path, const char *name,
                                  const struct file_format *format)
{
	uint8_t *start CLEANUP(file_bytes_free) = malloc(START);
	int fd CLEANUP(file_close) = file_open_regular_at(folder, name);
	size_t n = format->begins ? strlen(format->begins) : 0;

	if (!start)
		out_of_memory();
	ssize_t size = fd < 0 ? -1 : read(fd, start, START);
	if (size >= (ssize_t)n && (!n || memcmp(start, format->begins, n) == 0) &&
	    (!format->is_own || format->is_own(start, (size_t)size)))
		return NULL;
	return error_new(ERR_USAGE,
	                 "%s exists and is not such a file: choose another name, or remove it",
	                 path);
}

static struct error *check_old(int folder, const char *path, const char *name,
                               const struct stat *st, const struct file_format *format)
{
	if (S_ISLNK(st->st_mode))
		return error_new(ERR_USAGE, "%s is a symbolic link, which is not followed there",
		                 path);
	TRY(check_type(path, st));
	return S_ISREG(st->st_mode) && st->st_size ? check_format(folder, path, name, format)
	                                           : NULL;
}

/* ---- opening ---- */

static struct error *create(int folder, const char *path, const char *name, mode_t mode,
                            struct new_file *ret)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	struct new_file file = { .path = new_file_copy_text(path),
		                 .name = new_file_copy_text(name) };
	STR(temporary);

	file.folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	if (file.folder < 0)
		return new_file_finish_opening(&file, -1, "w", ret);
	str_printf(&temporary, "%s.%d.new", name, (int)getpid());
	file.temporary = new_file_copy_text(str_text(&temporary));
	/* An existing one was left by a process that died. */
	unlinkat(folder, file.temporary, 0);
	return new_file_finish_opening(&file, openat(folder, file.temporary, flags, mode), "w",
	                               ret);
}

struct error *new_file_open_at(int folder, const char *name, mode_t mode, struct new_file *ret)
{
	return create(folder, name, name, mode, ret);
}

/*
 * Follows a link that is the path's last name, or returns an error. Links of other users are not
 * followed: a folder such as /tmp may be full of them.
 */
static struct error *follow_link(struct arena *a, const char *path, const struct stat *link,
                                 const char **ret)
{
	struct stat st;

	if (stat(path, &st) == 0)
		TRY(check_type(path, &st));
	if (link->st_uid != geteuid())
		return error_new(
			ERR_USAGE,
			"%s is a symbolic link of another user: name the file that it points to",
			path);
	char *real = realpath(path, NULL);
	if (!real)
		return error_os(errno, "%s leads nowhere", path);
	*ret = arena_strdup(a, real);
	free(real);
	return NULL;
}

static struct error *open_folder(struct arena *a, const char *path, const char **name, int *ret,
                                 bool *inside)
{
	const char *folder;

	path_split(a, path, &folder, name);
	if (!**name || strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0)
		return error_new(ERR_USAGE, "%s is a directory", path);
	*ret = path_find(folder, O_DIRECTORY, inside);
	return *ret < 0 ? error_os(errno, "%s", path) : NULL;
}

struct error *new_file_open(const char *path, mode_t mode, const struct file_format *format,
                            struct new_file *ret)
{
	int folder CLEANUP(file_close) = -1;
	const char *name;
	struct stat st;
	bool inside;
	SCRATCH(tmp);

	if (strcmp(path, "-") == 0)
		return open_standard_output(ret);
	TRY(open_folder(&tmp, path, &name, &folder, &inside));
	bool exists = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (exists && S_ISLNK(st.st_mode) && !inside) {
		TRY(follow_link(&tmp, path, &st, &path));
		file_close(&folder);
		folder = -1;
		TRY(open_folder(&tmp, path, &name, &folder, &inside));
		exists = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	}
	if (exists)
		TRY(check_old(folder, path, name, &st, format));
	if (exists && new_file_is_null_device(&st))
		return open_null_device(folder, path, name, ret);
	TRY(create(folder, path, name, mode, ret));
	ret->is_lasting = true;
	return NULL;
}

/* ---- the end ---- */

static struct error *new_file_move(struct new_file *file)
{
	if (file->temporary &&
	    renameat(file->folder, file->temporary, file->folder, file->name) != 0)
		return error_os(errno, "%s", file->path);
	return NULL;
}

struct error *new_file_show(struct new_file *file)
{
	TRY(new_file_move(file));
	if (file->temporary)
		close(file->folder);
	free(file->temporary);
	file->temporary = NULL;
	return NULL;
}

FILE *new_file_take(struct new_file *file)
{
	FILE *f = file->f;

	new_file_forget(file);
	return f;
}

struct error *new_file_finish(struct new_file *file)
{
	struct error *err = NULL;
	bool failed;

	errno = 0;
	failed = fflush(file->f) != 0 || ferror(file->f);
	failed = failed || (file->is_lasting && file->temporary && fsync(fileno(file->f)) != 0);
	failed |= fclose(file->f) != 0;
	err = failed ? error_os(errno ? errno : EIO, "%s", file->path) : new_file_move(file);
	if (err && file->temporary)
		unlinkat(file->folder, file->temporary, 0);
	new_file_forget(file);
	return err;
}

void new_file_drop(struct new_file *file)
{
	if (!file->f)
		return;
	fclose(file->f);
	if (file->temporary)
		unlinkat(file->folder, file->temporary, 0);
	new_file_forget(file);
}
