/* continue, pause, and steps. */
#include "commands/dap/context.h"
#include <inttypes.h>
#include <string.h>

#include "commands/dap/running.h"

struct error *dap_continue(struct dap *d, struct request *r)
{
	if (d->state != DAP_STOPPED)
		return error_new(ERR_STATE, "the program runs");
	d->state = DAP_RUNNING;
	json_put_bool(r->w, "allThreadsContinued", true);
	return NULL;
}

struct error *dap_pause(struct dap *d, struct request *r)
{
	(void)r;
	if (d->state == DAP_RUNNING)
		d->pending.pause = true;
	return NULL;
}

void dap_after_pause(struct dap *d)
{
	if (d->pending.pause && d->s->debuggee.control.pid)
		running_send_stop(d);
}

/* ---- steps ---- */

/* The thread that a request is about. */
static struct error *find_thread(struct dap *d, const struct request *r, pid_t *ret)
{
	int64_t number = dap_number(r, "threadId", 0);
	const struct id_thread *id = ids_thread(&d->ids, number);
	const struct snapshot *snap;

	if (!id)
		return error_new(ERR_STATE, "no thread %" PRId64, number);
	TRY(dap_snapshot(d, WANT_TASKS | WANT_RUNNING, &snap));
	const struct thread_info *th = ids_find_thread(id, snap);
	if (!th)
		return error_new(ERR_STATE, ids_find_task(id, snap)
		                                    ? "no thread is running this task: set a "
		                                      "breakpoint where it continues"
		                                    : "this thread or task has ended");
	*ret = th->tid;
	return NULL;
}

static struct error *moves_step(struct dap *d, struct request *r, enum step_kind kind)
{
	const char *granularity = dap_text(r, "granularity");
	bool one = granularity && strcmp(granularity, "instruction") == 0;

	if (d->state != DAP_STOPPED)
		return error_new(ERR_STATE, "the program runs");
	d->pending.options = (struct step_options){ .kind = kind };
	TRY(find_thread(d, r, &d->pending.options.tid));
	d->pending.step_one = one && kind == STEP_INTO;
	if (one && kind == STEP_NEXT)
		d->pending.options.kind = STEP_INSTRUCTION;
	d->pending.step = true;
	d->state = DAP_RUNNING;
	return NULL;
}

struct error *dap_next(struct dap *d, struct request *r)
{
	return moves_step(d, r, STEP_NEXT);
}

struct error *dap_step_in(struct dap *d, struct request *r)
{
	return moves_step(d, r, STEP_INTO);
}

struct error *dap_step_out(struct dap *d, struct request *r)
{
	return moves_step(d, r, STEP_FINISH);
}

struct error *dap_cancel(struct dap *d, struct request *r)
{
	(void)d;
	(void)r;
	return NULL; /* inbox.c has done it */
}
