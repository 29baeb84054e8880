/* Describes an address by the memory map: modules, stacks, thread-locals, the heap. */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/target/module.h"
#include "dwarf/frame/variables.h"
#include "dwarf/module/symbols.h"
#include "dwarf/names/demangle.h"
#include "runtimes/common/inspector.h"
#include "runtimes/future/future.h"
#include "runtimes/query/whatis_place.h"

static void whatis_memory_add_function(struct whatis *a, const struct location *l, const char *name)
{
	struct collector *c = a->c;
	const char *where = "";

	if (l->file && l->line)
		where = arena_printf(c->a, " at %s:%u",
		                     source_path_of(c->in->di, c->a, l->file, l->comp_dir).text,
		                     l->line);
	place_add(
		a, "function", l->function->low,
		arena_printf(c->a, "function %s%s%s", name, where, l->inlined ? " [inlined]" : ""));
}

/* Adds the function and the innermost function inlined there, or else the symbol at the address. */
static void add_symbol(struct whatis *a, const struct symbol_place *s, bool code)
{
	struct location *l = NULL;
	size_t n = 0;

	if (code)
		l = lookup_locations(a->c->in->di, a->addr, &a->c->scratch, &n);
	for (size_t i = n; i-- > 0;) {
		const char *name = coroutine_function_name(a->c->a, &l[i]);

		/* Only the physical function and the innermost one: a stack shows the others. */
		if (l[i].function && name && (i == 0 || i == n - 1))
			whatis_memory_add_function(a, &l[i], name);
		else if (!l[i].function)
			n = 0;
	}
	if (n == 0 && s->name)
		place_add(a, code ? "function" : "static", a->addr - s->offset,
		          arena_printf(a->c->a, "%s %s%s", code ? "function" : "static", s->name,
		                       s->offset ? arena_printf(a->c->a, ", +%" PRIu64 " in it",
		                                                s->offset)
		                                 : ""));
}

static bool add_module(struct whatis *a)
{
	struct collector *c = a->c;
	const struct module *m = module_at(c->in->target, a->addr);
	struct symbol_place s = { 0 };
	struct region r = { 0 };

	if (!m)
		return false;
	bool known = symbol_at(c->in->di, a->addr, &c->scratch, &s);
	bool mapped = target_region(c->in->target, &c->scratch, a->addr, &r);
	place_add(a, "module", m->start,
	          arena_printf(c->a, "module %s, +0x%" PRIx64 " in it%s%s", str_base_name(m->path),
	                       a->addr - m->start, s.section ? ", section " : "",
	                       s.section ? s.section : ""));
	if (known)
		add_symbol(a, &s,
		           mapped ? r.executable
		                  : s.section && strncmp(s.section, ".text", 5) == 0);
	return true;
}

/* The end of a thread's stack: glibc stores the thread's descriptor above it. */
static uint64_t stack_end(const struct thread *th, const struct region *r)
{
	uint64_t tp = th->regs.thread_pointer;

	return tp >= r->start && tp < r->end ? tp : r->end;
}

/* The thread in the region whose stack pointer is the nearest below the address. */
static const struct thread *stack_owner(struct whatis *a, const struct region *r)
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
	/* An address below the only stack pointer of the region is in that thread's dead frames. */
	if (!owner && n == 1 && a->addr < above->regs.r[t->arch->sp])
		owner = above;
	return owner;
}

struct whatis_memory_variable_search {
	uint64_t addr;
	const struct variable *best;
	struct variable found;
};

static void whatis_memory_note_variable(const struct variable *v, void *arg)
{
	struct whatis_memory_variable_search *search = arg;
	uint64_t size = v->type ? type_size(v->type) : 0;

	if (!v->in_memory || !v->name || search->addr < v->addr || search->addr - v->addr >= size)
		return;
	if (search->best && type_size(search->best->type) <= size)
		return;
	search->found = *v;
	search->best = &search->found;
}

