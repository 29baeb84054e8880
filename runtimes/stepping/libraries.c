#include "runtimes/stepping/libraries.h"

#include <link.h>
#include <stddef.h>

#include "debugger/base/str.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"
#include "runtimes/stepping/debuggee.h"

struct error *libraries_begin(struct debuggee *d)
{
	struct libraries *l = &d->libraries;

	libraries_forget(d);
	l->nloads = asyncdbg_nloads(d->handle);
	struct error *err = target_r_debug(asyncdbg_target(d->handle), &l->debug);
	if (!err)
		err = control_read(&d->control, l->debug + offsetof(struct r_debug, r_brk),
		                   &l->function, sizeof(l->function));
	if (!err)
		return NULL;
	/* A static program, or the memory is not as it should be. */
	l->function = 0;
	if (err->kind == ERR_INTERRUPTED)
		return err;
	error_free(err);
	return NULL;
}

void libraries_forget(struct debuggee *d)
{
	/* Nothing is planted in a program that is gone. */
	error_free(trap_remove(&d->control, d->libraries.trap));
	d->libraries = (struct libraries){ 0 };
}

static void report_found(struct breakpoint *bp)
{
	const struct debuggee_listener *l = &bp->debuggee->listener;
	const struct module *m =
		module_at(asyncdbg_target(bp->debuggee->handle), bp->places[0].addr);
	STR(text);

	if (!l->warned)
		return;
	str_printf(&text, "%s %u has a place now: %s was loaded", breakpoint_noun(bp), bp->number,
	           m ? m->path : "a library");
	l->warned(l->arg, str_text(&text));
}

static struct error *find_anew(struct debuggee *d)
{
	const struct breakpoints *b = &d->breakpoints;

	for (size_t i = 0; i < b->list.n; i++) {
		struct breakpoint *bp = b->list.data[i];
		bool was_pending = bp->pending;

		if (bp->event)
			continue;
		TRY(breakpoint_find_again(bp));
		if (was_pending && bp->nplaces)
			report_found(bp);
	}
	if (d->placed)
		d->placed(d->placed_arg);
	return NULL;
}

static bool wants(const struct debuggee *d)
{
	const struct breakpoints *b = &d->breakpoints;

	for (size_t i = 0; i < b->list.n; i++) {
		const struct breakpoint *bp = b->list.data[i];

		if (!bp->event && (bp->pending || !d->control.production))
			return true;
	}
	return false;
}

struct error *libraries_look(struct debuggee *d)
{
	bool changed;

	if (!d->handle || !d->control.pid)
		return NULL;
	TRY(asyncdbg_update_modules(d->handle, &changed));
	/* A snapshot may have seen it before. */
	if (asyncdbg_nloads(d->handle) == d->libraries.nloads)
		return NULL;
	d->libraries.nloads = asyncdbg_nloads(d->handle);
	debuggee_forget_tasks(d); /* another runtime may have come */
	return wants(d) ? find_anew(d) : NULL;
}

/* The trap_decide of the linker's function. */
static struct error *look(void *debuggee, const struct trap_hit *hit, bool *stop)
{
	struct debuggee *d = debuggee;
	int state;

	(void)hit;
	*stop = false;
	TRY(control_read(&d->control, d->libraries.debug + offsetof(struct r_debug, r_state),
	                 &state, sizeof(state)));
	/* The list is about to change. */
	if (state != RT_CONSISTENT)
		return NULL;
	return libraries_look(d);
}

struct error *libraries_watch(struct debuggee *d)
{
	struct libraries *l = &d->libraries;

	if (!l->function || l->trap || !d->control.pid || !wants(d))
		return NULL;
	return error_wrap(
		trap_add(&d->control,
	                 &(struct trap_options){ .addr = l->function, .decide = look, .arg = d },
	                 &l->trap),
		"libraries that are loaded later cannot be seen");
}
