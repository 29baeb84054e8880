/* What /proc/PID says about a process, parsed; no ptrace and no state. */
#ifndef DEBUGGER_LIVE_PROC_H
#define DEBUGGER_LIVE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"

/* All of /proc/PID/NAME, NUL-terminated, in arena a; NULL with errno. *len may be NULL. */
char *proc_read(struct arena *a, pid_t pid, const char *name, size_t *len);
/* "Name:\tvalue" of /proc/PID/status as a number; fallback where there is none. */
long proc_status_number(const char *status, const char *name, long fallback);

/* Of /proc/PID/stat or /proc/PID/task/TID/stat. */
struct proc_stat {
	const char *comm; /* sanitised */
	char state;
	pid_t parent;
	uint64_t start_time; /* tells a process from a later one of the same pid */
};
bool proc_stat_parse(struct arena *a, const char *text, struct proc_stat *ret);

/* The lines of /proc/PID/maps that map files, ascending; in arena a. NULL with errno. */
struct mapping *proc_maps(struct arena *a, pid_t pid, size_t *nmappings);

/* The line of /proc/PID/maps that covers addr; false when none does. Its name is in a. */
bool proc_region(struct arena *a, pid_t pid, uint64_t addr, struct region *ret);

/* What to add to our CLOCK_MONOTONIC to get that of pid, whose time namespace may differ. */
int64_t proc_monotonic_offset(pid_t pid);

#endif
