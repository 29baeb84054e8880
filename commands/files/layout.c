/*
 * layout EXE: writes the parts of an executable's debug info that concern its tasks to a small
 * file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/files/files.h"
#include "debugger/base/str.h"
#include "runtimes/inspect/layout_export.h"

static void show_progress(unsigned percent, void *arg)
{
	FILE *f = arg;

	if (!f)
		return;
	fprintf(f, percent < 100 ? "\rreading debug info: %u%%" : "\r\033[K", percent);
	fflush(f);
}

static struct error *layout_run(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	const struct asyncdbg_options options = { .program = call->args.word[0] };
	struct asyncdbg *exe CLEANUP(asyncdbg_closep) = NULL;
	FILE *terminal = isatty(fileno(out->options.messages)) ? out->options.messages : NULL;
	struct warm_up done;
	const char *path = output_file_of(call);
	SCRATCH(tmp);

	(void)s;
	(void)answer;
	TRY(asyncdbg_open(&options, &exe));
	TRY(layout_export_write(asyncdbg_inspector(exe), path, show_progress, terminal, &done));
	fprintf(out->options.messages,
	        "asyncdbg: wrote %s: %zu kinds of tasks, %zu types (%zu in the debug info), "
	        "%" PRIu64 " bytes\n",
	        strcmp(path, "-") == 0 ? "standard output" : str_clean(&tmp, path, strlen(path)),
	        done.tasks, done.written, done.types, done.size);
	return NULL;
}

static const struct command_option layout_options[] = { OUTPUT_OPTION, { 0 } };

const struct command layout_command = {
	.name = "layout",
	.args = "EXE -o FILE",
	.min_args = 1,
	.max_args = 1,
	.options = layout_options,
	.check = call_check_output,
	.summary = "Write a layout file: the part of the debug info that a stripped copy needs",
	.help = "    With --layout FILE, a stripped copy of EXE can then be inspected. Needs an\n"
		"    executable with full debug info, and no process.",
	.offline = true,
	.run = layout_run,
};
