/* Waiting for other tasks: tokio::task. */
#include <inttypes.h>

#include "runtimes/leaf.h"
#include "runtimes/local_set.h"
#include "runtimes/tokio.h"

enum { JOIN_RAW };

const struct layout_row leaf_task_layout[] = {
	[JOIN_RAW] = { "join.raw", "type:tokio::runtime::task::join::JoinHandle", "raw",
	               .optional = true },
	{ 0 },
};

static struct error *decode_join(struct leaf *l)
{
	static const char *const states[] = {
		[TASK_IDLE] = "idle",           [TASK_SCHEDULED] = "scheduled",
		[TASK_RUNNING] = "running",     [TASK_COMPLETE] = "complete",
		[TASK_CANCELLED] = "cancelled",
	};
	struct collector *c = l->d->c;
	struct error *err = NULL;
	struct tokio_header h;

	TRY(leaf_uint(l, l->v, leaf_task_layout[JOIN_RAW].path, &l->w->object));
	for (struct tokio *k = c->in->tokio; k; k = k->next) {
		error_free(err);
		err = tokio_read_header(c->in->target, k, l->w->object, &h);
		if (!err)
			break;
	}
	if (err)
		return err;
	const char *state = states[tokio_task_state(h.state)];
	l->w->task = arena_printf(c->a, "%" PRIu64, h.id);
	/* Each copy of tokio counts its own tasks. */
	const struct task *task = map_get(&c->tasks, l->w->object);
	const char *whose = task && c->in->tokio->next
	                            ? arena_printf(c->a, " of runtime %u", task->runtime)
	                            : "";
	wait_phrase(l, "join handle of task %s%s (%s)", l->w->task, whose, state);
	wait_string(l, "task_state", state);
	return NULL;
}

/* Awaited itself, it is done when all its tasks are; they are listed later. */
static struct error *decode_local_set(struct leaf *l)
{
	wait_phrase(l, "LocalSet");
	local_set_met(l->d, l->v, l->f);
	return NULL;
}

const struct leaf_row leaf_task_rows[] = {
	{ .type = "tokio::task::local::LocalSet", .kind = "local_set", .decode = decode_local_set },
	{ .type = "tokio::runtime::task::join::JoinHandle",
	  .kind = "join",
	  .decode = decode_join,
	  .proves = true },
	{ 0 },
};
