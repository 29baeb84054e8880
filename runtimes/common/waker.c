/* Reads wakers and finds the tasks and threads that they wake (waker.h). */
#include "runtimes/common/waker.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"
#include "runtimes/common/runtime.h"

/* The path of the Waker in an AtomicWaker; other wrappers are looked through. */
static const char vtable_path[] = "waker.vtable | vtable";
static const char clone_path[] = "waker.vtable.clone | vtable.clone";
static const char data_path[] = "waker.data | data";

static struct error *waker_part(struct collector *c, struct value v, const char *expr,
                                uint64_t *ret)
{
	const struct path *p;
	bool found;

	*ret = 0;
	TRY(inspector_path(c->in, v.type, expr, &p));
	return path_uint(c->in->target, p, v, ret, &found);
}

struct error *waker_read(struct collector *c, struct value v, struct waker *ret)
{
	TRY(waker_part(c, v, vtable_path, &ret->vtable));
	TRY(waker_part(c, v, clone_path, &ret->clone));
	return waker_part(c, v, data_path, &ret->data);
}

/*
 * The type of an ArcWake comes from the generics of the waker's functions. If the optimiser merged
 * the functions of several types, the type may be wrong: a read with it then finds no known waker.
 */
static const struct type *woken_type(struct collector *c, const struct waker *w)
{
	const struct function *f = lookup_function(c->in->di, w->clone);
	const struct type *t = f ? function_param(f, "W") : NULL;

	return t || !f ? t : function_param(f, "T");
}

/*
 * Wakers inside a future that wake whoever polls that future. The optimiser may merge the functions
 * of both types: then the path is missing in the type that they name, or leads to no known task.
 */
static const struct inner_waker {
	const char *type, *outer; /* the path to the waker that it passes a wake-up on to */
	const char *text;
} inner_wakers[] = {
	/* A node of a set. */
	{ "futures_util::stream::futures_unordered::task::Task", "ready_to_run_queue.waker",
	  "a future of the FuturesUnordered in " },
	{ "futures_util::stream::stream::flatten_unordered::WrappedWaker", "inner_waker.Some.0",
	  "a stream of the FlattenUnordered in " },
};

/*
 * Replaces a waker inside a future by the one that it wakes. If the set was found before, the type
 * of its nodes is known without looking up the waker's functions. NULL: it is none.
 */
static const struct inner_waker *follow_inner(struct collector *c, struct waker *w)
{
	const struct type *t = map_get(&c->nodes, w->data);
	const struct inner_waker *inner = NULL;
	struct value outer;
	bool found = false;

	t = t ? t : woken_type(c, w);
	for (size_t i = 0; t && !inner && i < sizeof(inner_wakers) / sizeof(*inner_wakers); i++)
		inner = type_is(t, inner_wakers[i].type) ? &inner_wakers[i] : NULL;
	if (!inner)
		return NULL;
	struct error *err =
		inspector_eval(c->in, (struct value){ t, w->data }, inner->outer, &outer, &found);
	if (!err && found)
		err = waker_read(c, outer, w);
	found &= !err && w->vtable;
	error_free(err);
	return found ? inner : NULL;
}

static void report_to_runtimes(struct collector *c, uint64_t data)
{
	for (const struct runtime *const *r = runtimes_in(c->in->di); *r; r++) {
		if ((*r)->tasks.waker_met)
			(*r)->tasks.waker_met(c, data);
	}
}

enum { MAX_SETS = 16 /* nested in each other */ };

/* The task or thread that the waker finally wakes. */
static bool waker_resolve(struct collector *c, struct waker w, const struct task **task,
                          const struct thread_info **th)
{
	for (int hop = 0; hop < MAX_SETS && w.vtable; hop++) {
		*task = map_get(&c->tasks, w.data);
		*th = *task ? NULL : map_get(&c->wakers, w.data);
		if (*task)
			report_to_runtimes(c, w.data);
		if (*task || *th)
			return true;
		if (!follow_inner(c, &w)) {
			report_to_runtimes(c, w.data);
			break;
		}
	}
	return false;
}

const char *waker_task(struct collector *c, struct waker w)
{
	const struct thread_info *th;
	const struct task *task;

	return waker_resolve(c, w, &task, &th) && task ? task->id : NULL;
}

/*
 * Waker::noop() and noop_waker(): their data is null, and their functions do nothing. Those of
 * RawWaker::NOOP are closures in it, called through FnOnce.
 */
static bool does_nothing(struct collector *c, struct waker w)
{
	static const char *const noops[] = { "core::task::wake::", "futures_task::noop_waker::",
		                             "core::ops::function::FnOnce::call_once<"
		                             "core::task::wake::" };
	const struct function *f = w.data ? NULL : lookup_function(c->in->di, w.clone);

	return f && str_begins_with_any(f->name, noops);
}

