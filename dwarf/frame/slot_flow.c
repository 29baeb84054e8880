#include "dwarf/frame/slot_flow.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/arch/arch.h"
#include "debugger/target/target.h"
#include "dwarf/frame/code_flow_private.h"
#include "dwarf/unwind/cfa_rule.h"

enum {
	RBX = 3,
	RDI = 5,
	RBP = 6,
	RSP = 7,
	R12 = 12,
	/* In which a call passes its first arguments: rdx, rcx, rsi, rdi, r8 and r9. */
	ARGUMENTS = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9,
	KEPT = 1 << RBX | 1 << RBP | 1 << RSP | 0xf << R12, /* over a call */
	RETURN_ADDRESS = 8,
	IN_REGISTERS = 16, /* bytes of the largest result that a call returns in registers */
	PARTS = 64,
	SLOT_FLOW_MAX = 1 << 19, /* bytes of a function that is read */
};

/* Registers that have an address in the frame, as offsets from the CFA. */
struct addresses {
	uint32_t known; /* a bit for each DWARF number */
	int32_t offset[NREGS];
};

/* The part of an instruction that is of interest here. */
struct deed {
	struct instruction_memory memory;
	enum instruction_move move;
	unsigned to, from;
	int64_t number;
	uint32_t changes;
	bool is_branch;
};

/* A use of a place of the frame. */
struct touch {
	size_t step;
	int64_t offset; /* from the CFA */
	unsigned size;  /* of what is read or written */
	bool reads, writes;
	bool passes; /* its address is passed to a call, or stored: */
	bool stored;
	bool first;   /* as the first argument: where the callee puts a large result */
	bool indexed; /* an element of an array that begins there is written */
};

struct slot_flow {
	struct code_flow *code;
	struct deed *deeds;     /* of each step */
	struct cfa_rule *rules; /* reg NO_RULE: none is known */
	struct addresses *at;   /* before each step */
	bool *reached;
	VEC(struct touch) touches; /* in the order of the steps */
	VEC(int) changed;
	bool broken; /* the targets of a jump are not known */
	struct arena arena;
};

enum { NO_RULE = 64 };

/* ---- addresses in registers ---- */

static bool slot_flow_knows(const struct addresses *a, unsigned reg)
{
	return reg < NREGS && a->known & UINT32_C(1) << reg;
}

static void slot_flow_set_address(struct addresses *a, unsigned reg, int64_t offset)
{
	if (reg >= NREGS)
		return;
	a->known &= ~(UINT32_C(1) << reg);
	if (offset != (int32_t)offset)
		return;
	a->known |= UINT32_C(1) << reg;
	a->offset[reg] = (int32_t)offset;
}

/* The register by which the unwinder finds the CFA is known at each instruction. */
static struct addresses addresses_at(const struct slot_flow *s, size_t i,
                                     const struct addresses *before)
{
	struct addresses ret = *before;

	ret.known &= ~(UINT32_C(1) << RSP);
	if (s->rules[i].reg < NREGS)
		slot_flow_set_address(&ret, s->rules[i].reg, -s->rules[i].offset);
	return ret;
}

static struct addresses addresses_behind(const struct deed *in, bool calls,
                                         const struct addresses *before)
{
	struct addresses ret = *before;

	ret.known &= ~in->changes;
	if (calls)
		ret.known &= KEPT;
	if (in->move == MOVE_COPY && slot_flow_knows(before, in->from))
		slot_flow_set_address(&ret, in->to, before->offset[in->from]);
	else if (in->move == MOVE_ADD && slot_flow_knows(before, in->to))
		slot_flow_set_address(&ret, in->to, before->offset[in->to] + in->number);
	else if (in->move == MOVE_ADDRESS && slot_flow_knows(before, in->memory.base))
		slot_flow_set_address(&ret, in->to,
		                      before->offset[in->memory.base] + in->memory.offset);
	return ret;
}

