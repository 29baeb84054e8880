#include "commands/dap/loading.h"

#include <inttypes.h>

#include "debugger/base/progress.h"

/* The number of the request is in the id: see cancels() of inbox.c. */
static void put_id(struct dap *d, struct message *m)
{
	SCRATCH(tmp);

	json_put_text(&m->w, "progressId",
	              arena_printf(&tmp, "%" PRId64 ".%u", d->answering, d->loadings));
}

static void end(struct dap *d)
{
	if (!d->is_loading)
		return;
	struct message *m = message_event("progressEnd");

	put_id(d, m);
	d->is_loading = false;
	message_send(m, &d->sender);
}

static struct message *begin(struct dap *d)
{
	struct message *m = message_event("progressStart");

	d->is_loading = true;
	d->loadings++;
	put_id(d, m);
	json_put_text(&m->w, "title", "asyncdbg");
	if (d->answering)
		json_put_int(&m->w, "requestId", d->answering);
	json_put_bool(&m->w, "cancellable", d->answering != 0);
	return m;
}

static struct message *go_on(struct dap *d)
{
	struct message *m = message_event("progressUpdate");

	put_id(d, m);
	return m;
}

static void report(void *arg, const char *what, uint64_t done, uint64_t total)
{
	struct dap *d = arg;
	SCRATCH(tmp);

	if (!what) {
		end(d);
		return;
	}
	struct message *m = d->is_loading ? go_on(d) : begin(d);
	const char *of = total ? arena_printf(&tmp, " of %" PRIu64, total) : "";
	json_put_text(&m->w, "message", arena_printf(&tmp, "%s: %" PRIu64 "%s", what, done, of));
	if (total)
		json_put_int(&m->w, "percentage",
		             done < total ? (int64_t)((double)done / (double)total * 100) : 100);
	message_send(m, &d->sender);
	/* Nobody waits for the answer any more, and the program may stand still for it. */
	if (sender_is_gone(&d->sender))
		interrupt_request();
}

void loading_listen(struct dap *d, unsigned delay_ms)
{
	progress_listen(report, d, delay_ms);
}

void loading_ignore(void)
{
	progress_listen(NULL, NULL, 0);
}
