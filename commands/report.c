/* report FILE: all that is known of a program, as one page for a browser. */
#include "commands/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "commands/command.h"
#include "commands/report_data.h"
#include "commands/report_page.h"
#include "debugger/base/str.h"

static void close_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

struct error *report_write(FILE *f, const struct answer *answer, int64_t written)
{
	errno = 0;
	fwrite(report_page_head, 1, report_page_head_size, f);
	TRY(report_data_write(f, answer, written));
	fwrite(report_page_tail, 1, report_page_tail_size, f);
	if (fflush(f) != 0 || ferror(f))
		return error_os(errno ? errno : EIO, "cannot be written");
	return NULL;
}

/* Takes fd. */
static struct error *write_to(int fd, const char *path, const struct answer *answer, bool sync)
{
	FILE *f CLEANUP(close_file) = fdopen(fd, "w");

	if (!f) {
		struct error *err = error_os(errno, "%s", path);

		close(fd);
		return err;
	}
	struct error *err = report_write(f, answer, time(NULL));
	if (err)
		return err->kind == ERR_OS ? error_wrap(err, "%s", path) : err;
	if (sync && fsync(fd) != 0)
		return error_os(errno, "%s", path);
	return NULL;
}

/* A file of that name is whole at any time: the old one until the new one is complete. */
static struct error *replace_file(const char *path, const struct answer *answer)
{
	SCRATCH(tmp);
	const char *new = arena_printf(&tmp, "%s.%d.new", path, (int)getpid());
	int fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0)
		return error_os(errno, "%s", new);
	struct error *err = write_to(fd, path, answer, true);
	if (!err && rename(new, path) != 0)
		err = error_os(errno, "%s", path);
	if (err)
		unlink(new);
	return err;
}

static void free_text(char **text)
{
	free(*text);
}

static struct error *write_file(const char *path, const struct answer *answer)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return replace_file(path, answer);
	if (S_ISREG(st.st_mode)) {
		/* What a link leads to is replaced, and the link stays: /dev/stdout is one. */
		char *real CLEANUP(free_text) = realpath(path, NULL);

		return replace_file(real ? real : path, answer);
	}
	if (S_ISDIR(st.st_mode))
		return error_os(EISDIR, "%s", path);
	/* A device or a pipe: it must stay one. */
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? error_os(errno, "%s", path) : write_to(fd, path, answer, false);
}

static struct error *run_report(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;
	const char *path = call->args.word[0];
	SCRATCH(tmp);

	(void)s;
	TRY(write_file(path, answer));
	fprintf(out->options.messages, "asyncdbg: wrote %s: %zu task%s, %zu thread%s%s\n",
	        str_clean(&tmp, path, strlen(path)), snap->ntasks, snap->ntasks == 1 ? "" : "s",
	        snap->nthreads, snap->nthreads == 1 ? "" : "s",
	        snap->complete ? "" : "; something is missing, its notes say what");
	return NULL;
}

const struct command report_command = {
	.name = "report",
	.args = "FILE.html",
	.min_args = 1,
	.max_args = 1,
	.verbose = true,
	.summary = "Write all of it to a page for a browser, which needs nothing else",
	.help = "    Verdicts first, then tasks and their trees, grouped and searchable, who "
		"waits\n"
		"    for whom as a picture, who has which lock, threads with their stacks. It\n"
		"    loads nothing from anywhere. Variables are in it with -v only.",
	.wants = WANT_TASKS | WANT_RUNNING | WANT_STACKS | WANT_HOLDINGS,
	.run = run_report,
};
