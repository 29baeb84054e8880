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
		uint64_t *ahead = NEW(&c->scratch, uint64_t);

		TRY(part(c, job, "task.raw.ptr", &header));
		*ahead = i;
		map_put(&tokio_walk(c)->queued_jobs, header, ahead);
	}
	return NULL;
}

/*
 * Looks a job up in the queues, which are read once per snapshot: thousands of tasks may wait for
 * jobs.
 */
static const uint64_t *find_queued(struct collector *c, uint64_t header)
{
	for (size_t i = 0; !tokio_walk(c)->queued_jobs_read && i < tokio_walk(c)->nruntimes; i++)
		error_free(read_queue(c, &tokio_walk(c)->runtimes[i]));
	tokio_walk(c)->queued_jobs_read = true;
	return map_get(&tokio_walk(c)->queued_jobs, header);
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
		const uint64_t *ahead = find_queued(c, h->addr);

		ret->queued = ahead != NULL;
		ret->ahead = ahead ? *ahead : 0;
	}
	return true;
}
