#include "commands/incident/run_command.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/base/spawn.h"
#include "debugger/base/clock.h"

static const double PAUSE_S = 0.02; /* between two looks at a command */

FILE *run_command_input(void)
{
	int fd = memfd_create("finding", MFD_CLOEXEC);
	FILE *f = fd >= 0 ? fdopen(fd, "w+") : NULL;

	if (!f && fd >= 0)
		close(fd);
	return f;
}

static int run_spawn(const char *line, int input, pid_t *ret)
{
	posix_spawn_file_actions_t files;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	int failed = spawn_shell(line, &files, true, ret);
	posix_spawn_file_actions_destroy(&files);
	return failed;
}

struct error *run_command_start(struct run_command *c, FILE *input)
{
	if (c->pid) {
		fclose(input);
		return error_new(ERR_STATE,
		                 "--run: the command of an earlier finding is still running "
		                 "(process %d); it is not started again",
		                 (int)c->pid);
	}
	int failed = fflush(input) == 0 && lseek(fileno(input), 0, SEEK_SET) == 0
	                     ? run_spawn(c->line, fileno(input), &c->pid)
	                     : errno;
	fclose(input);
	c->started_ns = clock_now_ns();
	if (failed)
		c->pid = 0;
	return failed ? error_os(failed, "--run: /bin/sh") : NULL;
}

static struct error *result(const char *line, int status)
{
	if (WIFSIGNALED(status))
		return error_new(ERR_STATE, "--run: \"%s\" was killed by signal %d", line,
		                 WTERMSIG(status));
	if (WIFEXITED(status) && WEXITSTATUS(status))
		return error_new(ERR_STATE, "--run: \"%s\" failed with status %d", line,
		                 WEXITSTATUS(status));
	return NULL;
}

/* Kills the command's process group, and reaps the command. */
static void run_end(struct run_command *c)
{
	kill(-c->pid, SIGKILL);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}

struct error *run_command_reap(struct run_command *c, bool wait)
{
	int status;

	while (c->pid) {
		pid_t ended = waitpid(c->pid, &status, WNOHANG);

		if (ended == c->pid || (ended < 0 && errno != EINTR)) {
			c->pid = 0;
			return ended > 0 ? result(c->line, status) : NULL;
		}
		if ((double)clock_since(c->started_ns) * 1e-9 > c->limit) {
			run_end(c);
			return error_new(ERR_STATE, "--run: \"%s\" was killed after %g s", c->line,
			                 c->limit);
		}
		if (!wait)
			return NULL;
		struct error *err = interrupt_sleep(PAUSE_S);
		if (err) {
			error_free(err);
			run_end(c);
			return error_new(ERR_STATE, "--run: \"%s\" was killed by the interrupt",
			                 c->line);
		}
	}
	return NULL;
}
