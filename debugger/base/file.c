#include "debugger/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugger/base/arena.h"
#include "debugger/base/str.h"

void file_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

void bytes_free(uint8_t **bytes)
{
	free(*bytes);
}

struct error *file_read(int fd, const char *name, size_t max, uint8_t **ret, size_t *size)
{
	struct stat st;
	size_t got = 0;

	if (fstat(fd, &st) != 0)
		return error_os(errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return error_new(ERR_USAGE, "%s is no regular file", name);
	if (st.st_size <= 0 || (uint64_t)st.st_size > max)
		return error_new(ERR_USAGE, "%s is %s", name,
		                 st.st_size > 0 ? "too large" : "empty");
	uint8_t *data = malloc((size_t)st.st_size);
	if (!data)
		out_of_memory();
	while (got < (size_t)st.st_size) {
		ssize_t n = read(fd, data + got, (size_t)st.st_size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	*ret = data;
	*size = got;
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

struct error *new_file_open(const char *path, struct new_file *ret)
{
	STR(temporary);
	int fd;

	str_printf(&temporary, "%s.%d.new", path, (int)getpid());
	fd = open(str_text(&temporary), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_os(errno, "%s", str_text(&temporary));
	ret->f = fdopen(fd, "w");
	ret->path = strdup(path);
	ret->temporary = strdup(str_text(&temporary));
	if (!ret->f || !ret->path || !ret->temporary)
		out_of_memory();
	return NULL;
}

static void forget(struct new_file *file)
{
	free(file->path);
	free(file->temporary);
	*file = (struct new_file){ 0 };
}

struct error *new_file_finish(struct new_file *file)
{
	struct error *err = NULL;

	errno = 0;
	if (ferror(file->f) | fclose(file->f))
		err = error_os(errno ? errno : EIO, "%s", file->temporary);
	else if (rename(file->temporary, file->path) != 0)
		err = error_os(errno, "%s", file->path);
	if (err)
		unlink(file->temporary);
	forget(file);
	return err;
}

void new_file_drop(struct new_file *file)
{
	if (!file->f)
		return;
	fclose(file->f);
	unlink(file->temporary);
	forget(file);
}
