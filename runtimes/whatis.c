#include "runtimes/whatis.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/module.h"
#include "dwarf/demangle.h"
#include "dwarf/symbols.h"
#include "dwarf/variables.h"
#include "runtimes/future.h"
#include "runtimes/locals.h"
#include "runtimes/stack.h"
#include "runtimes/tokio.h"

enum { MAX_STEPS = 24, MAX_WAITERS = 8 };

/* An answer in the making. */
struct answer {
	struct collector *c;
	uint64_t addr;
	VEC(struct place) places;
};

/* Where a future lies; type NULL: not known, or it is on no place of its own. */
static struct value place_of(const struct answer *a, const struct future *f)
{
	const struct frame_place *place = map_get(&a->c->places, (uintptr_t)f);

	return place ? place->v : (struct value){ 0 };
}

static struct place *add(struct answer *a, const char *what, uint64_t start, const char *phrase)
{
	struct place *p = vec_push(&a->places);

	p->what = what;
	p->addr = start;
	p->phrase = clean_name(a->c->a, phrase);
	return p;
}

static bool covers(struct answer *a, uint64_t start, uint64_t size)
{
	return a->addr >= start && a->addr - start < size;
}

/* ---- members ---- */

static void add_step(struct str *path, const char *name)
{
	str_printf(path, "%s%s", path->len ? "." : "", name);
}

static bool step_struct(struct answer *a, struct value *v, struct str *path)
{
	uint64_t offset = a->addr - v->addr;
	size_t n;
	const struct member *members = type_members(v->type, &n);

	for (size_t i = 0; i < n; i++) {
		const struct member *m = &members[i];

		if (!m->type || offset < m->offset || offset - m->offset >= type_size(m->type))
			continue;
		/* A wrapper's member says nothing that the wrapper's own name did not. */
		if (m == type_single_member(v->type)) {
			*v = (struct value){ m->type, v->addr + m->offset };
			return true;
		}
		const char *name = m->name ? m->name : "?";
		bool tuple = strncmp(name, "__", 2) == 0 && name[2] >= '0' && name[2] <= '9';

		add_step(path, tuple ? name + 2 : name);
		*v = (struct value){ m->type, v->addr + m->offset };
		return true;
	}
	return false;
}

/* A coroutine's variant is its state: it goes without saying. */
static bool step_enum(struct answer *a, struct value *v, struct str *path)
{
	const struct member *discr = type_discr(v->type);
	bool coroutine = type_is_coroutine(v->type);
	const struct variant *variant;
	size_t before = path->len;
	struct error *err = value_variant(a->c->in->target, *v, &variant);

	if (err) {
		error_free(err);
		return false;
	}
	struct value payload = value_payload(*v, variant);
	if (!coroutine)
		add_step(path, variant->name ? variant->name : "?");
	if (payload.type && type_kind(payload.type) == TYPE_STRUCT &&
	    step_struct(a, &payload, path)) {
		*v = payload;
		return true;
	}
	str_truncate(path, before);
	if (!discr || !covers(a, v->addr + discr->offset, type_size(discr->type)))
		return false;
	add_step(path, coroutine ? "its state" : "discriminant");
	*v = (struct value){ discr->type, v->addr + discr->offset };
	return true;
}

static bool step_array(struct answer *a, struct value *v, struct str *path)
{
	const struct type *element = type_target(v->type);
	uint64_t size = element ? type_size(element) : 0;

	if (size == 0)
		return false;
	uint64_t index = (a->addr - v->addr) / size;
	str_printf(path, "[%" PRIu64 "]", index);
	*v = (struct value){ element, v->addr + index * size };
	return true;
}

/* One step from a value to the part that holds the address; false at the innermost. */
static bool step(struct answer *a, struct value *v, struct str *path)
{
	switch (type_kind(v->type)) {
	case TYPE_STRUCT:
		return step_struct(a, v, path);
	case TYPE_ENUM:
		return step_enum(a, v, path);
	case TYPE_ARRAY:
		return step_array(a, v, path);
	default:
		return false;
	}
}

/* "buf.inner.len" for the address inside v, at most that many steps; NULL when there is none. */
static const char *member_path(struct answer *a, struct value v, int steps)
{
	STR(path);

	for (int i = 0; i < steps && v.type && step(a, &v, &path); i++)
		;
	return path.len ? clean_name(a->c->a, str_text(&path)) : NULL;
}

/* ", +24 in it: buf.inner.len" */
static const char *inside(struct answer *a, struct value v, int steps)
{
	const char *path = member_path(a, v, steps);
	const char *offset =
		a->addr == v.addr ? ""
				  : arena_printf(a->c->a, ", +%" PRIu64 " in it", a->addr - v.addr);

	return path ? arena_printf(a->c->a, "%s: %s", offset, path) : offset;
}

