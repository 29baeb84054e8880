#include "debugger/host/process_end.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "debugger/base/arena.h"
#include "debugger/base/file.h"
#include "debugger/live/proc.h"

enum {
	TRIES = 20, /* between its end and its reaping nobody may know for a moment */
	TRY_NS = 5000000,
	EXIT_CODE = 49, /* words behind the state in /proc/PID/stat */
};

/* Copy of struct pidfd_info of linux/pidfd.h, which older headers lack. */
struct pidfd_info {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define GET_INFO  _IOWR(0xff, 11, struct pidfd_info)
#define INFO_EXIT (UINT64_C(1) << 3)

/* status: as of waitpid(). */
static void set(struct process_end *e, int status)
{
	e->known = true;
	e->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	e->dumped = e->signal && WCOREDUMP(status);
}

static bool of_child(int pidfd, struct process_end *ret)
{
	siginfo_t info = { 0 };

	if (waitid((idtype_t)3 /* P_PIDFD */, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT) !=
	            0 ||
	    !info.si_pid)
		return false;
	ret->known = true;
	ret->signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
	ret->dumped = info.si_code == CLD_DUMPED;
	return true;
}

bool process_end_parse(const char *stat, struct process_end *ret)
{
	/* The name may have anything in it. */
	const char *p = strrchr(stat, ')');

	if (!p || p[1] != ' ' || (p[2] != 'Z' && p[2] != 'X'))
		return false;
	p += 2;
	for (int i = 0; i < EXIT_CODE; i++) {
		p = strchr(p, ' ');
		if (!p)
			return false;
		p++;
	}
	set(ret, atoi(p));
	return true;
}

/* Reads the end of a process from /proc while nobody has reaped it. */
static bool of_zombie(pid_t pid, struct process_end *ret)
{
	char path[64], text[1024];
	int fd CLEANUP(file_close) = -1;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (n <= 0)
		return false;
	text[n] = '\0';
	return process_end_parse(text, ret);
}

static bool of_reaped(int pidfd, struct process_end *ret)
{
	struct pidfd_info info = { .mask = INFO_EXIT };

	if (ioctl(pidfd, GET_INFO, &info) != 0 || !(info.mask & INFO_EXIT))
		return false;
	set(ret, info.exit_code);
	return true;
}

void process_end_read(pid_t pid, int pidfd, struct process_end *ret)
{
	const struct timespec pause = { .tv_nsec = TRY_NS };

	*ret = (struct process_end){ 0 };
	for (int i = 0; i < TRIES; i++) {
		if (of_child(pidfd, ret) || of_reaped(pidfd, ret) || of_zombie(pid, ret))
			return;
		nanosleep(&pause, NULL);
	}
}

bool process_has_executed(pid_t pid, int pidfd)
{
	SCRATCH(tmp);
	struct pollfd fd = { pidfd, POLLIN, 0 };
	char *pages = proc_read(&tmp, pid, "statm", NULL);

	return pages && strtoull(pages, NULL, 10) > 0 && pidfd >= 0 && poll(&fd, 1, 0) == 0;
}
