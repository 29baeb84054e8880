#include "commands/dap/context.h"

#include <stdarg.h>
#include <string.h>

const char *dap_text(const struct request *r, const char *name)
{
	return node_text(node_get(r->arguments, name));
}

int64_t dap_number(const struct request *r, const char *name, int64_t otherwise)
{
	return node_number(node_get(r->arguments, name), otherwise);
}

bool dap_is_true(const struct request *r, const char *name, bool otherwise)
{
	return node_is_true(node_get(r->arguments, name), otherwise);
}

bool dap_is_held(const struct dap *d)
{
	return d->s->debuggee.control.pid != 0;
}

struct breakpoint *dap_hit(const struct dap *d)
{
	const struct debuggee *of = &d->s->debuggee;
	enum control_reason reason = of->control.stop.reason;

	return reason == CONTROL_BREAKPOINT || reason == CONTROL_CAUGHT ? of->breakpoint : NULL;
}

struct error *dap_snapshot(struct dap *d, unsigned wants, const struct snapshot **ret)
{
	asyncdbg_reuse_snapshot(d->s->handle, true);
	/* A client asks for all of them at each stop: one look is enough. */
	if (asyncdbg_kind(d->s->handle) != ASYNCDBG_SAVED)
		wants |= WANT_TASKS | WANT_RUNNING | WANT_STACKS;
	return session_snapshot(d->s, wants, NULL, ret);
}

void dap_forget(struct dap *d)
{
	asyncdbg_reuse_snapshot(d->s->handle, false);
	asyncdbg_drop(d->s->handle);
	ids_forget(&d->ids);
}

void dap_note(struct dap *d, const char *format, ...)
{
	va_list args;
	SCRATCH(tmp);

	va_start(args, format);
	const char *text = arena_printf(&tmp, "%s\n", arena_vprintf(&tmp, format, args));
	va_end(args);
	message_send_output(&d->sender, "console", text, strlen(text));
}
