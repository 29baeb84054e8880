/* Reads jobs of tokio's blocking pools (runtime/blocking/pool.rs), queued and running. */
#include <inttypes.h>
#include <string.h>

#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "runtimes/thread/stack.h"
#include "runtimes/tokio/tokio.h"

enum { MAX_QUEUED = 1 << 16, MAX_SHARDS = 1 << 10, MAX_SCAN = 1 << 13, MAX_FRAMES_SCANNED = 2 };

/* The parts of a VecDeque. */
struct tokio_blocking_deque {
	const struct type *element;
	uint64_t buffer, capacity, first, count;
};

static struct error *tokio_blocking_part(struct collector *c, struct value v, const char *expr,
                                         uint64_t *ret)
{
	const struct path *p;
	bool found;

	TRY(inspector_path(c->in, v.type, expr, &p));
	TRY(path_uint(c->in->target, p, v, ret, &found));
	return found ? NULL : error_new(ERR_CORRUPT, "%s: no %s", type_name(v.type), expr);
}

/* std since 1.67 has head and len; before, it had tail (where elements begin) and head. */
static struct error *read_deque(struct collector *c, struct value v,
                                struct tokio_blocking_deque *ret)
{
	const struct path *buf;
	uint64_t head;

	/* The value may be a mutex around the deque: the buffer's type has the element's. */
	TRY(inspector_path(c->in, v.type, "buf", &buf));
	ret->element = type_param(path_type(buf), "T");
	if (!ret->element || type_size(ret->element) == 0)
		return error_new(ERR_LAYOUT, "%s: element type unknown", type_name(v.type));
	TRY(tokio_blocking_part(c, v, "buf.inner.ptr | buf.ptr", &ret->buffer));
	TRY(tokio_blocking_part(c, v, "buf.inner.cap | buf.cap", &ret->capacity));
	TRY(tokio_blocking_part(c, v, "head", &head));
	const struct path *len;
	struct error *err = inspector_path(c->in, v.type, "len", &len);

	error_free(err);
	if (!err) {
		TRY(tokio_blocking_part(c, v, "len", &ret->count));
		ret->first = head;
	} else {
		TRY(tokio_blocking_part(c, v, "tail", &ret->first));
		ret->count = ret->capacity ? (head - ret->first) & (ret->capacity - 1) : 0;
	}
	if (ret->count > ret->capacity || (ret->count && ret->first >= ret->capacity))
		return error_new(ERR_CORRUPT, "%s: %" PRIu64 " elements in room for %" PRIu64,
		                 type_name(v.type), ret->count, ret->capacity);
	return NULL;
}

/* Adds the jobs of one queue. ordered: the pool has no other queue. */
static struct error *tokio_blocking_read_queue(struct collector *c, const struct tokio_runtime *r,
                                               struct value queue, bool ordered)
{
	struct tokio_walk *w = tokio_walk(c);
	struct tokio_blocking_deque d = { 0 };

	TRY(read_deque(c, queue, &d));
	for (uint64_t i = 0; i < d.count && i < MAX_QUEUED; i++) {
		uint64_t at = (d.first + i) % d.capacity, header;
		struct value job = { d.element, d.buffer + at * type_size(d.element) };

		TRY(tokio_blocking_part(c, job, "task.raw.ptr", &header));
		*vec_push(&w->queue) =
			(struct tokio_queued){ r, header, ordered ? i : JOB_NO_ORDER };
		map_put(&w->queued_jobs, header, (void *)(uintptr_t)w->queue.n);
	}
	return d.count <= MAX_QUEUED
	               ? NULL
	               : error_new(ERR_CORRUPT, "only the first %d of %" PRIu64 " jobs are shown",
	                           MAX_QUEUED, d.count);
}

/* The queues of a pool that has several, of which a thread takes any. */
static struct error *read_shards(struct collector *c, const struct tokio_runtime *r,
                                 struct value shards)
{
	const struct type *shard = type_target(shards.type);
	uint64_t n = type_count(shards.type);

	if (type_kind(shards.type) != TYPE_ARRAY || !shard || n > MAX_SHARDS)
		return error_new(ERR_LAYOUT, "%s is not an array of queues",
		                 type_name(shards.type));
	for (uint64_t i = 0; i < n; i++) {
		struct value queue, v = { shard, shards.addr + i * type_size(shard) };
		bool found;

		TRY(inspector_eval(c->in, v, "queue", &queue, &found));
		if (found)
			TRY(tokio_blocking_read_queue(c, r, queue, false));
	}
	return NULL;
}

static struct error *tokio_blocking_read_pool(struct collector *c, const struct tokio_runtime *r)
{
	const struct bindings *l = &r->tokio->layout;
	struct target *t = c->in->target;
	struct value place;
	bool found;

	TRY(bindings_eval(t, l, r->flavor->blocking_jobs, r->handle, &place, &found));
	if (found)
		return tokio_blocking_read_queue(c, r, place, true);
	TRY(bindings_eval(t, l, r->flavor->blocking_shards, r->handle, &place, &found));
	return found ? read_shards(c, r, place) : NULL;
}

/* Reads the queues of all pools, once per snapshot: thousands of tasks may wait for jobs. */
static void read_queues(struct collector *c)
{
	struct tokio_walk *w = tokio_walk(c);

	for (size_t i = 0; !w->queued_jobs_read && i < w->nruntimes; i++) {
		struct error *err = tokio_blocking_read_pool(c, &w->runtimes[i]);

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
		ret->no_thread = queued && runtime_lacks_thread(queued->runtime->info);
		ret->ahead = queued ? queued->ahead : 0;
	}
	return true;
}

