#include "dwarf/frame/same_place.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "debugger/target/target.h"
#include "dwarf/frame/frame_slots.h"
#include "dwarf/lookup/lookup.h"

enum { MAX_DIES = 1 << 20, MAX_STEPS_BACK = 64, MAX_BLOCK_LENGTH = 0x7f };

/* A place in a register or in memory, and the addresses from `begin` on for which it holds. */
struct same_place_entry {
	Dwarf_Op *ops;
	size_t n; /* 0: none */
	Dwarf_Addr begin, end;
};

/* A variable that is visible at the address in question. */
struct same_place_variable {
	Dwarf_Die die;
	Dwarf_Off type;
	unsigned level;       /* of its block: those of inner blocks are higher */
	unsigned depth;       /* of its function, among those inlined into each other */
	bool is_let;          /* neither an argument nor a capture */
	unsigned line;        /* of the declaration; 0: unknown */
	Dwarf_Addr block_low; /* where its block begins; link-time, as all addresses here */
	struct same_place_entry at;
};

struct same_places {
	const struct function *f;
	Dwarf_Die function;
	Dwarf_Addr pc; /* of the variables that were read; 0: none were */
	VEC(struct same_place_variable) variables;
	size_t seen; /* DIEs */
};

/* ---- places ---- */

static bool is_same_operation(const Dwarf_Op *a, const Dwarf_Op *b)
{
	if (a->atom != b->atom || a->number != b->number)
		return false;
	if (a->atom != DW_OP_GNU_entry_value && a->atom != DW_OP_entry_value)
		return a->number2 == b->number2;
	/* The block with its length, which has one byte. */
	return a->number <= MAX_BLOCK_LENGTH &&
	       memcmp((const void *)(uintptr_t)a->number2, (const void *)(uintptr_t)b->number2,
	              a->number + 1) == 0;
}

static bool is_same_place(const struct same_place_entry *a, const struct same_place_entry *b)
{
	bool ret = a->n == b->n && a->n;

	for (size_t i = 0; ret && i < a->n; i++)
		ret = is_same_operation(&a->ops[i], &b->ops[i]);
	return ret;
}

static bool is_constant(const struct same_place_entry *at)
{
	for (size_t i = 0; i < at->n; i++) {
		unsigned atom = at->ops[i].atom;

		if ((atom >= DW_OP_reg0 && atom <= DW_OP_breg31) || atom == DW_OP_fbreg ||
		    atom == DW_OP_entry_value || atom == DW_OP_GNU_entry_value)
			return false;
	}
	return true;
}

/* The place in frames that frame_slots.h judges. */
static bool is_of_frame(Dwarf_Attribute *location)
{
	Dwarf_Op *op;
	size_t n;

	return dwarf_getlocation(location, &op, &n) == 0 && n && op->atom == DW_OP_fbreg &&
	       (n == 1 || (n == 2 && op[1].atom == DW_OP_plus_uconst));
}

/* The entry that has an address; n 0: there is none. before: the one that ends there instead. */
static struct same_place_entry same_place_entry_at(Dwarf_Die *die, Dwarf_Addr pc, bool before)
{
	struct same_place_entry ret = { 0 };
	Dwarf_Addr base;
	Dwarf_Attribute attr;
	ptrdiff_t at = 0;

	if (!dwarf_attr(die, DW_AT_location, &attr) || is_of_frame(&attr))
		return ret;
	while ((at = dwarf_getlocations(&attr, at, &base, &ret.begin, &ret.end, &ret.ops, &ret.n)) >
	       0) {
		if (before ? ret.end == pc : ret.begin <= pc && pc < ret.end)
			return ret;
	}
	return (struct same_place_entry){ 0 };
}

/*
 * An entry of another variable for the same place, at some address of this one's. An argument is
 * in the register that it was passed in for a while where its copy is in another one.
 */
static struct same_place_entry same_place_entry_like(Dwarf_Die *die,
                                                     const struct same_place_entry *like)
{
	struct same_place_entry ret = { 0 };
	Dwarf_Addr base;
	Dwarf_Attribute attr;
	ptrdiff_t at = 0;

	if (!dwarf_attr(die, DW_AT_location, &attr))
		return ret;
	while ((at = dwarf_getlocations(&attr, at, &base, &ret.begin, &ret.end, &ret.ops, &ret.n)) >
	       0) {
		if (ret.begin < like->end && like->begin < ret.end && is_same_place(&ret, like))
			return ret;
	}
	return (struct same_place_entry){ 0 };
}

/* ---- reading ---- */

static Dwarf_Addr lowest_of(Dwarf_Die *block)
{
	Dwarf_Addr base, begin, end, ret = UINT64_MAX;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(block, at, &base, &begin, &end)) > 0)
		ret = begin < ret ? begin : ret;
	return ret;
}

