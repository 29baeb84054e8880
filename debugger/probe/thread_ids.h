/*
 * The ids of threads in records, as our own /proc shows them. The kernel's program knows those of
 * the first pid namespace and of the one that the process is in; we may be in a third.
 */
#ifndef DEBUGGER_PROBE_THREAD_IDS_H
#define DEBUGGER_PROBE_THREAD_IDS_H

#include <stdbool.h>
#include <sys/types.h>

#include "debugger/base/map.h"
#include "debugger/probe/probe_record.h"

struct thread_ids {
	pid_t pid;
	bool nested;      /* the process is in a namespace below ours */
	struct map known; /* id there -> id here, NULL: it had ended before it was looked for */
};

/* Chooses the namespace of the records of process pid. */
void thread_ids_open(struct thread_ids *ids, pid_t pid, struct probe_settings *settings);
void thread_ids_close(struct thread_ids *ids);
/*
 * The id of the thread that a record names; below 0: unknown, of a thread that has ended meanwhile.
 * The ids of two threads differ also then.
 */
pid_t thread_ids_visible(struct thread_ids *ids, pid_t tid);

#endif
