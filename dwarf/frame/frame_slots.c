#include "dwarf/frame/frame_slots.h"

#include <dwarf.h>
#include <stdlib.h>

#include "debugger/base/vec.h"
#include "debugger/target/target.h"
#include "dwarf/frame/await_states.h"
#include "dwarf/types/type.h"

enum { MAX_DIES = 1 << 20 };

#define NO_BLOCK SIZE_MAX

/* A lexical block, an inlined call or the function itself. */
struct frame_block {
	Dwarf_Off die;
	size_t parent;  /* index; NO_BLOCK: it is the function */
	uint64_t begin; /* link-time address */
	bool is_lexical;
};

/* A variable at a place of the frame. */
struct placed {
	Dwarf_Off die;
	size_t block; /* index */
	struct flow_place place;
};

/* A `let` of which the debug info has no place at all. */
struct placeless {
	size_t block; /* index */
	Dwarf_Off type;
	unsigned line; /* of its declaration; 0: unknown */
};

struct frame_slots {
	const struct function *f;
	Dwarf_Die function;
	struct frame_base base;
	struct slot_flow *flow; /* NULL: not read, or it cannot be */
	VEC(struct frame_block) blocks;
	VEC(struct placed) placed;
	VEC(struct placeless) placeless;
	size_t seen; /* DIEs */
	bool read, cut;
};

/* ---- whether it is optimised ---- */

/* Unoptimised code has an argument in a register only where it has its address there. */
static bool is_in_register(Dwarf_Attribute *location)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	Dwarf_Op *op;
	size_t n;

	while ((at = dwarf_getlocations(location, at, &base, &begin, &end, &op, &n)) > 0) {
		if (n && op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
			return true;
	}
	return false;
}

static bool frame_slots_is_variable(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_variable || dwarf_tag(die) == DW_TAG_formal_parameter;
}

/* Whether a variable is now here, now there, or an argument nowhere. */
static bool has_lists(struct dwarf_module *dm, Dwarf_Die *scope, unsigned depth)
{
	Dwarf_Attribute location;
	Dwarf_Die child;
	Dwarf_Op *op;
	size_t n;

	if (depth > DIE_MAX_NESTING || dwarf_child(scope, &child) != 0)
		return false;
	do {
		bool is_argument = dwarf_tag(&child) == DW_TAG_formal_parameter;

		if (dwarf_tag(&child) == DW_TAG_lexical_block && has_lists(dm, &child, depth + 1))
			return true;
		if (!frame_slots_is_variable(&child))
			continue;
		if (dwarf_attr(&child, DW_AT_location, &location)) {
			if (dwarf_getlocation(&location, &op, &n) != 0 &&
			    (!is_argument || is_in_register(&location)))
				return true;
		} else if (is_argument) {
			const struct type *t = await_states_type_of(dm, &child);

			if (t && type_size(t))
				return true;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

bool frame_slots_is_optimised(struct dwarf_module *dm, Dwarf_Die *function)
{
	return has_lists(dm, function, 0);
}

/* ---- reading ---- */

/* False: it is not at one place of the frame. What a closure captured is at a distance from it. */
static bool frame_slots_read_place(const struct frame_slots *s, Dwarf_Die *die, struct placed *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Op *op;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &attr) || dwarf_getlocation(&attr, &op, &n) != 0 ||
	    !n || n > 2 || op->atom != DW_OP_fbreg || (n == 2 && op[1].atom != DW_OP_plus_uconst))
		return false;
	ret->die = dwarf_dieoffset(die);
	const struct type *type = await_states_type_of(s->f->dm, die);
	uint64_t size = type ? type_size(type) : 0, distance = n == 2 ? op[1].number : 0;
	ret->place.offset = (int64_t)(op->number + distance + (uint64_t)s->base.offset);
	ret->place.size = size;
	/* No frame is larger. */
	return size && size <= INT32_MAX && ret->place.offset == (int32_t)ret->place.offset;
}

Dwarf_Off frame_slots_type_of(Dwarf_Die *variable)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;

	return dwarf_attr_integrate(variable, DW_AT_type, &attr) && dwarf_formref_die(&attr, &type)
	               ? dwarf_dieoffset(&type)
	               : 0;
}

unsigned frame_slots_line_of(Dwarf_Die *variable)
{
	int line;

	return dwarf_decl_line(variable, &line) == 0 && line > 0 ? (unsigned)line : 0;
}

static void add_placeless(struct frame_slots *s, Dwarf_Die *die, size_t block)
{
	if (s->blocks.data[block].is_lexical && dwarf_tag(die) == DW_TAG_variable &&
	    !dwarf_hasattr(die, DW_AT_location) && !dwarf_hasattr(die, DW_AT_const_value))
		*vec_push(&s->placeless) = (struct placeless){
			.block = block,
			.type = frame_slots_type_of(die),
			.line = frame_slots_line_of(die),
		};
}

