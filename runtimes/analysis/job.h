/* Jobs of blocking pools, in the form in which tasks are read. */
#ifndef RUNTIMES_ANALYSIS_JOB_H
#define RUNTIMES_ANALYSIS_JOB_H

#include "runtimes/model/model.h"

/*
 * The job as a task, for readers of tasks: a running job runs on its thread and polls the future
 * that its thread blocks on; a queued one is scheduled and has no future. *ret borrows from s.
 */
void job_as_task(const struct snapshot *s, const struct job *job, struct task *ret);
/* The future that the job's thread blocks on; NULL: none, or the job is queued. */
const struct future *job_future(const struct snapshot *s, const struct job *job);
/* "running on thread #4", "queued, 2 ahead of it", "queued"; in arena a or static. */
const char *job_state_text(struct arena *a, const struct job *job);
/* The number of jobs of that runtime. */
size_t job_count(const struct snapshot *s, unsigned runtime);

#endif
