#include "dwarf/frame/variable_flow.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/arch/arch.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/target/target.h"
#include "dwarf/frame/await_states.h"
#include "dwarf/frame/code_flow_private.h"
#include "dwarf/frame/frame_slots.h"
#include "dwarf/frame/generator_type.h"
#include "dwarf/frame/same_place.h"
#include "dwarf/lookup/argument_place.h"
#include "dwarf/module/line.h"
#include "dwarf/unwind/cfa_rule.h"

enum { MAX_VARIABLES = 1 << 17, MAX_PROLOGUE = 128 /* bytes */ };

struct declared {
	Dwarf_Off die, block;
	const char *name;
	struct flow_place place;
	unsigned line;
};

struct variable_flow {
	struct dwarf_module *dm;
	struct code_flow *code;    /* NULL: it is optimised, and only slots is there */
	struct frame_slots *slots; /* of optimised code */
	struct same_places *same;  /* likewise */
	const struct type *coroutine;
	unsigned base;
	int64_t base_offset;
	VEC(struct declared) declared; /* in the coroutine */
};

/* ---- places ---- */

static bool variable_flow_read_operations(Dwarf_Die *die, unsigned name, Dwarf_Op **ops, size_t *n)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) && dwarf_getlocation(&attr, ops, n) == 0 &&
	       *n > 0;
}

/*
 * Where the frame is above a page, the base is the CFA and a constant (DWARF 5 of rustc 1.95:
 * frames that are made page by page). In such code it is the stack pointer, once the frame is made.
 */
static bool is_stack_pointer(const struct function *f, int64_t distance)
{
	const struct target *t = f->dm->di->target;
	struct cfa_rule rule;

	for (uint64_t at = f->low; at < f->high && at < f->low + MAX_PROLOGUE; at++) {
		if (cfa_rule_at(t, at, &rule) && rule.reg == t->arch->sp &&
		    rule.offset == -distance)
			return true;
	}
	return false;
}

/* A large frame's base is a register, a constant and their sum. */
static bool read_base(const struct function *f, Dwarf_Die *function, unsigned *reg, int64_t *offset)
{
	Dwarf_Op *op;
	size_t n;

	*offset = 0;
	if (!variable_flow_read_operations(function, DW_AT_frame_base, &op, &n))
		return false;
	if (n == 3 && op[1].atom == DW_OP_consts && op[2].atom == DW_OP_plus)
		*offset = (int64_t)op[1].number;
	else if (n != 1)
		return false;
	if (op->atom == DW_OP_call_frame_cfa && is_stack_pointer(f, *offset)) {
		*reg = f->dm->di->target->arch->sp;
		*offset = 0;
		return true;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - DW_OP_breg0;
		*offset += (int64_t)op->number;
		return true;
	}
	*reg = op->atom - DW_OP_reg0;
	return n == 1 && op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31;
}

/*
 * A place in the frame, or behind a pointer that the frame has (*behind): then ret->offset is that
 * of the pointer, and *distance what is added to it.
 */
static bool variable_flow_read_place(Dwarf_Die *die, struct flow_place *ret, bool *behind,
                                     int64_t *distance)
{
	Dwarf_Attribute attr;
	Dwarf_Op *op;
	size_t n;

	/* dwarf_getlocation() refuses a list of locations: optimised code has those. */
	if (!dwarf_attr(die, DW_AT_location, &attr) || dwarf_getlocation(&attr, &op, &n) != 0 ||
	    !n || n > 3 || op->atom != DW_OP_fbreg)
		return false;
	*ret = (struct flow_place){ .offset = (int64_t)op->number };
	*behind = n > 1;
	*distance = n == 3 ? (int64_t)op[2].number : 0;
	return n == 1 || (op[1].atom == DW_OP_deref && (n == 2 || op[2].atom == DW_OP_plus_uconst));
}

/*
 * Reads the place of an argument that is passed by its address. Its locations are a list: the
 * address is now in a register, now in the frame (rustc 1.95, `fn callee(text: String)`).
 */
