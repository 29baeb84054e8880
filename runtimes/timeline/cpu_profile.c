#include "runtimes/timeline/cpu_profile.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/clock.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/probe/cpu_samples.h"
#include "debugger/target/module.h"
#include "dwarf/unwind/unwind.h"
#include "runtimes/common/inspector.h"
#include "runtimes/future/future.h"

enum {
	MAX_CODE = 256,    /* frames of a stack: calls from there on count for the last one */
	WRITTEN_NS = 50000 /* after which a sample of another CPU is in its buffer */
};

/* Kinds of functions that may lie between the poll of a task and its future. */
enum code_kind {
	CODE_OTHER,
	CODE_COROUTINE, /* the poll of an async fn */
	CODE_LOOP,      /* the loop of a runtime, where it polls tasks */
	CODE_RUNTIME,   /* a function elsewhere in a runtime's crate */
	CODE_STANDARD,  /* a function of the standard library */
};

/* A function at an address, inlined or not. */
struct code_frame {
	struct trace_frame frame;
	enum code_kind kind;
};

/* Functions at an address, inlined ones included, outermost first. */
struct code_frames {
	struct code_frame *data;
	size_t n;
};
typedef VEC(const struct code_frame *) code_frame_vec;

struct cpu_profile {
	const struct trace *trace;
	struct inspector *in;
	struct cpu_samples *samples;
	struct poll_stacks *stacks;
	struct map frames; /* address in the code -> struct code_frames */
	uint64_t read_at;  /* samples before that time were read; ns, CLOCK_MONOTONIC */
	struct cpu_totals totals;
	struct arena arena;
};

struct error *cpu_profile_open(const struct trace *t, unsigned hz, struct cpu_profile **ret)
{
	struct cpu_profile *p CLEANUP(cpu_profile_closep) = alloc_zeroed(sizeof(*p));

	p->trace = t;
	p->in = trace_inspector(t);
	p->stacks = poll_stacks_new();
	TRY(cpu_samples_open(p->in->target->pid, p->in->target->arch, hz, &p->samples));
	*ret = p;
	p = NULL;
	return NULL;
}

void cpu_profile_close(struct cpu_profile *p)
{
	if (!p)
		return;
	cpu_samples_close(p->samples);
	poll_stacks_free(p->stacks);
	map_free(&p->frames);
	arena_free(&p->arena);
	free(p);
}

void cpu_profile_closep(struct cpu_profile **p)
{
	cpu_profile_close(*p);
}

void cpu_profile_stop(struct cpu_profile *p)
{
	cpu_samples_stop(p->samples);
}

struct poll_stacks *cpu_profile_stacks(struct cpu_profile *p)
{
	return p->stacks;
}

void cpu_profile_totals(const struct cpu_profile *p, struct cpu_totals *ret)
{
	*ret = p->totals;
	ret->in_polls = poll_stacks_in_polls(p->stacks);
	ret->lost = cpu_samples_lost(p->samples);
}

bool cpu_profile_has_kernel(const struct cpu_profile *p)
{
	return cpu_samples_have_kernel(p->samples);
}

/* ---- samples ---- */

struct unwinding {
	const struct trace *trace;
	bool polled; /* the stack leads to the poll of a task */
};

static bool is_poll(uint64_t address, void *arg)
{
	struct unwinding *u = arg;

	u->polled = trace_polls_return_to(u->trace, address);
	return u->polled;
}

/* Samples of a thread that polls nothing have their whole stack without a poll. */
static void cpu_profile_take(const struct cpu_sample *sample, void *arg)
{
	struct cpu_profile *p = arg;
	const struct stack_copy copy = { sample->regs, sample->stack, sample->stack_size };
	struct unwinding u = { .trace = p->trace };
	uint64_t code[MAX_CODE] = { 0 };
	struct poll_stack found = { .code = code, .in_kernel = sample->in_kernel };
	struct stack stack;
	SCRATCH(tmp);

	unwind_copy(p->in->unwinder, &tmp, &copy, is_poll, &u, &stack);
	p->totals.samples++;
	p->totals.cut += stack.problem != NULL;
	if (!u.polled && !stack.problem)
		return;
	size_t n = u.polled ? stack.nframes : 0;
	size_t skip = n > MAX_CODE ? n - MAX_CODE : 0;
	for (size_t i = skip; i < n; i++)
		code[found.n++] = stack.frames[i].lookup_pc;
	poll_stacks_add(p->stacks, sample->tid, sample->time, &found);
}

void cpu_profile_read(struct cpu_profile *p, uint64_t until)
{
	if (until < p->read_at)
		return;
	p->read_at = clock_since(WRITTEN_NS);
	cpu_samples_read(p->samples, cpu_profile_take, p);
}

/* ---- names ---- */