/* Fills what the job's poll function tells. False: the job runs a worker. */
static bool name_job(struct collector *c, const struct task_plan *plan, struct job *ret)
{
	const char *closure = plan ? tokio_job_closure(&c->scratch, plan->future_name) : NULL;

	if (closure && strstr(closure, tokio_table.threads.worker_job))
		return false;
	if (closure) {
		ret->function = inspector_clean_name(c->a, name_function(c->a, closure));
		ret->type = inspector_clean_name(c->a, closure);
	}
	return true;
}

/* Reads a queued job. False: the job runs a worker, or is none. */
static bool tokio_blocking_read_queued(struct collector *c, const struct tokio_queued *queued,
                                       struct job *ret)
{
	struct tokio *k = queued->runtime->tokio;
	struct tokio_header h;
	struct error *err = tokio_read_header(c->in->target, k, queued->header, &h);

	error_free(err);
	if (err)
		return false;
	*ret = (struct job){
		.id = h.id ? arena_uint(c->a, h.id) : NULL,
		.runtime = (int)queued->runtime->info->index,
		.addr = queued->header,
		.ahead = queued->ahead,
	};
	const struct task_plan *plan = tokio_task_plan(c->in, k, h.poll);

	ret->spawned_at = tokio_spawned_at(c, plan, h.addr);
	return name_job(c, plan, ret);
}

/* ---- running jobs ---- */

/* The header of the task with an id that is running, searched among words of a stack. */
struct header_search {
	struct collector *c;
	struct tokio *tokio;
	uint64_t id;
	struct tokio_header found;
	bool several;
};

static void try_header(struct header_search *s, uint64_t word)
{
	struct tokio_header h;
	struct error *err;

	if (!word || word % 8 || word == s->found.addr)
		return;
	err = tokio_read_header(s->c->in->target, s->tokio, word, &h);
	if (!err && h.id == s->id && tokio_task_state(h.state) == TASK_RUNNING) {
		s->several |= s->found.addr != 0;
		s->found = h;
	}
	error_free(err);
}

/*
 * Searches the registers and the stack around the frame that polls the job. The function that polls
 * has the address of the header as its argument.
 */
static bool find_header(struct header_search *s, const struct thread_stack *stack, size_t polls)
{
	const struct frame *frames = stack->stack.frames;
	size_t inner = polls > MAX_FRAMES_SCANNED ? polls - MAX_FRAMES_SCANNED : 0;
	size_t outer = polls + MAX_FRAMES_SCANNED, len = 0;
	uint64_t low, high;

	outer = outer < stack->stack.nframes ? outer : stack->stack.nframes - 1;
	for (size_t i = 0; i < s->c->in->target->arch->nregs; i++) {
		if (frames[polls].known_regs & UINT64_C(1) << i)
			try_header(s, frames[polls].regs[i]);
	}
	low = frames[inner].sp & ~UINT64_C(7);
	high = frames[outer].sp;
	if (!frames[inner].has_sp || !frames[outer].has_sp || high <= low)
		return s->found.addr && !s->several;
	if (high - low > MAX_SCAN)
		low = high - MAX_SCAN;
	unsigned char *bytes = arena_alloc(&s->c->scratch, high - low + 1);

	error_free(target_read_some(s->c->in->target, low, bytes, high - low, &len));
	for (size_t at = 0; at + 8 <= len; at += 8) {
		uint64_t word;

		memcpy(&word, bytes + at, 8);
		try_header(s, word);
	}
	return s->found.addr && !s->several;
}

static void find_running(struct collector *c, size_t thread, struct job *job)
{
	const struct tokio_thread *tt = &tokio_walk(c)->threads[thread];
	struct header_search search = { .c = c, .tokio = tt->tokio, .id = tt->task_id };
	struct marks marks;
	const struct mark *polls;

	if (!tt->tokio || !tt->task_id)
		return;
	stack_find_marks(c, &c->stacks[thread], &marks);
	/* The outermost poll of a pool's thread is that of its job. */
	for (polls = marks.data; polls < marks.data + marks.n; polls++) {
		if (polls->kind == MARK_TASK_POLL && polls->of == &tokio_table)
			break;
	}
	if (polls == marks.data + marks.n ||
	    !find_header(&search, &c->stacks[thread], polls->frame))
		return;
	job->addr = search.found.addr;
	const struct task_plan *plan = tokio_task_plan(c->in, tt->tokio, search.found.poll);

	job->spawned_at = tokio_spawned_at(c, plan, job->addr);
	name_job(c, plan, job);
}

static struct job running_job(struct collector *c, size_t thread)
{
	const struct thread_info *th = &c->out->threads[thread];
	struct job job = {
		.id = th->task,
		.runtime = th->runtime,
		.thread = th->number,
	};

	if (tokio_walk(c)->threads)
		find_running(c, thread, &job);
	job.function = th->job;
	return job;
}

void tokio_list_jobs(struct collector *c)
{
	VEC(struct job) jobs = { 0 };
	struct job job;

	for (size_t i = 0; i < c->out->nthreads; i++) {
		if (c->out->threads[i].job)
			*vec_push(&jobs) = running_job(c, i);
	}
	read_queues(c);
	for (size_t i = 0; i < tokio_walk(c)->queue.n; i++) {
		if (tokio_blocking_read_queued(c, &tokio_walk(c)->queue.data[i], &job))
			*vec_push(&jobs) = job;
	}
	c->out->njobs = jobs.n;
	c->out->jobs = vec_to_arena(&jobs, c->a);
}