/* Keeps what holds on all ways to a step. */
static void slot_flow_meet(struct slot_flow *s, int to, const struct addresses *from)
{
	uint32_t known = s->at[to].known;

	for (unsigned i = 0; i < NREGS; i++) {
		if (!slot_flow_knows(from, i) || s->at[to].offset[i] != from->offset[i])
			known &= ~(UINT32_C(1) << i);
	}
	if (!s->reached[to]) {
		s->at[to] = *from;
	} else if (known != s->at[to].known) {
		s->at[to].known = known;
	} else {
		return;
	}
	s->reached[to] = true;
	*vec_push(&s->changed) = to;
}

static void follow_addresses(struct slot_flow *s)
{
	slot_flow_meet(s, 0, &(struct addresses){ 0 });
	while (s->changed.n) {
		int at = s->changed.data[--s->changed.n];
		bool calls = s->code->steps.data[at].flow == FLOW_CALL;
		const struct addresses before = addresses_at(s, (size_t)at, &s->at[at]);
		const struct addresses behind = addresses_behind(&s->deeds[at], calls, &before);
		struct code_flow_successors successors = code_flow_successors_of(s->code, at);

		for (int to; code_flow_successor(&successors, &to);)
			slot_flow_meet(s, to, &behind);
	}
}

/* ---- what an instruction does to the frame ---- */

/* An element at a variable index is of an array, which has accesses of other kinds, too. */
static void add_memory(struct slot_flow *s, size_t i, const struct deed *in,
                       const struct addresses *a)
{
	const struct instruction_memory *m = &in->memory;

	if (!m->is_there || !slot_flow_knows(a, m->base) || (!m->reads && !m->writes))
		return;
	*vec_push(&s->touches) = (struct touch){
		.step = i,
		.offset = a->offset[m->base] + m->offset,
		.size = m->is_simple ? m->size : 0,
		.reads = m->is_simple && m->reads,
		.writes = m->is_simple && m->writes,
		.indexed = !m->is_simple && m->writes,
	};
}

static void add_passed(struct slot_flow *s, size_t i, int64_t offset, bool first)
{
	*vec_push(&s->touches) =
		(struct touch){ .step = i, .offset = offset, .passes = true, .first = first };
}

static void add_stored(struct slot_flow *s, size_t i, int64_t offset)
{
	*vec_push(&s->touches) =
		(struct touch){ .step = i, .offset = offset, .passes = true, .stored = true };
}

static void find_touches(struct slot_flow *s)
{
	for (size_t i = 0; i < s->code->steps.n; i++) {
		const struct deed *in = &s->deeds[i];
		const struct addresses a = addresses_at(s, i, &s->at[i]);
		bool calls = s->code->steps.data[i].flow == FLOW_CALL;

		if (!s->reached[i])
			continue;
		add_memory(s, i, in, &a);
		if (in->move == MOVE_STORE && slot_flow_knows(&a, in->from))
			add_stored(s, i, a.offset[in->from]);
		for (unsigned reg = 0; calls && reg < NREGS; reg++) {
			if (ARGUMENTS & 1 << reg && slot_flow_knows(&a, reg))
				add_passed(s, i, a.offset[reg], reg == RDI);
		}
	}
}

/* ---- reading ---- */

/* The rule changes where the stack or frame pointer does, or where another block begins. */
static void read_rules(struct slot_flow *s)
{
	const struct code_flow *w = s->code;
	bool changes = true;

	for (size_t i = 0; i < w->steps.n; i++) {
		const struct code_flow_step *step = &w->steps.data[i];

		if (!changes)
			s->rules[i] = s->rules[i - 1];
		else if (!cfa_rule_at(w->di->target, step->addr, &s->rules[i]) ||
		         s->rules[i].offset != (int32_t)s->rules[i].offset)
			s->rules[i] = (struct cfa_rule){ .reg = NO_RULE };
		changes = s->deeds[i].changes & (1 << RSP | 1 << RBP) || step->flow == FLOW_JUMP ||
		          step->flow == FLOW_END || step->last;
	}
}

