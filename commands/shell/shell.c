#include "commands/shell/shell.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/base/spawn.h"

static bool shell_is_blank(const char *text)
{
	return text[strspn(text, " \t\n")] == '\0';
}

/* Finds the pipe, and in *command the start of its command; NULL: there is no pipe. */
static const char *find_pipe(const char *line, const char **command)
{
	*command = line;
	for (const char *p = line; *p; p++) {
		bool begins = p == line || isspace((unsigned char)p[-1]) || p[-1] == ';';

		if (*p == '\'' || *p == '"') {
			p = strchr(p + 1, *p);
			if (!p)
				return NULL;
		} else if (*p == '#' && begins) {
			return NULL;
		} else if (*p == ';') {
			*command = p + 1;
		} else if (*p == '|' && begins) {
			return p;
		}
	}
	return NULL;
}

struct error *shell_split(struct arena *a, const char *line, struct shell_line *ret)
{
	const char *text = line + strspn(line, " \t"), *command;

	*ret = (struct shell_line){ 0 };
	if (*text == '!') {
		if (shell_is_blank(text + 1))
			return error_new(ERR_USAGE, "a shell command must follow the !");
		ret->shell = arena_strdup(a, text + 1);
		return NULL;
	}
	const char *pipe = find_pipe(line, &command);

	if (!pipe) {
		ret->before = arena_strdup(a, line);
		return NULL;
	}
	ret->piped = arena_strndup(a, command, (size_t)(pipe - command));
	ret->shell = arena_strdup(a, pipe + 1);
	if (shell_is_blank(ret->piped) || shell_is_blank(ret->shell))
		return error_new(ERR_USAGE,
		                 "a | must be between a command and a shell command: tasks | less");
	if (command > line)
		ret->before = arena_strndup(a, line, (size_t)(command - line));
	return NULL;
}

struct error *shell_start(const char *command, FILE **input, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	int ends[2] = { -1, -1 };

	if (input && pipe2(ends, O_CLOEXEC) != 0)
		return error_os(errno, "a pipe");
	posix_spawn_file_actions_init(&files);
	if (input)
		posix_spawn_file_actions_adddup2(&files, ends[0], STDIN_FILENO);
	int failed = spawn_shell(command, &files, false, ret);
	struct error *err = failed ? error_os(failed, "/bin/sh") : NULL;

	posix_spawn_file_actions_destroy(&files);
	if (!input)
		return err;
	close(ends[0]);
	*input = err ? NULL : fdopen(ends[1], "w");
	if (!*input)
		close(ends[1]);
	return err;
}

void shell_wait(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