/* Adds the physical frame that contains the address, with the number that `bt` shows. */
static void whatis_memory_add_frame(struct whatis *a, const struct thread *th)
{
	struct collector *c = a->c;
	const struct thread_stack *s = &c->stacks[th - c->in->target->threads];
	unsigned number = 0;

	for (size_t i = 0; i + 1 < s->stack.nframes; i++) {
		const struct frame *f = &s->stack.frames[i], *up = &s->stack.frames[i + 1];
		struct whatis_memory_variable_search search = { .addr = a->addr };

		number += (unsigned)s->nfunctions[i];
		if (!f->has_sp || !up->has_sp || a->addr < f->sp || a->addr >= up->sp)
			continue;
		const struct location *l = &s->functions[i][s->nfunctions[i] - 1];
		const char *function = coroutine_function_name(c->a, l);

		variables_in_frame(c->in->di, f, up->sp, whatis_memory_note_variable, &search);
		struct place *p = place_add(
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

static void whatis_memory_add_stack(struct whatis *a, const struct thread *th,
                                    const struct region *r)
{
	struct collector *c = a->c;
	uint64_t sp = th->regs.r[c->in->target->arch->sp];
	struct place *p = place_add(a, "stack", r->start,
	                            arena_printf(c->a, "stack of thread #%u%s%s%s%s", th->number,
	                                         th->name ? " (" : "", th->name ? th->name : "",
	                                         th->name ? ")" : "",
	                                         a->addr < sp ? ", below its stack pointer" : ""));

	p->thread = th->number;
	if (a->addr >= sp)
		whatis_memory_add_frame(a, th);
}

static bool add_thread_local(struct whatis *a)
{
	struct collector *c = a->c;
	struct target *t = c->in->target;

	for (size_t i = 0; i < t->nthreads; i++) {
		for (size_t j = 0; j < t->modules.n; j++) {
			const struct module *m = t->modules.data[j];
			uint64_t base = 0;
			bool found = false;

			if (m->tls_memsz == 0)
				continue;
			error_free(target_tls_address(t, &t->threads[i], m, 0, &base, &found));
			if (!found || !place_covers(a, base, m->tls_memsz))
				continue;
			const char *name =
				symbol_thread_local(c->in->di, m, a->addr - base, &c->scratch);
			struct place *p = place_add(
				a, "tls", base,
				arena_printf(c->a,
			                     "thread-local storage of thread #%u, +%" PRIu64
			                     " in that of %s%s%s",
			                     t->threads[i].number, a->addr - base,
			                     str_base_name(m->path), name ? ": " : "",
			                     name ? name : ""));
			p->thread = t->threads[i].number;
			return true;
		}
	}
	return false;
}

static void add_region(struct whatis *a, const struct region *r)
{
	const char *what = r->name && strcmp(r->name, "[heap]") == 0 ? "heap"
	                   : r->name                                 ? r->name
	                                                             : "anonymous memory";

	place_add(a, strcmp(what, "heap") == 0 ? "heap" : "memory", r->start,
	          arena_printf(a->c->a, "%s 0x%" PRIx64 "-0x%" PRIx64 " (%c%c%c)", what, r->start,
	                       r->end, r->readable ? 'r' : '-', r->writable ? 'w' : '-',
	                       r->executable ? 'x' : '-'));
}

void place_memory(struct whatis *a)
{
	struct collector *c = a->c;
	const struct thread *th;
	struct region r;

	if (add_module(a) || add_thread_local(a))
		return;
	if (!target_region(c->in->target, &c->scratch, a->addr, &r)) {
		if (c->in->target->ops->region)
			place_add(a, "unmapped", a->addr,
			          arena_printf(c->a, "nothing is mapped at 0x%" PRIx64, a->addr));
		return;
	}
	th = stack_owner(a, &r);
	if (th)
		whatis_memory_add_stack(a, th, &r);
	else
		add_region(a, &r);
}
