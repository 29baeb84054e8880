#include "debugger/host/launched.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/elf/elf_image.h"
#include "debugger/live/proc.h"
#include "debugger/live/stop_after_exec.h"

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

struct error *launched_find(const char *program, struct arena *a, const char **ret)
{
	const char *dirs = getenv("PATH");

	*ret = arena_strdup(a, program);
	if (strchr(program, '/'))
		return is_program(program)
		               ? NULL
		               : error_os(errno ? errno : EACCES, "cannot start %s", program);
	for (dirs = dirs ? dirs : "/usr/bin:/bin"; *dirs; dirs += *dirs == ':') {
		size_t len = strcspn(dirs, ":");

		*ret = arena_printf(a, "%.*s/%s", (int)len, dirs, program);
		if (len && is_program(*ret))
			return NULL;
		dirs += len;
	}
	return error_os(ENOENT, "cannot start %s", program);
}

/* The child: waits for a byte, and executes the program; a pipe that ends says that it has. */
static void __attribute__((noreturn)) be_program(const char *const *words, int go, int executed)
{
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(127);
	/* Signals that asyncdbg handles or ignores have their default action in the program. */
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	execv(words[0], (char *const *)(uintptr_t)words);
	int errnum = errno;
	if (write(executed, &errnum, sizeof(errnum)) < 0)
		_exit(126);
	_exit(127);
}

struct error *launched_start(const char *const *words, struct launched *ret)
{
	int go[2], executed[2];

	*ret = (struct launched){ .go = -1, .executed = -1 };
	if (pipe2(go, O_CLOEXEC) != 0)
		return error_os(errno, "cannot start %s", words[0]);
	if (pipe2(executed, O_CLOEXEC) != 0) {
		int errnum = errno;

		close(go[0]);
		close(go[1]);
		return error_os(errnum, "cannot start %s", words[0]);
	}
	ret->go = go[1];
	ret->executed = executed[0];
	ret->pid = fork();
	if (ret->pid == 0) {
		close(go[1]);
		close(executed[0]);
		be_program(words, go[0], executed[1]);
	}
	int errnum = errno;
	close(go[0]);
	close(executed[1]);
	return ret->pid < 0 ? error_os(errnum, "cannot start %s", words[0]) : NULL;
}

struct error *launched_go(struct launched *l, const char *const *words,
                          enum stop_after_exec_place place)
{
	struct error *refused = stop_after_exec_begin(l->pid);
	bool hold = !refused;
	int errnum = 0;

	if (refused && place == STOP_AFTER_EXEC_ENTRY)
		return refused;
	error_free(refused);
	if (write(l->go, "", 1) != 1)
		return error_os(errno, "cannot start %s", words[0]);
	/* The read comes last: signals stop the child, too, until stop_after_exec_wait() passes
	 * them on.
	 */
	if (hold)
		TRY(stop_after_exec_wait(l->pid, place, &l->held));
	while (read(l->executed, &errnum, sizeof(errnum)) < 0 && errno == EINTR)
		;
	file_close(&l->go);
	file_close(&l->executed);
	l->go = l->executed = -1;
	return errnum ? error_os(errnum, "cannot start %s", words[0]) : NULL;
}

/* Whether the process executes that file. */
static bool launched_executes(pid_t pid, int fd)
{
	char path[64];
	struct stat file, exe;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return fstat(fd, &file) == 0 && stat(path, &exe) == 0 && file.st_dev == exe.st_dev &&
	       file.st_ino == exe.st_ino;
}

struct error *launched_load_bias(const struct launched *l, const char *file, uint64_t *ret)
{
	SCRATCH(tmp);
	Elf64_Ehdr header;
	size_t len;
	int fd CLEANUP(file_close) = -1;

	TRY(file_open(file, &fd));
	const char *auxv = proc_read(&tmp, l->pid, "auxv", &len);
	uint64_t entry = auxv ? elf_auxv_find(auxv, len, AT_ENTRY) : 0;
	if (!entry || !launched_executes(l->pid, fd) ||
	    !elf_read_fd(&fd, 0, &header, sizeof(header)))
		return error_new(ERR_STATE, "%s is not what process %d executes", file,
		                 (int)l->pid);
	*ret = entry - header.e_entry;
	return NULL;
}

void launched_release(struct launched *l)
{
	if (l->held)
		stop_after_exec_end(l->pid);
	l->held = false;
}

void launched_close(struct launched *l)
{
	bool waits = l->pid > 0 && l->go >= 0;

	if (l->held)
		kill(l->pid, SIGKILL);
	if (waits)
		file_close(&l->go); /* it ends at the end of the pipe */
	if (waits || l->held)
		waitpid(l->pid, NULL, __WALL);
	file_close(&l->executed);
	*l = (struct launched){ .go = -1, .executed = -1 };
}
