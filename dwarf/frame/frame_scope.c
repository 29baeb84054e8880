#include "dwarf/frame/frame_scope.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "debugger/target/target.h"
#include "dwarf/frame/variables.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/unwind/unwind.h"

enum {
	MAX_FRAMES = 64, /* whose variables are looked through */
	MAX_DIES = 1 << 20,
	RED_ZONE = 128, /* bytes below the stack pointer that x86-64 lets a function use */
};

/* ---- the frame ---- */

/* 0: unknown. */
static uint64_t frame_scope_cfa(const struct stack *stack, size_t i)
{
	return i + 1 < stack->nframes && stack->frames[i + 1].has_sp ? stack->frames[i + 1].sp : 0;
}

static bool frame_has(const struct stack *stack, size_t i, uint64_t addr)
{
	const struct frame *frame = &stack->frames[i];
	const uint64_t cfa = frame_scope_cfa(stack, i), below = i ? 0 : RED_ZONE;

	return frame->has_sp && cfa && frame->sp <= addr + below && addr < cfa;
}

static uint64_t frame_scope_function_at(struct debuginfo *di, uint64_t pc)
{
	const struct function *f = lookup_function(di, pc);

	return f ? f->low : 0;
}

/* ---- the variable ---- */

struct frame_scope_search {
	uint64_t addr;
	const char *name;
	size_t len;
	uint64_t found; /* DIE of the innermost one; 0: none */
};

static void take_variable(const struct variable *v, void *arg)
{
	struct frame_scope_search *s = arg;

	if (v->in_memory && v->type && v->name && strlen(v->name) == s->len &&
	    strncmp(v->name, s->name, s->len) == 0 && v->addr <= s->addr &&
	    s->addr - v->addr < type_size(v->type))
		s->found = v->die;
}

bool frame_scope_find(struct debuginfo *di, const struct stack *stack, uint64_t addr,
                      const char *name, size_t len, struct frame_scope *ret)
{
	struct frame_scope_search search = { .addr = addr, .name = name, .len = len };
	size_t own = 0;

	*ret = (struct frame_scope){ 0 };
	while (own < stack->nframes && !frame_has(stack, own, addr))
		own++;
	if (own < stack->nframes) {
		ret->cfa = frame_scope_cfa(stack, own);
		ret->returns = stack->frames[own + 1].pc;
		ret->function = frame_scope_function_at(di, stack->frames[own].lookup_pc);
	}
	for (size_t i = ret->cfa ? own : 0; i < stack->nframes && i < own + MAX_FRAMES; i++) {
		variables_in_frame(di, &stack->frames[i], frame_scope_cfa(stack, i), take_variable,
		                   &search);
		if (search.found && !ret->cfa)
			ret->function = frame_scope_function_at(di, stack->frames[i].lookup_pc);
		if (search.found || ret->cfa)
			break;
	}
	ret->variable = ret->function ? search.found : 0;
	return ret->cfa || ret->variable;
}

/* ---- a variable without a place ---- */

struct named_search {
	const char *name;
	size_t len;
	unsigned depth;
	Dwarf_Addr pc;   /* link-time */
	Dwarf_Off found; /* the innermost one; 0: none */
	size_t seen;     /* DIEs */
};

static bool is_variable_named(const struct named_search *s, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name =
		dwarf_attr_integrate(die, DW_AT_name, &attr) ? dwarf_formstring(&attr) : NULL;

	return name && strlen(name) == s->len && strncmp(name, s->name, s->len) == 0;
}

static void find_variable_named(struct named_search *s, Dwarf_Die *block, unsigned nesting,
                                unsigned depth)
{
	Dwarf_Die child;

	if (nesting > DIE_MAX_NESTING || dwarf_child(block, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);
		bool is_call = tag == DW_TAG_inlined_subroutine;

		if (++s->seen > MAX_DIES)
			return;
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			s->found = depth == s->depth && is_variable_named(s, &child)
			                   ? dwarf_dieoffset(&child)
			                   : s->found;
		else if ((is_call || tag == DW_TAG_lexical_block) &&
		         dwarf_haspc(&child, s->pc) == 1)
			find_variable_named(s, &child, nesting + 1, depth + is_call);
	} while (dwarf_siblingof(&child, &child) == 0);
}

