/* save FILE: writes the decoded snapshot to a file. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "commands/files/files.h"
#include "commands/parts/parts.h"
#include "debugger/base/str.h"
#include "runtimes/saved/saved.h"

static struct error *save_run(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	SCRATCH(tmp);
	const struct saved_origin *saved = asyncdbg_origin(s->handle);
	const char *path = output_file_of(call);
	struct stat st = { 0 };
	struct saved_info info = {
		.wants = answer->wants,
		.values = option_has(call, "values") &&
		          (!saved || snapshot_has_values(answer->snapshot)),
		.when = saved ? saved->when : time(NULL),
	};

	TRY(saved_write(path, answer->snapshot, &info));
	/* Standard output has the snapshot: print nothing else to it. */
	if (strcmp(path, "-") == 0)
		return NULL;
	stat(path, &st);
	out_begin(out, answer);
	part_saved(out, &(struct saved_file){ path, (uint64_t)st.st_size, info.values });
	return NULL;
}

static unsigned wants_of(const struct call *call)
{
	return option_has(call, "values") ? WANT_LOCALS : 0;
}

static const struct command_option options[] = {
	OUTPUT_OPTION,
	{ "values", NULL, false, "Also save the values of variables, which may be secret" },
	{ 0 },
};

const struct command save_command = {
	.name = "save",
	.args = "FILE",
	.max_args = 1,
	.last_is_output = true,
	.options = options,
	.check = call_check_output,
	.summary = "Save a snapshot to a small file, to be opened with -c FILE",
	.help = "    Commands that print answer from the file as they would have then, on any\n"
		"    machine. print and whatis need the program's memory, which is not saved.",
	.wants = WANT_TASKS | WANT_STACKS | WANT_LAYOUT | WANT_RUNNING | WANT_LOCAL_NAMES |
	         WANT_OWNERS | WANT_SOCKETS | WANT_JOB_STACKS,
	.wants_of = wants_of,
	.run = save_run,
};