enum waker_registered waker_registered_in(struct collector *c, struct waker w, uint64_t own)
{
	/* Any vtable works here: only the data is used. */
	struct waker self = { .data = own, .vtable = 1 };
	const struct task *task = NULL, *own_task = NULL;
	const struct thread_info *th = NULL, *own_th = NULL;

	if (!w.vtable)
		return WAKER_REGISTERED_NO;
	if (own && w.data == own)
		return WAKER_REGISTERED_YES;
	if (does_nothing(c, w))
		return WAKER_REGISTERED_NO;
	if (!own || !waker_resolve(c, w, &task, &th) || !waker_resolve(c, self, &own_task, &own_th))
		return WAKER_REGISTERED_UNKNOWN;
	return task == own_task && th == own_th ? WAKER_REGISTERED_YES : WAKER_REGISTERED_NO;
}

struct error *waker_stored(struct collector *c, struct value v, uint64_t own,
                           enum waker_registered *ret, bool *vacant)
{
	struct waker w = { 0 };

	TRY(waker_part(c, v, vtable_path, &w.vtable));
	*vacant = !w.vtable;
	if (w.vtable)
		TRY(waker_part(c, v, data_path, &w.data));
	if (w.vtable && (!own || w.data != own))
		TRY(waker_part(c, v, clone_path, &w.clone));
	*ret = waker_registered_in(c, w, own);
	return NULL;
}

const char *waker_text(struct collector *c, struct waker w)
{
	const struct thread_info *th;
	const struct task *task;

	if (!w.vtable)
		return NULL;
	if (!waker_resolve(c, w, &task, &th))
		return "an unknown waker";
	return task ? arena_printf(&c->decoding.words, "task %s", waker_task_text(c, task->id))
	            : arena_printf(&c->decoding.words, "thread " MARKED_NUMBER("%u"), th->number);
}

const char *waker_task_text(struct collector *c, const char *id)
{
	const char *number = task_id_is_key(id) ? strrchr(id, ':') : NULL;
	int len = number ? (int)(number + 1 - id) : 0;

	return arena_printf(&c->decoding.words, "%.*s" MARKED_NUMBER("%s"), len, id, id + len);
}

/* ---- as a value ---- */

/* The name of a waker that wakes no known task: that of its clone function. */
static const char *function_text(struct collector *c, const struct waker *w)
{
	struct debuginfo *di = c->in->di;
	size_t n;
	const struct location *l = lookup_functions_at(di, w->clone, &c->scratch, &n);
	const char *name = n ? l[n - 1].name : NULL;

	if (!name)
		return arena_printf(&c->scratch, "unknown, its vtable is at 0x%" PRIx64, w->vtable);
	/* The functions of RawWaker::NOOP are closures in it, called through FnOnce. */
	if (strstr(name, "core::task::wake::") && strstr(name, "::NOOP::"))
		return "noop";
	for (const struct runtime *const *r = runtimes_in(di); *r; r++) {
		if ((*r)->tracing.task_functions && str_begins(name, (*r)->tracing.task_functions))
			return arena_printf(&c->scratch, "a task of %s at 0x%" PRIx64, (*r)->name,
			                    w->data);
	}
	return name_short(&c->scratch, name);
}

/* Whom the waker wakes, for people. It may be what is left of one: nothing is reported of it. */
static const char *waker_describe(struct collector *c, struct waker w)
{
	const struct waker first = w;
	const char *of = "";

	for (int hop = 0; hop < MAX_SETS && w.vtable; hop++) {
		const struct task *task = map_get(&c->tasks, w.data);
		const struct thread_info *th = task ? NULL : map_get(&c->wakers, w.data);

		if (task)
			return arena_printf(&c->scratch, "%stask %s", of, task->id);
		if (th)
			return arena_printf(&c->scratch, "%sthread %u, in block_on", of,
			                    th->number);
		const struct inner_waker *inner = follow_inner(c, &w);
		if (!inner)
			break;
		of = *of ? of : inner->text;
	}
	return function_text(c, &first);
}

/* A Waker, or a type that contains one and little else. */
static struct error *show_waker(struct show *s, struct value v, const struct show_row *row)
{
	struct collector *c = show_context(s);
	struct waker w;

	(void)row;
	if (!c)
		return error_new(ERR_LAYOUT, "no snapshot");
	TRY(waker_read(c, v, &w));
	show_type_last(s, v.type);
	show_printf(s, " (%s)", w.vtable ? waker_describe(c, w) : "none");
	return NULL;
}

const struct show_row waker_shown[] = {
	{ "Waker", "core::task::wake", SHOW_OWN, { NULL }, show_waker },
	{ "RawWaker", "core::task::wake", SHOW_OWN, { NULL }, show_waker },
	{ "LocalWaker", "core::task::wake", SHOW_OWN, { NULL }, show_waker },
	{ "Context", "core::task::wake", SHOW_OWN, { NULL }, show_waker },
	{ "AtomicWaker", "", SHOW_OWN, { NULL }, show_waker }, /* of any crate */
	{ 0 },
};