bool frame_scope_find_named(struct debuginfo *di, uint64_t pc, unsigned depth, const char *name,
                            size_t len, struct frame_scope *ret)
{
	struct named_search s = { .name = name, .len = len, .depth = depth };
	const struct function *f = lookup_function(di, pc);
	Dwarf_Die die;

	*ret = (struct frame_scope){ 0 };
	if (!f || !debuginfo_need(f->dm) || !f->dm->dwarf ||
	    !dwarf_offdie(f->dm->dwarf, f->die, &die))
		return false;
	s.pc = module_link_addr(f->dm->module, pc).v;
	find_variable_named(&s, &die, 0, 0);
	*ret = (struct frame_scope){ .function = s.found ? f->low : 0, .variable = s.found };
	return s.found;
}

/* ---- its block ---- */

struct block_search {
	Dwarf_Off variable;
	Dwarf_Addr pc; /* link-time */
	size_t seen;   /* DIEs */
	bool found, has_pc;
};

static void find_variable_block(struct block_search *s, Dwarf_Die *block, unsigned depth)
{
	Dwarf_Die child;

	if (depth > DIE_MAX_NESTING || dwarf_child(block, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);

		if (++s->seen > MAX_DIES)
			return;
		if (dwarf_dieoffset(&child) == s->variable) {
			s->found = true;
			s->has_pc = dwarf_haspc(block, s->pc) == 1;
		} else if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) {
			find_variable_block(s, &child, depth + 1);
		}
	} while (!s->found && dwarf_siblingof(&child, &child) == 0);
}

/* Whether the block of the variable has an address of the function; true: unknown. */
static bool is_in_block(struct debuginfo *di, const struct frame_scope *scope, uint64_t pc)
{
	const struct function *f = lookup_function(di, pc);
	struct block_search s = { .variable = scope->variable };
	Dwarf_Die die;

	if (!f || !debuginfo_need(f->dm) || !f->dm->dwarf ||
	    !dwarf_offdie(f->dm->dwarf, f->die, &die))
		return true;
	s.pc = module_link_addr(f->dm->module, pc).v;
	find_variable_block(&s, &die, 0);
	return !s.found || s.has_pc;
}

/* ---- now ---- */

/* The instruction that a frame executes, or has just executed. */
static uint64_t place_in(const struct stack *stack, size_t i, bool behind)
{
	return stack->frames[i].lookup_pc - (i == 0 && behind);
}

/* In a stack on which the frame does not lie: whether any call of the function is in the block. */
static enum frame_scope_life look_at_calls(struct debuginfo *di, const struct frame_scope *scope,
                                           const struct stack *stack, bool behind)
{
	enum frame_scope_life ret = FRAME_SCOPE_LIVES;

	for (size_t i = 0; i < stack->nframes; i++) {
		uint64_t pc = place_in(stack, i, behind);

		if (frame_scope_function_at(di, pc) != scope->function)
			continue;
		if (is_in_block(di, scope, pc))
			return FRAME_SCOPE_LIVES;
		ret = FRAME_SCOPE_LEFT;
	}
	return ret;
}

enum frame_scope_life frame_scope_look(struct debuginfo *di, const struct frame_scope *scope,
                                       const struct stack *stack, bool behind)
{
	if (!scope->cfa)
		return scope->variable ? look_at_calls(di, scope, stack, behind)
		                       : FRAME_SCOPE_LIVES;
	for (size_t i = 0; i + 1 < stack->nframes; i++) {
		uint64_t pc = place_in(stack, i, behind);

		if (frame_scope_cfa(stack, i) != scope->cfa ||
		    stack->frames[i + 1].pc != scope->returns ||
		    frame_scope_function_at(di, pc) != scope->function)
			continue;
		return !scope->variable || is_in_block(di, scope, pc) ? FRAME_SCOPE_LIVES
		                                                      : FRAME_SCOPE_LEFT;
	}
	return FRAME_SCOPE_GONE;
}
