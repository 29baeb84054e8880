/* How a process has ended, or gone on as another program, that need not be a child of ours. */
#ifndef DEBUGGER_HOST_PROCESS_END_H
#define DEBUGGER_HOST_PROCESS_END_H

#include <stdbool.h>
#include <sys/types.h>

struct process_end {
	bool known;
	int signal;  /* the signal that ended the process; 0: it exited */
	bool dumped; /* the kernel has written or passed on its core */
};

/*
 * Call it when the process of the pidfd has ended. A child is not reaped. Unknown, for other
 * processes: with Linux before 6.15, as soon as its parent has reaped it.
 */
void process_end_read(pid_t pid, int pidfd, struct process_end *ret);

/*
 * Whether a process whose memory is gone has executed another program: that had its memory before;
 * a process that ends has none any more.
 */
bool process_has_executed(pid_t pid, int pidfd);

/*
 * Parses the text of /proc/PID/stat, for tests. False: the process has not ended, or the text does
 * not tell.
 */
bool process_end_parse(const char *stat, struct process_end *ret);

#endif
