#include "runtimes/stepping/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/live/tracer.h"
#include "dwarf/values/show.h"
#include "runtimes/common/inspector.h"
#include "runtimes/hits/operand.h"
#include "runtimes/query/frame_value.h"
#include "runtimes/stepping/debuggee.h"

enum { WORD = 8 /* bytes that one breakpoint of the processor can watch */ };

static const char *const kind_names[WATCH_NKINDS] = { "write", "read", "read_write" };
static const char *const nouns[WATCH_NKINDS] = { "watchpoint", "read watchpoint",
	                                         "access watchpoint" };

const char *watch_kind_name(enum watch_kind kind)
{
	return kind_names[kind];
}

const char *watch_noun(const struct watchpoint *w)
{
	return nouns[w->kind];
}

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

/* A hit whose condition is evaluated. */
struct look {
	const struct watchpoint *w;
	pid_t tid;
	struct arena *a;
};

static struct error *find_operand(void *arg, const struct predicate *operand,
                                  struct predicate_value *ret)
{
	const struct look *l = arg;
	const struct watch_rule *rule = &l->w->rule;
	struct debuggee *d = l->w->debuggee;
	struct frame_value v;

	if (operand->op != PREDICATE_PATH)
		return debuggee_task_operand(d, l->tid, operand, ret);
	for (size_t i = 0; i < rule->nnames; i++) {
		if (strcmp(rule->names[i].path, operand->path) != 0)
			continue;
		TRY(frame_value_at(asyncdbg_inspector(d->handle), rule->names[i].type,
		                   rule->names[i].addr, l->a, &v));
		*ret = operand_of_value(&v);
		return NULL;
	}
	return error_new(ERR_STATE, "%s has no place", operand->path);
}

/* err: why the condition cannot be read; owned. Whether it halts all the same. */
static bool cannot_read(struct watchpoint *w, struct error *err)
{
	bool first = !w->unreadable++;

	if (first)
		w->problem = arena_strdup(&w->rule_arena, err->message);
	error_free(err);
	return first;
}

/* Counts a hit, if its condition is true. *stop: it halts. */
static struct error *count_hit(struct watchpoint *w, pid_t tid, bool *stop)
{
	SCRATCH(tmp);
	struct look l = { .w = w, .tid = tid, .a = &tmp };
	bool is_true = true;

	w->undecided = *stop = false;
	if (w->parsed) {
		struct error *err = predicate_evaluate(w->parsed, find_operand, &l, &is_true);

		if (err && err->kind == ERR_INTERRUPTED)
			return err;
		if (err) {
			*stop = w->undecided = cannot_read(w, err);
			return NULL;
		}
	}
	if (!is_true || ++w->hits <= w->rule.skip)
		return NULL;
	*stop = !w->rule.every || (w->hits - w->rule.skip) % w->rule.every == 0;
	return NULL;
}

/* Whether that is what it watches for. */
static bool is_hit(const struct watchpoint *w, bool changed, bool here)
{
	switch (w->kind) {
	case WATCH_READ:
		return here && !changed;
	case WATCH_ACCESS:
		return here || changed;
	default:
		return changed;
	}
}

static struct error *check(struct watchpoint *w, const struct trap_hit *hit, bool *stop)
{
	unsigned char now[WATCH_MAX_BYTES];
	bool here = hit->addr >= w->addr && hit->addr - w->addr < w->size;
	uint64_t nstops = w->debuggee->control.nstops;

	*stop = false;
	TRY(control_read(&w->debuggee->control, w->addr, now, w->size));
	bool changed = memcmp(now, w->bytes, w->size) != 0;
	if (changed)
		TRY(take_value(w, now));
	if (w->hit_nstops == nstops || is_hit(w, changed, here)) {
		w->changed = w->hit_nstops == nstops ? w->changed : changed;
		w->hit_nstops = nstops;
		return count_hit(w, hit->tid, stop);
	}
	w->unchanged += w->kind == WATCH_WRITE && here;
	return NULL;
}

/*
 * A thread has written to memory at hit->addr, or accessed it. *stop: one of the watchpoints halts.
 * All that do are marked.
 */
