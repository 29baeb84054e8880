#include "commands/dap/server.h"

#include <string.h>

#include "commands/dap/breakpoints.h"
#include "commands/dap/loading.h"
#include "commands/dap/running.h"
#include "commands/dap/wire/listener.h"
#include "debugger/base/clock.h"
#include "debugger/base/progress.h"

/* How long a client of another user may take to show the token, in ns. */
static const uint64_t STRANGER_NS = 10 * UINT64_C(1000000000);

/* ---- one request ---- */

static const struct dap_command_row *find_row(const struct dap *d, const char *name)
{
	for (const struct dap_command_row *row = d->table; row->name; row++) {
		if (strcmp(row->name, name) == 0)
			return row;
	}
	return NULL;
}

/* ERR_STATE when the request cannot be answered now. */
static struct error *check_state(const struct dap *d, const struct dap_command_row *row)
{
	bool has_program = d->state != DAP_NEW && d->state != DAP_IDLE && d->state != DAP_ENDED;

	if (d->state == DAP_NEW && strcmp(row->name, "initialize") != 0)
		return error_new(ERR_STATE, "the first request must be \"initialize\"");
	if (row->need == DAP_NEEDS_NOTHING)
		return NULL;
	if (d->state == DAP_ENDED)
		return error_new(ERR_STATE, "the program has ended");
	if (!has_program)
		return error_new(ERR_STATE, "no program yet: use \"launch\" or \"attach\"");
	if (row->need == DAP_NEEDS_CONTROL && d->post_mortem)
		return error_new(ERR_STATE, "post-mortem: a core or a snapshot cannot run");
	if (row->need == DAP_NEEDS_STOP && d->state == DAP_RUNNING)
		return error_new(ERR_STATE, "the program runs");
	return NULL;
}

/*
 * Nothing is executed for a client of another user, not even `evaluate`, before its launch or
 * attach has shown the token. A wrong one ends the connection.
 */
static struct error *check_client(struct dap *d, const struct request *r)
{
	bool starts = strcmp(r->command, "launch") == 0 || strcmp(r->command, "attach") == 0;

	if (!d->is_stranger || strcmp(r->command, "initialize") == 0 ||
	    strcmp(r->command, "disconnect") == 0)
		return NULL;
	if (starts && listener_knows_token(d->listener, dap_text(r, "token"))) {
		d->is_stranger = false;
		return NULL;
	}
	d->done = starts;
	return error_new(ERR_STATE, "this client belongs to another user: launch and attach need "
	                            "the \"token\" that asyncdbg printed at its start");
}

static struct error *answer(struct dap *d, struct request *r, const struct dap_command_row *row)
{
	TRY(check_client(d, r));
	TRY(check_state(d, row));
	return row->answer(d, r);
}

static void answer_failure(struct dap *d, const struct request *r, const struct error *err)
{
	bool cancelled = err->kind == ERR_INTERRUPTED && !interrupt_is_end();

	message_drop(r->m);
	message_send_failure(&d->sender, r->seq, r->command,
	                     cancelled ? "cancelled" : err->message);
}

static void answer_request(struct dap *d, struct request *r)
{
	const struct dap_command_row *row = find_row(d, r->command);
	enum dap_state before = d->state;

	r->m = message_response(r->seq, r->command);
	r->w = &r->m->w;
	inbox_answering(&d->inbox, r->seq);
	d->progress.answering = r->seq;
	progress_begin();
	struct error *err CLEANUP(error_freep) =
		row ? answer(d, r, row)
		    : error_new(ERR_UNSUPPORTED, "not supported: %s", r->command);
	progress_end();
	d->progress.answering = 0;
	inbox_answering(&d->inbox, 0);
	arena_reset(&d->s->answer);
	if (err) {
		answer_failure(d, r, err);
		return;
	}
	message_send(r->m, &d->sender);
	if (row->after)
		row->after(d);
	if (before == DAP_RUNNING && d->state == DAP_RUNNING)
		dap_forget(d);
}

static void answer_message(struct dap *d, struct dap_message *l)
{
	struct request r = { .seq = node_number(node_get(l->root, "seq"), 0),
		             .command = node_text(node_get(l->root, "command")),
		             .arguments = node_get(l->root, "arguments"),
		             .a = &l->arena };
	const char *type = node_text(node_get(l->root, "type"));

	if (l->problem)
		dap_note(d, "asyncdbg: a message of the client %s", l->problem);
	else if (type && strcmp(type, "response") == 0)
		return; /* to a request of ours: there are none that need an answer */
	else if (!type || strcmp(type, "request") != 0 || !r.command)
		dap_note(d, "asyncdbg: a message of the client is not a request");
	else
		answer_request(d, &r);
}

/* ---- all requests ---- */

/*
 * A client of another user has STRANGER_NS to show the token: others wait meanwhile. NULL ends the
 * connection.
 */
static struct dap_message *take_message(struct dap *d, uint64_t begun)
{
	if (!d->is_stranger)
		return inbox_take(&d->inbox);
	if (clock_now_ns() >= begun + STRANGER_NS)
		return NULL;
	return inbox_take_until(&d->inbox, begun + STRANGER_NS);
}

static struct error *serve(struct dap *d)
{
	uint64_t begun = clock_now_ns();

	while (!d->done && !sender_is_gone(&d->sender)) {
		if (d->state == DAP_RUNNING && dap_is_held(d) &&
		    inbox_alert(&d->inbox, d->pending.step ? INBOX_URGENT : INBOX_ANY)) {
			progress_begin();
			struct error *err = running_continue(d);

			progress_end();
			if (err)
				return err;
			breakpoints_send_changes(d);
			continue;
		}
		struct dap_message *l = take_message(d, begun);

		if (!l)
			return NULL;
		answer_message(d, l);
		breakpoints_send_changes(d);
		dap_message_free(l);
		if (d->s->quit)
			d->done = true;
	}
	return NULL;
}

static void send_changes(void *dap)
{
	breakpoints_send_changes(dap);
}

struct error *dap_serve(struct dap *d, int in, int out)
{
	d->state = DAP_NEW;
	d->s->debuggee.placed = send_changes;
	d->s->debuggee.placed_arg = d;
	sender_init(&d->sender, out);
	TRY(inbox_start(&d->inbox, in));
	struct error *err = serve(d);

	running_end(d, d->launched);
	loading_ignore();
	inbox_free(&d->inbox);
	ids_free(&d->ids);
	paths_free(&d->paths);
	vec_free(&d->breakpoints);
	vec_free(&d->reported);
	vec_free(&d->data);
	arena_free(&d->data_arena);
	arena_free(&d->arena);
	return err;
}
