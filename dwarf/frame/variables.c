/* Finds the variables in scope in a frame and evaluates their locations. */
#include "dwarf/frame/variables.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/frame/await_states.h"
#include "dwarf/frame/variable_flow.h"
#include "dwarf/frame/wide_scope.h"
#include "dwarf/records/records.h"
#include "dwarf/unwind/cfa_rule.h"

enum { MAX_STACK = 16, MAX_OPS = 64, MAX_PLACES = 1 << 14 };

/* A DWARF expression; this evaluator supports some of its operations. */
struct expression {
	struct variables_operation {
		uint64_t atom, number;
	} * ops;
	size_t n; /* 0: no expression */
};

/* A variable in scope at a pc, and its location expression. */
struct variables_place {
	const char *name;
	const struct type *type;
	uint64_t die;
	bool is_parameter;
	unsigned depth;           /* see struct variable */
	struct state_set lost_in; /* see await_states.h */
	uint64_t declared;        /* file and line; 0: unknown. Not kept in records. */
	struct flow_summary flow;
	struct expression location;
};

/* The variables in scope at a pc. */
struct scope_plan {
	struct expression frame_base;
	VEC(struct variables_place) places;
	struct arena arena;
};

struct frame_walk {
	struct target *target;
	const struct frame *frame;
	uint64_t cfa;
	const struct expression *frame_base;
};

/* A DWARF expression under evaluation (DWARF 5, 2.5 and 2.6). */
struct variables_evaluation {
	uint64_t stack[MAX_STACK];
	size_t n;
	bool is_value; /* the result is the value itself, not its address */
	bool failed;
};

static void variables_push(struct variables_evaluation *e, uint64_t value)
{
	if (e->n == MAX_STACK)
		e->failed = true;
	else
		e->stack[e->n++] = value;
}

static uint64_t variables_pop(struct variables_evaluation *e)
{
	if (e->n == 0) {
		e->failed = true;
		return 0;
	}
	return e->stack[--e->n];
}

static void push_register(struct variables_evaluation *e, const struct frame_walk *w,
                          uint64_t number, uint64_t offset)
{
	if (number >= 64 || !(w->frame->known_regs & UINT64_C(1) << number))
		e->failed = true;
	else
		variables_push(e, w->frame->regs[number] + offset);
}

static bool variables_evaluate(const struct frame_walk *w, const struct expression *x,
                               bool allow_base, uint64_t *ret, bool *is_value);

static void push_frame_base(struct variables_evaluation *e, const struct frame_walk *w, bool allow,
                            uint64_t offset)
{
	uint64_t value;
	bool is_value;

	if (!allow || !variables_evaluate(w, w->frame_base, false, &value, &is_value))
		e->failed = true;
	else
		variables_push(e, value + offset);
}

static void variables_push_memory(struct variables_evaluation *e, const struct frame_walk *w)
{
	uint64_t value;
	struct error *err = target_read_uint(w->target, variables_pop(e), 8, &value);

	e->failed |= err != NULL;
	if (!err)
		variables_push(e, value);
	error_free(err);
}

static void variables_step(struct variables_evaluation *e, const struct frame_walk *w,
                           const struct variables_operation *op, bool allow_base)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push_register(e, w, op->atom - DW_OP_breg0, op->number);
		return;
	}
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		push_register(e, w, op->atom - DW_OP_reg0, 0);
		e->is_value = true;
		return;
	}
	switch (op->atom) {
	case DW_OP_fbreg:
		push_frame_base(e, w, allow_base, op->number);
		break;
	case DW_OP_call_frame_cfa:
		variables_push(e, w->cfa);
		e->failed |= w->cfa == 0;
		break;
	case DW_OP_plus_uconst:
		variables_push(e, variables_pop(e) + op->number);
		break;
	case DW_OP_plus:
		variables_push(e, variables_pop(e) + variables_pop(e));
		break;
	case DW_OP_constu:
	case DW_OP_consts:
		variables_push(e, op->number);
		break;
	case DW_OP_deref:
		variables_push_memory(e, w);
		break;
	case DW_OP_stack_value:
		e->is_value = true;
		break;
	default:
		e->failed = true;
	}
}