/* ---- memory: modules, stacks, thread-locals, the heap ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void add_function(struct answer *a, const struct location *l, const char *name)
{
	struct collector *c = a->c;
	const char *where = "";

	if (l->file && l->line)
		where = arena_printf(c->a, " at %s:%u", name_file_short(c->a, l->file, l->comp_dir),
		                     l->line);
	add(a, "function", l->function->low,
	    arena_printf(c->a, "function %s%s%s", name, where, l->inlined ? " [inlined]" : ""));
}

/* The function, and what is inlined there; or what symbol covers it. */
static void add_symbol(struct answer *a, const struct symbol_place *s, bool code)
{
	struct location *l = NULL;
	size_t n = 0;

	if (code)
		l = lookup_locations(a->c->in->di, a->addr, &a->c->scratch, &n);
	for (size_t i = n; i-- > 0;) {
		const char *name = stack_function_name(a->c, &l[i]);

		/* Between the physical function and the innermost one the stack says more. */
		if (l[i].function && name && (i == 0 || i == n - 1))
			add_function(a, &l[i], name);
		else if (!l[i].function)
			n = 0;
	}
	if (n == 0 && s->name)
		add(a, code ? "function" : "static", a->addr - s->offset,
		    arena_printf(a->c->a, "%s %s%s", code ? "function" : "static", s->name,
		                 s->offset
		                         ? arena_printf(a->c->a, ", +%" PRIu64 " in it", s->offset)
		                         : ""));
}

static bool add_module(struct answer *a)
{
	struct collector *c = a->c;
	const struct module *m = module_at(c->in->target, a->addr);
	struct symbol_place s = { 0 };
	struct region r = { 0 };

	if (!m)
		return false;
	bool known = symbol_at(c->in->di, a->addr, &c->scratch, &s);
	bool mapped = target_region(c->in->target, &c->scratch, a->addr, &r);
	add(a, "module", m->start,
	    arena_printf(c->a, "module %s, +0x%" PRIx64 " in it%s%s", base_name(m->path),
	                 a->addr - m->start, s.section ? ", section " : "",
	                 s.section ? s.section : ""));
	if (known)
		add_symbol(a, &s,
		           mapped ? r.executable
		                  : s.section && strncmp(s.section, ".text", 5) == 0);
	return true;
}

/* Where a thread's stack ends: glibc keeps a thread's descriptor above its stack. */
static uint64_t stack_end(const struct thread *th, const struct region *r)
{
	uint64_t tp = th->regs.thread_pointer;

	return tp >= r->start && tp < r->end ? tp : r->end;
}

/* The thread whose stack pointer is in the region, nearest below the address. */
static const struct thread *stack_owner(struct answer *a, const struct region *r)
{
	struct target *t = a->c->in->target;
	const struct thread *owner = NULL, *above = NULL;
	size_t n = 0;

	for (size_t i = 0; i < t->nthreads; i++) {
		const struct thread *th = &t->threads[i];
		uint64_t sp = th->has_regs ? th->regs.r[t->arch->sp] : 0;

		if (sp < r->start || sp >= r->end)
			continue;
		n++;
		above = th;
		if (sp <= a->addr && a->addr < stack_end(th, r) &&
		    (!owner || sp > owner->regs.r[t->arch->sp]))
			owner = th;
	}
	/* Below the stack pointer is what calls left behind, if the mapping is one thread's. */
	if (!owner && n == 1 && a->addr < above->regs.r[t->arch->sp])
		owner = above;
	return owner;
}

struct variable_search {
	uint64_t addr;
	const struct variable *best;
	struct variable found;
};

static void note_variable(const struct variable *v, void *arg)
{
	struct variable_search *search = arg;
	uint64_t size = v->type ? type_size(v->type) : 0;

	if (!v->in_memory || !v->name || search->addr < v->addr || search->addr - v->addr >= size)
		return;
	if (search->best && type_size(search->best->type) <= size)
		return;
	search->found = *v;
	search->best = &search->found;
}

/* The physical frame that spans the address, numbered as `bt` does. */
static void add_frame(struct answer *a, const struct thread *th)
{
	struct collector *c = a->c;
	const struct thread_stack *s = &c->stacks[th - c->in->target->threads];
	unsigned number = 0;

	for (size_t i = 0; i + 1 < s->stack.nframes; i++) {
		const struct frame *f = &s->stack.frames[i], *up = &s->stack.frames[i + 1];
		struct variable_search search = { .addr = a->addr };

		number += (unsigned)s->nfunctions[i];
		if (!f->has_sp || !up->has_sp || a->addr < f->sp || a->addr >= up->sp)
			continue;
		const struct location *l = &s->functions[i][s->nfunctions[i] - 1];
		const char *function = stack_function_name(c, l);

		variables_in_frame(c->in->di, f, up->sp, note_variable, &search);
		struct place *p = add(
			a, "frame", f->sp,
			arena_printf(c->a,
		                     "native frame #%u %s of thread #%u, +%" PRIu64 " in it%s%s",
		                     number - 1, function ? function : "?", th->number,
		                     a->addr - f->sp, search.best ? ": variable " : "",
		                     search.best ? search.best->name : ""));
		p->thread = th->number;
		return;
	}
}

