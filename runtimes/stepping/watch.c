#include "runtimes/stepping/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/live/tracer.h"
#include "dwarf/values/show.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/debuggee.h"

enum { WORD = 8 /* bytes that one breakpoint of the processor can watch */ };

/* ---- values ---- */

static const char *show(const struct watchpoint *w, struct arena *a)
{
	struct inspector *in = asyncdbg_inspector(w->debuggee->handle);
	struct value v = { w->type, w->state ? w->whole : w->addr };
	const struct variant *variant;

	if (!w->state)
		return show_value(in->target, in->di, &in->show, a, v, NULL);
	struct error *err CLEANUP(error_freep) = value_variant(in->target, v, &variant);

	if (err)
		return "no state of that type: it is something else now";
	const char *name = str_clean(a, variant->name, strlen(variant->name));
	if (!variant->file || !variant->line)
		return name;
	const char *file = inspector_source(in, a, variant->file, NULL).text;
	return arena_printf(a, "%s, at %s:%u", name, str_clean(a, file, strlen(file)),
	                    variant->line);
}

/* Takes the value that it has now; the one before is the old one. */
static struct error *take_value(struct watchpoint *w, const unsigned char *bytes)
{
	struct arena old = w->old_arena;
	struct target *t = asyncdbg_inspector(w->debuggee->handle)->target;

	/* Reads see the memory as it is now. */
	TRY(target_stop(t));
	w->old_arena = w->value_arena;
	w->old = w->value;
	w->value_arena = old;
	arena_free(&w->value_arena);
	memcpy(w->bytes, bytes, w->size);
	w->value = show(w, &w->value_arena);
	target_resume(t);
	return NULL;
}

/* ---- hits ---- */

static struct error *check_change(struct watchpoint *w, bool *changed)
{
	unsigned char now[WATCH_MAX_BYTES];

	TRY(control_read(&w->debuggee->control, w->addr, now, w->size));
	*changed = memcmp(now, w->bytes, w->size) != 0;
	if (!*changed)
		return NULL;
	w->hits++;
	return take_value(w, now);
}

/* A thread has written to memory at hit->addr. *stop: a value that is watched has changed. */
static struct error *decide(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct debuggee *d = arg;

	for (size_t i = 0; i < d->watches.list.n && !*stop; i++) {
		struct watchpoint *w = d->watches.list.data[i];

		if (!w->enabled)
			continue;
		TRY(check_change(w, stop));
		if (*stop)
			d->watch = w;
		else
			w->unchanged += hit->addr >= w->addr && hit->addr - w->addr < w->size;
	}
	return NULL;
}

/* ---- the processor's ---- */

/* The largest piece at `addr`, of at most `left` bytes. */
static unsigned piece(uint64_t addr, uint64_t left)
{
	unsigned len = WORD;

	while (len > left || addr % len)
		len /= 2;
	return len;
}

static bool is_watched_by_another(const struct watchpoint *w, uint64_t addr, unsigned len)
{
	const struct debuggee *d = w->debuggee;

	for (size_t i = 0; i < d->watches.list.n; i++) {
		const struct watchpoint *other = d->watches.list.data[i];

		if (other == w || !other->enabled)
			continue;
		for (uint64_t at = other->addr; at < other->addr + other->size;) {
			unsigned n = piece(at, other->addr + other->size - at);

			if (at == addr && n == len)
				return true;
			at += n;
		}
	}
	return false;
}

static struct error *take_away(struct watchpoint *w, uint64_t end)
{
	for (uint64_t at = w->addr; at < end;) {
		unsigned len = piece(at, w->addr + w->size - at);

		if (!is_watched_by_another(w, at, len))
			TRY(control_watch(&w->debuggee->control, at, len, false));
		at += len;
	}
	return NULL;
}

static struct error *plant(struct watchpoint *w)
{
	for (uint64_t at = w->addr; at < w->addr + w->size;) {
		unsigned len = piece(at, w->addr + w->size - at);
		struct error *err = control_watch(&w->debuggee->control, at, len, true);

		if (err) {
			error_free(take_away(w, at));
			return err;
		}
		at += len;
	}
	return NULL;
}

/* ---- the list ---- */

static void free_one(struct watchpoint *w)
{
	arena_free(&w->arena);
	arena_free(&w->value_arena);
	arena_free(&w->old_arena);
	free(w);
}

static void remove_from(struct debuggee *d, const struct watchpoint *w)
{
	size_t n = 0;

	for (size_t i = 0; i < d->watches.list.n; i++) {
		if (d->watches.list.data[i] != w)
			d->watches.list.data[n++] = d->watches.list.data[i];
	}
	d->watches.list.n = n;
	if (d->watch == w)
		d->watch = NULL;
}

