/*
 * For fuzzers that read a program: a core and its executable. The environment variables FUZZ_CORE
 * and FUZZ_EXE have their paths (testdata/fuzz/environment.sh unpacks a fixture).
 */
#ifndef COMMANDS_TEST_WORLD_H
#define COMMANDS_TEST_WORLD_H

#include "commands/test/fuzz.h"

static inline const char *fuzz_path_of(const char *variable)
{
	const char *path = getenv(variable);

	if (!path || access(path, R_OK) != 0)
		fuzz_fail("set FUZZ_CORE and FUZZ_EXE", variable);
	return path;
}

/* Opens the core. *options must outlive the session. Returns NULL on success. */
static inline struct error *fuzz_open(struct asyncdbg_options *options, const char *layout,
                                      struct session *ret)
{
	*options = (struct asyncdbg_options){ .file = fuzz_path_of("FUZZ_CORE") };
	options->target.exe = fuzz_path_of("FUZZ_EXE");
	options->inspector.layout = layout;
	return session_open(options, ret);
}

#endif