static bool is_standard(const char *name)
{
	static const char *const paths[] = { "core::", "std::", "alloc::", "__rust_try" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (str_begins(name, paths[i]))
			return true;
	}
	return false;
}

static enum code_kind cpu_profile_kind_of(const struct inspector *in, const struct location *l)
{
	if (coroutine_is_poll(l))
		return CODE_COROUTINE;
	for (const struct runtime *const *r = runtimes_in(in->di); l->name && *r; r++) {
		if ((*r)->threads.loop && str_begins(l->name, (*r)->threads.loop))
			return CODE_LOOP;
		if (str_begins(l->name, (*r)->path))
			return CODE_RUNTIME;
	}
	return l->name && is_standard(l->name) ? CODE_STANDARD : CODE_OTHER;
}

static struct code_frame cpu_profile_describe(struct cpu_profile *p, uint64_t address,
                                              const struct location *l)
{
	struct code_frame c = { .kind = cpu_profile_kind_of(p->in, l) };

	c.frame.function = coroutine_function_name(&p->arena, l);
	c.frame.line = l->line;
	if (l->file) {
		struct source source = source_path_of(p->in->di, &p->arena, l->file, l->comp_dir);

		c.frame.file = inspector_clean_name(&p->arena, source.text);
		c.frame.library = source.library;
		c.frame.path = source.path;
	}
	if (!c.frame.function) {
		const struct module *m = module_at(p->in->target, address);
		const char *file = m ? inspector_clean_name(&p->arena, str_base_name(m->path))
		                     : "unknown function";

		c.frame.function = arena_printf(&p->arena, "[%s]", file);
	}
	return c;
}

static const struct code_frames *frames_at(struct cpu_profile *p, uint64_t address)
{
	struct code_frames *f = map_get(&p->frames, address + 1);
	SCRATCH(tmp);

	if (f)
		return f;
	f = NEW(&p->arena, struct code_frames);
	struct location *l = lookup_locations(p->in->di, address, &tmp, &f->n);
	f->data = NEW_ARRAY(&p->arena, struct code_frame, f->n);
	for (size_t i = 0; i < f->n; i++)
		f->data[i] = cpu_profile_describe(p, address, &l[f->n - 1 - i]);
	map_put(&p->frames, address + 1, f);
	return f;
}

static bool is_same(const struct trace_frame *a, const struct trace_frame *b)
{
	return a->line == b->line && strcmp(a->function, b->function) == 0 &&
	       str_same(trace_place_file(a), trace_place_file(b));
}

/* Index behind the frames in which the runtime polls the future. */
static size_t future_at(const code_frame_vec *frames)
{
	size_t first = 0;

	for (size_t i = 0; i < frames->n; i++) {
		enum code_kind kind = frames->data[i]->kind;

		if (kind == CODE_LOOP || (kind == CODE_STANDARD && first == i))
			first = i + 1;
		else if (kind != CODE_RUNTIME)
			break;
	}
	return first;
}

/*
 * The number of frames, outermost first, that only lead to the running code of the task: the
 * runtime's, and those of the async fns that await each other as they did when the task went on.
 */
static size_t leading(const code_frame_vec *frames, const struct trace_place *place)
{
	size_t first = future_at(frames), of_place = 0;

	for (size_t i = first; place && i < frames->n && of_place < place->nframes; i++) {
		const struct code_frame *c = frames->data[i];

		if (c->kind != CODE_COROUTINE)
			continue;
		if (!is_same(&c->frame, &place->frames[of_place]))
			break;
		of_place++;
		first = i + 1;
	}
	/* Functions of the standard library may lie between two async fns. */
	while (of_place && first < frames->n && frames->data[first]->kind == CODE_STANDARD)
		first++;
	return first;
}

const struct trace_frame *cpu_profile_code(uint32_t stack, const struct trace_place *place,
                                           size_t *n, void *arg)
{
	struct cpu_profile *p = arg;
	const struct poll_stack *s = poll_stacks_at(p->stacks, stack);
	code_frame_vec frames = { 0 };

	for (size_t i = s->n; i-- > 0;) {
		const struct code_frames *f = frames_at(p, s->code[i]);

		for (size_t j = 0; j < f->n; j++)
			*vec_push(&frames) = &f->data[j];
	}
	size_t first = leading(&frames, place), count = frames.n - first;
	struct trace_frame *ret = NEW_ARRAY(&p->arena, struct trace_frame, count + 1);
	*n = 0;
	for (size_t i = first; i < frames.n; i++)
		ret[(*n)++] = frames.data[i]->frame;
	if (count && !s->in_kernel)
		ret[count - 1].line = 0;
	if (s->n && s->in_kernel)
		ret[(*n)++] = (struct trace_frame){ .function = "[kernel]" };
	vec_free(&frames);
	return ret;
}
