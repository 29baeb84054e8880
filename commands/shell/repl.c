#include "commands/shell/repl.h"

#include <editline/readline.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/shell/command.h"
#include "commands/shell/execute.h"
#include "commands/shell/prompt_complete.h"
#include "commands/shell/prompt_line.h"
#include "commands/shell/repeat.h"
#include "commands/shell/shell.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/new_file.h"
#include "debugger/base/path.h"

enum { HISTORY_LINES = 1000 };

static const char history_name[] = "history";

/* The folder of the history; NULL when unknown. The XDG standard makes relative paths invalid. */
static const char *history_folder(struct arena *a)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (state && *state == '/')
		return arena_printf(a, "%s/asyncdbg", state);
	if (home && *home == '/')
		return arena_printf(a, "%s/.local/state/asyncdbg", home);
	return NULL;
}

/*
 * libedit opens its file by a name: this one leads to the file that is open already, and nowhere
 * else.
 */
static const char *name_of_open(struct arena *a, int fd)
{
	return arena_printf(a, "/proc/self/fd/%d", fd);
}

/* The history is left out where its folder is not ours: with sudo, $HOME may be another user's. */
static void history_load(void)
{
	SCRATCH(tmp);
	const char *path = history_folder(&tmp);
	int folder CLEANUP(file_close) = -1;
	struct error *err CLEANUP(error_freep) = path ? path_open_own_folder(path, &folder) : NULL;
	int fd CLEANUP(file_close) = folder < 0 ? -1 : file_open_regular_at(folder, history_name);

	if (fd >= 0)
		read_history(name_of_open(&tmp, fd));
}

static void history_save(void)
{
	struct new_file file CLEANUP(new_file_drop) = { 0 };
	SCRATCH(tmp);
	const char *path = history_folder(&tmp);
	int folder CLEANUP(file_close) = -1;

	if (!path)
		return;
	path_make_own_folder(path);
	struct error *err CLEANUP(error_freep) = path_open_own_folder(path, &folder);
	err = err ? err : new_file_open_at(folder, history_name, 0600, &file);
	if (!err && write_history(name_of_open(&tmp, fileno(file.f))) == 0)
		err = new_file_finish(&file);
	if (err)
		LOG("history", "%s", err->message);
}

static void start_editing(void)
{
	rl_readline_name = "asyncdbg";
	rl_catch_signals = 0;
	/* rl_initialize() takes it over. */
	rl_getc_function = prompt_line_getc;
	rl_initialize();
	rl_attempted_completion_function = prompt_complete;
	using_history();
	stifle_history(HISTORY_LINES);
	history_load();
}

static void remember(const char *line)
{
	HIST_ENTRY *last =
		history_length > 0 ? history_get(history_base + history_length - 1) : NULL;

	if (line[strspn(line, " \t")] != '\0' && (!last || strcmp(last->line, line) != 0))
		add_history(line);
}

/* Reads a line from the terminal as it is typed; false: ^C, ^D, or it is too long. */
static bool read_answer(char *line, size_t size)
{
	for (size_t n = 0; n < size && read(STDIN_FILENO, &line[n], 1) == 1; n++) {
		if (line[n] == '\n') {
			line[n] = '\0';
			return true;
		}
	}
	return false;
}

/* Asks again until the answer is yes or no; no answer is a no. */
static bool confirm(const char *question)
{
	char line[LINE_MAX];

	for (;;) {
		fprintf(rl_outstream, "%s (y or n) ", question);
		fflush(rl_outstream);
		if (!read_answer(line, sizeof(line))) {
			fputc('\n', rl_outstream);
			return false;
		}
		const char *word = line + strspn(line, " \t");

		if (strchr("yYnN", *word) && *word)
			return *word == 'y' || *word == 'Y';
		fputs("Please answer y or n.\n", rl_outstream);
	}
}

/*
 * Runs a line with its answer in a pipe, formatted as for a file: without colour and without a
 * width.
 */
static struct error *run_piped(struct session *s, struct out *out, const struct shell_line *line,
                               enum status *status)
{
	const struct out_options options = out->options;
	FILE *input;
	pid_t pid;

	TRY(shell_start(line->shell, &input, &pid));
	if (input) {
		out->options.answers = input;
		out->options.color = out->options.group = false;
		out->options.width = 0;
		execute_line(s, out, line->piped, status);
		out->options = options;
		fclose(input);
	}
	shell_wait(pid);
	/* A closed pipe does not end the session. */
	s->quit = false;
	out->errnum = 0;
	return NULL;
}

static struct error *run_shell(struct session *s, struct out *out, const struct shell_line *line,
                               enum status *status)
{
	pid_t pid;

	if (line->piped)
		return run_piped(s, out, line, status);
	TRY(shell_start(line->shell, NULL, &pid));
	shell_wait(pid);
	return NULL;
}

static void run_typed(struct session *s, struct out *out, const char *text, enum status *status)
{
	struct shell_line line;
	SCRATCH(tmp);
	struct error *err CLEANUP(error_freep) = shell_split(&tmp, text, &line);

	if (!err && line.before && !execute_line(s, out, line.before, status))
		return;
	if (!err && line.shell && !s->quit)
		err = run_shell(s, out, &line, status);
	if (err)
		execute_report(out->options.messages, err);
}

/*
 * Runs a line that was typed; an empty one repeats what *last has, which is changed. A ^C that came
 * behind the line is for it.
 */
static void run_or_repeat(struct session *s, struct out *out, const char *line, struct arena *last,
                          const char **again, enum status *status)
{
	struct arena old = *last;
	const char *text = line[strspn(line, " \t")] ? line : *again;

	if (!text)
		return;
	/* An answer may end in an error and yet be repeated, as gdb does. */
	*last = (struct arena){ 0 };
	*again = repeat_line(last, command_table, text);
	run_typed(s, out, text, status);
	arena_free(&old);
}

void repl(struct session *s, struct out *out)
{
	SCRATCH(tmp);
	enum status status = STATUS_OK;
	struct arena last = { 0 };
	const char *again = NULL; /* in last: the line that an empty line runs; NULL: nothing */

	prompt_complete_begin(s);
	s->confirm = confirm;
	start_editing();
	while (!s->quit) {
		interrupt_clear();
		char *line = prompt_line_read(s->debuggee.control.pid ? "(asyncdbg, attached) "
		                                                      : "(asyncdbg) ");

		if (!line) {
			fputc('\n', out->options.answers);
			if (interrupt_is_requested() && !interrupt_is_end())
				continue;
			break;
		}
		remember(line);
		run_or_repeat(s, out, line, &last, &again, &status);
		free(line);
	}
	s->confirm = NULL;
	arena_free(&last);
	history_save();
	prompt_complete_end();
}
