/* Fuzzes saved snapshots: commands print what can be read of an input, in both formats. */
#include "commands/test/fuzz.h"
#include "runtimes/saved/saved.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const lines[] = {
		"async backtrace all -v",
		"async graph",
		"async deadlocks",
		"tasks",
		"check",
		"bt all",
		"threads",
		"runtimes",
		"async task 1",
		"info threads",
		"info layout",
		"locals",
		"tasks --group state",
		"async backtrace all --group -v",
	};
	enum { NLINES = sizeof(lines) / sizeof(*lines) };
	struct asyncdbg_options options = { 0 };
	struct session session;
	char path[FUZZ_PATH];
	int fd = fuzz_file(data, size, path);

	options.file = path;
	struct error *err = saved_is(path) ? session_open(&options, &session) : NULL;
	if (!err && saved_is(path)) {
		/*
		 * Run the first one and a few others, chosen by the input: running all takes too
		 * long.
		 */
		fuzz_execute(&session, lines[0]);
		for (size_t i = 1; i < NLINES; i++) {
			if (i % 4 == size % 4)
				fuzz_execute(&session, lines[i]);
		}
		session_close(&session);
	}
	error_free(err);
	close(fd);
	return 0;
}