static void read_placed(struct frame_slots *s, Dwarf_Die *scope, size_t parent, unsigned depth)
{
	Dwarf_Addr base, begin = 0, end;
	const size_t block = s->blocks.n;
	Dwarf_Die child;

	s->cut |= depth > DIE_MAX_NESTING;
	if (s->cut || dwarf_child(scope, &child) != 0)
		return;
	if (dwarf_ranges(scope, 0, &base, &begin, &end) <= 0)
		return; /* it has no code */
	*vec_push(&s->blocks) = (struct frame_block){
		.die = dwarf_dieoffset(scope),
		.parent = parent,
		.begin = begin,
		.is_lexical = dwarf_tag(scope) == DW_TAG_lexical_block,
	};
	do {
		int tag = dwarf_tag(&child);
		struct placed p = { .block = block };

		s->cut |= ++s->seen > MAX_DIES;
		if (s->cut)
			return;
		if (frame_slots_is_variable(&child) && frame_slots_read_place(s, &child, &p))
			*vec_push(&s->placed) = p;
		else if (frame_slots_is_variable(&child))
			add_placeless(s, &child, block);
		else if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine)
			read_placed(s, &child, block, depth + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

struct frame_slots *frame_slots_open(const struct function *f, Dwarf_Die *function,
                                     struct frame_base base)
{
	struct frame_slots *ret = calloc(1, sizeof(*ret));

	if (!ret)
		out_of_memory();
	*ret = (struct frame_slots){ .f = f, .function = *function, .base = base };
	return ret;
}

void frame_slots_free(struct frame_slots *s)
{
	if (!s)
		return;
	slot_flow_free(s->flow);
	vec_free(&s->blocks);
	vec_free(&s->placed);
	vec_free(&s->placeless);
	free(s);
}

/* ---- one variable ---- */

static bool frame_slots_has(const struct frame_slots *s, uint64_t block, uint64_t pc)
{
	Dwarf_Die die;

	return dwarf_offdie(s->f->dm->dwarf, block, &die) &&
	       dwarf_haspc(&die, pc - s->f->dm->module->bias) == 1;
}

/* A question about a variable. */
struct frame_slots_inquiry {
	struct frame_slots *s;
	struct placed placed;
	Dwarf_Off type;
	unsigned line;  /* of its declaration; 0: unknown */
	unsigned depth; /* of the function that declares it, among those inlined into each other */
	size_t call;    /* index of the inlined call within its block that has the pc; NO_BLOCK */
};

/* As is_in of struct slot. */
static bool frame_slots_block_has(uint64_t pc, uint64_t block, void *arg)
{
	const struct frame_slots_inquiry *q = arg;

	return frame_slots_has(q->s, block, pc);
}

static bool frame_slots_is_overlap(const struct flow_place *a, const struct flow_place *b)
{
	return a->offset < b->offset + (int64_t)b->size && b->offset < a->offset + (int64_t)a->size;
}

static bool is_same(const struct flow_place *a, const struct flow_place *b)
{
	return a->offset == b->offset && a->size == b->size;
}

static bool frame_slots_encloses(const struct frame_slots *s, size_t outer, size_t block)
{
	do
		block = s->blocks.data[block].parent;
	while (block != NO_BLOCK && block != outer);
	return block == outer;
}

enum sharing {
	SHARES_NOTHING,
	SHARES_PLACE, /* another variable has the same bytes */
	SHARES_BYTES, /* another one has some of them, or all: it may be set in place of this one */
};

/*
 * Whether a variable of an enclosing block may be moved to this one: LLVM gives both the same bytes
 * if the first one is not used behind the move, and nothing in the code tells when that is. In an
 * inlined closure or coroutine this one is no `let` but a capture, a part of the variable that the
 * closure is. Others of enclosing blocks use the bytes before the inner block or behind it.
 */
static bool is_moved_from(const struct frame_slots *s, const struct placed *p,
                          const struct placed *outer)
{
	return is_same(&outer->place, &p->place) && s->blocks.data[p->block].is_lexical;
}

static enum sharing frame_slots_sharing(const struct frame_slots *s, const struct placed *p,
                                        const struct placed *other)
{
	const struct frame_block *block = &s->blocks.data[other->block];

	if (other->die == p->die || !frame_slots_is_overlap(&other->place, &p->place))
		return SHARES_NOTHING;
	if (frame_slots_encloses(s, other->block, p->block))
		return is_moved_from(s, p, other) ? SHARES_BYTES : SHARES_NOTHING;
	if (!frame_slots_has(s, s->blocks.data[p->block].die,
	                     block->begin + s->f->dm->module->bias))
		return SHARES_NOTHING;
	return is_same(&other->place, &p->place) ? SHARES_PLACE : SHARES_BYTES;
}

/* ---- variables without a place ---- */

static unsigned frame_slots_depth(const struct frame_slots *s, size_t block)
{
	unsigned ret = 0;

	for (; s->blocks.data[block].parent != NO_BLOCK; block = s->blocks.data[block].parent)
		ret += !s->blocks.data[block].is_lexical;
	return ret;
}

/*
 * Whether an instruction can set another variable: LLVM makes one of `let q = f(); p = q;`, and
 * drops the place of q. Then what sets the bytes comes before the move, in a line of its own: `let
 * q` is behind `let p;` (inner), or before it.
 */
static bool is_set_as(const struct frame_slots_inquiry *q, const struct placeless *other,
                      unsigned line, bool inside)
{
	const struct frame_slots *s = q->s;

	if (other->type != q->type || frame_slots_depth(s, other->block) != q->depth)
		return false;
	if (frame_slots_encloses(s, other->block, q->placed.block))
		return line < q->line;
	return frame_slots_encloses(s, q->placed.block, other->block) && inside &&
	       line != q->line && line >= other->line;
}

/* The line of an address in the function that declares the variable; 0: unknown. */
static unsigned line_in_function(const struct frame_slots_inquiry *q, uint64_t pc)
{
	SCRATCH(a);
	size_t n;
	const struct location *l = lookup_locations(q->s->f->dm->di, pc, &a, &n);

	return n > q->depth ? l[n - 1 - q->depth].line : 0;
}

/*
 * As is_of_another of struct slot. An inlined function that builds what it returns does so in the
 * variable that gets it, which is not set before the call has ended.
 */
static bool is_of_another(uint64_t pc, bool inside, void *arg)
{
	const struct frame_slots_inquiry *q = arg;
	const struct frame_slots *s = q->s;
	unsigned line = 0;

	if (q->call != NO_BLOCK && inside && frame_slots_has(s, s->blocks.data[q->call].die, pc))
		return true;
	for (size_t i = 0; i < s->placeless.n && q->line; i++) {
		if (s->placeless.data[i].type != q->type)
			continue;
		line = line ? line : line_in_function(q, pc);
		if (is_set_as(q, &s->placeless.data[i], line, inside))
			return true;
	}
	return false;
}

/* The outermost inlined call within a block that has an address; NO_BLOCK: none. */
static size_t call_within(const struct frame_slots *s, size_t block, uint64_t pc)
{
	for (size_t i = block + 1; i < s->blocks.n; i++) {
		if (!s->blocks.data[i].is_lexical && frame_slots_encloses(s, block, i) &&
		    frame_slots_has(s, s->blocks.data[i].die, pc))
			return i;
	}
	return NO_BLOCK;
}

/* ---- variables at the same place ---- */

typedef VEC(uint64_t) block_vec;

/*
 * Whether another variable has bytes of this one within its scope, which it can while this one is
 * not set. Adds what has the same place to the slot, calls to `inner`. An argument is always set.
 */
static bool is_shared(struct frame_slots *s, const struct placed *p, struct slot *ret,
                      block_vec *inner)
{
	for (size_t i = 0; i < s->placed.n; i++) {
		const struct placed *other = &s->placed.data[i];
		const struct frame_block *block = &s->blocks.data[other->block];
		enum sharing sharing = frame_slots_sharing(s, p, other);

		if (sharing == SHARES_BYTES)
			return true;
		if (sharing == SHARES_PLACE && block->is_lexical)
			ret->is_merged = true;
		else if (sharing == SHARES_PLACE)
			*vec_push(inner) = block->die;
	}
	return false;
}

static bool find_block(const struct frame_slots *s, Dwarf_Die *die, size_t *ret)
{
	for (*ret = 0; *ret < s->blocks.n; ++*ret) {
		if (s->blocks.data[*ret].die == dwarf_dieoffset(die))
			return true;
	}
	return false;
}

bool frame_slots_ask(struct frame_slots *s, Dwarf_Die *block, Dwarf_Die *variable, uint64_t pc,
                     struct slot_answer *ret)
{
	struct frame_slots_inquiry q = { .s = s,
		                         .type = frame_slots_type_of(variable),
		                         .line = frame_slots_line_of(variable) };
	struct placed *p = &q.placed;
	block_vec inner = { 0 };

	if (!frame_slots_read_place(s, variable, p))
		return false;
	if (!s->read) {
		s->read = true;
		s->flow = slot_flow_read(s->f->dm->di, s->f);
		read_placed(s, &s->function, NO_BLOCK, 0);
	}
	struct slot slot = { .base = s->base.reg,
		             .place = p->place,
		             .block = dwarf_dieoffset(block),
		             .is_in = frame_slots_block_has,
		             .is_of_another = is_of_another,
		             .arg = &q };
	bool is_argument = dwarf_tag(variable) == DW_TAG_formal_parameter;
	bool is_judged = s->flow && !s->cut && find_block(s, block, &p->block) &&
	                 (is_argument || !is_shared(s, p, &slot, &inner));

	if (is_judged) {
		bool is_let = !is_argument && s->blocks.data[p->block].is_lexical;

		q.line = is_let ? q.line : 0; /* others are set from the beginning on */
		q.depth = frame_slots_depth(s, p->block);
		q.call = is_let ? call_within(s, p->block, pc) : NO_BLOCK;
	}
	slot.inner = inner.data;
	slot.ninner = inner.n;
	*ret = is_judged ? slot_flow_ask(s->flow, &slot, pc)
	                 : (struct slot_answer){ .unset = true };
	vec_free(&inner);
	return true;
}
