#include "runtimes/query/native.h"

#include "dwarf/lookup/lookup.h"
#include "runtimes/query/locals.h"

/* The stack of the thread in question; NULL: there is none. */
static const struct stack *stack_in_question(const struct collector *c)
{
	for (size_t i = 0; c->stacks && i < c->out->nthreads; i++) {
		if (c->out->threads[i].number == c->question->thread)
			return &c->stacks[i].stack;
	}
	return NULL;
}

bool native_find(struct collector *c, struct native_scope *ret, const char **problem)
{
	const struct stack *stack = stack_in_question(c);
	size_t left = c->question->frame;

	*problem = "the registers of the thread are not known";
	for (size_t i = 0; stack && i < stack->nframes; i++) {
		const struct frame *frame = &stack->frames[i];
		size_t n;

		lookup_functions_at(c->in->di, frame->lookup_pc, &c->scratch, &n);
		if (left < n) {
			*ret = (struct native_scope){ .frame = frame, .level = left };
			if (i + 1 < stack->nframes)
				ret->caller = frame + 1;
			return true;
		}
		left -= n;
	}
	if (stack && stack->nframes)
		*problem = "the thread has no native frame of that number";
	return false;
}

static void add_registers(struct collector *c, const struct frame *frame, struct native_frame *ret)
{
	const struct arch *arch = c->in->target->arch;

	ret->nregisters = arch->nregs;
	ret->registers = NEW_ARRAY(c->a, struct native_register, arch->nregs);
	for (unsigned i = 0; i < arch->nregs; i++) {
		ret->registers[i].name = arch->regs[i].name;
		ret->registers[i].known = frame->known_regs & UINT64_C(1) << i;
		if (ret->registers[i].known)
			ret->registers[i].value = frame->regs[i];
	}
	/* The program counter is that of the frame itself, not of the caller. */
	if (!ret->registers[arch->pc].known) {
		ret->registers[arch->pc].known = true;
		ret->registers[arch->pc].value = frame->pc;
	}
}

static void add_locals(struct collector *c, const struct native_scope *scope,
                       struct native_frame *ret)
{
	const struct frame_place place = { .native = scope };
	size_t n;
	struct local_place *list = locals_list(c, &place, NULL, &n);

	ret->nlocals = n;
	ret->locals = NEW_ARRAY(c->a, struct local, n);
	for (size_t i = 0; i < n; i++)
		locals_show(c, &list[i], true, &ret->locals[i]);
}

/* Why the frame has no variables; NULL: it may have some. */
static const char *why_no_locals(struct collector *c, const struct native_scope *scope)
{
	struct native_variable *list;
	size_t n;
	struct error *err CLEANUP(error_freep) =
		native_variables_list(c->in->di, scope, &c->scratch, &list, &n, NULL);

	return err ? inspector_clean_name(c->a, err->message) : NULL;
}

void native_answer(struct collector *c)
{
	const struct question *q = c->question;
	struct native_scope scope;
	const char *problem;

	if (!q || !q->native)
		return;
	struct native_frame *ret = NEW(c->a, struct native_frame);
	c->out->native = ret;
	if (!native_find(c, &scope, &problem)) {
		ret->problem = problem;
		return;
	}
	ret->found = true;
	add_registers(c, scope.frame, ret);
	if (!(c->want & WANT_LOCALS))
		return;
	add_locals(c, &scope, ret);
	if (!ret->nlocals)
		ret->problem = why_no_locals(c, &scope);
}
