#include "commands/time/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/base/output_format.h"
#include "commands/out/out.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/new_file.h"

enum { TAIL = 64 << 10 /* longer than a line of a trace */ };

const struct file_format *trace_file_format(const struct out *out, bool perfetto)
{
	if (perfetto)
		return &output_format_perfetto;
	return out->format == OUT_TEXT ? &output_format_text_trace : &output_format_json_trace;
}

struct error *trace_file_open(const char *path, const struct file_format *format, FILE *standard,
                              FILE **ret)
{
	struct new_file file CLEANUP(new_file_drop) = { 0 };

	*ret = standard;
	if (!path || strcmp(path, "-") == 0)
		return NULL;
	TRY(new_file_open(path, 0600, format, &file));
	TRY(new_file_show(&file));
	*ret = new_file_take(&file);
	return NULL;
}

/* Cuts off the rest behind the last whole line of a file to which a write has failed. */
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

	/* Buffered text belongs behind the text that could not be written. */
	if (ferror(f))
		__fpurge(f);
	if (fclose(f) != 0 && !err)
		err = error_os(errno, "writing the trace");
	if (err && lines && fd >= 0)
		cut_line(fd);
	file_close(&fd);
	return err;
}
