#include "runtimes/analysis/job.h"

#include <inttypes.h>
#include <stdlib.h>

const struct future *job_future(const struct snapshot *s, const struct job *job)
{
	const struct thread_info *th = job->thread ? snapshot_thread(s, job->thread) : NULL;
	const struct future *root = th ? th->root : NULL;

	/* A future that polls and waits for nothing known is a mere wrapper of the job. */
	return root && (root->nchildren || root->wait) ? root : NULL;
}

void job_as_task(const struct snapshot *s, const struct job *job, struct task *ret)
{
	*ret = (struct task){
		.id = job->id,
		.number = job->id ? strtoull(job->id, NULL, 10) : 0,
		.runtime = job->runtime >= 0 ? (unsigned)job->runtime : UINT32_MAX,
		.addr = job->addr,
		.state = job->thread ? TASK_RUNNING : TASK_SCHEDULED,
		.thread = job->thread,
		.type = job->type,
		.spawned_at = job->spawned_at,
		.root = (struct future *)(uintptr_t)job_future(s, job),
	};
}

const char *job_state_text(struct arena *a, const struct job *job)
{
	if (job->thread)
		return arena_printf(a, "running on thread #%u", job->thread);
	if (job->ahead == JOB_NO_ORDER)
		return "queued";
	return arena_printf(a, "queued, %" PRIu64 " ahead of it", job->ahead);
}

size_t job_count(const struct snapshot *s, unsigned runtime)
{
	size_t n = 0;

	for (size_t i = 0; i < s->njobs; i++)
		n += s->jobs[i].runtime >= 0 && (unsigned)s->jobs[i].runtime == runtime;
	return n;
}
