/*
 * The async processes of this machine: those whose executable or libraries contain an executor
 * (executor_detect.h). No process is stopped. Their memory is read only to count tasks.
 */
#ifndef RUNTIMES_EXECUTOR_DETECT_ASYNC_PROCESSES_H
#define RUNTIMES_EXECUTOR_DETECT_ASYNC_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/host/process_list.h"
#include "runtimes/executor_detect/executor_detect.h"
#include "runtimes/model/model.h"
#include "runtimes/session/asyncdbg.h"

/* Extent of the debug info that a program has for asyncdbg. */
enum debug_source {
	DEBUG_UNKNOWN,  /* not permitted, or the executor is in a library */
	DEBUG_NONE,     /* symbols at most */
	DEBUG_LINES,    /* functions and lines only */
	DEBUG_FULL,     /* in its own file */
	DEBUG_SEPARATE, /* full, in a separate file */
	DEBUG_LAYOUT,   /* a layout file lies beside the debug files */
};

struct async_process {
	const struct process *process;
	const struct detected_executor
		*executors; /* the executors, those with the best evidence first */
	size_t nexecutors;
	const char *library; /* the file that contains them; NULL: the executable */
	enum debug_source debug;
	const char
		*debug_reason; /* the reason why debug info is not full, with advice; NULL: it is */
	const char
		*problem; /* the reason why it cannot be looked at, with the remedy; NULL: it can */
	bool has_tasks;   /* tasks is known */
	uint64_t tasks;   /* of all runtimes that asyncdbg supports */
};

struct async_processes {
	struct process_list all;
	struct async_process *data; /* ascending pid */
	size_t n;
	size_t denied; /* processes whose files may not be read: whether they are async is unknown
	                */
	const char *denied_problem; /* the reason for one of them, with the remedy; NULL: there are
	                               none */
};

struct async_processes_options {
	/*
	 * Count the tasks of all, not only of the first ASYNC_PROCESSES_COUNTED and, for
	 * ASYNC_PROCESSES_MS, of those whose program the cache knows.
	 */
	bool tasks;
	bool closed; /* open none: only process, executors and library are known */
	struct asyncdbg_options session; /* options for each process; pid and stop are ignored */
};

enum { ASYNC_PROCESSES_COUNTED = 4, ASYNC_PROCESSES_MS = 80 };

/*
 * Lists the async processes; the result is in arena a. ERR_OS when /proc cannot be read,
 * ERR_INTERRUPTED.
 */
struct error *async_processes_read(struct arena *a, const struct async_processes_options *options,
                                   struct async_processes *ret) MUST_CHECK;

#endif
