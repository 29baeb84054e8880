#include "runtimes/stepping/libraries.h"

#include <link.h>
#include <stddef.h>

#include "debugger/base/str.h"
#include "debugger/target/module.h"
#include "debugger/target/target.h"
#include "dwarf/module/debuginfo.h"
#include "runtimes/stepping/debuggee.h"

/* *changed: whether modules with code of the user's have come or gone since the last call. */
static void note_own(struct debuggee *d, bool *changed)
{
	struct debuginfo *di = debuggee_debuginfo(d);
	struct libraries *l = &d->libraries;
	size_t n = 0, before = l->own.n;

	*changed = false;
	for (size_t i = 0; di && i < di->nmodules; i++) {
		struct dwarf_module *dm = debuginfo_program_module(di, i);

		if (!dm)
			continue;
		*changed |= n >= before || l->own.data[n] != dm;
		if (n < before)
			l->own.data[n] = dm;
		else
			*vec_push(&l->own) = dm;
		n++;
	}
	*changed |= n != before;
	l->own.n = n;
}

struct error *libraries_begin(struct debuggee *d)
{
	struct libraries *l = &d->libraries;
	bool changed;

	libraries_forget(d);
	l->nloads = asyncdbg_nloads(d->handle);
	note_own(d, &changed);
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
	error_free(internal_breakpoint_remove(&d->control, d->libraries.internal));
	vec_free(&d->libraries.own);
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
	str_printf(&text, "%s %u resolved: %s was loaded", breakpoint_noun(bp), bp->number,
	           m ? m->path : "a library");
	l->warned(l->arg, str_text(&text));
}

/* Whether libraries may have places of it. A panic has one, wherever it is. */
static bool libraries_may_be_there(const struct breakpoint *bp)
{
	enum event_break_kind kind = bp->event ? event_break_kind_of(bp->event) : EVENT_BREAK_NONE;

	if (kind == EVENT_BREAK_DEADLOCK)
		return false;
	return !event_break_is_catch(kind) || !bp->nplaces;
}

/*
 * Takes the places of breakpoints on events away, as they are found again: nothing may refer to the
 * old ones.
 */
static struct error *forget_events(struct debuggee *d)
{
	const struct breakpoints *b = &d->breakpoints;

	for (size_t i = 0; i < b->list.n; i++) {
		struct breakpoint *bp = b->list.data[i];

		if (!bp->event || !libraries_may_be_there(bp))
			continue;
		TRY(breakpoint_forget_places(bp));
	}
	event_break_forget(d);
	return NULL;
}

static struct error *find_one(struct breakpoint *bp, bool was_pending)
{
	if (bp->event)
		event_break_keep(bp->event);
	TRY(breakpoint_find_again(bp));
	if (was_pending && bp->nplaces)
		report_found(bp);
	return NULL;
}

static struct error *find_anew(struct debuggee *d)
{
	const struct breakpoints *b = &d->breakpoints;
	bool events;

	note_own(d, &events);
	if (events)
		TRY(forget_events(d));
	for (size_t i = 0; i < b->list.n; i++) {
		struct breakpoint *bp = b->list.data[i];

		if (libraries_may_be_there(bp) && (events || !bp->event))
			TRY(find_one(bp, bp->pending));
	}
	if (d->placed)
		d->placed(d->placed_arg);
	return NULL;
}

static bool has_events(const struct debuggee *d)
{
	const struct breakpoints *b = &d->breakpoints;

	for (size_t i = 0; i < b->list.n; i++) {
		if (b->list.data[i]->event)
			return true;
	}
	return false;
}

static bool wants(const struct debuggee *d)
{
	const struct breakpoints *b = &d->breakpoints;

	for (size_t i = 0; i < b->list.n; i++) {
		const struct breakpoint *bp = b->list.data[i];

		if (libraries_may_be_there(bp) && (bp->pending || !d->control.hw_breakpoints_only))
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
	if (!wants(d)) {
		if (!has_events(d))
			event_break_forget(d);
		return NULL;
	}
	struct error *err = find_anew(d);
	/* After an error, breakpoints on events are looked for again at the next load. */
	if (err)
		d->libraries.own.n = 0;
	return err;
}

/* The hit_callback of the linker's function. */
static struct error *libraries_linker_callback(void *debuggee, const struct internal_hit *hit,
                                               bool *stop)
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

	if (!l->function || l->internal || !d->control.pid || !wants(d))
		return NULL;
	return error_wrap(internal_breakpoint_add(&d->control,
	                                          &(struct internal_breakpoint_options){
							  .addr = l->function,
							  .kind = INTERNAL_LIBRARIES,
							  .decide = libraries_linker_callback,
							  .arg = d },
	                                          &l->internal),
	                  "libraries loaded later cannot be observed");
}