static void same_place_add(struct same_places *t, Dwarf_Die *block, Dwarf_Die *die,
                           const struct same_place_variable *as)
{
	struct same_place_variable v = *as;

	if (!dwarf_hasattr(die, DW_AT_location))
		return;
	v.at = same_place_entry_at(die, t->pc, false);
	v.die = *die;
	v.type = frame_slots_type_of(die);
	v.line = frame_slots_line_of(die);
	v.is_let = dwarf_tag(die) == DW_TAG_variable && dwarf_tag(block) == DW_TAG_lexical_block;
	v.block_low = lowest_of(block);
	*vec_push(&t->variables) = v;
}

static void same_place_read(struct same_places *t, Dwarf_Die *block, unsigned level, unsigned depth)
{
	const struct same_place_variable as = { .level = level, .depth = depth };
	Dwarf_Die child;

	if (level > DIE_MAX_NESTING || dwarf_child(block, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);
		bool is_call = tag == DW_TAG_inlined_subroutine;

		if (++t->seen > MAX_DIES)
			return;
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			same_place_add(t, block, &child, &as);
		else if ((is_call || tag == DW_TAG_lexical_block) &&
		         dwarf_haspc(&child, t->pc) == 1)
			same_place_read(t, &child, level + 1, depth + is_call);
	} while (dwarf_siblingof(&child, &child) == 0);
}

struct same_places *same_place_open(const struct function *f, Dwarf_Die *function)
{
	struct same_places *ret = calloc(1, sizeof(*ret));

	if (!ret)
		out_of_memory();
	*ret = (struct same_places){ .f = f, .function = *function };
	return ret;
}

void same_place_free(struct same_places *t)
{
	if (!t)
		return;
	vec_free(&t->variables);
	free(t);
}

/* ---- two variables ---- */

/*
 * Whether the variable that a value was computed for may be the other one. An argument of an
 * inlined call is what is passed to it, and so are captures of closures.
 */
static bool may_be_copied(const struct same_place_variable *v,
                          const struct same_place_variable *other)
{
	if (other == v || other->type != v->type || other->line == v->line ||
	    other->level == v->level)
		return false;
	return other->depth == v->depth || (other->depth > v->depth && other->is_let);
}

/* The value may have come from other places, together with the other one. Finds where both began.
 */
static void go_back(struct same_place_variable *v, struct same_place_variable *other)
{
	for (size_t i = 0; i < MAX_STEPS_BACK && v->at.begin == other->at.begin; i++) {
		struct same_place_entry mine = same_place_entry_at(&v->die, v->at.begin, true);
		struct same_place_entry its = same_place_entry_at(&other->die, v->at.begin, true);

		if (!is_same_place(&mine, &its) || mine.begin != its.begin)
			return;
		v->at = mine;
		other->at = its;
	}
}

/* Whether the instruction before an address belongs to the line of the declaration. */
static bool is_declared_before(const struct same_places *t, const struct same_place_variable *v,
                               Dwarf_Addr begin)
{
	const uint64_t addr = begin - 1 + t->f->dm->module->bias;
	SCRATCH(a);
	size_t n;

	if (!v->line || addr < t->f->low || addr >= t->f->high)
		return false;
	const struct location *l = lookup_locations(t->f->dm->di, addr, &a, &n);

	return n > v->depth && l[n - 1 - v->depth].line == v->line;
}

/* Whether the other one has another place, or the code shows that the variable has got its value.
 */
static bool is_own_value(const struct same_places *t, const struct same_place_variable *of,
                         const struct same_place_variable *with)
{
	struct same_place_variable v = *of, other = *with;

	other.at = same_place_entry_like(&other.die, &v.at);
	if (!other.at.n)
		return true;
	go_back(&v, &other);
	const Dwarf_Addr begin = v.at.begin > v.block_low ? v.at.begin : v.block_low;

	/* The other one is declared inside, where this one has its value. */
	if (other.level > v.level && v.at.begin <= v.block_low)
		return true;
	/* The other one had it before: an assignment to this one is left. */
	if (v.at.begin > v.block_low && other.at.begin < v.at.begin && other.block_low < v.at.begin)
		return true;
	return is_declared_before(t, &v, begin);
}

bool same_place_may_be_unset(struct same_places *t, Dwarf_Die *variable, uint64_t pc)
{
	const Dwarf_Off die = dwarf_dieoffset(variable);
	const Dwarf_Addr addr = module_link_addr(t->f->dm->module, pc).v;
	const struct same_place_variable *v = NULL;

	if (t->pc != addr) {
		t->pc = addr;
		t->variables.n = t->seen = 0;
		same_place_read(t, &t->function, 0, 0);
	}
	for (size_t i = 0; i < t->variables.n && !v; i++) {
		if (dwarf_dieoffset(&t->variables.data[i].die) == die)
			v = &t->variables.data[i];
	}
	if (!v || !v->is_let || !v->at.n || is_constant(&v->at))
		return false;
	for (size_t i = 0; i < t->variables.n; i++) {
		const struct same_place_variable *other = &t->variables.data[i];

		if (may_be_copied(v, other) && !is_own_value(t, v, other))
			return true;
	}
	return false;
}
