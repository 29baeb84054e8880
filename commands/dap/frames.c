#include "commands/dap/frames.h"

#include <string.h>

#include "commands/dap/stack.h"

const struct id_frame *frames_find(struct dap *d, int64_t number, const struct id_thread **id)
{
	const struct id_frame *frame = ids_frame(&d->ids, number);

	*id = frame ? ids_thread(&d->ids, frame->thread) : NULL;
	return *id ? frame : NULL;
}

struct error *frames_ask(struct dap *d, const struct id_thread *id, struct question *q,
                         const struct snapshot **ret)
{
	const struct snapshot *snap;

	TRY(dap_snapshot(d, WANT_TASKS | WANT_RUNNING, &snap));
	const struct thread_info *th = ids_find_thread(id, snap);
	const struct task *task = ids_find_task(id, snap);

	if (!th && !task)
		return error_new(ERR_STATE, "this thread or task has ended");
	if (q->native && !th)
		return error_new(ERR_STATE, "no thread is running this task");
	q->task = task && !q->native ? task->id : NULL;
	q->thread = th ? th->number : 0;
	SCRATCH(tmp);
	/* The snapshot that has the id is freed. */
	if (q->task)
		q->task = arena_strdup(&tmp, q->task);
	return session_snapshot(d->s, WANT_TASKS | WANT_RUNNING, q, ret);
}

struct error *frames_future(struct dap *d, const struct id_thread *id, const struct id_frame *frame,
                            unsigned *ret, bool *found)
{
	SCRATCH(tmp);
	struct stack_rows rows = { .a = &tmp };
	const struct snapshot *snap;

	*ret = frame->number;
	*found = frame->kind == FRAME_AWAIT;
	if (frame->kind != FRAME_NATIVE)
		return NULL;
	TRY(dap_snapshot(d, WANT_TASKS | WANT_RUNNING | WANT_STACKS, &snap));
	stack_make(id, snap, &rows);
	const struct future *f = stack_future(&rows, frame);
	*found = f != NULL;
	*ret = f ? f->number : 0;
	vec_free(&rows.rows);
	return NULL;
}

/* ---- expressions ---- */

/* A native frame that executes a coroutine: the variables of the coroutine are searched first. */
static struct error *ask_both(struct dap *d, const struct id_thread *id,
                              const struct id_frame *frame, struct question *q,
                              const struct snapshot **ret)
{
	bool is_future;

	TRY(frames_future(d, id, frame, &q->frame, &is_future));
	if (is_future || frame->kind != FRAME_NATIVE)
		TRY(frames_ask(d, id, q, ret));
	if (frame->kind != FRAME_NATIVE || (is_future && (*ret)->printed && (*ret)->printed->value))
		return NULL;
	q->native = true;
	q->frame = frame->number;
	return frames_ask(d, id, q, ret);
}

struct error *frames_evaluate(struct dap *d, int64_t number, const char *expression,
                              struct arena *a, struct typed_local *ret)
{
	const struct id_thread *id;
	const struct id_frame *known = frames_find(d, number, &id);
	struct typed_locals typed = { 0 };
	struct question q = { .print = expression, .typed = &typed };
	const struct snapshot *snap;

	if (known) {
		const struct id_frame frame = *known; /* it may move */

		TRY(ask_both(d, id, &frame, &q, &snap));
	} else {
		TRY(session_snapshot(d->s, WANT_TASKS | WANT_RUNNING, &q, &snap));
	}
	const struct local *l = snap->printed;
	if (!l || !l->value)
		return error_new(ERR_STATE, "%s",
		                 l && l->problem ? l->problem : "no such variable here");
	*ret = (struct typed_local){ .shown = *l };
	if (typed.n && typed.data->in_memory && typed.data->type)
		*ret = typed.data[0];
	ret->shown.value = arena_strdup(a, l->value);
	return NULL;
}
