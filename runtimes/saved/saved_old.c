/*
 * What version 1 of the format has otherwise: target.tokio, the version of tokio, in place of
 * target.crates, and a runtime's flavor, left out where it is multi_thread, without workers_poll.
 * Before running jobs had records, they were known by their threads alone.
 */
#include <string.h>

#include "runtimes/saved/saved_member.h"

bool saved_old_target(struct loader *l, const char *key, struct target_info *to)
{
	struct runtime_crate *crate;

	if (l->version > 1 || strcmp(key, "tokio") != 0)
		return false;
	crate = NEW(l->a, struct runtime_crate);
	crate->kind = "tokio";
	saved_text(l, &crate->version);
	to->crates = crate;
	to->ncrates = 1;
	return true;
}

void saved_old_runtime(const struct loader *l, struct runtime_info *to)
{
	if (l->version > 1)
		return;
	to->workers_poll = to->flavor == NULL;
	if (!to->flavor)
		to->flavor = "multi_thread";
}

void saved_old_jobs(struct loader *l)
{
	size_t queued = l->jobs.n;

	for (size_t i = 0; i < queued; i++) {
		if (l->jobs.data[i].thread)
			return;
	}
	for (size_t i = 0; i < l->threads.n; i++) {
		const struct thread_info *th = &l->threads.data[i];

		if (th->job)
			*PUSH_CHARGED(l, &l->jobs) = (struct job){ .id = th->task,
				                                   .runtime = th->runtime,
				                                   .thread = th->number,
				                                   .function = th->job };
	}
	/* Running ones come first. */
	struct job *jobs = NEW_ARRAY(l->a, struct job, l->jobs.n + 1);
	size_t running = l->jobs.n - queued;

	if (!l->jobs.n)
		return;
	memcpy(jobs, l->jobs.data + queued, running * sizeof(*jobs));
	memcpy(jobs + running, l->jobs.data, queued * sizeof(*jobs));
	memcpy(l->jobs.data, jobs, l->jobs.n * sizeof(*jobs));
}