static bool read_argument(const struct variable_flow *w, Dwarf_Die *die, struct flow_place *ret)
{
	Dwarf_Addr base, begin, end;
	Dwarf_Attribute attr;
	ptrdiff_t at = 0;
	Dwarf_Op *op;
	size_t n;

	if (dwarf_tag(die) != DW_TAG_formal_parameter || !dwarf_attr(die, DW_AT_location, &attr))
		return false;
	while ((at = dwarf_getlocations(&attr, at, &base, &begin, &end, &op, &n)) > 0) {
		if (n != 2 || op->atom != DW_OP_breg0 + w->base || op[1].atom != DW_OP_deref)
			continue;
		*ret = (struct flow_place){ .offset = (int64_t)op->number - w->base_offset };
		return true;
	}
	return false;
}

static struct flow_place variable_flow_place_of(const struct variable_flow *w, Dwarf_Die *die,
                                                bool *known, int64_t *pointer)
{
	struct flow_place place = { 0 };
	const struct type *type = await_states_type_of(w->dm, die);
	int64_t distance = 0;
	bool behind = true;

	*known = type && variable_flow_read_place(die, &place, &behind, &distance);
	if (type && !*known) {
		*known = read_argument(w, die, &place);
		behind = true;
		distance = 0;
	}
	if (!*known)
		return place;
	place.offset += w->base_offset;
	place.size = type_size(type);
	*pointer = behind ? place.offset : INT64_MIN;
	if (!behind)
		return place;
	if (!code_flow_is_pointer(w->code, place.offset)) {
		*known = distance == 0; /* of an argument that is passed by its address */
		place.size = sizeof(uint64_t);
		return place;
	}
	place.in_coroutine = true;
	place.offset = distance;
	return place;
}

/* ---- reading ---- */

static unsigned variable_flow_line_of(Dwarf_Die *die)
{
	int line;

	return dwarf_decl_line(die, &line) == 0 && line > 0 ? (unsigned)line : 0;
}

static const char *variable_flow_name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_name, &attr) ? dwarf_formstring(&attr) : NULL;
}

