/*
 * The job of a blocking pool that runs a worker. A copy of a few bytes, taken when the poll of the
 * job begins, shows which worker of which runtime that is, so that nobody needs to look at a thread
 * that may have ended soon after.
 */
#ifndef RUNTIMES_TRACE_WORKER_JOB_H
#define RUNTIMES_TRACE_WORKER_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"

struct inspector;
struct probe_point;
struct runtime;
struct task_types;
struct worker_job_plan;

struct worker_identity {
	int worker;               /* its index */
	uint64_t runtime, serial; /* as addr and serial of a runtime_info */
};

/*
 * Plans the bytes to copy from a job with these types, and fills in the copies of point. NULL: the
 * debug info does not lead to its worker. Lives in a.
 */
const struct worker_job_plan *worker_job_plan_make(struct inspector *in, struct arena *a,
                                                   const struct runtime *runtime,
                                                   const struct task_types *types,
                                                   struct probe_point *point);
/* Reads a copy; false: it is not whole, or its worker has no valid index. */
bool worker_job_read(const struct worker_job_plan *plan, const unsigned char *copy, size_t len,
                     struct worker_identity *ret);

#endif
