#include "commands/time/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/base/log.h"

enum { TAIL = 64 << 10 /* longer than a line of a trace */ };

struct error *trace_file_open(const char *path, FILE *standard, FILE **ret)
{
	*ret = standard;
	if (!path || strcmp(path, "-") == 0)
		return NULL;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	*ret = fd >= 0 ? fdopen(fd, "w") : NULL;
	return *ret ? NULL : error_os(errno, "%s", path);
}

/* Cuts off what follows the last whole line of a file that could not be written further. */
static void cut_line(int fd)
{
	char tail[TAIL];
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	off_t start = st.st_size > TAIL ? st.st_size - TAIL : 0;
	ssize_t n = pread(fd, tail, sizeof(tail), start);
	const char *end = n > 0 ? memrchr(tail, '\n', (size_t)n) : NULL;
	if (end && ftruncate(fd, start + (end + 1 - tail)) != 0)
		LOG("trace", "cannot cut off half a line");
}

struct error *trace_file_close(FILE *f, bool lines, struct error *err)
{
	int fd = fcntl(fileno(f), F_DUPFD_CLOEXEC, 0);

	/* What is in the buffer belongs behind what could not be written. */
	if (ferror(f))
		__fpurge(f);
	if (fclose(f) != 0 && !err)
		err = error_os(errno, "writing the trace");
	if (err && lines && fd >= 0)
		cut_line(fd);
	file_close(&fd);
	return err;
}