/* False: there are too many, and any of them may have the bytes of another one. */
static bool read_declared(struct variable_flow *w, Dwarf_Die *scope, unsigned depth)
{
	Dwarf_Die child;

	if (dwarf_child(scope, &child) != 0)
		return true;
	do {
		struct declared d = { .die = dwarf_dieoffset(&child),
			              .block = dwarf_dieoffset(scope),
			              .line = variable_flow_line_of(&child) };
		int64_t pointer;
		bool known;

		if (dwarf_tag(&child) == DW_TAG_lexical_block &&
		    (depth >= DIE_MAX_NESTING || !read_declared(w, &child, depth + 1)))
			return false;
		if (dwarf_tag(&child) != DW_TAG_variable &&
		    dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		if (w->declared.n >= MAX_VARIABLES)
			return false;
		d.place = variable_flow_place_of(w, &child, &known, &pointer);
		d.name = variable_flow_name_of(&child);
		if (known)
			*vec_push(&w->declared) = d;
	} while (dwarf_siblingof(&child, &child) == 0);
	return true;
}

/* The pointer to a generator, by which its variables are found: its argument has no description. */
static bool read_generator_place(Dwarf_Die *function, struct flow_place *ret)
{
	int64_t distance;
	Dwarf_Die child;
	bool behind;

	if (dwarf_child(function, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_variable &&
		    variable_flow_read_place(&child, ret, &behind, &distance) && behind)
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Reads the code if it is not optimised. *optimised: it is, or it may be. */
static void variable_flow_read_code(struct variable_flow *w, const struct function *f,
                                    Dwarf_Die *function, bool *optimised)
{
	struct flow_place argument = { 0 };
	int64_t distance;
	Dwarf_Die die;
	bool behind;

	*optimised = frame_slots_is_optimised(f->dm, function);
	if (*optimised)
		return;
	bool any = argument_place_first_die(function, &die);
	bool placed = any && variable_flow_read_place(&die, &argument, &behind, &distance);
	w->coroutine = any ? await_states_coroutine(await_states_type_of(f->dm, &die))
	                   : generator_type_of(f->dm, function);
	if (w->coroutine && !placed && (any || !read_generator_place(function, &argument)))
		return;
	const struct flow_function of = {
		.f = f,
		.base = w->base,
		.coroutine = w->coroutine,
		.argument = argument.offset + w->base_offset,
	};
	w->code = code_flow_read(f->dm->di, &of, optimised);
}

struct variable_flow *variable_flow_open(const struct function *f, Dwarf_Die *function)
{
	struct variable_flow w = { .dm = f->dm };
	bool optimised;

	if (!read_base(f, function, &w.base, &w.base_offset))
		return NULL;
	variable_flow_read_code(&w, f, function, &optimised);
	if (!w.code && !optimised)
		return NULL;
	struct variable_flow *ret = calloc(1, sizeof(*ret));
	if (!ret)
		out_of_memory();
	*ret = w;
	if (!w.code) {
		ret->slots =
			frame_slots_open(f, function, (struct frame_base){ w.base, w.base_offset });
		ret->same = same_place_open(f, function);
	}
	if (ret->slots || read_declared(ret, function, 0))
		return ret;
	variable_flow_free(ret);
	return NULL;
}

bool variable_flow_is_cut(const struct function *f)
{
	return f->high - f->low > CODE_FLOW_MAX;
}

void variable_flow_free(struct variable_flow *w)
{
	if (!w)
		return;
	code_flow_free(w->code);
	frame_slots_free(w->slots);
	same_place_free(w->same);
	vec_free(&w->declared);
	free(w);
}

/* ---- the coroutine's layout ---- */

static bool variable_flow_is_overlap(const struct flow_place *a, const struct flow_place *b)
{
	return a->in_coroutine == b->in_coroutine && a->offset < b->offset + (int64_t)b->size &&
	       b->offset < a->offset + (int64_t)a->size;
}

/* The states that keep a variable of that name. NULL: any name, as that of a drop flag is. */
static struct state_set saved_in(const struct variable_flow *w, const struct flow_place *place,
                                 const char *name, struct arena *a)
{
	size_t n, nmembers;
	const struct variant *v = w->coroutine ? type_variants(w->coroutine, &n) : NULL;
	struct state_set ret = { 0 };

	for (size_t i = 0; v && i < n; i++) {
		const struct member *m =
			v[i].payload ? type_members(v[i].payload, &nmembers) : NULL;

		for (size_t j = 0; m && j < nmembers; j++) {
			if (m[j].type && (int64_t)(v[i].offset + m[j].offset) == place->offset &&
			    type_size(m[j].type) == place->size &&
			    (!name || (m[j].name && strcmp(m[j].name, name) == 0)))
				state_set_add(&ret, a, v[i].discr);
		}
	}
	return ret;
}

typedef VEC(struct flow_rival) rival_vec;

/* Temporaries of the compiler have no declarations. */
static void add_temporaries(const struct variable_flow *w, const struct flow_place *place,
                            rival_vec *ret)
{
	size_t n, nmembers;
	const struct variant *v = type_variants(w->coroutine, &n);

	for (size_t i = 0; i < n; i++) {
		const struct member *m =
			v[i].payload ? type_members(v[i].payload, &nmembers) : NULL;

		for (size_t j = 0; m && j < nmembers; j++) {
			if (!m[j].type || !m[j].name || !str_begins(m[j].name, "__") ||
			    strcmp(m[j].name, "__awaitee") == 0)
				continue;
			const struct flow_place other = { true,
				                          (int64_t)(v[i].offset + m[j].offset),
				                          type_size(m[j].type) };

			if (variable_flow_is_overlap(&other, place) && ret->n < MAX_VARIABLES)
				*vec_push(ret) = (struct flow_rival){ .place = other };
		}
	}
}

static void find_rivals(const struct variable_flow *w, const struct flow_place *place,
                        Dwarf_Off die, rival_vec *ret)
{
	if (!place->in_coroutine || !w->coroutine)
		return;
	for (size_t i = 0; i < w->declared.n; i++) {
		const struct declared *d = &w->declared.data[i];
		bool is_temporary = !d->name || str_begins(d->name, "__");

		if (d->die != die && variable_flow_is_overlap(&d->place, place))
			*vec_push(ret) = (struct flow_rival){ d->place, d->block,
				                              is_temporary ? 0 : d->line };
	}
	add_temporaries(w, place, ret);
}

/* ---- summary ---- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool variable_flow_block_has(uint64_t pc, uint64_t block, void *arg)
{
	const struct variable_flow *w = arg;
	Dwarf_Die die;

	return dwarf_offdie(w->dm->dwarf, block, &die) &&
	       dwarf_haspc(&die, pc - w->dm->module->bias) == 1;
}

/* An argument's pointer, or that to the coroutine, is not there before the frame is made. */
static void add_pointer(struct variable_flow *w, const struct flow_variable *v, int64_t pointer,
                        uint64_t pc, struct arena *a, struct flow_summary *ret)
{
	struct flow_variable at = *v;
	struct flow_answer answer;

	at.place = (struct flow_place){ .offset = pointer, .size = sizeof(uint64_t) };
	at.saved = (struct state_set){ 0 };
	at.nrivals = 0;
	if (!code_flow_ask(w->code, &at, pc, a, &answer))
		return;
	state_set_unite(&ret->unset, a, &answer.unset);
	state_set_keep(&ret->set, a, &answer.set);
}

static void add_flag(struct variable_flow *w, const struct flow_variable *v,
                     const struct flow_place *flag, uint64_t pc, struct arena *a,
                     struct flow_summary *ret)
{
	struct flow_variable at = *v;
	struct flow_answer answer;

	at.place = *flag;
	at.saved = flag->in_coroutine ? saved_in(w, flag, NULL, a) : (struct state_set){ 0 };
	at.nrivals = 0;
	if (!code_flow_ask(w->code, &at, pc, a, &answer))
		return;
	ret->has_flag = true;
	ret->flag_in_coroutine = flag->in_coroutine;
	ret->flag_offset = flag->offset;
	ret->flag_set = answer.set;
	state_set_remove(&ret->flag_set, a, &answer.unset);
}

/*
 * Whether a variable that is declared later has the same bytes: `let b = a` may make one of both
 * (copy propagation, rustc 1.95 in debug builds, too). Uses are those of the later one.
 */
static bool is_merged(struct variable_flow *w, const struct flow_variable *v, Dwarf_Die *variable,
                      uint64_t pc)
{
	Dwarf_Off die = dwarf_dieoffset(variable);

	for (size_t i = 0; i < w->declared.n; i++) {
		const struct declared *d = &w->declared.data[i];

		if (d->die > die && d->name && !str_begins(d->name, "__") &&
		    variable_flow_is_overlap(&d->place, &v->place) &&
		    variable_flow_block_has(pc, d->block, w))
			return true;
	}
	return false;
}

static bool variable_flow_is_same(const struct flow_place *a, const struct flow_place *b)
{
	return a->in_coroutine == b->in_coroutine && a->offset == b->offset && a->size == b->size;
}

/* Whether the place of a variable has a value where its block begins, as behind its `let`. */
static bool is_set_by_let(struct variable_flow *w, const struct flow_variable *v, struct arena *a)
{
	Dwarf_Addr base, begin, end, low = UINT64_MAX;
	struct flow_answer answer;
	ptrdiff_t at = 0;
	Dwarf_Die block;

	if (!dwarf_offdie(w->dm->dwarf, v->block, &block))
		return false;
	while ((at = dwarf_ranges(&block, at, &base, &begin, &end)) > 0)
		low = begin < low ? begin : low;
	return low != UINT64_MAX &&
	       code_flow_ask(w->code, v, low + w->dm->module->bias, a, &answer) &&
	       state_set_is_empty(&answer.unset) && !state_set_is_empty(&answer.set);
}

/* Whether an instruction belongs to a line, in its function or in one that calls it. */
static bool variable_flow_is_at_line(struct variable_flow *w, uint64_t pc, unsigned line)
{
	SCRATCH(a);
	size_t n;
	const struct location *l = lookup_locations(w->dm->di, pc, &a, &n);

	while (n && l[n - 1].line != line)
		n--;
	return n;
}

/* Whether code of the line of its declaration sets a variable, or passes its address on. */
static bool is_set_at_its_line(struct variable_flow *w, const struct flow_variable *v)
{
	for (size_t i = 0; i < w->code->steps.n; i++) {
		const struct code_flow_step *step = &w->code->steps.data[i];
		int64_t distance = step->place.offset - v->place.offset;

		if ((step->access == ACCESS_WRITE || step->access == ACCESS_ADDRESS) &&
		    !step->place.in_coroutine && distance >= 0 &&
		    distance < (int64_t)v->place.size &&
		    variable_flow_is_at_line(w, step->addr, v->line))
			return true;
	}
	return false;
}

/*
 * Whether a variable in the frame may be a copy that is not made yet: copy propagation makes one
 * variable of `let p; let q = f(); p = q;`, and no code is left of the move. The one whose `let`
 * has set both is no copy.
 */
static bool may_be_unset_copy(struct variable_flow *w, const struct flow_variable *v,
                              Dwarf_Die *variable, uint64_t pc, struct arena *a)
{
	const Dwarf_Off die = dwarf_dieoffset(variable);

	if (v->place.in_coroutine || v->by_pointer || dwarf_tag(variable) != DW_TAG_variable)
		return false;
	for (size_t i = 0; i < w->declared.n; i++) {
		const struct declared *d = &w->declared.data[i];

		if (d->die != die && d->name && !str_begins(d->name, "__") && d->line != v->line &&
		    variable_flow_is_same(&d->place, &v->place) &&
		    variable_flow_block_has(pc, d->block, w))
			return !is_set_at_its_line(w, v) &&
			       (d->die < die || !is_set_by_let(w, v, a));
	}
	return false;
}

/*
 * Whether the line of an address is before the declaration. A macro of another file (tokio's
 * select!) has lines of its own.
 */
static bool is_declared_later(struct variable_flow *w, Dwarf_Die *variable, unsigned line,
                              uint64_t pc)
{
	SCRATCH(a);
	size_t n;
	const struct location *l = lookup_locations(w->dm->di, pc, &a, &n);
	const char *file = line_file_of(w->dm, variable);
	const char *here = l[n - 1].file;

	return dwarf_tag(variable) == DW_TAG_variable && file && here && l[n - 1].line &&
	       line > l[n - 1].line && strcmp(last_part(file), last_part(here)) == 0;
}

static struct flow_summary slot_summary(struct variable_flow *w, Dwarf_Die *block,
                                        Dwarf_Die *variable, uint64_t pc)
{
	struct slot_answer answer;

	if (!frame_slots_ask(w->slots, block, variable, pc, &answer))
		return (struct flow_summary){ .slot_unset = same_place_may_be_unset(w->same,
			                                                            variable, pc) };
	return (struct flow_summary){ .slot_unset = answer.unset, .slot_stale = answer.stale };
}

struct flow_summary variable_flow_summary(struct variable_flow *w, Dwarf_Die *block,
                                          Dwarf_Die *variable, bool inlined, uint64_t pc,
                                          struct arena *a)
{
	struct flow_summary ret = { 0 };
	rival_vec rivals = { 0 };
	struct flow_answer answer;
	int64_t pointer = 0;
	bool known;

	if (!w)
		return ret;
	if (w->slots)
		return slot_summary(w, block, variable, pc);
	struct flow_variable v = { .place = variable_flow_place_of(w, variable, &known, &pointer),
		                   .block = dwarf_dieoffset(block),
		                   .line = variable_flow_line_of(variable),
		                   .is_in = variable_flow_block_has,
		                   .arg = w };
	/* The lines by which the code of rivals is found are those of the function itself. */
	if (!known || (inlined && v.place.in_coroutine))
		return ret;
	v.by_pointer = pointer != INT64_MIN && !v.place.in_coroutine;
	if (v.place.in_coroutine)
		v.saved = saved_in(w, &v.place, variable_flow_name_of(variable), a);
	find_rivals(w, &v.place, dwarf_dieoffset(variable), &rivals);
	v.rivals = rivals.data;
	v.nrivals = rivals.n;
	if (code_flow_ask(w->code, &v, pc, a, &answer)) {
		ret = (struct flow_summary){
			.known = true,
			.used = answer.used && !is_merged(w, &v, variable, pc),
			.lent = answer.lent || v.by_pointer,
			.shared = rivals.n != 0 ||
			          (answer.wide && dwarf_tag(variable) == DW_TAG_variable),
			.later = !inlined && is_declared_later(w, variable, v.line, pc),
			.set = answer.set,
			.unset = answer.unset,
			.base = w->base
		};
		if (v.place.in_coroutine)
			add_pointer(w, &v, pointer, pc, a, &ret);
		if (may_be_unset_copy(w, &v, variable, pc, a))
			state_set_unite(&ret.unset, a, &ret.set);
		if (answer.has_flag)
			add_flag(w, &v, &answer.flag, pc, a, &ret);
	}
	vec_free(&rivals);
	return ret;
}

/* ---- one frame ---- */

/* The state in which the poll began, or all. */
static struct state_set states_at(const struct flow_summary *summary, struct target *t,
                                  const struct type *coroutine, uint64_t addr, struct arena *a)
{
	const struct member *discr = coroutine ? type_discr(coroutine) : NULL;
	uint64_t size = discr ? type_size(discr->type) : 0, value;
	struct state_set all = summary->set, one = { 0 };

	state_set_unite(&all, a, &summary->unset);
	if (!size || size > sizeof(value) || !addr)
		return all;
	struct error *err CLEANUP(error_freep) =
		target_read_uint(t, addr + discr->offset, size, &value);
	/* At its end a poll has left the state in which it began. */
	if (err || !state_set_has(&all, value))
		return all;
	state_set_add(&one, a, value);
	return one;
}

/* 0: unknown. */
static uint64_t base_of(const struct frame *frame, unsigned reg)
{
	return frame->known_regs & UINT64_C(1) << reg ? frame->regs[reg] : 0;
}

struct variable_state variable_flow_state(const struct flow_summary *summary, struct target *t,
                                          const struct frame *frame, const struct type *coroutine,
                                          uint64_t addr)
{
	SCRATCH(a);
	const struct state_set states = states_at(summary, t, coroutine, addr, &a);
	struct state_set set = states, unset = states;
	uint64_t base = summary->flag_in_coroutine ? addr : base_of(frame, summary->base), flag;

	state_set_keep(&set, &a, &summary->set);
	state_set_keep(&unset, &a, &summary->unset);
	struct variable_state ret = {
		.known = summary->known,
		.later = summary->later,
		.never = summary->known && state_set_is_empty(&set),
		.unset = !state_set_is_empty(&unset),
		.used = summary->used,
		.lent = summary->lent,
		.shared = summary->shared,
		.widened = summary->widened,
	};

	if (!summary->known) {
		ret.unset = summary->slot_unset;
		ret.stale = summary->slot_stale;
	}

	if (!summary->known || !summary->has_flag || !base ||
	    !state_set_is_within(&states, &summary->flag_set))
		return ret;
	struct error *err CLEANUP(error_freep) =
		target_read_uint(t, base + (uint64_t)summary->flag_offset, 1, &flag);
	ret.gone = !err && flag == 0;
	ret.kept = !err && flag == 1;
	return ret;
}
