#include "debugger/live/live_check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/base/str.h"
#include "debugger/elf/elf_image.h"
#include "debugger/live/proc.h"

/* Why a process that is there cannot be read; NULL: it is not there, or has ended. */
static struct error *live_unreadable(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return NULL; /* it has ended, and nobody has reaped it */
	if (errno != ENOENT && errno != ESRCH)
		return error_os(errno, "%s", path);
	if (kill(pid, 0) != 0 && errno != EPERM)
		return NULL;
	if (access("/proc/self/stat", F_OK) != 0)
		return error_new(ERR_STATE, "process %d cannot be read: /proc is not mounted here",
		                 (int)pid);
	return error_new(ERR_STATE, "process %d cannot be read: /proc hides it (hidepid)",
	                 (int)pid);
}

struct error *live_exited(pid_t pid)
{
	TRY(live_unreadable(pid));
	return error_new(ERR_STATE, "no process %d: it has exited, or never existed", (int)pid);
}

static const char *process_name(struct arena *a, pid_t pid)
{
	const char *comm = proc_read(a, pid, "comm", NULL);

	return comm ? str_clean(a, comm, strcspn(comm, "\n")) : "?";
}

static bool live_check_have_cap(unsigned cap)
{
	SCRATCH(scratch);
	const char *status = proc_read(&scratch, getpid(), "status", NULL);
	const char *line = status ? strstr(status, "\nCapEff:") : NULL;
	uint64_t caps = 0;

	return line && sscanf(line, "\nCapEff: %" SCNx64, &caps) == 1 && (caps >> cap & 1);
}

/* -1 where the kernel is built without yama. */
static int yama_scope(void)
{
	int scope = -1;
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");

	if (!f)
		return -1;
	if (fscanf(f, "%d", &scope) != 1)
		scope = -1;
	fclose(f);
	return scope;
}

struct error *live_denied(pid_t pid)
{
	SCRATCH(scratch);
	const char *status = proc_read(&scratch, pid, "status", NULL);
	long uid = status ? proc_status_number(status, "Uid", -1) : -1;
	int scope = yama_scope();

	if (scope == 3)
		return error_new(ERR_OS,
		                 "not permitted to trace process %d: "
		                 "kernel.yama.ptrace_scope is 3, which forbids all tracing until "
		                 "the next boot",
		                 (int)pid);
	/* The files of /proc that are read have a mode, too: it is the owner that may read them. */
	if (live_check_have_cap(CAP_SYS_PTRACE) && geteuid() != 0 && (uid_t)uid != geteuid() &&
	    !live_check_have_cap(CAP_DAC_READ_SEARCH) && !live_check_have_cap(CAP_DAC_OVERRIDE))
		return error_new(
			ERR_OS,
			"not permitted to trace process %d of uid %ld: CAP_SYS_PTRACE alone "
			"is not enough for a process of another user (run asyncdbg as that "
			"user or root, or with CAP_DAC_READ_SEARCH as well)",
			(int)pid, uid);
	if (live_check_have_cap(CAP_SYS_PTRACE))
		return error_new(ERR_OS,
		                 "not permitted to trace process %d, in spite of "
		                 "CAP_SYS_PTRACE: a seccomp filter, a security module or another "
		                 "user namespace forbids it (in a container, run asyncdbg on the "
		                 "host or start the container with --cap-add=SYS_PTRACE)",
		                 (int)pid);
	if (geteuid() == 0)
		return error_new(ERR_OS,
		                 "not permitted to trace process %d: root lacks "
		                 "CAP_SYS_PTRACE here (start the container with "
		                 "--cap-add=SYS_PTRACE)",
		                 (int)pid);
	if (uid >= 0 && (uid_t)uid != geteuid()) {
		const struct passwd *user = getpwuid((uid_t)uid);
		return error_new(ERR_OS,
		                 "not permitted to trace process %d of user %s (uid %ld): "
		                 "run asyncdbg as that user, or with sudo",
		                 (int)pid, user ? user->pw_name : "?", uid);
	}
	if (scope > 0)
		return error_new(ERR_OS,
		                 "not permitted to trace process %d: "
		                 "kernel.yama.ptrace_scope is %d (run asyncdbg with sudo or "
		                 "CAP_SYS_PTRACE%s; in a container, start it with "
		                 "--cap-add=SYS_PTRACE)",
		                 (int)pid, scope,
		                 scope == 1 ? ", or: sudo sysctl kernel.yama.ptrace_scope=0" : "");
	return error_new(ERR_OS,
	                 "not permitted to trace process %d: it has privileges that you "
	                 "lack (run asyncdbg with sudo or CAP_SYS_PTRACE; in a container, start it "
	                 "with --cap-add=SYS_PTRACE)",
	                 (int)pid);
}

