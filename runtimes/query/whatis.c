#include "runtimes/query/whatis.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/future/future.h"
#include "runtimes/query/locals.h"
#include "runtimes/query/whatis_place.h"
#include "runtimes/tokio/tokio.h"

enum { MAX_WAITERS = 8 };

/* Where a future lies; type NULL: not known, or it is on no place of its own. */
static struct value place_of(const struct answer *a, const struct future *f)
{
	const struct frame_place *place = map_get(&a->c->places, (uintptr_t)f);

	return place ? place->v : (struct value){ 0 };
}

/* ---- runtimes and tasks ---- */

static void add_runtime(struct answer *a, const struct tokio_runtime *r)
{
	struct collector *c = a->c;
	const struct path *p;
	struct value pointer, inner = r->handle;
	bool found = false;
	struct error *err = NULL;

	/* With the counts of the Arc, where one is known. */
	if (r->arc.type)
		err = inspector_path(c->in, r->arc.type, "ptr.pointer", &p);
	if (r->arc.type && !err)
		err = path_eval(c->in->target, p, r->arc, &pointer, &found);
	if (!err && found && type_target(pointer.type)) {
		inner.type = type_target(pointer.type);
		err = target_read_uint(c->in->target, pointer.addr, 8, &inner.addr);
	}
	if (!err && place_covers(a, inner.addr, type_size(inner.type)))
		place_add(a, "runtime", inner.addr,
		          arena_printf(c->a, "handle of runtime %u%s", r->info->index,
		                       place_inside(a, inner, PLACE_MAX_STEPS)));
	error_free(err);
}

/* Which part of a task's cell (runtime/task/core.rs: repr(C) since 1.0). */
static const char *part_of_cell(struct answer *a, struct value cell)
{
	static const struct {
		const char *begins, *part;
	} parts[] = {
		{ "header", "its header" },   { "core.scheduler", "its scheduler's handle" },
		{ "core.task_id", "its id" }, { "core.stage", "its future or output" },
		{ "trailer", "its trailer" },
	};
	const char *path = place_member(a, cell, PLACE_MAX_STEPS);

	for (size_t i = 0; path && i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t len = strlen(parts[i].begins);

		if (strncmp(path, parts[i].begins, len) != 0)
			continue;
		/* The frames of the future come after it. */
		return path[len] != '.' || strcmp(parts[i].begins, "core.stage") == 0
		               ? parts[i].part
		               : arena_printf(a->c->a, "%s: %s", parts[i].part, path + len + 1);
	}
	return path ? path : "padding";
}

/* Cells do not overlap: only the nearest below the address can hold it. */
static void add_task(struct answer *a)
{
	struct collector *c = a->c;
	const struct task *task = NULL;
	struct tokio_header h;

	for (size_t i = 0; i < c->out->ntasks; i++) {
		const struct task *other = c->out->tasks[i];

		if (other->addr <= a->addr && (!task || other->addr > task->addr))
			task = other;
	}
	if (!task || task->runtime >= c->ntokio_runtimes)
		return;
	struct tokio *k = c->tokio_runtimes[task->runtime].tokio;
	struct error *err = tokio_read_header(c->in->target, k, task->addr, &h);
	const struct task_plan *plan = err ? NULL : tokio_task_plan(c->in, k, h.poll);
	error_free(err);
	if (!plan || !plan->cell || !place_covers(a, task->addr, type_size(plan->cell)))
		return;
	struct value cell = { plan->cell, task->addr };
	struct place *p =
		place_add(a, "task", task->addr,
	                  arena_printf(c->a, "cell of task %s, +%" PRIu64 " in it: %s", task->id,
	                               a->addr - task->addr, part_of_cell(a, cell)));
	p->task = task->id;
}

/* ---- futures and what they wait for ---- */

/* Whose tree it is. */
struct owner {
	const struct task *task;
	const struct thread_info *thread;
};

static const char *owner_text(struct answer *a, const struct owner *o)
{
	return o->task ? arena_printf(a->c->a, "task %s", o->task->id)
	               : arena_printf(a->c->a, "what thread #%u blocks on", o->thread->number);
}

