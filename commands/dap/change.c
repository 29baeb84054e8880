/* setVariable, setExpression */
#include <string.h>

#include "commands/dap/places.h"
#include "commands/dap/values.h"
#include "runtimes/query/literal.h"

static struct error *check_can_write(const struct dap *d)
{
	if (d->post_mortem)
		return error_new(ERR_STATE,
		                 "post-mortem: a core or a snapshot cannot be written to");
	return NULL;
}

/* Warns of the first write: a session is read-only until then. */
static void change_warn_of_write(struct dap *d)
{
	if (!d->s->has_written)
		dap_note(d,
		         "asyncdbg: from now on this session writes to the memory of process %d, "
		         "beyond breakpoints",
		         (int)d->s->debuggee.control.pid);
	d->s->has_written = true;
}

static struct error *write_literal(struct dap *d, const struct dap_place *p, const char *text)
{
	struct literal literal;

	TRY(literal_encode(p->value.type, text, &literal));
	change_warn_of_write(d);
	TRY(debuggee_write(&d->s->debuggee, p->value.addr + literal.offset, literal.bytes,
	                   literal.size));
	return NULL;
}

static struct error *set(struct dap *d, struct request *r, const char *expression)
{
	const char *text = dap_text(r, "value");
	struct dap_place place;

	TRY(check_can_write(d));
	if (!text)
		return error_new(ERR_USAGE, "\"%s\" needs a value", r->command);
	TRY(places_find(d, r, expression, &place));
	if (place.state)
		return error_new(ERR_STATE, "the state of a task cannot be set");
	TRY(write_literal(d, &place, text));
	json_put_text(r->w, "value", values_text(d, r->a, place.value));
	json_put_text(r->w, "type", type_name(place.value.type));
	json_put_int(r->w, "variablesReference", 0);
	/* Numbers of frames and values stay: nothing has run. */
	asyncdbg_drop(d->s->handle);
	return NULL;
}

struct error *dap_set_variable(struct dap *d, struct request *r)
{
	if (!dap_number(r, "variablesReference", 0))
		return error_new(ERR_USAGE, "\"setVariable\" needs a variablesReference");
	return set(d, r, dap_text(r, "name"));
}

struct error *dap_set_expression(struct dap *d, struct request *r)
{
	return set(d, r, dap_text(r, "expression"));
}

/* The other variables that are shown may have the same address. */
void dap_after_set(struct dap *d)
{
	if (!d->client.invalidated)
		return;
	struct message *m = message_event("invalidated");

	json_put_list(&m->w, "areas", (const char *const[]){ "variables" }, 1);
	message_send(m, &d->sender);
}