static bool variables_evaluate(const struct frame_walk *w, const struct expression *x,
                               bool allow_base, uint64_t *ret, bool *is_value)
{
	struct variables_evaluation e = { .n = 0 };

	for (size_t i = 0; i < x->n && !e.failed; i++)
		variables_step(&e, w, &x->ops[i], allow_base);
	if (e.failed || e.n == 0)
		return false;
	*ret = e.stack[e.n - 1];
	*is_value = e.is_value;
	return true;
}

/* ---- variables in scope ---- */

static struct expression read_expression(struct arena *a, Dwarf_Attribute *attr, uint64_t pc)
{
	struct expression x = { 0 };
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_getlocation_addr(attr, pc, &ops, &n, 1) != 1 || n > MAX_OPS)
		return x;
	x.n = n;
	x.ops = NEW_ARRAY(a, struct variables_operation, n);
	for (size_t i = 0; i < n; i++)
		x.ops[i] = (struct variables_operation){ ops[i].atom, ops[i].number };
	return x;
}

/* Where variables are looked for: a function, or one that is inlined, and its blocks. */
struct scope_walk {
	struct scope_plan *plan;
	const struct function *f;
	uint64_t pc;
	unsigned inlined; /* depth of the function */
	Dwarf_Die *function;
	const struct await_states *awaits;
	struct variable_flow *flow;
};

static uint64_t declaration_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word file, line;

	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attr) ||
	    dwarf_formudata(&attr, &file) != 0 ||
	    !dwarf_attr_integrate(die, DW_AT_decl_line, &attr) ||
	    dwarf_formudata(&attr, &line) != 0)
		return 0;
	return file << 32 | line;
}

/* Adds one without a location, too: it hides outer ones. */
static void variables_add(const struct scope_walk *w, Dwarf_Die *block, Dwarf_Die *die)
{
	struct variables_place v = { .die = dwarf_dieoffset(die),
		                     .depth = w->inlined,
		                     .is_parameter = dwarf_tag(die) == DW_TAG_formal_parameter };
	Dwarf_Attribute location, type, name;
	Dwarf_Die type_die;

	if (w->plan->places.n >= MAX_PLACES || !dwarf_attr_integrate(die, DW_AT_type, &type) ||
	    !dwarf_formref_die(&type, &type_die))
		return;
	if (dwarf_attr_integrate(die, DW_AT_name, &name))
		v.name = dwarf_formstring(&name);
	v.declared = declaration_of(die);
	v.type = type_at(w->f->dm, dwarf_dieoffset(&type_die));
	if (dwarf_attr(die, DW_AT_location, &location)) {
		v.location = read_expression(&w->plan->arena, &location, w->pc);
		if (w->awaits && !v.is_parameter && await_states_is_in_frame(&location))
			v.lost_in = await_states_of_block(w->awaits, block, &w->plan->arena);
		v.flow = variable_flow_summary(w->flow, block, die, w->inlined != 0,
		                               w->pc + w->f->dm->module->bias, &w->plan->arena);
		v.flow.widened = !v.flow.known && wide_scope_has(w->f->dm, w->function, block, die);
	}
	*vec_push(&w->plan->places) = v;
}

static void variables_add_function(struct scope_walk w, Dwarf_Die *die, int depth);

