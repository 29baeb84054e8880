/*
 * The processes of this machine, as /proc lists them (proc(5)). No process is stopped, traced or
 * changed. The processes that a PID namespace hides are not listed.
 */
#ifndef DEBUGGER_HOST_PROCESS_LIST_H
#define DEBUGGER_HOST_PROCESS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/* Identifies the contents of a file as long as nobody writes to it. */
struct file_identity {
	uint64_t device, inode, size;
	int64_t changed_ns; /* the file's ctime */
};

struct process {
	pid_t pid, parent;
	uint64_t start_time; /* of /proc/PID/stat: differs when the pid is reused */
	const char *name;    /* comm, sanitised */
	const char
		*command; /* its arguments with blanks between, sanitised; "" where it has none */
	const char *exe;  /* path of its executable in its own root, sanitised; NULL: unknown */
	bool denied;      /* exe is unknown because we may not read it */
	bool zombie;      /* it has ended, and its parent has not waited for it */
	struct file_identity file; /* of the executable; zeros where exe is NULL */
};

struct process_list {
	struct process *data; /* ascending pid */
	size_t n;
};

/*
 * All processes but kernel threads. A process that ends meanwhile is left out. The list and its
 * strings are in arena a. ERR_OS when /proc cannot be read.
 */
struct error *process_list_read(struct arena *a, struct process_list *ret) MUST_CHECK;

/* Whether the process still runs: it has not ended, and no other one has its pid. */
bool process_is_there(const struct process *p);

/* The kernel's name of a thread, its comm, in arena a; NULL: unknown. */
const char *process_thread_name(struct arena *a, pid_t pid, pid_t tid);
/*
 * Whether a thread is off its CPU, by its state: one that waits for a CPU counts as running. False:
 * unknown.
 */
bool process_thread_is_off(pid_t pid, pid_t tid, bool *off);

/* Opens the executable of a process for reading; -1 with errno. The caller closes it. */
int process_open_exe(pid_t pid);

/*
 * The libraries that the process has mapped as code. *ret, in arena a, has n descriptions; a
 * library that several mappings show is listed once. None where /proc/PID/maps cannot be read.
 */
struct process_library {
	const char *path;       /* in the root of the process, not sanitised */
	uint64_t device, inode; /* as /proc/PID/maps shows them */
};
size_t process_libraries(struct arena *a, pid_t pid, struct process_library **ret);
/* Opens a library of the process for reading; -1 with errno. The caller closes it. */
int process_open_library(pid_t pid, const struct process_library *library);

/* Fills *ret for an open file; false with errno. */
bool file_identity_read(int fd, struct file_identity *ret);

/*
 * Sets below[i] for each process of the list that descends from the process root, without root
 * itself. below has list->n elements. Returns how many there are.
 */
size_t process_list_below(const struct process_list *list, pid_t root, bool *below);

/* The process with that pid; NULL: it is not in the list. */
const struct process *process_list_find(const struct process_list *list, pid_t pid);

#endif
