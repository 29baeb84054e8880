/* Reads and parses the files of /proc/PID; no ptrace and no state. */
#ifndef DEBUGGER_LIVE_PROC_H
#define DEBUGGER_LIVE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"

/* The contents of /proc/PID/NAME, NUL-terminated, in arena a; NULL with errno. *len may be NULL. */
char *proc_read(struct arena *a, pid_t pid, const char *name, size_t *len);
/*
 * proc_read() of a file that can block, such as cmdline: its bytes lie in the memory of the
 * process. NULL after ms milliseconds, too. name is constant, ms below 1000.
 */
char *proc_briefly_read(struct arena *a, pid_t pid, const char *name, unsigned ms, size_t *len);
/* The number in a line "Name:\tvalue" of /proc/PID/status; fallback if there is no such line. */
long proc_status_number(const char *status, const char *name, long fallback);

/* The fields of /proc/PID/stat or /proc/PID/task/TID/stat. */
struct proc_stat {
	const char *comm; /* sanitised */
	char state;
	pid_t parent;
	bool exits;          /* PF_EXITING: the thread is in its exit, possibly asleep (D) */
	uint64_t start_time; /* differs when the pid is reused */
};
bool proc_stat_parse(struct arena *a, const char *text, struct proc_stat *ret);

/* Whether a thread has ended. It may be there as a zombie, as the main one is before the others
 * end. */
bool proc_thread_has_ended(pid_t pid, pid_t tid);
/*
 * A thread by whose number the memory and files of a process are found in /proc and by
 * process_vm_readv(): the main one, or another one if that has ended before the others. pid: none
 * is left.
 */
pid_t proc_living_thread(pid_t pid);

/*
 * Whether the process ends with a core when one of its threads receives the signal: the kernel
 * writes one for that, and the process neither handles nor ignores it. False if it is not known.
 */
bool proc_signal_ends(pid_t tid, int signal);

/* The lines of /proc/PID/maps that map files, ascending; in arena a. NULL with errno. */
struct mapping *proc_maps(struct arena *a, pid_t pid, size_t *nmappings);
/* Like proc_maps(), from the text of that file, which is modified. */
struct mapping *proc_maps_parse(struct arena *a, char *text, size_t *nmappings);

/* The mapping in /proc/PID/maps that covers addr; false if there is none. Its name is in a. */
bool proc_region(struct arena *a, pid_t pid, uint64_t addr, struct region *ret);
/* Like proc_region(), from the text of that file, which is modified. */
bool proc_region_parse(struct arena *a, char *text, uint64_t addr, struct region *ret);

/* Offset from our CLOCK_MONOTONIC to that of pid, which may be in another time namespace. */
int64_t proc_monotonic_offset(pid_t pid);
/* Offset from the kernel's own CLOCK_MONOTONIC to ours: we may be in a time namespace. */
int64_t proc_kernel_offset(void);

/*
 * Whether kernel.perf_event_paranoid lets a user have perf events of own programs:
 * perf_event_open(2). True if it cannot be read.
 */
bool proc_perf_is_for_users(void);

#endif