static void variables_add_scope(const struct scope_walk *w, Dwarf_Die *die, int depth)
{
	Dwarf_Die child;

	if (depth > DIE_MAX_NESTING || dwarf_child(die, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			variables_add(w, die, &child);
		else if (tag == DW_TAG_lexical_block && dwarf_haspc(&child, w->pc) == 1)
			variables_add_scope(w, &child, depth + 1);
		else if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(&child, w->pc) == 1)
			variables_add_function((struct scope_walk){ .plan = w->plan,
			                                            .f = w->f,
			                                            .pc = w->pc,
			                                            .inlined = w->inlined + 1,
			                                            .flow = w->flow },
			                       &child, depth + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

static void variables_add_function(struct scope_walk w, Dwarf_Die *die, int depth)
{
	struct await_states *awaits = await_states_read(w.f->dm, die);

	w.awaits = awaits;
	w.function = die;
	variables_add_scope(&w, die, depth);
	await_states_free(awaits);
}

/*
 * Whether the second one, of an inner block, hides the first one. The body of an async function
 * begins with variables that have its arguments: those are declared where these are, and are the
 * same to the reader.
 */
static bool hides(const struct variables_place *outer, const struct variables_place *inner)
{
	return outer->name && inner->name && inner->location.n == 0 &&
	       inner->depth == outer->depth && inner->declared != outer->declared &&
	       strcmp(outer->name, inner->name) == 0;
}

/* Leaves out those that have no place, and those that they hide. */
static void keep_placed(struct scope_plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->places.n; i++) {
		bool hidden = plan->places.data[i].location.n == 0;

		for (size_t j = i + 1; j < plan->places.n && !hidden; j++)
			hidden = hides(&plan->places.data[i], &plan->places.data[j]);
		if (!hidden)
			plan->places.data[n++] = plan->places.data[i];
	}
	plan->places.n = n;
}

static void read_plan(const struct function *f, uint64_t pc, struct scope_plan *ret)
{
	Dwarf_Attribute base;
	Dwarf_Die die;

	if (!debuginfo_need(f->dm) || !dwarf_offdie(f->dm->dwarf, f->die, &die))
		return;
	if (dwarf_attr_integrate(&die, DW_AT_frame_base, &base))
		ret->frame_base = read_expression(&ret->arena, &base, pc);
	struct variable_flow *flow = variable_flow_open(f, &die);
	variables_add_function((struct scope_walk){ .plan = ret, .f = f, .pc = pc, .flow = flow },
	                       &die, 0);
	variable_flow_free(flow);
	keep_placed(ret);
}

/* ---- as records ---- */

static void keep_expression(struct record_writer *d, const struct expression *x)
{
	record_add_number(d, x->n);
	for (size_t i = 0; i < x->n; i++) {
		record_add_number(d, x->ops[i].atom);
		record_add_number(d, x->ops[i].number);
	}
}

enum {
	FLOW_KNOWN = 1,
	FLOW_USED = 2,
	FLOW_LENT = 4,
	FLOW_SHARED = 8,
	FLOW_FLAG = 16,
	FLOW_FLAG_IN = 32,
	FLOW_LATER = 64,
	FLOW_WIDENED = 128,
	FLOW_SLOT_UNSET = 256,
	FLOW_SLOT_STALE = 512,
};

/* The states below 64, which most coroutines have alone. */
static struct state_set variables_know_word(struct record *record, struct arena *a)
{
	struct state_set ret = { NEW_ARRAY(a, uint64_t, 1), 1 };

	ret.words[0] = record_number(record);
	return ret;
}

enum { NSETS = 4, MAX_WORDS = 1 << 14, LAST_STATE = 63 };

static void variables_sets_of(struct variables_place *p, struct state_set *ret[NSETS])
{
	ret[0] = &p->lost_in;
	ret[1] = &p->flow.set;
	ret[2] = &p->flow.unset;
	ret[3] = &p->flow.flag_set;
}

/* Whether a set of a plan has states from a number on. */
static bool has_states_from(const struct scope_plan *plan, size_t first)
{
	struct state_set *sets[NSETS];
	bool ret = false;

	for (size_t i = 0; i < plan->places.n; i++) {
		variables_sets_of(&plan->places.data[i], sets);
		for (size_t j = 0; j < NSETS; j++)
			ret |= sets[j]->n > 1 || state_set_word(sets[j], 0) >> first;
	}
	return ret;
}

/*
 * The words behind the first of each set. Older records have none, and state 63 of theirs stands
 * for all that follow; so where it is in a set, the words are there, if only to say that there are
 * no others.
 */
static void keep_wide_sets(struct record_writer *d, const struct scope_plan *plan)
{
	struct state_set *sets[NSETS];

	if (!has_states_from(plan, LAST_STATE))
		return;
	for (size_t i = 0; i < plan->places.n; i++) {
		variables_sets_of(&plan->places.data[i], sets);
		for (size_t j = 0; j < NSETS; j++) {
			record_add_number(d, sets[j]->n ? sets[j]->n - 1 : 0);
			for (size_t k = 1; k < sets[j]->n; k++)
				record_add_number(d, sets[j]->words[k]);
		}
	}
}

static void know_words(struct record *record, struct arena *a, struct state_set *s)
{
	const uint64_t first = state_set_word(s, 0);
	size_t n = record_count(record);

	if (n > MAX_WORDS)
		return;
	*s = (struct state_set){ NEW_ARRAY(a, uint64_t, n + 1), n + 1 };
	s->words[0] = first;
	for (size_t i = 1; i <= n; i++)
		s->words[i] = record_number(record);
}

/* False: they are missing. */
static bool know_wide_sets(struct record *record, struct scope_plan *plan)
{
	struct state_set *sets[NSETS];

	if (record_ended(record))
		return !has_states_from(plan, LAST_STATE);
	for (size_t i = 0; i < plan->places.n; i++) {
		variables_sets_of(&plan->places.data[i], sets);
		for (size_t j = 0; j < NSETS; j++)
			know_words(record, &plan->arena, sets[j]);
	}
	return true;
}

static void keep_flow(struct record_writer *d, const struct flow_summary *f)
{
	record_add_number(d, (f->known ? FLOW_KNOWN : 0) | (f->used ? FLOW_USED : 0) |
	                             (f->lent ? FLOW_LENT : 0) | (f->shared ? FLOW_SHARED : 0) |
	                             (f->has_flag ? FLOW_FLAG : 0) |
	                             (f->flag_in_coroutine ? FLOW_FLAG_IN : 0) |
	                             (f->later ? FLOW_LATER : 0) | (f->widened ? FLOW_WIDENED : 0) |
	                             (f->slot_unset ? FLOW_SLOT_UNSET : 0) |
	                             (f->slot_stale ? FLOW_SLOT_STALE : 0));
	if (!f->known)
		return;
	record_add_number(d, state_set_word(&f->set, 0));
	record_add_number(d, state_set_word(&f->unset, 0));
	record_add_number(d, state_set_word(&f->flag_set, 0));
	record_add_number(d, (uint64_t)f->flag_offset);
	record_add_number(d, f->base);
}

static struct flow_summary know_flow(struct record *record, struct arena *a)
{
	uint64_t bits = record_number(record);
	struct flow_summary f = { .known = bits & FLOW_KNOWN,
		                  .widened = bits & FLOW_WIDENED,
		                  .slot_unset = bits & FLOW_SLOT_UNSET,
		                  .slot_stale = bits & FLOW_SLOT_STALE };

	if (!f.known)
		return f;
	f.used = bits & FLOW_USED;
	f.lent = bits & FLOW_LENT;
	f.shared = bits & FLOW_SHARED;
	f.has_flag = bits & FLOW_FLAG;
	f.flag_in_coroutine = bits & FLOW_FLAG_IN;
	f.later = bits & FLOW_LATER;
	f.set = variables_know_word(record, a);
	f.unset = variables_know_word(record, a);
	f.flag_set = variables_know_word(record, a);
	f.flag_offset = (int64_t)record_number(record);
	f.base = (unsigned)(record_number(record) % 64);
	return f;
}

static void keep_plan(struct dwarf_module *dm, uint64_t pc, const struct scope_plan *plan)
{
	struct record_writer d;

	record_begin(&d, debuginfo_records(dm), RECORD_FRAME, pc, NULL);
	keep_expression(&d, &plan->frame_base);
	record_add_number(&d, plan->places.n);
	for (size_t i = 0; i < plan->places.n; i++) {
		const struct variables_place *v = &plan->places.data[i];

		record_add_text(&d, v->name);
		record_add_number(&d, v->type ? type_die(v->type) : 0);
		record_add_number(&d, v->die);
		record_add_number(&d,
		                  v->is_parameter | (v->depth != 0) << 1 | (uint64_t)v->depth << 2);
		keep_expression(&d, &v->location);
	}
	for (size_t i = 0; i < plan->places.n; i++)
		record_add_number(&d, state_set_word(&plan->places.data[i].lost_in, 0));
	for (size_t i = 0; i < plan->places.n; i++)
		keep_flow(&d, &plan->places.data[i].flow);
	keep_wide_sets(&d, plan);
	record_end(&d);
}

static struct expression know_expression(struct arena *a, struct record *record)
{
	struct expression x = { .n = record_count(record) };

	if (x.n > MAX_OPS)
		x.n = 0;
	x.ops = NEW_ARRAY(a, struct variables_operation, x.n);
	for (size_t i = 0; i < x.n; i++) {
		x.ops[i].atom = record_number(record);
		x.ops[i].number = record_number(record);
	}
	return x;
}

/*
 * Older records do not have what awaits lose. They count where nothing else is there, as in a
 * layout file.
 */
static bool variables_is_older(struct dwarf_module *dm, struct scope_plan *plan)
{
	if (!plan->places.n || !debuginfo_need(dm) || !dm->dwarf)
		return true;
	vec_free(&plan->places);
	return false;
}

static bool known_plan(struct dwarf_module *dm, uint64_t pc, struct scope_plan *ret)
{
	struct record record;

	if (!record_find(debuginfo_records(dm), RECORD_FRAME, pc, NULL, &record))
		return false;
	ret->frame_base = know_expression(&ret->arena, &record);
	for (size_t i = record_count(&record); i; i--) {
		struct variables_place v = { .name = record_text(&record) };
		uint64_t flags;

		v.type = type_at(dm, record_number(&record));
		v.die = record_number(&record);
		flags = record_number(&record);
		v.is_parameter = flags & 1;
		/* Older records have one bit for all depths. */
		v.depth = flags >> 2 ? (unsigned)(flags >> 2) : (unsigned)(flags >> 1 & 1);
		v.location = know_expression(&ret->arena, &record);
		*vec_push(&ret->places) = v;
	}
	if (record_ended(&record))
		return variables_is_older(dm, ret);
	for (size_t i = 0; i < ret->places.n; i++)
		ret->places.data[i].lost_in = variables_know_word(&record, &ret->arena);
	if (ret->places.n && record_ended(&record))
		return variables_is_older(dm, ret);
	for (size_t i = 0; i < ret->places.n; i++)
		ret->places.data[i].flow = know_flow(&record, &ret->arena);
	return know_wide_sets(&record, ret) || variables_is_older(dm, ret);
}

static struct variable variable_of(struct dwarf_module *dm, const struct variables_place *p)
{
	return (struct variable){ .name = p->name,
		                  .type = p->type,
		                  .is_parameter = p->is_parameter,
		                  .depth = p->depth,
		                  .dm = dm,
		                  .die = p->die };
}

/* ---- a frame's ---- */

/* The variables in scope in a frame, and the data to evaluate their locations. */
struct visible {
	struct scope_plan plan;
	struct frame_walk walk;
	struct dwarf_module *dm;
};

static bool variables_visible_open(struct debuginfo *di, const struct frame *frame, uint64_t cfa,
                                   struct visible *ret)
{
	const struct function *f = lookup_function(di, frame->lookup_pc);

	if (!f)
		return false;
	*ret = (struct visible){ .dm = f->dm };
	ret->walk = (struct frame_walk){ .target = di->target,
		                         .frame = frame,
		                         .cfa = cfa ? cfa : cfa_rule_in_frame(di->target, frame),
		                         .frame_base = &ret->plan.frame_base };
	uint64_t pc = module_link_addr(f->dm->module, frame->lookup_pc).v;
	if (!known_plan(f->dm, pc, &ret->plan)) {
		read_plan(f, pc, &ret->plan);
		keep_plan(f->dm, pc, &ret->plan);
	}
	return true;
}

static void variables_visible_close(struct visible *s)
{
	vec_free(&s->plan.places);
	arena_free(&s->plan.arena);
}

/* The eight bytes that a location has: in a register, or in memory. */
static bool word_at(const struct visible *s, const struct expression *place, uint64_t *ret)
{
	bool is_value;

	if (!variables_evaluate(&s->walk, place, true, ret, &is_value))
		return false;
	if (is_value)
		return true;
	struct error *err = target_read_uint(s->walk.target, *ret, 8, ret);
	bool ok = !err;
	error_free(err);
	return ok;
}

/* The address in an argument Pin<&mut T>; 0: unknown. */
static uint64_t variables_read_pin(const struct visible *s, const struct variables_place *p)
{
	uint64_t ret;

	return word_at(s, &p->location, &ret) ? ret : 0;
}

/* The coroutine that a variable's function polls, and its address; NULL: it polls none. */
static const struct type *coroutine_of(const struct visible *s,
                                       const struct variables_place *variable, uint64_t *addr)
{
	*addr = 0;
	for (size_t i = 0; i < s->plan.places.n; i++) {
		const struct variables_place *p = &s->plan.places.data[i];
		const struct type *t = p->is_parameter && p->depth == variable->depth
		                               ? await_states_coroutine(p->type)
		                               : NULL;

		if (!t)
			continue;
		*addr = variables_read_pin(s, p);
		return t;
	}
	return NULL;
}

static void find_uncertainties(const struct visible *s, const struct variables_place *p,
                               struct variable *ret)
{
	const struct type *coroutine = NULL;
	uint64_t addr = 0;

	if (!state_set_is_empty(&p->lost_in) || p->flow.known)
		coroutine = coroutine_of(s, p, &addr);
	ret->may_be_lost =
		!state_set_is_empty(&p->lost_in) &&
		(!coroutine || await_states_has(&p->lost_in, s->walk.target, coroutine, addr));
	ret->state = variable_flow_state(&p->flow, s->walk.target, s->walk.frame, coroutine, addr);
}

static void visit_place(const struct visible *s, const struct variables_place *p,
                        variable_fn *visit, void *arg)
{
	struct variable v = variable_of(s->dm, p);
	uint64_t result;
	bool is_value;

	if (!variables_evaluate(&s->walk, &p->location, true, &result, &is_value))
		return;
	v.in_memory = !is_value;
	v.addr = is_value ? 0 : result;
	v.value = is_value ? result : 0;
	find_uncertainties(s, p, &v);
	visit(&v, arg);
}

void variables_in_frame(struct debuginfo *di, const struct frame *frame, uint64_t cfa,
                        variable_fn *visit, void *arg)
{
	struct visible s;

	if (!variables_visible_open(di, frame, cfa, &s))
		return;
	for (size_t i = 0; i < s.plan.places.n; i++)
		visit_place(&s, &s.plan.places.data[i], visit, arg);
	variables_visible_close(&s);
}

/* ---- pieces ---- */

/*
 * A location in pieces is a sequence of expressions, each followed by the size of its piece. An
 * empty expression means that the piece is optimised out.
 */
static void visit_pieces(const struct visible *s, const struct variables_place *p,
                         variable_word_fn *visit, void *arg)
{
	struct variable_word w = { .v = variable_of(s->dm, p) };
	struct expression piece = { .ops = p->location.ops };

	for (size_t i = 0; i < p->location.n; i++) {
		const struct variables_operation *op = &p->location.ops[i];

		if (op->atom != DW_OP_piece) {
			piece.n++;
			continue;
		}
		if (op->number == 8 && piece.n && word_at(s, &piece, &w.word))
			visit(&w, arg);
		if (op->number > UINT32_MAX)
			return;
		w.offset += op->number;
		piece = (struct expression){ .ops = p->location.ops + i + 1 };
	}
}

void variables_in_pieces(struct debuginfo *di, const struct frame *frame, uint64_t cfa,
                         variable_word_fn *visit, void *arg)
{
	struct visible s;

	if (!variables_visible_open(di, frame, cfa, &s))
		return;
	for (size_t i = 0; i < s.plan.places.n; i++)
		visit_pieces(&s, &s.plan.places.data[i], visit, arg);
	variables_visible_close(&s);
}

/* ---- without a thread ---- */

static bool access_base(struct target *t, uint64_t pc, const struct expression *x,
                        struct variable_access *a)
{
	const struct variables_operation *op = x->ops;
	/* Places in a large frame are sums of an address and a constant. */
	bool is_sum = x->n == 3 && op[1].atom == DW_OP_consts && op[2].atom == DW_OP_plus;
	struct cfa_rule rule;

	if (x->n != 1 && !is_sum)
		return false;
	if (x->n == 1 && op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		a->reg = (unsigned)(op->atom - DW_OP_reg0);
	} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		a->reg = (unsigned)(op->atom - DW_OP_breg0);
		a->offset[0] = (int64_t)op->number;
	} else if (op->atom == DW_OP_call_frame_cfa && cfa_rule_at(t, pc, &rule)) {
		a->reg = rule.reg;
		a->offset[0] = rule.offset;
	} else {
		return false;
	}
	if (is_sum)
		a->offset[0] += (int64_t)op[1].number;
	return true;
}

static bool access_first(struct target *t, uint64_t pc, const struct scope_plan *plan,
                         const struct expression *x, struct variable_access *a)
{
	const struct variables_operation *op = &x->ops[0];

	if (op->atom != DW_OP_fbreg)
		return access_base(t, pc, &(struct expression){ x->ops, 1 }, a);
	if (!access_base(t, pc, &plan->frame_base, a))
		return false;
	a->offset[0] += (int64_t)op->number;
	return true;
}

static bool access_of(struct target *t, uint64_t pc, const struct scope_plan *plan,
                      const struct expression *x, struct variable_access *a)
{
	if (!x->n || !access_first(t, pc, plan, x, a))
		return false;
	a->in_memory = x->ops[0].atom < DW_OP_reg0 || x->ops[0].atom > DW_OP_reg31;
	for (size_t i = 1; i < x->n; i++) {
		const struct variables_operation *op = &x->ops[i];

		if (op->atom == DW_OP_plus_uconst)
			a->offset[a->nloads] += (int64_t)op->number;
		else if (op->atom == DW_OP_deref && a->nloads < VARIABLE_MAX_LOADS)
			a->nloads++;
		else if (op->atom == DW_OP_stack_value)
			a->in_memory = false;
		else
			return false;
	}
	return true;
}

static bool is_certain(const struct variables_place *p)
{
	return p->flow.known && state_set_is_empty(&p->flow.unset) && p->flow.used;
}

bool variables_access_at(struct debuginfo *di, uint64_t pc, unsigned depth, const char *name,
                         struct variable_access *ret)
{
	const struct frame frame = { .pc = pc, .lookup_pc = pc };
	const struct variables_place *p = NULL;
	struct visible s;

	if (!variables_visible_open(di, &frame, 0, &s))
		return false;
	for (size_t i = 0; i < s.plan.places.n; i++) {
		const struct variables_place *each = &s.plan.places.data[i];

		if (each->depth == depth && each->name && strcmp(each->name, name) == 0)
			p = each;
	}
	*ret = (struct variable_access){ .type = p ? p->type : NULL,
		                         .certain = p && is_certain(p) };
	if (p && p->flow.known && !state_set_is_empty(&p->flow.unset))
		p = NULL;
	bool found = p && p->type && access_of(di->target, pc, &s.plan, &p->location, ret);
	variables_visible_close(&s);
	return found;
}
