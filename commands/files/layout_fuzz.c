/*
 * Fuzzes layout files. An input is a script that changes records of a program's layout
 * (dwarf/test/edit_records.h). All answers about its tasks must still be valid text and JSON.
 */
#include "commands/test/world.h"
#include "dwarf/store/layout_file.h"
#include "dwarf/test/edit_records.h"

static void *base;
static size_t base_size;

/* Writes the layout of the executable and reads it back. */
static void make_layout(void)
{
	char path[] = "/tmp/layout.XXXXXX", line[4096];
	int fd = mkstemp(path);
	struct asyncdbg_options options = { 0 };
	struct session session;
	enum status status = STATUS_OK;
	struct out_options out_options = { .answers = stderr, .messages = stderr };
	struct out *out = out_text_new(&out_options);
	struct error *err = session_open(&options, &session);

	if (fd < 0 || err)
		fuzz_fail("no layout", path);
	close(fd);
	unlink(path);
	snprintf(line, sizeof(line), "layout '%s' -o '%s'", fuzz_path_of("FUZZ_EXE"), path);
	execute_line(&session, out, line, &status);
	out_free(out);
	session_close(&session);
	struct records *records = records_new();
	err = layout_file_load(path, records);
	unlink(path);
	if (err)
		fuzz_fail("no layout", err->message);
	base = records_save(records, records_identity(records), true, &base_size);
	records_free(records);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	make_layout();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const lines[] = { "async backtrace all -v", "async graph", "tasks",
		                             "bt all", "async task 5 -v" };
	struct asyncdbg_options options;
	struct session session;
	char path[FUZZ_PATH];
	size_t n;
	void *file = edit_file(base, base_size, data, size, &n);
	int fd = fuzz_file(file, n, path);
	struct error *err = fuzz_open(&options, path, &session);

	free(file);
	for (size_t i = 0; !err && i < sizeof(lines) / sizeof(*lines); i++) {
		if (i == 0 || i % 3 == size / EDIT_SIZE % 3)
			fuzz_execute(&session, lines[i]);
	}
	if (!err)
		session_close(&session);
	error_free(err);
	close(fd);
	return 0;
}
