/* Starts a program as a child of this process, stopped before its first instruction. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

#include "debugger/base/clock.h"
#include "debugger/live/tracer_private.h"

uintptr_t tracer_options(void)
{
	return PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
	       PTRACE_O_TRACEVFORKDONE;
}

/* Runs in the child. False with errno. */
static bool prepare(const struct tracer_launch *how)
{
	int personality_now = how->fixed ? personality(UINT32_MAX) : 0;

	if (how->fixed && (personality_now < 0 ||
	                   personality((unsigned long)personality_now | ADDR_NO_RANDOMIZE) < 0))
		return false;
	if (how->own_group && setpgid(0, 0) != 0)
		return false;
	if (how->cwd && chdir(how->cwd) != 0)
		return false;
	if (how->output && dup2(how->output, STDOUT_FILENO) < 0)
		return false;
	if (how->errors && dup2(how->errors, STDERR_FILENO) < 0)
		return false;
	if (!how->no_input)
		return true;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd >= 0 && dup2(fd, STDIN_FILENO) >= 0;
}

/*
 * Forgets the signals that have come, as a ^C that was for our group, and lets later ones do what
 * they do by default. Ignored ones stay so.
 */
static void forget_signals(void)
{
	for (int number = 1; number < SIGRTMIN; number++) {
		if (signal(number, SIG_IGN) != SIG_IGN)
			signal(number, SIG_DFL);
	}
}

/*
 * Runs in the child: waits until it is traced, then executes the program. Signals are blocked until
 * then, as they are in the tracer thread: they would stop it, and nobody waits for such a stop.
 */
static _Noreturn void become(const struct tracer *tr, const struct tracer_request *r, int fd)
{
	static const struct tracer_launch plain;
	const struct tracer_launch *how = r->launch.how ? r->launch.how : &plain;
	char byte;

	if (recv(fd, &byte, 1, 0) == 1) {
		bool ready = prepare(how);

		forget_signals();
		/* We ignore it: a closed pipe is an error of write() for us. execve() would keep
		 * that. */
		signal(SIGPIPE, SIG_DFL);
		pthread_sigmask(SIG_SETMASK, &tr->caller_mask, NULL);
		if (ready)
			execvpe(r->launch.path, r->launch.argv, how->env ? how->env : environ);
		int errnum = errno;
		send(fd, &errnum, sizeof(errnum), MSG_NOSIGNAL);
	}
	_exit(127);
}

void tracer_reap(struct tracer *tr, pid_t pid)
{
	uint64_t deadline = tracer_short_deadline();
	struct wait_status w = { 0 };

	kill(pid, SIGKILL);
	/* The end of the main thread comes after those of all others. */
	while (next_event(tr, -1, deadline, &w) && w.status != -1 &&
	       (w.tid != pid || WIFSTOPPED(w.status)))
		;
}

/* Waits for execve() of the program, which is stopped then. */
static struct error *wait_exec(struct tracer *tr, const char *path)
{
	uint64_t deadline = tracer_short_deadline();
	struct wait_status w;

	while (next_event(tr, tr->pid, deadline, &w)) {
		struct tracee *tracee = take_event(tr, &w);

		if (!tracee)
			return error_new(ERR_STATE, "%s ended before it was loaded", path);
		if (w.status >> 16 == PTRACE_EVENT_EXEC) {
			tracee->held = true;
			return NULL;
		}
		tracer_go_on(tr, tracee);
	}
	TRY(interrupt_check());
	return error_new(ERR_STATE, "%s was not loaded in time", path);
}

static struct error *trace_child(struct tracer *tr, const struct tracer_request *r, pid_t pid,
                                 int fd)
{
	const char *path = r->launch.path;
	bool keep = r->launch.how && r->launch.how->keep;
	uintptr_t options = tracer_options() | (keep ? 0 : PTRACE_O_EXITKILL);
	int errnum;

	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) != 0)
		return error_os(errno, "tracing %s", path);
	send(fd, "", 1, MSG_NOSIGNAL);
	/* execve() closes the socket: then there is nothing to read. */
	if (recv(fd, &errnum, sizeof(errnum), 0) == sizeof(errnum))
		return error_os(errnum, "%s", path);
	tr->pid = pid;
	tr->launched = !keep;
	tracer_add(tr, pid);
	return wait_exec(tr, path);
}

struct error *tracer_launch(struct tracer *tr, struct tracer_request *r)
{
	int fds[2];

	if (tr->pid)
		return error_new(ERR_STATE, "process %d is already being traced", (int)tr->pid);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return error_os(errno, "starting %s", r->launch.path);
	pid_t pid = fork();
	if (pid == 0)
		become(tr, r, fds[1]);
	struct error *err = pid < 0 ? error_os(errno, "starting %s", r->launch.path) : NULL;
	close(fds[1]);
	if (!err)
		err = trace_child(tr, r, pid, fds[0]);
	close(fds[0]);
	r->launch.pid = pid;
	if (err && pid > 0) {
		tr->pid = 0;
		tracer_reap(tr, pid);
	}
	return err;
}
