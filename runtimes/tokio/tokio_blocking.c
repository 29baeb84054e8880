/* Reads jobs of tokio's blocking pools (runtime/blocking/pool.rs), queued and running. */
#include <inttypes.h>
#include <string.h>

#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "runtimes/tokio/tokio.h"

enum { MAX_QUEUED = 1 << 16 };

/* The parts of a VecDeque. */
struct deque {
	const struct type *element;
	uint64_t buffer, capacity, first, count;
};

static struct error *part(struct collector *c, struct value v, const char *expr, uint64_t *ret)
{
	const struct path *p;
	bool found;

	TRY(inspector_path(c->in, v.type, expr, &p));
	TRY(path_uint(c->in->target, p, v, ret, &found));
	return found ? NULL : error_new(ERR_CORRUPT, "%s: no %s", type_name(v.type), expr);
}

/* std since 1.67 has head and len; before, it had tail (where elements begin) and head. */
static struct error *read_deque(struct collector *c, struct value v, struct deque *ret)
{
	uint64_t head;

	ret->element = type_param(v.type, "T");
	if (!ret->element || type_size(ret->element) == 0)
		return error_new(ERR_LAYOUT, "%s: element type unknown", type_name(v.type));
	TRY(part(c, v, "buf.inner.ptr | buf.ptr", &ret->buffer));
	TRY(part(c, v, "buf.inner.cap | buf.cap", &ret->capacity));
	TRY(part(c, v, "head", &head));
	if (type_member(v.type, "len")) {
		TRY(part(c, v, "len", &ret->count));
		ret->first = head;
	} else {
		TRY(part(c, v, "tail", &ret->first));
		ret->count = ret->capacity ? (head - ret->first) & (ret->capacity - 1) : 0;
	}
	if (ret->count > ret->capacity || (ret->count && ret->first >= ret->capacity))
		return error_new(ERR_CORRUPT, "%s: %" PRIu64 " elements in room for %" PRIu64,
		                 type_name(v.type), ret->count, ret->capacity);
	return NULL;
}

static struct error *read_queue(struct collector *c, const struct tokio_runtime *r)
{
	struct tokio_walk *w = tokio_walk(c);
	struct value queue;
	struct deque d = { 0 };
	bool found;

	TRY(bindings_eval(c->in->target, &r->tokio->layout, r->flavor->blocking_jobs, r->handle,
	                  &queue, &found));
	if (!found)
		return NULL;
	TRY(read_deque(c, queue, &d));
	for (uint64_t i = 0; i < d.count && i < MAX_QUEUED; i++) {
		uint64_t at = (d.first + i) % d.capacity, header;
		struct value job = { d.element, d.buffer + at * type_size(d.element) };

		TRY(part(c, job, "task.raw.ptr", &header));
		*vec_push(&w->queue) = (struct tokio_queued){ r, header, i };
		map_put(&w->queued_jobs, header, (void *)(uintptr_t)w->queue.n);
	}
	return d.count <= MAX_QUEUED
	               ? NULL
	               : error_new(ERR_CORRUPT, "only the first %d of %" PRIu64 " jobs are shown",
	                           MAX_QUEUED, d.count);
}

/* Reads the queues of all pools, once per snapshot: thousands of tasks may wait for jobs. */
static void read_queues(struct collector *c)
{
	struct tokio_walk *w = tokio_walk(c);

	for (size_t i = 0; !w->queued_jobs_read && i < w->nruntimes; i++) {
		struct error *err = read_queue(c, &w->runtimes[i]);

		if (err && (c->want & WANT_TASKS))
			snapshot_incomplete(c->out,
			                    "the queue of the blocking pool of runtime %u: %s",
			                    w->runtimes[i].info->index, err->message);
		error_free(err);
	}
	w->queued_jobs_read = true;
}

static const struct tokio_queued *find_queued(struct collector *c, uint64_t header)
{
	size_t number;

	read_queues(c);
	number = (uintptr_t)map_get(&tokio_walk(c)->queued_jobs, header);
	return number ? &tokio_walk(c)->queue.data[number - 1] : NULL;
}

/*
 * The thread that runs the job with that id. NULL when the job polls another task: a thread's
 * current task is the innermost.
 */
static const struct thread *runs(struct collector *c, const struct tokio *k, uint64_t id)
{
	const struct target *t = c->in->target;

	for (size_t i = 0; tokio_walk(c)->threads && id && i < t->nthreads; i++) {
		if (tokio_walk(c)->threads[i].tokio == k && tokio_walk(c)->threads[i].task_id == id)
			return &t->threads[i];
	}
	return NULL;
}

const char *tokio_job_closure(struct arena *a, const char *future)
{
	static const char span[] = "tracing::instrument::Instrumented<";
	static const char wrapper[] = "tokio::runtime::blocking::task::BlockingTask<";

	/* util/trace.rs, blocking_task(): with tokio's own tracing */
	if (future && str_begins(future, span))
		future = qualified_first_generic(a, future);
	return future && str_begins(future, wrapper) ? qualified_first_generic(a, future) : NULL;
}

bool tokio_read_job(struct collector *c, struct tokio *k, const struct tokio_header *h,
                    struct tokio_job *ret)
{
	const struct task_plan *plan = tokio_task_plan(c->in, k, h->poll);
	enum task_state state = tokio_task_state(h->state);
	const char *closure;

	*ret = (struct tokio_job){ 0 };
	closure = plan ? tokio_job_closure(&c->scratch, plan->future_name) : NULL;
	if (!closure)
		return false;
	ret->function = inspector_clean_name(c->a, name_function(c->a, closure));
	ret->aliases = plan->aliases;
	if (state == TASK_RUNNING) {
		const struct thread *th = runs(c, k, h->id);

		ret->thread = th ? th->number : 0;
	} else if (state == TASK_SCHEDULED) {
		const struct tokio_queued *queued = find_queued(c, h->addr);

		ret->queued = queued != NULL;
		ret->ahead = queued ? queued->ahead : 0;
	}
	return true;
}

/* False: it is the job that runs a worker, or what is no job. */
static bool read_queued(struct collector *c, const struct tokio_queued *queued,
                        struct queued_job *ret)
{
	struct tokio *k = queued->runtime->tokio;
	const struct task_plan *plan;
	struct tokio_header h;
	const char *closure;
	struct error *err = tokio_read_header(c->in->target, k, queued->header, &h);

	error_free(err);
	if (err)
		return false;
	plan = tokio_task_plan(c->in, k, h.poll);
	closure = plan ? tokio_job_closure(&c->scratch, plan->future_name) : NULL;
	if (closure && strstr(closure, tokio_table.worker_job))
		return false;
	*ret = (struct queued_job){
		.id = h.id ? arena_uint(c->a, h.id) : NULL,
		.runtime = queued->runtime->info->index,
		.addr = queued->header,
		.ahead = queued->ahead,
	};
	if (closure)
		ret->function = inspector_clean_name(c->a, name_function(c->a, closure));
	return true;
}

void tokio_list_jobs(struct collector *c)
{
	VEC(struct queued_job) jobs = { 0 };
	struct queued_job job;

	read_queues(c);
	for (size_t i = 0; i < tokio_walk(c)->queue.n; i++) {
		if (read_queued(c, &tokio_walk(c)->queue.data[i], &job))
			*vec_push(&jobs) = job;
	}
	c->out->njobs = jobs.n;
	c->out->jobs = vec_to_arena(&jobs, c->a);
}
