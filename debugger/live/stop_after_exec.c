#include "debugger/live/stop_after_exec.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "debugger/elf/elf_image.h"
#include "debugger/live/proc.h"

struct error *stop_after_exec_begin(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(uintptr_t)PTRACE_O_TRACEEXEC) != 0)
		return error_os(errno, "holding process %d", (int)pid);
	return NULL;
}

static bool is_exec(int status)
{
	return status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
}

static uint64_t entry_of(pid_t pid)
{
	SCRATCH(tmp);
	size_t len;
	const char *auxv = proc_read(&tmp, pid, "auxv", &len);

	return auxv ? elf_auxv_find(auxv, len, AT_ENTRY) : 0;
}

/* ---- breakpoints of the processor: the code stays as it is ---- */

#ifdef __x86_64__
static bool stop_after_exec_set_register(pid_t pid, size_t number, uint64_t value)
{
	size_t at = offsetof(struct user, u_debugreg) + number * sizeof(uint64_t);

	return ptrace(PTRACE_POKEUSER, pid, (void *)at, (void *)(uintptr_t)value) == 0;
}

/* address 0: none. */
static bool stop_after_exec_set_breakpoint(pid_t pid, uint64_t address)
{
	enum { CONTROL = 7, FIRST_IS_ON = 1 };

	return stop_after_exec_set_register(pid, CONTROL, 0) &&
	       stop_after_exec_set_register(pid, 0, address) &&
	       (!address || stop_after_exec_set_register(pid, CONTROL, FIRST_IS_ON));
}

static bool stop_after_exec_is_at(pid_t pid, uint64_t address)
{
	size_t at = offsetof(struct user, regs.rip);

	errno = 0;
	return (uint64_t)ptrace(PTRACE_PEEKUSER, pid, (void *)at, NULL) == address && errno == 0;
}
#else
static bool stop_after_exec_set_breakpoint(pid_t pid, uint64_t address)
{
	(void)pid, (void)address;
	return false;
}

static bool stop_after_exec_is_at(pid_t pid, uint64_t address)
{
	(void)pid, (void)address;
	return false;
}
#endif

/* ---- waiting ---- */

/* Lets the child go on after a stop that was not waited for. */
static void pass_on(pid_t pid, int status)
{
	bool is_event = status >> 16 != 0;
	uintptr_t signal = is_event ? 0 : (uintptr_t)WSTOPSIG(status);

	ptrace(PTRACE_CONT, pid, NULL, (void *)signal);
}

/* Waits for its exec, or until it is at that address; *held false: it has ended. */
static struct error *stop_after_exec_wait_for(pid_t pid, uint64_t address, bool *held)
{
	int status;

	*held = false;
	while (!*held) {
		pid_t got = waitpid(pid, &status, __WALL);

		if (got < 0 && errno == EINTR) {
			TRY(interrupt_check());
			continue;
		}
		if (got < 0)
			return error_os(errno, "waiting for process %d", (int)pid);
		if (!WIFSTOPPED(status))
			return NULL;
		*held = address ? WSTOPSIG(status) == SIGTRAP && stop_after_exec_is_at(pid, address)
		                : is_exec(status);
		if (!*held)
			pass_on(pid, status);
	}
	return NULL;
}

struct error *stop_after_exec_wait(pid_t pid, enum stop_after_exec_place place, bool *held)
{
	TRY(stop_after_exec_wait_for(pid, 0, held));
	if (!*held || place == STOP_AFTER_EXEC_MAPPED)
		return NULL;
	uint64_t entry = entry_of(pid);
	if (!entry || !stop_after_exec_set_breakpoint(pid, entry))
		return error_new(ERR_UNSUPPORTED,
		                 "process %d cannot be stopped at its first instruction: start it, "
		                 "then trace it with -p PID",
		                 (int)pid);
	*held = false;
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	TRY(stop_after_exec_wait_for(pid, entry, held));
	if (*held)
		stop_after_exec_set_breakpoint(pid, 0);
	return NULL;
}

void stop_after_exec_end(pid_t pid)
{
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
}
