#include "runtimes/trace/worker_job.h"

#include <limits.h>
#include <string.h>

#include "debugger/probe/probe_record.h"
#include "dwarf/values/path.h"
#include "runtimes/common/inspector.h"
#include "runtimes/common/runtime.h"

enum { WORD = 8, NBOXES = 2 };

/*
 * A copy: the pointer to the worker, words of the worker, the serial, a byte that is 0 if all was
 * read.
 */
struct worker_job_plan {
	uint32_t index, handle; /* of the index and of the pointer to the runtime, in a copy */
	uint32_t serial;        /* of the serial */
	uint32_t len;           /* of the whole copy */
	uint64_t runtime;       /* offset of the runtime from where the pointer leads */
};

/* Offsets from a job's future, each but the last of its row that of a pointer. */
struct worker_job_way {
	uint64_t index[2], runtime[3], serial[3];
};

/* The last offset leads to something that has a size, if that is not 0. */
static bool worker_job_find_offsets(struct inspector *in, const struct type *future,
                                    const char *expr, size_t n, uint64_t size, uint64_t *ret)
{
	const struct path *p = expr ? inspector_optional_path(in, future, expr) : NULL;

	return p && (!size || type_size(path_type(p)) == size) && path_offsets(p, n, ret);
}

static bool find_way(struct inspector *in, const struct runtime *runtime, const struct type *future,
                     struct worker_job_way *ret)
{
	return worker_job_find_offsets(in, future, runtime->threads.worker_index, 2, WORD,
	                               ret->index) &&
	       worker_job_find_offsets(in, future, runtime->threads.worker_runtime, 3, 0,
	                               ret->runtime) &&
	       worker_job_find_offsets(in, future, runtime->threads.worker_serial, 3, WORD,
	                               ret->serial) &&
	       ret->runtime[0] == ret->index[0] && ret->serial[0] == ret->index[0] &&
	       ret->serial[1] == ret->runtime[1];
}

/*
 * The way that leads to the worker from all futures that a job may have. Where the poll functions
 * were merged, they read it from the same place of the task.
 */
static bool find_common_way(struct inspector *in, const struct runtime *runtime,
                            const struct task_types *types, struct worker_job_way *ret)
{
	struct worker_job_way other;

	if (!types->has_offset || !find_way(in, runtime, types->future, ret))
		return false;
	for (size_t i = 0; types->others && types->others[i]; i++) {
		if (!find_way(in, runtime, types->others[i], &other) ||
		    memcmp(&other, ret, sizeof(other)) != 0)
			return false;
	}
	return true;
}

/* Bytes between the words of a worker are copied as well. */
static bool worker_job_plan_copy(struct worker_job_plan *plan, uint64_t job,
                                 const struct worker_job_way *way, struct probe_point *point)
{
	uint64_t index = way->index[1], handle = way->runtime[1], serial = way->serial[2];
	uint64_t low = index < handle ? index : handle;
	uint64_t high = (index < handle ? handle : index) + WORD;

	if (high - low > PROBE_MAX_COPY / 2 || high > INT32_MAX || serial > INT32_MAX ||
	    job > INT32_MAX || way->index[0] > INT32_MAX)
		return false;
	plan->index = (uint32_t)(WORD + index - low);
	plan->handle = (uint32_t)(WORD + handle - low);
	plan->serial = (uint32_t)(WORD + high - low);
	plan->len = plan->serial + WORD + 1;
	plan->runtime = way->runtime[2];
	point->npieces = 1;
	point->pieces[0] = (struct probe_piece){ (uint32_t)(job + way->index[0]), WORD };
	point->nboxes = NBOXES;
	point->boxes[0] =
		(struct probe_box){ .offset = (uint32_t)low, .len = (uint32_t)(high - low) };
	point->boxes[1] = (struct probe_box){ .pointer = plan->handle,
		                              .offset = (uint32_t)serial,
		                              .len = WORD };
	point->at_entry = 1;
	return true;
}

const struct worker_job_plan *worker_job_plan_make(struct inspector *in, struct arena *a,
                                                   const struct runtime *runtime,
                                                   const struct task_types *types,
                                                   struct probe_point *point)
{
	struct worker_job_plan *plan = NEW(a, struct worker_job_plan);
	struct worker_job_way way;

	if (!find_common_way(in, runtime, types, &way) ||
	    !worker_job_plan_copy(plan, types->offset, &way, point))
		return NULL;
	return plan;
}

static uint64_t worker_job_word_at(const unsigned char *copy, uint32_t at)
{
	uint64_t word;

	memcpy(&word, copy + at, sizeof(word));
	return word;
}

bool worker_job_read(const struct worker_job_plan *plan, const unsigned char *copy, size_t len,
                     struct worker_identity *ret)
{
	if (len != plan->len || copy[len - 1])
		return false;
	uint64_t index = worker_job_word_at(copy, plan->index);
	if (index > INT_MAX)
		return false;
	*ret = (struct worker_identity){ .worker = (int)index,
		                         .runtime = worker_job_word_at(copy, plan->handle) +
		                                    plan->runtime,
		                         .serial = worker_job_word_at(copy, plan->serial) };
	return true;
}
