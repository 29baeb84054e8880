/* continue, pause, and steps. */
#include "commands/dap/context.h"
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
		d->wants_pause = true;
	return NULL;
}

void dap_after_pause(struct dap *d)
{
	if (d->wants_pause && d->s->debuggee.control.pid)
		running_send_stop(d, NULL);
}

struct error *dap_step_missing(struct dap *d, struct request *r)
{
	(void)d;
	return error_new(ERR_UNSUPPORTED, "not supported yet: %s", r->command);
}

struct error *dap_cancel(struct dap *d, struct request *r)
{
	(void)d;
	(void)r;
	return NULL; /* inbox.c has done it */
}