/* A jump to another function leaves the frame; one of a table whose entries are known does not. */
static bool is_lost(const struct slot_flow *s, size_t i)
{
	const struct code_flow_step *step = &s->code->steps.data[i];
	size_t n;

	if (step->flow != FLOW_JUMP || step->target != NONE || s->deeds[i].is_branch)
		return false;
	code_flow_edges(s->code, (int)i, &n);
	return !n && (s->rules[i].reg != RSP || s->rules[i].offset != RETURN_ADDRESS);
}

static bool read_instructions(struct slot_flow *s)
{
	const struct code_flow *w = s->code;
	const uint64_t low = w->of.f->low, size = w->of.f->high - low;
	struct instruction_reader *reader CLEANUP(instruction_reader_close) = NULL;
	uint8_t *bytes = arena_alloc(&s->arena, size);
	struct error *err CLEANUP(error_freep) = target_read(w->di->target, low, bytes, size);

	if (!err)
		err = instruction_reader_open(w->di->target->arch->elf_machine, SYNTAX_INTEL,
		                              &reader);
	for (size_t i = 0; !err && i < w->steps.n; i++) {
		uint64_t at = w->steps.data[i].addr - low;
		struct instruction in;

		instruction_read(reader, low + at, bytes + at, size - at, &in);
		s->deeds[i] = (struct deed){ .memory = in.memory,
			                     .move = in.move,
			                     .to = in.to,
			                     .from = in.from,
			                     .number = in.number,
			                     .changes = in.changes,
			                     .is_branch = in.is_branch };
	}
	return !err;
}

struct slot_flow *slot_flow_read(struct debuginfo *di, const struct function *f)
{
	const struct flow_function of = { .f = f, .optimised = true };
	bool optimised;
	struct code_flow *code =
		f->high - f->low <= SLOT_FLOW_MAX ? code_flow_read(di, &of, &optimised) : NULL;
	struct slot_flow *s = code ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	s->code = code;
	s->deeds = NEW_ARRAY(&s->arena, struct deed, code->steps.n);
	s->rules = NEW_ARRAY(&s->arena, struct cfa_rule, code->steps.n);
	s->at = NEW_ARRAY(&s->arena, struct addresses, code->steps.n);
	s->reached = NEW_ARRAY(&s->arena, bool, code->steps.n);
	if (!read_instructions(s)) {
		slot_flow_free(s);
		return NULL;
	}
	read_rules(s);
	for (size_t i = 0; i < code->steps.n; i++)
		s->broken |= is_lost(s, i);
	follow_addresses(s);
	find_touches(s);
	return s;
}

void slot_flow_free(struct slot_flow *s)
{
	if (!s)
		return;
	code_flow_free(s->code);
	vec_free(&s->touches);
	vec_free(&s->changed);
	arena_free(&s->arena);
	free(s);
}

/* ---- one slot ---- */

/*
 * Ways on which a thread comes to an instruction. A `let` sets its variable before the block of the
 * variable begins. WAY_OF_ANOTHER: what has set the bytes may have set another variable.
 */
enum slot_flow_way { WAY_UNSET = 1, WAY_SET_INSIDE = 2, WAY_SET = 4, WAY_OF_ANOTHER = 8 };

/* The effect of a step on the slot. A bit of a set is a part of the slot, the same number of bytes.
 */
struct slot_flow_effect {
	uint64_t reads, writes; /* parts; writes: those that are overwritten as a whole */
	bool sets, passes, first, stored, indexed, inside;
};

struct slot_flow_inquiry {
	struct slot_flow *s;
	const struct slot *slot;
	int64_t offset;                   /* from the CFA */
	uint64_t part;                    /* bytes */
	struct slot_flow_effect *effects; /* of each step */
	unsigned char *ways;              /* before each step */
	uint64_t *open; /* parts whose next access is not known when a step is reached */
	VEC(int) changed;
	struct arena arena;
};

static uint64_t bits(uint64_t first, uint64_t end)
{
	uint64_t below_end = end >= PARTS ? UINT64_MAX : (UINT64_C(1) << end) - 1;

	return first >= end ? 0 : below_end & ~((UINT64_C(1) << first) - 1);
}

