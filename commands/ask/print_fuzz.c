/*
 * Fuzzes expressions: paths of `print` from the variables of a frame, and from statics. The first
 * byte of an input chooses task and frame.
 */
#include "commands/test/world.h"

static struct session session;
static struct asyncdbg_options options;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct error *err = fuzz_open(&options, NULL, &session);

	(void)argc, (void)argv;
	if (err)
		fuzz_fail("no program", err->message);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { TASKS = 24, FRAMES = 4, FIRST_ID = 3 };
	SCRATCH(a);
	STR(line);

	if (size < 2 || memchr(data, '\n', size) || memchr(data, 0, size))
		return 0;
	const char *path = arena_strndup(&a, (const char *)data + 1, size - 1);
	/* The path must be one word: skip paths with quotes. */
	if (strpbrk(path, "'\""))
		return 0;
	snprintf(session.task, sizeof(session.task), "%d", data[0] % TASKS + FIRST_ID);
	session.frame = data[0] / TASKS % FRAMES;
	str_printf(&line, "print '%s'", path);
	fuzz_execute(&session, line.data);
	return 0;
}
