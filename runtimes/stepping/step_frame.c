/* Frames of threads that stand still, and places in the source: without a snapshot. */
#include <string.h>

#include "dwarf/names/source.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/step_plan.h"

enum {
	FIRST_STACK = 16 << 10, /* bytes that are read at first */
	MAX_STACK = 8 << 20,
};

/* ---- frames ---- */

struct limit {
	size_t frames, max;
};

static bool is_enough(uint64_t address, void *arg)
{
	struct limit *limit = arg;

	(void)address;
	return ++limit->frames >= limit->max;
}

/*
 * Reads up to *size bytes at the stack pointer; *size is how many could be read, all up to the end
 * of the stack.
 */
static unsigned char *step_frame_read_stack(struct step_plan *p, uint64_t sp, struct arena *a,
                                            size_t *size)
{
	unsigned char *bytes = arena_alloc(a, *size);
	size_t got = 0;

	for (size_t step = *size; step >= sizeof(uint64_t); step /= 2) {
		if (got + step > *size)
			continue;
		struct error *err CLEANUP(error_freep) =
			control_read(&p->d->control, sp + got, bytes + got, step);

		if (!err)
			got += step;
	}
	*size = got;
	return bytes;
}

/* Unwinds with so many bytes of the stack; false: it takes more of them. */
static bool unwind(struct step_plan *p, const struct regs *regs, size_t size, size_t max,
                   struct arena *a, struct stack *ret)
{
	struct limit limit = { .max = max };
	struct stack_copy copy = { .regs = regs->r, .size = size };
	size_t wanted = size;

	copy.bytes = step_frame_read_stack(p, regs->r[p->arch->sp], a, &copy.size);
	unwind_copy(p->in->unwinder, a, &copy, is_enough, &limit, ret);
	return !ret->problem || copy.size < wanted;
}

static struct error *stack_of(struct step_plan *p, const struct regs *regs, size_t max,
                              struct arena *a, struct stack *ret)
{
	size_t size = FIRST_STACK;

	while (!unwind(p, regs, size, max, a, ret) && size < MAX_STACK)
		size *= 8;
	return NULL;
}

struct error *step_frame_stack(struct step_plan *p, pid_t tid, size_t max, struct arena *a,
                               struct stack *ret)
{
	struct regs regs;

	TRY(control_registers(&p->d->control, tid, a, &regs));
	return stack_of(p, &regs, max, a, ret);
}

struct error *step_frame_read(struct step_plan *p, pid_t tid, struct arena *a,
                              struct step_frame *ret)
{
	struct stack stack;

	*ret = (struct step_frame){ 0 };
	TRY(control_registers(&p->d->control, tid, a, &ret->regs));
	ret->pc = ret->regs.r[p->arch->pc];
	ret->sp = ret->regs.r[p->arch->sp];
	TRY(stack_of(p, &ret->regs, 2, a, &stack));
	if (stack.nframes == 2) {
		ret->cfa = stack.frames[1].sp;
		ret->returns = stack.frames[1].pc;
	}
	return NULL;
}

struct error *step_frame_at_entry(struct step_plan *p, pid_t tid, struct arena *a,
                                  struct step_frame *ret)
{
	*ret = (struct step_frame){ 0 };
	TRY(control_registers(&p->d->control, tid, a, &ret->regs));
	ret->pc = ret->regs.r[p->arch->pc];
	ret->sp = ret->regs.r[p->arch->sp];
	ret->cfa = ret->sp + p->arch->entry_cfa;
	/* The call has pushed it, or it is in a register. */
	if (p->arch->entry_cfa)
		return control_read(&p->d->control, ret->sp, &ret->returns, sizeof(ret->returns));
	ret->returns = ret->regs.r[p->arch->return_column];
	return NULL;
}

/* ---- places ---- */

static bool step_frame_is_users(struct step_plan *p, const struct function *f, const char *file,
                                const char *comp_dir)
{
	SCRATCH(tmp);

	if (debuginfo_is_system(f->dm->module))
		return false;
	if (p->options->all_code)
		return true;
	const struct source_dirs *dirs = debuginfo_source_dirs(p->in->di);
	return file && !source_of(&tmp, file, comp_dir, p->own_package, dirs).library;
}

bool step_place_is_users(struct step_plan *p, const char *file)
{
	return step_frame_is_users(p, p->where.at.function, file, p->where.at.lines->comp_dir);
}

bool step_place_is_users_at(struct step_plan *p, const struct location *l)
{
	return l->function && step_frame_is_users(p, l->function, l->file, l->comp_dir);
}

void step_place_at(struct step_plan *p, uint64_t pc, struct step_place *ret)
{
	const struct function *f = lookup_function(p->in->di, pc);
	const struct function_row *row;

	*ret = (struct step_place){ .function = f };
	if (!f)
		return;
	ret->lines = step_cache_lines(p->d->step_cache, f);
	row = function_lines_at(ret->lines, pc);
	if (!row)
		return;
	ret->file = row->file;
	ret->line = row->line;
	ret->call = row->call;
	ret->users = step_frame_is_users(p, f, row->file, ret->lines->comp_dir);
	/* The code of a library that is inlined may begin with the line of its caller. */
	while (ret->users && ret->call) {
		const struct function_call *call = &ret->lines->calls[ret->call];

		if (!call->file || step_frame_is_users(p, f, call->file, ret->lines->comp_dir))
			break;
		ret->call = call->parent;
	}
}

/* The line of the function that steps in a frame of it, also in a call that is inlined there. */
static unsigned line_in(struct step_plan *p, uint64_t pc)
{
	SCRATCH(tmp);
	size_t n;
	const struct location *l = lookup_locations(p->in->di, pc, &tmp, &n);
	struct step_place place;

	step_place_at(p, pc, &place);
	if (!p->where.at.function || place.function != p->where.at.function)
		return 0;
	if (p->where.at.call)
		return place.call == p->where.at.call ? place.line : 0;
	return l[n - 1].line;
}

unsigned step_frame_line(struct step_plan *p)
{
	SCRATCH(tmp);
	struct stack stack = { 0 };
	struct error *err CLEANUP(error_freep) =
		step_frame_stack(p, p->where.tid, STACK_MAX_FRAMES, &tmp, &stack);

	for (size_t i = 0; !err && i + 1 < stack.nframes; i++) {
		if (stack.frames[i + 1].sp == p->where.cfa)
			return line_in(p, stack.frames[i].lookup_pc);
	}
	return 0;
}