static struct error *decide(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct debuggee *d = arg;

	for (size_t i = 0; i < d->watches.list.n; i++) {
		struct watchpoint *w = d->watches.list.data[i];
		bool halts = false;

		if (w->enabled)
			TRY(check(w, hit, &halts));
		w->halts = halts;
		if (halts && !*stop)
			d->watch = w;
		*stop |= halts;
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

		if (other == w || !other->enabled ||
		    (other->kind == WATCH_WRITE) != (w->kind == WATCH_WRITE))
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
			TRY(control_watch(&w->debuggee->control, at, len, w->kind != WATCH_WRITE,
			                  false));
		at += len;
	}
	return NULL;
}

/* How many of the processor's breakpoints the bytes up to an address take that no other one has. */
static unsigned count_pieces(const struct watchpoint *w, uint64_t end)
{
	unsigned n = 0;

	for (uint64_t at = w->addr; at < end;) {
		unsigned len = piece(at, w->addr + w->size - at);

		n += !is_watched_by_another(w, at, len);
		at += len;
	}
	return n;
}

/* err: why there is none for the piece at that address. It says "all" of those just taken, too. */
static struct error *refuse(const struct watchpoint *w, uint64_t at, struct error *err)
{
	unsigned needed = count_pieces(w, w->addr + w->size), free = count_pieces(w, at);

	if (err->kind != ERR_STATE || !free)
		return err;
	error_free(err);
	return error_new(ERR_STATE,
	                 "%s has %" PRIu64 " bytes, which take %u hardware breakpoints of the "
	                 "processor, and %u %s free: delete a watchpoint, or name a part of it",
	                 w->text, w->size, needed, free, free == 1 ? "is" : "are");
}

static struct error *plant(struct watchpoint *w)
{
	for (uint64_t at = w->addr; at < w->addr + w->size;) {
		unsigned len = piece(at, w->addr + w->size - at);
		struct error *err =
			control_watch(&w->debuggee->control, at, len, w->kind != WATCH_WRITE, true);

		if (err) {
			error_free(take_away(w, at));
			return refuse(w, at, err);
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
	arena_free(&w->rule_arena);
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
		                  .kind = o->kind,
		                  .state = o->state };
	w->text = arena_strdup(&w->arena, o->text);
	w->task = o->task ? arena_strdup(&w->arena, o->task) : NULL;
	return w;
}

struct error *watch_set_rule(struct watchpoint *w, const struct watch_rule *rule)
{
	struct arena a = { 0 };
	const struct predicate *parsed = NULL;
	struct error *err = rule->condition ? predicate_parse(&a, rule->condition, &parsed) : NULL;

	if (err) {
		arena_free(&a);
		return err;
	}
	struct watch_name *names = NEW_ARRAY(&a, struct watch_name, rule->nnames);
	for (size_t i = 0; i < rule->nnames; i++) {
		names[i] = rule->names[i];
		names[i].path = arena_strdup(&a, rule->names[i].path);
	}
	w->rule = *rule;
	w->rule.condition = rule->condition ? arena_strdup(&a, rule->condition) : NULL;
	w->rule.names = names;
	arena_free(&w->rule_arena);
	w->rule_arena = a;
	w->parsed = parsed;
	w->problem = NULL;
	w->unreadable = 0;
	return NULL;
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

static struct error *begin(struct watchpoint *w, const struct watch_rule *rule)
{
	unsigned char now[WATCH_MAX_BYTES];

	TRY(watch_set_rule(w, rule));
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
	struct error *err = begin(w, &options->rule);

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

struct error *watch_take_written(struct debuggee *d)
{
	unsigned char now[WATCH_MAX_BYTES];

	for (size_t i = 0; i < d->watches.list.n; i++) {
		struct watchpoint *w = d->watches.list.data[i];

		if (!w->enabled)
			continue;
		TRY(control_read(&d->control, w->addr, now, w->size));
		if (memcmp(now, w->bytes, w->size) != 0)
			TRY(take_value(w, now));
	}
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

	if (d->watches.reported || !l->warned)
		return;
	d->watches.reported = true;
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
	d->watches.reported = false;
	for (size_t i = 0; i < d->watches.list.n; i++) {
		struct watchpoint *w = d->watches.list.data[i];

		w->enabled = false;
		w->type = NULL;
		w->rule.names = NULL;
		w->rule.nnames = 0;
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
