#include "runtimes/timeline/snapshot_span.h"

#include <stdlib.h>

#include "runtimes/trace/trace_key.h"

static pid_t tid_of(const struct snapshot *s, unsigned thread)
{
	const struct thread_info *th = thread ? snapshot_thread(s, thread) : NULL;

	return th ? th->tid : 0;
}

bool snapshot_span(const struct snapshot *s, const struct task *task, struct task_span *ret)
{
	static const enum task_doing doing[] = {
		[TASK_IDLE] = DOING_WAITING,
		[TASK_SCHEDULED] = DOING_RUNNABLE,
		[TASK_RUNNING] = DOING_POLLING,
	};

	if (!trace_key(task) || task->state > TASK_RUNNING)
		return false;
	*ret = (struct task_span){
		.task = trace_key(task),
		.type = task->type,
		.job = TRACE_TASK,
		.doing = doing[task->state],
		.tid = task->state == TASK_RUNNING ? tid_of(s, task->thread) : 0,
	};
	return true;
}

bool snapshot_span_of_job(const struct snapshot *s, const struct job *job, struct task_span *ret)
{
	*ret = (struct task_span){
		.task = job->id ? strtoull(job->id, NULL, 10) : 0,
		.type = job->type,
		.job = TRACE_BLOCKING,
		.doing = job->thread ? DOING_POLLING : DOING_RUNNABLE,
		.tid = tid_of(s, job->thread),
	};
	return ret->task != 0;
}