/* The parts that have bytes of a touch, or all bytes of the part. */
static uint64_t slot_flow_parts_of(const struct slot_flow_inquiry *q, const struct touch *t,
                                   bool whole)
{
	int64_t size = (int64_t)q->slot->place.size, first = t->offset - q->offset;
	int64_t end = first + (int64_t)t->size, part = (int64_t)q->part;

	first = first < 0 ? 0 : first;
	end = end > size ? size : end;
	if (first >= end)
		return 0;
	if (!whole)
		return bits((uint64_t)(first / part), (uint64_t)((end + part - 1) / part));
	/* The last part may have fewer bytes. */
	return bits((uint64_t)((first + part - 1) / part),
	            (uint64_t)(end == size ? (end + part - 1) / part : end / part));
}

static void add_effect(struct slot_flow_inquiry *q, const struct touch *t)
{
	struct slot_flow_effect *e = &q->effects[t->step];
	int64_t distance = t->offset - q->offset;
	bool begins_there = distance >= 0 && distance < (int64_t)q->slot->place.size;
	bool passes = t->passes && begins_there;

	e->reads |= t->reads ? slot_flow_parts_of(q, t, false) : 0;
	e->writes |= t->writes ? slot_flow_parts_of(q, t, true) : 0;
	e->passes |= passes && !t->first;
	e->stored |= passes && t->stored;
	e->first |= passes && t->first;
	e->indexed |= t->indexed && begins_there;
	e->sets |= (t->writes && slot_flow_parts_of(q, t, false)) || (passes && t->first);
	if (e->reads || e->writes || e->sets || e->passes || e->indexed)
		e->inside = q->slot->is_in(q->s->code->steps.data[t->step].addr, q->slot->block,
		                           q->slot->arg);
}

static void slot_flow_join(struct slot_flow_inquiry *q, int to, unsigned ways)
{
	if (!(ways & ~(unsigned)q->ways[to]))
		return;
	q->ways[to] |= (unsigned char)ways;
	*vec_push(&q->changed) = to;
}

/* A variable that its `let` has set is only changed inside. */
static unsigned slot_flow_ways_behind(const struct slot_flow_inquiry *q, int i)
{
	const struct slot_flow_effect *e = &q->effects[i];
	unsigned ways = q->ways[i];

	if (!e->sets)
		return ways;
	if (q->slot->is_of_another(q->s->code->steps.data[i].addr, e->inside, q->slot->arg))
		return (ways & ~(unsigned)WAY_UNSET) | (ways & WAY_UNSET ? WAY_OF_ANOTHER : 0);
	if (!e->inside)
		return WAY_SET;
	return (ways & (WAY_SET | WAY_OF_ANOTHER)) |
	       (ways & (WAY_UNSET | WAY_SET_INSIDE) ? WAY_SET_INSIDE : 0);
}

static void find_ways(struct slot_flow_inquiry *q)
{
	q->changed.n = 0;
	slot_flow_join(q, 0, WAY_UNSET);
	while (q->changed.n) {
		int at = q->changed.data[--q->changed.n];
		unsigned ways = slot_flow_ways_behind(q, at);
		struct code_flow_successors s = code_flow_successors_of(q->s->code, at);

		for (int to; code_flow_successor(&s, &to);)
			slot_flow_join(q, to, ways);
	}
}

static void slot_flow_reach(struct slot_flow_inquiry *q, int to, uint64_t parts)
{
	if (!(parts & ~q->open[to]))
		return;
	q->open[to] |= parts;
	*vec_push(&q->changed) = to;
}

/*
 * Finds the parts that are read first, and those overwritten first, on some way from an
 * instruction. A store to the slot outside the block is for the variable's next life, or for
 * another variable. A call reads no slot where it only puts its result, which may be so if the
 * result is not in registers and no `let` has set the variable.
 */