static struct watchpoint *new_watchpoint(struct debuggee *d, const struct watch_options *o)
{
	struct watchpoint *w = calloc(1, sizeof(*w));

	if (!w)
		out_of_memory();
	*w = (struct watchpoint){ .debuggee = d,
		                  .addr = o->addr,
		                  .size = o->size,
		                  .type = o->type,
		                  .whole = o->addr,
		                  .state = o->state };
	w->text = arena_strdup(&w->arena, o->text);
	w->task = o->task ? arena_strdup(&w->arena, o->task) : NULL;
	return w;
}

/* The bytes of the state of a coroutine. */
static struct error *choose_state(struct watchpoint *w)
{
	const struct member *m =
		w->type && type_kind(w->type) == TYPE_ENUM && type_is_coroutine(w->type)
			? type_discr(w->type)
			: NULL;

	if (!m)
		return error_new(ERR_STATE, "%s is no coroutine whose states are known", w->text);
	w->addr = w->whole + m->offset;
	w->size = type_size(m->type);
	return NULL;
}

static struct error *begin(struct watchpoint *w)
{
	unsigned char now[WATCH_MAX_BYTES];

	if (w->state)
		TRY(choose_state(w));
	if (w->size == 0 || w->size > WATCH_MAX_BYTES)
		return error_new(ERR_USAGE,
		                 "%s has %" PRIu64
		                 " bytes: 1 to %d can be watched; name a part of it",
		                 w->text, w->size, WATCH_MAX_BYTES);
	TRY(control_read(&w->debuggee->control, w->addr, now, w->size));
	TRY(take_value(w, now));
	return plant(w);
}

struct error *watch_add(struct debuggee *d, const struct watch_options *options,
                        struct watchpoint **ret)
{
	struct watchpoint *w = new_watchpoint(d, options);
	struct error *err = begin(w);

	if (err) {
		free_one(w);
		return err;
	}
	d->control.watched = decide;
	d->control.watched_arg = d;
	w->enabled = true;
	w->number = ++d->breakpoints.last;
	*vec_push(&d->watches.list) = w;
	*ret = w;
	return NULL;
}

struct watchpoint *watch_numbered(struct debuggee *d, unsigned number)
{
	for (size_t i = 0; i < d->watches.list.n; i++) {
		if (d->watches.list.data[i]->number == number)
			return d->watches.list.data[i];
	}
	return NULL;
}

struct error *watch_enable(struct watchpoint *w, bool enabled)
{
	unsigned char now[WATCH_MAX_BYTES];

	if (w->enabled == enabled)
		return NULL;
	if (enabled && w->note)
		return error_new(ERR_STATE, "watchpoint %u: %s", w->number, w->note);
	if (!enabled) {
		w->enabled = false;
		return take_away(w, w->addr + w->size);
	}
	TRY(control_read(&w->debuggee->control, w->addr, now, w->size));
	TRY(take_value(w, now));
	TRY(plant(w));
	w->enabled = true;
	return NULL;
}

struct error *watch_delete(struct watchpoint *w)
{
	bool enabled = w->enabled;

	w->enabled = false;
	struct error *err = enabled ? take_away(w, w->addr + w->size) : NULL;
	remove_from(w->debuggee, w);
	free_one(w);
	return err;
}

void watch_report_unwatched(void *debuggee, pid_t tid, int errnum)
{
	struct debuggee *d = debuggee;
	const struct debuggee_listener *l = &d->listener;
	STR(text);

	if (d->watches.told || !l->warned)
		return;
	d->watches.told = true;
	str_printf(&text,
	           "the new thread %d has no hardware breakpoints (%s): what it does at %s is not "
	           "seen, and so of others that start",
	           (int)tid, strerror(errnum),
	           d->control.production ? "breakpoints and watchpoints" : "watchpoints");
	if (errnum == EMFILE)
		str_append(&text, "; each thread takes a file for each of them: raise the limit "
		                  "(ulimit -n)");
	l->warned(l->arg, str_text(&text));
}

void watch_forget(struct debuggee *d)
{
	d->watches.told = false;
	for (size_t i = 0; i < d->watches.list.n; i++) {
		struct watchpoint *w = d->watches.list.data[i];

		w->enabled = false;
		w->type = NULL;
		w->note = "the program that it was set in is gone: set it again";
	}
	d->watch = NULL;
}

void watch_free_all(struct debuggee *d)
{
	for (size_t i = 0; i < d->watches.list.n; i++)
		free_one(d->watches.list.data[i]);
	vec_free(&d->watches.list);
	d->watch = NULL;
}
