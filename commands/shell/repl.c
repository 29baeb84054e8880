#include "commands/shell/repl.h"

#include <editline/readline.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/shell/command.h"
#include "commands/shell/execute.h"
#include "commands/shell/prompt_complete.h"
#include "commands/shell/prompt_line.h"
#include "commands/shell/repeat.h"
#include "commands/shell/shell.h"

enum { HISTORY_LINES = 1000 };

/* Creates every directory of path that is missing; path is changed back before returning. */
static bool make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		bool failed = mkdir(path, 0700) != 0 && errno != EEXIST;
		*slash = '/';
		if (failed)
			return false;
	}
	return true;
}

/* The path of the history; NULL when unknown. The XDG standard makes relative paths invalid. */
static char *history_path(struct arena *a)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (state && *state == '/')
		return arena_printf(a, "%s/asyncdbg/history", state);
	if (home && *home == '/')
		return arena_printf(a, "%s/.local/state/asyncdbg/history", home);
	return NULL;
}

static void start_editing(const char *history)
{
	rl_readline_name = "asyncdbg";
	rl_catch_signals = 0;
	/* rl_initialize() takes it over. */
	rl_getc_function = prompt_line_getc;
	rl_initialize();
	rl_attempted_completion_function = prompt_complete;
	using_history();
	stifle_history(HISTORY_LINES);
	if (history)
		read_history(history);
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

/* Asks again at what is neither yes nor no; without an answer it is no. */
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
	char *history = history_path(&tmp);
	enum status status = STATUS_OK;
	struct arena last = { 0 };
	const char *again = NULL; /* in last: what an empty line does; NULL: nothing */

	prompt_complete_begin(s);
	s->confirm = confirm;
	start_editing(history);
	while (!s->quit) {
		interrupt_clear();
		char *line = prompt_line_read(s->debuggee.control.pid ? "(asyncdbg, in control) "
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
	if (history && make_directories(history))
		write_history(history);
	prompt_complete_end();
}