static void add_frames(struct answer *a, const struct owner *o, const struct future *f)
{
	struct value v = place_of(a, f);

	if (v.type && place_covers(a, v.addr, type_size(v.type))) {
		const struct future *child = NULL;

		for (size_t i = 0; i < f->nchildren && !child; i++) {
			struct value inner = place_of(a, f->children[i]);

			if (inner.type && place_covers(a, inner.addr, type_size(inner.type)))
				child = f->children[i];
		}
		struct place *p =
			place_add(a, "future", v.addr,
		                  arena_printf(a->c->a, "future frame #%u %s of %s%s", f->number,
		                               f->function, owner_text(a, o),
		                               place_inside(a, v, child ? 1 : PLACE_MAX_STEPS)));
		if (o->task)
			p->task = o->task->id;
		else
			p->thread = o->thread->number;
	}
	for (size_t i = 0; i < f->nchildren; i++)
		add_frames(a, o, f->children[i]);
}

/* Those that wait for what begins at the address. */
struct waiters {
	const struct wait *first;
	const char *names[MAX_WAITERS];
	size_t n;
	const char *task; /* of the first */
	unsigned thread;
};

static void add_waiter(struct waiters *w, const struct wait *wait, const char *name,
                       const struct owner *o)
{
	if (!w->first) {
		w->first = wait;
		w->task = o->task ? o->task->id : NULL;
		w->thread = o->task ? 0 : o->thread->number;
	}
	for (size_t i = 0; i < w->n && i < MAX_WAITERS; i++) {
		if (strcmp(w->names[i], name) == 0)
			return;
	}
	if (w->n < MAX_WAITERS)
		w->names[w->n] = name;
	w->n++;
}

static void find_waiters(struct answer *a, const struct owner *o, const struct future *f,
                         struct waiters *w)
{
	if (f->wait && f->wait->object == a->addr)
		add_waiter(w, f->wait, owner_text(a, o), o);
	for (size_t i = 0; i < f->nchildren; i++)
		find_waiters(a, o, f->children[i], w);
}

/* What a kind of wait waits for, by a part of its name. */
static const char *object_of(const char *kind)
{
	static const struct {
		const char *part, *what;
	} table[] = {
		{ "mutex", "lock" },      { "rwlock", "lock" },       { "semaphore", "lock" },
		{ "parking", "lock" },    { "condvar", "lock" },      { "mpsc", "channel" },
		{ "oneshot", "channel" }, { "broadcast", "channel" }, { "watch", "channel" },
		{ "channel", "channel" }, { "sleep", "timer" },       { "interval", "timer" },
		{ "timeout", "timer" },   { "notify", "notify" },     { "join_set", "set" },
		{ "join", "task" },
	};

	for (size_t i = 0; kind && i < sizeof(table) / sizeof(table[0]); i++) {
		if (strstr(kind, table[i].part))
			return table[i].what;
	}
	return "object";
}

static void add_waits(struct answer *a)
{
	struct snapshot *s = a->c->out;
	struct waiters w = { 0 };
	STR(text);

	for (size_t i = 0; i < s->ntasks; i++) {
		struct owner o = { .task = s->tasks[i] };

		if (o.task->root)
			find_waiters(a, &o, o.task->root, &w);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		struct owner o = { .thread = &s->threads[i] };

		if (o.thread->root)
			find_waiters(a, &o, o.thread->root, &w);
		if (o.thread->wait && o.thread->wait->object == a->addr)
			add_waiter(&w, o.thread->wait,
			           arena_printf(a->c->a, "thread #%u", o.thread->number), &o);
	}
	if (!w.first)
		return;
	str_append(&text, "waited for by ");
	for (size_t i = 0; i < w.n && i < MAX_WAITERS; i++)
		str_printf(&text, "%s%s", i ? ", " : "", w.names[i]);
	if (w.n > MAX_WAITERS)
		str_printf(&text, " and %zu others", w.n - MAX_WAITERS);
	str_printf(&text, ": %s", w.first->phrase ? w.first->phrase : w.first->kind);
	struct place *p = place_add(a, object_of(w.first->kind), a->addr, str_text(&text));
	p->task = w.task;
	p->thread = w.thread;
}

void whatis_answer(struct collector *c)
{
	struct snapshot *s = c->out;
	struct answer a = { .c = c };

	if (!c->question || !c->question->has_whatis)
		return;
	a.addr = c->question->whatis;
	place_memory(&a);
	for (size_t i = 0; i < c->ntokio_runtimes; i++)
		add_runtime(&a, &c->tokio_runtimes[i]);
	add_task(&a);
	for (size_t i = 0; i < s->ntasks; i++) {
		if (s->tasks[i]->root)
			add_frames(&a, &(struct owner){ .task = s->tasks[i] }, s->tasks[i]->root);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].root)
			add_frames(&a, &(struct owner){ .thread = &s->threads[i] },
			           s->threads[i].root);
	}
	add_waits(&a);
	s->nplaces = a.places.n;
	s->places = vec_to_arena(&a.places, c->a);
}