static void find_next(struct slot_flow_inquiry *q, int from, uint64_t *read, uint64_t *overwritten)
{
	bool first_reads = q->slot->place.size <= IN_REGISTERS || !(q->ways[from] & WAY_SET_INSIDE);

	q->changed.n = 0;
	slot_flow_reach(q, from, UINT64_MAX);
	while (q->changed.n) {
		int at = q->changed.data[--q->changed.n];
		const struct slot_flow_effect *e = &q->effects[at];
		struct code_flow_successors s = code_flow_successors_of(q->s->code, at);
		uint64_t parts = q->open[at];

		if (e->sets && !e->inside)
			continue;
		if (e->inside)
			*read |= parts &
			         (e->passes || (e->first && first_reads) ? UINT64_MAX : e->reads);
		*overwritten |= parts & e->writes & ~e->reads;
		parts &= ~e->writes;
		for (int to; code_flow_successor(&s, &to);)
			slot_flow_reach(q, to, parts);
	}
}

static void slot_flow_find_effects(struct slot_flow_inquiry *q, int64_t offset)
{
	const struct slot_flow *s = q->s;
	size_t n = s->code->steps.n;

	q->offset = offset;
	q->part = (q->slot->place.size + PARTS - 1) / PARTS;
	q->effects = NEW_ARRAY(&q->arena, struct slot_flow_effect, n);
	q->ways = NEW_ARRAY(&q->arena, unsigned char, n);
	q->open = NEW_ARRAY(&q->arena, uint64_t, n);
	for (size_t i = 0; i < s->touches.n; i++)
		add_effect(q, &s->touches.data[i]);
}

/*
 * Whether the variable may change, and LLVM sees all that can read it: then a change that nothing
 * reads is not stored. Where its address is stored anything may read it.
 */
static bool may_be_forgotten(const struct slot_flow_inquiry *q)
{
	bool changes = false, stored = false;

	for (size_t i = 0; i < q->s->code->steps.n; i++) {
		const struct slot_flow_effect *e = &q->effects[i];

		changes |= e->inside && (e->sets || e->passes || e->first);
		/* Elsewhere the bytes are another variable: LLVM lets both have them. */
		stored |= e->stored && e->inside;
	}
	return changes && !stored;
}

static struct slot_answer ask_at(struct slot_flow_inquiry *q, int at)
{
	uint64_t read = 0, overwritten = 0;

	slot_flow_find_effects(q, q->slot->place.offset - q->s->rules[at].offset);
	find_ways(q);
	find_next(q, at, &read, &overwritten);
	return (struct slot_answer){
		.unset = !q->ways[at] || q->ways[at] & (WAY_UNSET | WAY_OF_ANOTHER),
		.stale = (overwritten & ~read) != 0 || (!read && may_be_forgotten(q))
	};
}

/* Whether something sets the slot in its block. inner: a block that does not count; 0: none */
static bool is_set_inside(const struct slot_flow_inquiry *q, uint64_t inner)
{
	const struct code_flow *w = q->s->code;

	for (size_t i = 0; i < w->steps.n; i++) {
		const struct slot_flow_effect *e = &q->effects[i];

		if ((e->sets || e->indexed) && e->inside &&
		    !(inner && q->slot->is_in(w->steps.data[i].addr, inner, q->slot->arg)))
			return true;
	}
	return false;
}

struct slot_answer slot_flow_ask(struct slot_flow *s, const struct slot *slot, uint64_t pc)
{
	struct slot_flow_inquiry q = { .s = s, .slot = slot };
	int at = code_flow_step(s->code, pc);

	/* The code cannot be judged: the variable is not certain to be set. */
	if (s->broken || at == NONE || s->rules[at].reg != slot->base || !slot->place.size)
		return (struct slot_answer){ .unset = true };
	struct slot_answer ret = ask_at(&q, at);

	for (size_t i = 0; i < slot->ninner && !ret.unset; i++)
		ret.unset = is_set_inside(&q, slot->inner[i]);
	ret.unset |= slot->is_merged && is_set_inside(&q, 0);
	vec_free(&q.changed);
	arena_free(&q.arena);
	return ret;
}
