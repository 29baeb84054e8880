/* How a process has ended that need not be a child of ours. */
#ifndef DEBUGGER_HOST_PROCESS_END_H
#define DEBUGGER_HOST_PROCESS_END_H

#include <stdbool.h>
#include <sys/types.h>

struct process_end {
	bool known;
	int signal;  /* that has ended it; 0: it has exited */
	bool dumped; /* the kernel has written or passed on its core */
};

/*
 * Call it when the process of the pidfd has ended. A child is not reaped. Unknown, for other
 * processes: with Linux before 6.15, as soon as its parent has reaped it.
 */
void process_end_read(pid_t pid, int pidfd, struct process_end *ret);

/* For tests: what the text of /proc/PID/stat says. False: that it has not ended, or nothing. */
bool process_end_parse(const char *stat, struct process_end *ret);

#endif
