/*
 * Fuzzes typed input: lines, words, command names, options, completion. Commands that access no
 * file are then run on a hand-made snapshot.
 */
#include "commands/shell/command.h"
#include "commands/test/answer.h"
#include "commands/test/fuzz.h"

/* Whether the command accesses no file. */
static bool is_harmless(const struct words *words)
{
	static const struct command *const others[] = { &save_command, &report_command,
		                                        &diff_command, &layout_command, NULL };
	SCRATCH(tmp);
	struct call call;
	struct error *err = command_find(&tmp, command_table, words, &call);

	/* An error is sanitized when it is printed: there is nothing to check. */
	if (err) {
		error_free(err);
		return true;
	}
	for (size_t i = 0; others[i]; i++) {
		if (call.command == others[i])
			return false;
	}
	for (size_t i = 0; i < call.noptions; i++) {
		const char *arg = call.options[i].option->arg;

		if (arg && strstr(arg, "FILE"))
			return false;
	}
	return true;
}

static void complete(struct arena *a, const struct words *words)
{
	struct words before = { words->word, words->n - 1 };
	const char **found;
	size_t n = command_complete(a, command_table, &before, words->word[words->n - 1], &found);

	for (size_t i = 0; i < n; i++)
		fuzz_check_line(found[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct saved_origin origin = { .file = "input" };
	struct asyncdbg_options options = { 0 };
	struct session session = { .options = &options };
	struct words *words;
	bool harmless = true;
	size_t n = 0;
	SCRATCH(a);
	const char *line = arena_strndup(&a, (const char *)data, size);
	struct error *err = words_split(&a, line, &words, &n);

	error_free(err);
	for (size_t i = 0; i < n; i++) {
		complete(&a, &words[i]);
		harmless &= is_harmless(&words[i]);
	}
	error_free(execute_check_line(line));
	if (harmless) {
		session.handle = asyncdbg_from_snapshot(make_snapshot(), ~0U, &origin);
		fuzz_execute(&session, line);
		session_close(&session);
	}
	return 0;
}
