#include "commands/shell/repl.h"

#include <editline/readline.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "commands/ask/ask.h"
#include "commands/shell/command.h"
#include "commands/shell/complete_place.h"
#include "commands/shell/complete_value.h"
#include "commands/shell/execute.h"
#include "commands/shell/repeat.h"
#include "commands/shell/shell.h"
#include "debugger/base/vec.h"

enum { HISTORY_LINES = 1000 };

/* ---- ^Z at the prompt ---- */

static volatile sig_atomic_t stop_requested, was_continued;

static void on_job_signal(int signal)
{
	if (signal == SIGTSTP)
		stop_requested = 1;
	else
		was_continued = 1;
}

/*
 * While a line is typed, the terminal is in another mode, which the shell that we stop for must not
 * get, and which it does not give back. A signal that is ignored stays so.
 */
static void watch_jobs(bool on, struct sigaction before[2])
{
	static const int signals[2] = { SIGTSTP, SIGCONT };
	const struct sigaction action = { .sa_handler = on_job_signal };

	for (int i = 0; i < 2; i++) {
		if (!on)
			sigaction(signals[i], &before[i], NULL);
		else if (sigaction(signals[i], NULL, &before[i]) == 0 &&
		         before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

/* Whether a read was broken by a stop of ours, after which the line is there again. */
static bool resumed(void)
{
	if (stop_requested) {
		stop_requested = 0;
		rl_deprep_terminal();
		raise(SIGSTOP);
		was_continued = 1;
	}
	if (!was_continued)
		return false;
	was_continued = 0;
	rl_deprep_terminal();
	rl_prep_terminal(1);
	rl_forced_update_display();
	return true;
}

/*
 * libedit's own reader retries the first read that a signal breaks, so that ^C would only be
 * seen at the next key. This one gives up at once. The UTF-8 is decoded because libedit takes
 * the result for a wide character.
 */
static int read_char(FILE *f)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	char byte;

	for (int i = 0; i < MB_LEN_MAX; i++) {
		ssize_t n;

		do
			n = read(fileno(f), &byte, 1);
		while (n < 0 && errno == EINTR && resumed());
		if (n != 1)
			return -1;
		size_t used = mbrtowc(&wide, &byte, 1, &state);
		if (used == (size_t)-2)
			continue;
		return used == (size_t)-1 ? (unsigned char)byte : (int)wide;
	}
	return -1;
}

/* The completions, which libedit queries one by one with a callback that has no argument. */
static struct {
	struct arena arena;
	const char **words;
	size_t n, next;
	struct session *session; /* for the variables that complete the path of `print` */
} completions;

static char *next_completion(const char *text, int state)
{
	(void)text;
	(void)state;
	return completions.next < completions.n ? strdup(completions.words[completions.next++])
	                                        : NULL;
}

/* Completes the last name of a path: "self.shut" becomes "self.shutdown". */
static size_t complete_names(struct arena *a, const char *names, const char *path, size_t path_len,
                             const char *partial, const char ***ret)
{
	VEC(const char *) found = { 0 };
	size_t len = strlen(partial), n;

	for (const char *p = names; *p; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if (n > len && strncmp(p, partial, len) == 0)
			*vec_push(&found) =
				arena_printf(a, "%.*s%.*s", (int)path_len, path, (int)n, p);
	}
	n = found.n;
	*ret = vec_to_arena(&found, a);
	return n;
}

/*
 * Completes a path of `print`. This takes a snapshot, as the command does; on failure there are no
 * completions.
 */
static size_t complete_path(struct session *s, struct arena *a, const char *typed,
                            const char ***ret)
{
	const char *dot = strrchr(typed, '.'), *partial = dot ? dot + 1 : typed;
	SCRATCH(tmp);
	const struct call call = {
		.command = &print_command,
		.args = { (const char *[]){
				  arena_strndup(&tmp, typed, dot ? (size_t)(dot - typed) : 0) },
		          1 },
	};
	const struct snapshot *snap;
	struct question question = { 0 };

	if (!asyncdbg_target(s->handle))
		return 0;
	print_command.ask(s, &call, &question);
	question.names = true;
	struct error *err CLEANUP(error_freep) =
		session_snapshot(s, print_command.wants, &question, &snap);
	const char *names = !err && snap->printed ? snap->printed->value : NULL;

	return names ? complete_names(a, names, typed, (size_t)(partial - typed), partial, ret) : 0;
}

/* Completes a place, of which more follows unless it is a whole path of a function. */
static void complete_place(const char *text)
{
	completions.n = complete_place_list(completions.session, text, &completions.arena,
	                                    &completions.words);
	const char *first = completions.n ? completions.words[0] : "";

	if (completions.n != 1 || first[strlen(first) - 1] == ':')
		rl_completion_append_character = '\0';
}

static char **complete(const char *text, int start, int end)
{
	SCRATCH(tmp);
	struct words *commands, before = { 0 };
	size_t n = 0;

	(void)end;
	rl_attempted_completion_over = 1;
	arena_free(&completions.arena);
	completions.n = completions.next = 0;

	/* The command begins after the last `;`. */
	const char *typed = arena_strndup(&tmp, rl_line_buffer, (size_t)start);
	const char *semicolon = strrchr(typed, ';');
	struct error *err CLEANUP(error_freep) =
		words_split(&tmp, semicolon ? semicolon + 1 : typed, &commands, &n);
	if (!err && n)
		before = commands[0];
	if (before.n && strcmp(before.word[0], "help") == 0)
		before = (struct words){ before.word + 1, before.n - 1 };
	rl_completion_append_character = ' ';
	const enum value_kind kind = complete_value_kind(&before);
	if (kind == VALUE_PATH && *text != '-') {
		/* More of the path may follow. */
		rl_completion_append_character = '\0';
		completions.n = complete_path(completions.session, &completions.arena, text,
		                              &completions.words);
	} else {
		completions.n = command_complete(&completions.arena, command_table, &before, text,
		                                 &completions.words);
	}
	if (!completions.n && kind == VALUE_PLACE)
		complete_place(text);
	if (!completions.n && kind == VALUE_FILE)
		return rl_completion_matches(text, rl_filename_completion_function);
	if (!completions.n)
		completions.n = complete_value_list(completions.session, kind, text,
		                                    &completions.arena, &completions.words);
	return rl_completion_matches(text, next_completion);
}

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
	rl_getc_function = read_char;
	rl_initialize();
	rl_attempted_completion_function = complete;
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

static bool interrupted(void)
{
	struct error *err CLEANUP(error_freep) = interrupt_check();

	return err != NULL;
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

/* Runs a line that was typed; an empty one repeats what *last has, which is changed. */
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
	interrupt_clear();
	run_typed(s, out, text, status);
	arena_free(&old);
}

static char *read_line(const char *prompt)
{
	struct sigaction before[2];

	watch_jobs(true, before);
	char *line = readline(prompt);
	watch_jobs(false, before);
	return line;
}

void repl(struct session *s, struct out *out)
{
	SCRATCH(tmp);
	char *history = history_path(&tmp);
	enum status status = STATUS_OK;
	struct arena last = { 0 };
	const char *again = NULL; /* in last: what an empty line does; NULL: nothing */

	completions.session = s;
	s->confirm = confirm;
	start_editing(history);
	while (!s->quit) {
		interrupt_clear();
		char *line = read_line(s->debuggee.control.pid ? "(asyncdbg, in control) "
		                                               : "(asyncdbg) ");

		if (!line) {
			fputc('\n', out->options.answers);
			if (interrupted() && !interrupt_is_end())
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
	arena_free(&completions.arena);
}
