/*
 * Jobs of blocking pools in the graph. A running job is the participant of its thread. A queued job
 * is a participant of its own: it waits for the pool, which goes on when any of its threads does.
 *
 * tokio 1.24 to 1.54, runtime/blocking/pool.rs: a pool that has as many threads as it may have,
 * none of which is idle, starts no other thread. An abort of a queued job, and the end of the
 * runtime, need a free thread as well.
 */
#include <stdlib.h>
#include <string.h>

#include "runtimes/graph/graph_private.h"

void graph_add_jobs(struct builder *b)
{
	const struct snapshot *s = b->s;

	b->g->jobs = NEW_ARRAY(&b->g->arena, size_t, s->njobs + 1);
	for (size_t i = 0; i < s->njobs; i++) {
		const struct job *job = &s->jobs[i];

		if (job->thread)
			continue;
		b->g->jobs[i] =
			graph_add_node(b, (struct graph_node){ .kind = GRAPH_JOB, .job = job });
		if (job->addr)
			map_put(&b->jobs, job->addr, (void *)b->g->jobs[i]);
	}
}

size_t graph_of_job(const struct graph *g, size_t nth)
{
	return g->jobs[nth];
}

size_t graph_job_by_id(const struct builder *b, uint64_t number)
{
	const struct snapshot *s = b->s;
	size_t found = GRAPH_OUTSIDE;

	for (size_t i = 0; i < s->njobs && number; i++) {
		const struct job *job = &s->jobs[i];
		struct holding at = { .thread = job->thread };

		if (!job->id || strtoull(job->id, NULL, 10) != number)
			continue;
		if (found)
			return GRAPH_OUTSIDE;
		found = job->thread ? graph_participant_of(b, &at) : b->g->jobs[i];
	}
	return found;
}

/* Numbers of a pool's threads and of its queued jobs. */
struct graph_job_pool {
	size_t running, workers, queued;
};

static struct graph_job_pool count_pool(const struct snapshot *s, const struct runtime_info *r)
{
	struct graph_job_pool p = { 0 };

	for (size_t i = 0; i < s->njobs; i++) {
		if (s->jobs[i].runtime < 0 || (unsigned)s->jobs[i].runtime != r->index)
			continue;
		p.running += s->jobs[i].thread != 0;
		p.queued += s->jobs[i].thread == 0;
	}
	for (size_t i = 0; i < s->nthreads; i++)
		p.workers += s->threads[i].role == THREAD_WORKER &&
		             s->threads[i].runtime == (int)r->index;
	return p;
}

/*
 * Can only the threads that run the listed jobs take a job from the queue? Not where the pool may
 * start another thread, where a thread is between two jobs, or where a worker has handed its tasks
 * over (block_in_place) and becomes a thread of the pool at its end: there are then more worker
 * threads than workers, or the job that runs the other worker is queued.
 */
static bool graph_job_is_full(const struct snapshot *s, const struct runtime_info *r)
{
	struct graph_job_pool p = count_pool(s, r);

	return s->reading.how == READ_STOPPED && r->has_blocking && r->has_limit &&
	       r->blocking_threads == r->blocking_limit && r->blocking_idle == 0 &&
	       p.running == r->blocking_threads && p.queued == r->blocking_queued &&
	       p.workers == (r->workers_poll ? r->workers : 0);
}

static size_t pool_node(struct builder *b, const struct runtime_info *r)
{
	const struct snapshot *s = b->s;
	size_t node = graph_add_node(b, (struct graph_node){ .kind = GRAPH_POOL,
	                                                     .rule = GRAPH_ANY,
	                                                     .what = "blocking pool",
	                                                     .runtime = r->index });

	for (size_t i = 0; i < s->njobs; i++) {
		struct holding at = { .thread = s->jobs[i].thread };

		if (at.thread && s->jobs[i].runtime == (int)r->index)
			graph_add_edge(b, node, graph_participant_of(b, &at), "busy");
	}
	if (!graph_job_is_full(s, r))
		graph_add_edge(b, node, GRAPH_OUTSIDE, "unknown");
	return node;
}

void graph_job_edges(struct builder *b)
{
	const struct snapshot *s = b->s;
	size_t *pools = NEW_ARRAY(&b->g->arena, size_t, s->nruntimes + 1);

	for (size_t i = 0; i < s->njobs; i++) {
		int r = s->jobs[i].runtime;
		size_t pool = GRAPH_OUTSIDE;

		if (s->jobs[i].thread)
			continue;
		if (r >= 0 && (size_t)r < s->nruntimes) {
			if (!pools[r])
				pools[r] = pool_node(b, &s->runtimes[r]);
			pool = pools[r];
		}
		graph_add_edge(b, b->g->jobs[i], pool, pool ? "blocking_pool" : "unknown");
	}
}