static void add_stack(struct answer *a, const struct thread *th, const struct region *r)
{
	struct collector *c = a->c;
	uint64_t sp = th->regs.r[c->in->target->arch->sp];
	struct place *p = add(a, "stack", r->start,
	                      arena_printf(c->a, "stack of thread #%u%s%s%s%s", th->number,
	                                   th->name ? " (" : "", th->name ? th->name : "",
	                                   th->name ? ")" : "",
	                                   a->addr < sp ? ", below its stack pointer" : ""));

	p->thread = th->number;
	if (a->addr >= sp)
		add_frame(a, th);
}

static bool add_thread_local(struct answer *a)
{
	struct collector *c = a->c;
	struct target *t = c->in->target;

	for (size_t i = 0; i < t->nthreads; i++) {
		for (size_t j = 0; j < t->nmodules; j++) {
			const struct module *m = &t->modules[j];
			uint64_t base = 0;
			bool found = false;

			if (m->tls_memsz == 0)
				continue;
			error_free(target_tls_address(t, &t->threads[i], m, 0, &base, &found));
			if (!found || !covers(a, base, m->tls_memsz))
				continue;
			const char *name =
				symbol_thread_local(c->in->di, m, a->addr - base, &c->scratch);
			struct place *p =
				add(a, "tls", base,
			            arena_printf(c->a,
			                         "thread-local storage of thread #%u, +%" PRIu64
			                         " in that of %s%s%s",
			                         t->threads[i].number, a->addr - base,
			                         base_name(m->path), name ? ": " : "",
			                         name ? name : ""));
			p->thread = t->threads[i].number;
			return true;
		}
	}
	return false;
}

static void add_region(struct answer *a, const struct region *r)
{
	const char *what = r->name && strcmp(r->name, "[heap]") == 0 ? "heap"
	                   : r->name                                 ? r->name
	                                                             : "anonymous memory";

	add(a, strcmp(what, "heap") == 0 ? "heap" : "memory", r->start,
	    arena_printf(a->c->a, "%s 0x%" PRIx64 "-0x%" PRIx64 " (%c%c%c)", what, r->start, r->end,
	                 r->readable ? 'r' : '-', r->writable ? 'w' : '-',
	                 r->executable ? 'x' : '-'));
}

static void add_memory(struct answer *a)
{
	struct collector *c = a->c;
	const struct thread *th;
	struct region r;

	if (add_module(a) || add_thread_local(a))
		return;
	if (!target_region(c->in->target, &c->scratch, a->addr, &r)) {
		if (c->in->target->ops->region)
			add(a, "unmapped", a->addr,
			    arena_printf(c->a, "nothing is mapped at 0x%" PRIx64, a->addr));
		return;
	}
	th = stack_owner(a, &r);
	if (th)
		add_stack(a, th, &r);
	else
		add_region(a, &r);
}

/* ---- runtimes and tasks ---- */

static void add_runtime(struct answer *a, const struct tokio_runtime *r)
{
	struct collector *c = a->c;
	const struct path *p;
	struct value pointer, inner;
	bool found = false;
	struct error *err = inspector_path(c->in, r->handle.type, "ptr.pointer", &p);

	if (!err)
		err = path_eval(c->in->target, p, r->handle, &pointer, &found);
	if (!err && found && type_target(pointer.type)) {
		inner.type = type_target(pointer.type);
		err = target_read_uint(c->in->target, pointer.addr, 8, &inner.addr);
		if (!err && covers(a, inner.addr, type_size(inner.type)))
			add(a, "runtime", inner.addr,
			    arena_printf(c->a, "handle of runtime %u%s", r->info->index,
			                 inside(a, inner, MAX_STEPS)));
	}
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
	const char *path = member_path(a, cell, MAX_STEPS);

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
	if (!plan || !plan->cell || !covers(a, task->addr, type_size(plan->cell)))
		return;
	struct value cell = { plan->cell, task->addr };
	struct place *p = add(a, "task", task->addr,
	                      arena_printf(c->a, "cell of task %s, +%" PRIu64 " in it: %s",
	                                   task->id, a->addr - task->addr, part_of_cell(a, cell)));
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

	if (v.type && covers(a, v.addr, type_size(v.type))) {
		const struct future *child = NULL;

		for (size_t i = 0; i < f->nchildren && !child; i++) {
			struct value inner = place_of(a, f->children[i]);

			if (inner.type && covers(a, inner.addr, type_size(inner.type)))
				child = f->children[i];
		}
		struct place *p = add(a, "future", v.addr,
		                      arena_printf(a->c->a, "future frame #%u %s of %s%s",
		                                   f->number, f->function, owner_text(a, o),
		                                   inside(a, v, child ? 1 : MAX_STEPS)));
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
	struct place *p = add(a, object_of(w.first->kind), a->addr, str_text(&text));
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
	add_memory(&a);
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
