/* report FILE: writes all data of a snapshot as one page for a browser. */
#include "commands/report/report.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "commands/base/output_format.h"
#include "commands/parts/parts.h"
#include "commands/report/report_data.h"
#include "commands/report/report_page.h"
#include "debugger/base/file.h"
#include "debugger/base/new_file.h"

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

struct error *report_write_file(const char *path, const struct answer *answer)
{
	struct new_file file CLEANUP(new_file_drop) = { 0 };

	TRY(new_file_open(path, 0600, &output_format_page, &file));
	struct error *err = report_write(file.f, answer, time(NULL));
	if (err)
		return err->kind == ERR_OS ? error_wrap(err, "%s", path) : err;
	return new_file_finish(&file);
}

static struct error *run_report(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;
	const char *path = output_file_of(call);
	const struct written written = {
		.path = path,
		.what = { { "task", snap->ntasks }, { "thread", snap->nthreads } },
		.incomplete = !snap->complete,
	};

	(void)s;
	TRY(report_write_file(path, answer));
	part_written(out, answer, &written);
	return NULL;
}

static const struct command_option report_options[] = { OUTPUT_OPTION, { 0 } };

const struct command report_command = {
	.name = "report",
	.args = "FILE.html",
	.max_args = 1,
	.last_is_output = true,
	.options = report_options,
	.check = call_check_output,
	.verbose = true,
	.summary = "Write a self-contained HTML report",
	.help = "    The page has verdicts first, then tasks and their trees, grouped and\n"
		"    searchable, the wait-for graph as a picture, lock owners, and the stacks\n"
		"    of threads. It loads nothing from anywhere. It has variables only with -v.",
	.wants = WANT_TASKS | WANT_RUNNING | WANT_STACKS | WANT_HOLDINGS,
	.run = run_report,
};
