#include "commands/dap/loading.h"

#include <inttypes.h>

#include "debugger/base/progress.h"

/* The number of the request is in the id: see cancels() of inbox.c. */
static void loading_put_id(struct dap *d, struct message *m)
{
	SCRATCH(tmp);

	json_put_text(&m->w, "progressId",
	              arena_printf(&tmp, "%" PRId64 ".%u", d->progress.answering, d->progress.n));
}

static void loading_end(struct dap *d)
{
	if (!d->progress.is_reported)
		return;
	struct message *m = message_event("progressEnd");

	loading_put_id(d, m);
	d->progress.is_reported = false;
	message_send(m, &d->sender);
}

static struct message *loading_begin(struct dap *d)
{
	struct message *m = message_event("progressStart");

	d->progress.is_reported = true;
	d->progress.n++;
	loading_put_id(d, m);
	json_put_text(&m->w, "title", "asyncdbg");
	if (d->progress.answering)
		json_put_int(&m->w, "requestId", d->progress.answering);
	json_put_bool(&m->w, "cancellable", d->progress.answering != 0);
	return m;
}

static struct message *loading_go_on(struct dap *d)
{
	struct message *m = message_event("progressUpdate");

	loading_put_id(d, m);
	return m;
}

static void loading_report(void *arg, const char *what, uint64_t done, uint64_t total)
{
	struct dap *d = arg;
	SCRATCH(tmp);

	if (!what) {
		loading_end(d);
		return;
	}
	struct message *m = d->progress.is_reported ? loading_go_on(d) : loading_begin(d);
	const char *of = total ? arena_printf(&tmp, " of %" PRIu64, total) : "";
	json_put_text(&m->w, "message", arena_printf(&tmp, "%s: %" PRIu64 "%s", what, done, of));
	if (total)
		json_put_int(&m->w, "percentage",
		             done < total ? (int64_t)((double)done / (double)total * 100) : 100);
	message_send(m, &d->sender);
	/*
	 * The client is gone, and the program may stand still for an answer that nobody waits for.
	 */
	if (sender_is_gone(&d->sender))
		interrupt_request();
}

void loading_listen(struct dap *d, unsigned delay_ms)
{
	progress_listen(loading_report, d, delay_ms);
}

void loading_ignore(void)
{
	progress_listen(NULL, NULL, 0);
}
