/*
 * A profile without events: the tasks are sampled again and again, while the process runs. Sampling
 * takes at most a tenth of a CPU, so it gets rarer with more tasks.
 */
#ifndef COMMANDS_PROFILE_PROFILE_SAMPLING_H
#define COMMANDS_PROFILE_PROFILE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "commands/base/session.h"
#include "commands/time/quiet_looks.h"
#include "debugger/base/error.h"
#include "runtimes/timeline/task_samples.h"

struct profile_sampling {
	const struct session *s; /* with a running process */
	double duration;         /* seconds, at most */
	task_span_fn *visit;     /* called for each span, with arg */
	void *arg;
	int pidfd;
	/* Results. */
	struct quiet_looks looks;     /* ended by the caller; its last snapshot is of the process */
	struct task_samples *samples; /* freed by the caller; spans borrow from it */
	uint64_t start, end;          /* ns, CLOCK_MONOTONIC: first and last look */
	uint64_t n;                   /* looks after the first */
	bool stopped;                 /* by ^C */
};

/* Samples until the time is over, ^C, or the end of the process. */
struct error *profile_sampling_run(struct profile_sampling *p) MUST_CHECK;

#endif