struct error *live_traced(pid_t pid)
{
	SCRATCH(scratch);
	const char *status = proc_read(&scratch, pid, "status", NULL);
	long tracer = status ? proc_status_number(status, "TracerPid", 0) : 0;

	if (tracer == 0)
		return NULL;
	/* TracerPid is the tid of the tracing thread. */
	status = proc_read(&scratch, (pid_t)tracer, "status", NULL);
	tracer = status ? proc_status_number(status, "Tgid", tracer) : tracer;
	return error_new(ERR_STATE,
	                 "process %d is already traced by process %ld (%s): only one "
	                 "debugger at a time",
	                 (int)pid, tracer, process_name(&scratch, (pid_t)tracer));
}

static struct error *check_exists(pid_t pid)
{
	SCRATCH(scratch);
	struct proc_stat stat;

	const char *status = proc_read(&scratch, pid, "status", NULL);
	if (!status && (errno == ENOENT || errno == ESRCH)) {
		/* With hidepid, /proc hides the processes of other users. */
		if (kill(pid, 0) != 0 && errno == EPERM)
			return live_denied(pid);
		TRY(live_unreadable(pid));
		return error_new(ERR_USAGE, "no process %d", (int)pid);
	}
	const char *text = proc_read(&scratch, pid, "stat", NULL);
	if (!status || !text)
		return error_os(errno, "reading /proc/%d", (int)pid);
	long group = proc_status_number(status, "Tgid", pid);
	if (group != pid)
		return error_new(ERR_USAGE, "%d is a thread of process %ld: use that number",
		                 (int)pid, group);
	if (proc_living_thread(pid) == pid && proc_stat_parse(&scratch, text, &stat) &&
	    (stat.state == 'Z' || stat.state == 'X'))
		return error_new(ERR_STATE,
		                 "process %d (%s) has exited: it is a zombie that its "
		                 "parent %d has not waited for",
		                 (int)pid, stat.comm, (int)stat.parent);
	return NULL;
}

static struct error *check_elf(pid_t pid, int fd, const struct arch **ret)
{
	Elf64_Ehdr header;
	char what[64];

	if (!elf_read_fd(&fd, 0, &header, sizeof(header)))
		return error_new(ERR_CORRUPT, "the executable of process %d is truncated",
		                 (int)pid);
	snprintf(what, sizeof(what), "the executable of process %d", (int)pid);
	switch (elf_header_problem(&header, header.e_machine)) {
	case ELF_NOT_64BIT:
		return error_new(ERR_UNSUPPORTED,
		                 "process %d is a 32-bit program; asyncdbg reads "
		                 "64-bit ones",
		                 (int)pid);
	case ELF_NOT_ELF:
		return error_new(ERR_UNSUPPORTED, "%s is not an ELF file", what);
	case ELF_BIG_ENDIAN:
		return error_new(ERR_UNSUPPORTED,
		                 "%s is big-endian; asyncdbg reads little-endian ones", what);
	case ELF_OK:
	case ELF_FOREIGN:
		break;
	}
	return arch_find(header.e_machine, what, ret);
}

/* by: a thread of it that lives. */
static struct error *check_executable(pid_t pid, pid_t by, const struct arch **ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)by);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return error_new(ERR_UNSUPPORTED, "%d is a kernel thread: it has no executable",
		                 (int)pid);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return live_denied(pid);
	if (fd < 0)
		return error_os(errno, "opening %s", path);
	struct error *err = check_elf(pid, fd, ret);
	close(fd);
	return err;
}

/* The kernel permits opening this file to exactly those who may trace the process. */
static struct error *check_permission(pid_t pid, pid_t by)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)by);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		return NULL;
	}
	return errno == EACCES || errno == EPERM ? live_denied(pid)
	                                         : error_os(errno, "opening %s", path);
}

struct error *live_check(pid_t pid, bool to_stop, const struct arch **ret)
{
	if (pid <= 0)
		return error_new(ERR_USAGE, "%d is not a process id", (int)pid);
	if (pid == getpid())
		return error_new(ERR_USAGE, "process %d is this asyncdbg itself", (int)pid);
	TRY(check_exists(pid));
	if (to_stop)
		TRY(live_traced(pid));
	pid_t by = proc_living_thread(pid);
	TRY(check_executable(pid, by, ret));
	return check_permission(pid, by);
}
