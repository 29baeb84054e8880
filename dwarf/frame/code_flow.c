#include "dwarf/frame/code_flow.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/arch/arch.h"
#include "debugger/base/str.h"
#include "debugger/target/target.h"
#include "dwarf/frame/code_flow_private.h"
#include "dwarf/module/symbols.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/diverging.h"
#include "dwarf/types/type.h"

enum {
	MAX_TABLE = 1 << 16, /* entries of a table of jumps */
	NEAR = 8, /* instructions between the parts of a jump by a table, or a call and an argument
	           */
	POINTER = 8,
};

static int code_flow_step_index(const struct code_flow *w, uint64_t addr)
{
	return addr >= w->of.f->low && addr < w->of.f->high ? w->index[addr - w->of.f->low] : NONE;
}

/* ---- instructions ---- */

/* The content of a register while instructions are read. */
enum register_content {
	CONTENT_UNKNOWN,
	CONTENT_COROUTINE,     /* the coroutine's address and a number */
	CONTENT_LOADED,        /* what the memory at an address has */
	CONTENT_ADDRESS,       /* an address that the instruction names */
	CONTENT_ENTRY,         /* an entry of the table of jumps at an address */
	CONTENT_TARGET,        /* the sum of such an entry and the table's address */
	CONTENT_TARGET_ITSELF, /* an entry of a table of targets */
};

struct registers {
	struct {
		enum register_content is;
		uint64_t number; /* or address */
	} of[NREGS];
	const uint64_t *kept; /* as in struct code_flow */
};

static void registers_forget(struct registers *r, uint32_t changed)
{
	for (unsigned i = 0; i < NREGS; i++) {
		if (changed & UINT32_C(1) << i)
			r->of[i].is = CONTENT_UNKNOWN;
	}
}

static bool code_flow_holds(const struct registers *r, unsigned reg, enum register_content content)
{
	return reg < NREGS && r->of[reg].is == content;
}

static void code_flow_put(struct registers *r, unsigned reg, enum register_content content,
                          uint64_t number)
{
	r->of[reg].is = content;
	r->of[reg].number = number;
}

/* Whether an instruction puts the address of something into a register: lea rax, [rip + 8] */
static bool names_address(const struct instruction *in)
{
	const struct instruction_memory *m = &in->memory;

	return in->has_target && m->is_there && !m->reads && !m->writes && in->to < NREGS;
}

/* The address that a register has by itself; 0: it has none. */
static uint64_t registers_address(const struct registers *r, unsigned reg)
{
	if (code_flow_holds(r, reg, CONTENT_ADDRESS))
		return r->of[reg].number;
	return reg < NREGS && r->of[reg].is == CONTENT_UNKNOWN ? r->kept[reg] : 0;
}

/* add rax, rcx, one of which is the address of a table, and the other an entry of it */
static uint64_t registers_sum(const struct registers *r, unsigned a, unsigned b)
{
	uint64_t table = registers_address(r, a);

	return table && code_flow_holds(r, b, CONTENT_ENTRY) && r->of[b].number == table ? table
	                                                                                 : 0;
}

bool code_flow_is_pointer(const struct code_flow *w, int64_t offset)
{
	for (size_t i = 0; i < w->npointers; i++) {
		if (w->pointers[i] == offset)
			return true;
	}
	return false;
}

static void registers_apply(struct registers *r, const struct code_flow *w,
                            const struct instruction *in)
{
	const struct instruction_memory *m = &in->memory;
	const struct registers before = *r;
	uint64_t table;

	registers_forget(r, in->changes);
	if (in->flow == FLOW_CALL)
		registers_forget(r, UINT32_MAX);
	if (in->to >= NREGS)
		return;
	if (in->move == MOVE_COPY && in->from < NREGS)
		r->of[in->to] = before.of[in->from];
	else if (in->move == MOVE_ADD && code_flow_holds(&before, in->to, CONTENT_COROUTINE))
		code_flow_put(r, in->to, CONTENT_COROUTINE,
		              before.of[in->to].number + (uint64_t)in->number);
	else if (in->move == MOVE_ADDRESS && code_flow_holds(&before, m->base, CONTENT_COROUTINE))
		code_flow_put(r, in->to, CONTENT_COROUTINE,
		              before.of[m->base].number + (uint64_t)m->offset);
	else if (in->move == MOVE_LOAD && m->is_simple && m->base == w->of.base &&
	         code_flow_is_pointer(w, m->offset))
		code_flow_put(r, in->to, CONTENT_COROUTINE, 0);
	else if (in->move == MOVE_LOAD && in->has_target)
		code_flow_put(r, in->to, CONTENT_LOADED, in->target);
	else if (in->move == MOVE_LOAD && m->is_entry)
		code_flow_put(r, in->to, CONTENT_TARGET_ITSELF, (uint64_t)m->offset);
	else if (in->move == MOVE_ENTRY && (table = registers_address(&before, m->base)))
		code_flow_put(r, in->to, CONTENT_ENTRY, table);
	else if (in->move == MOVE_SUM && ((table = registers_sum(&before, in->to, in->from)) ||
	                                  (table = registers_sum(&before, in->from, in->to))))
		code_flow_put(r, in->to, CONTENT_TARGET, table);
	else if (names_address(in))
		code_flow_put(r, in->to, CONTENT_ADDRESS, in->target);
}

/* rdi = coroutine + 40 by an addition is an address of what lies there, too. */
static void find_access(const struct code_flow *w, const struct instruction *in,
                        const struct registers *before, const struct registers *after,
                        struct code_flow_step *s)
{
	const struct instruction_memory *m = &in->memory;
	bool in_frame = m->base == w->of.base;

	s->puts = in->move == MOVE_PUT;
	s->number = in->number;
	if (m->is_there && m->is_simple &&
	    (in_frame || code_flow_holds(before, m->base, CONTENT_COROUTINE))) {
		s->place.in_coroutine = !in_frame;
		s->place.offset = m->offset + (in_frame ? 0 : (int64_t)before->of[m->base].number);
		s->access = m->reads ? ACCESS_READ : m->writes ? ACCESS_WRITE : ACCESS_ADDRESS;
		/* How far the code goes from an address is not known; not beyond the variable. */
		s->place.size = s->access == ACCESS_ADDRESS ? 1 : m->size;
	} else if (in->move == MOVE_ADD && code_flow_holds(after, in->to, CONTENT_COROUTINE)) {
		s->place = (struct flow_place){ true, (int64_t)after->of[in->to].number, 1 };
		s->access = ACCESS_ADDRESS;
	}
}

static void find_callee(const struct instruction *in, const struct registers *r,
                        struct code_flow_step *s)
{
	if (in->flow != FLOW_CALL)
		return;
	s->indirect = !in->is_branch;
	if (in->has_target)
		s->called = in->target;
	else if (code_flow_holds(r, in->from, CONTENT_LOADED))
		s->called = r->of[in->from].number;
}

/* ---- jumps by tables ---- */

/* A table of jumps. */
struct jump_table {
	uint64_t addr;
	bool absolute; /* an entry has an address; else what is added to that of the table */
};

static int table_entry(struct code_flow *w, const struct jump_table *table, uint64_t i)
{
	size_t size = table->absolute ? sizeof(uint64_t) : sizeof(uint32_t);
	uint64_t entry;
	struct error *err CLEANUP(error_freep) =
		target_read_uint(w->di->target, table->addr + i * size, size, &entry);

	if (err)
		return NONE;
	if (!table->absolute)
		entry = table->addr + (uint64_t)(int64_t)(int32_t)entry;
	return code_flow_step_index(w, entry);
}

/* The entry of a state is that of its discriminant in the first such jump of a poll function. */
static void code_flow_add_table(struct code_flow *w, int jump, const struct jump_table *table)
{
	if (w->of.coroutine && w->dispatch == NONE)
		w->dispatch = jump;
	for (uint64_t i = 0; i < MAX_TABLE; i++) {
		int to = table_entry(w, table, i);

		if (to == NONE)
			return;
		w->steps.data[to].leader = true;
		*vec_push(&w->edges) = (struct edge){ jump, to };
	}
	w->cut = true;
}

/*
 * lea rax, [rip + table]; movsxd rcx, [rax + rcx * 4]; add rax, rcx; jmp rax. In code that is not
 * relocated: jmp [rax * 8 + table].
 */
static void code_flow_add_jumps(struct code_flow *w, int jump, const struct instruction *in,
                                const struct registers *now)
{
	if (in->memory.is_entry)
		code_flow_add_table(w, jump,
		                    &(struct jump_table){ (uint64_t)in->memory.offset, true });
	else if (code_flow_holds(now, in->from, CONTENT_TARGET))
		code_flow_add_table(w, jump,
		                    &(struct jump_table){ now->of[in->from].number, false });
	else if (code_flow_holds(now, in->from, CONTENT_TARGET_ITSELF))
		code_flow_add_table(w, jump,
		                    &(struct jump_table){ now->of[in->from].number, true });
}

/* ---- reading ---- */

struct code_flow_reading {
	struct code_flow *w;
	struct instruction_reader *reader;
	uint8_t *bytes;
	size_t size;
	bool optimised;
	uint32_t other; /* registers that have another value, too, than one address */
};

enum { RBX = 3, RBP = 6, RSP = 7, R12 = 12, PRESERVED = 1 << RBX | 1 << RBP | 0xf << R12 };

/* Whether an instruction saves a register that unoptimised code does not use. */
static bool is_optimised(const struct code_flow *w, const struct instruction *in)
{
	return in->is_push && (in->from == RBX || (in->from >= R12 && in->from < NREGS) ||
	                       (in->memory.base != RBP && w->steps.n > 2));
}

/*
 * Finds registers that have one address wherever the code uses them, as r15 has that of a table for
 * all rounds of a loop: lea r15, [rip + table] stands before it. Calls preserve the register, so
 * only the instructions of the function change it. Before the lea, and behind the pop at the end,
 * it has the value of the caller, which no function uses.
 */
static void find_kept(struct code_flow_reading *r, const struct instruction *in)
{
	for (unsigned reg = 0; reg < NREGS; reg++) {
		uint64_t *kept = &r->w->kept[reg];
		bool changes = in->changes & UINT32_C(1) << reg || in->to == reg;

		if (!(PRESERVED & UINT32_C(1) << reg) || !changes || in->is_pop)
			continue;
		if (names_address(in) && in->to == reg && (!*kept || *kept == in->target))
			*kept = in->target;
		else
			r->other |= UINT32_C(1) << reg;
	}
}

/* The first reading: where instructions begin and jumps lead. False: the code cannot be read. */
static bool read_jumps(struct code_flow_reading *r)
{
	struct code_flow *w = r->w;
	struct instruction in;
	bool ended = false;

	for (size_t at = 0; at < r->size; at += in.size) {
		instruction_read(r->reader, w->of.f->low + at, r->bytes + at, r->size - at, &in);
		r->optimised |= is_optimised(w, &in);
		if (in.bad || (r->optimised && !w->of.optimised))
			return false;
		find_kept(r, &in);
		w->index[at] = (int)w->steps.n;
		*vec_push(&w->steps) = (struct code_flow_step){ .addr = in.addr,
			                                        .size = in.size,
			                                        .flow = in.flow,
			                                        .leader = ended,
			                                        .target = NONE };
		ended = in.flow == FLOW_JUMP || in.flow == FLOW_END;
	}
	for (unsigned reg = 0; reg < NREGS; reg++) {
		if (r->other & UINT32_C(1) << reg)
			w->kept[reg] = 0;
	}
	for (size_t i = 0; i < w->steps.n; i++) {
		struct code_flow_step *s = &w->steps.data[i];
		size_t at = s->addr - w->of.f->low;

		if (s->flow != FLOW_BRANCH && s->flow != FLOW_JUMP)
			continue;
		instruction_read(r->reader, s->addr, r->bytes + at, r->size - at, &in);
		s->target = in.is_branch ? code_flow_step_index(w, in.target) : NONE;
		if (s->target != NONE)
			w->steps.data[s->target].leader = true;
	}
	return true;
}

/*
 * The copies of the pointer to the coroutine that the code makes before its first jump or call. The
 * frame of a large function is made in a loop, page by page, before them.
 */
static void find_pointers(struct code_flow_reading *r)
{
	struct code_flow *w = r->w;
	unsigned argument = NREGS;
	struct instruction in;

	for (int round = 0; round < 2; round++) {
		for (size_t at = 0; at < r->size; at += in.size) {
			instruction_read(r->reader, w->of.f->low + at, r->bytes + at, r->size - at,
			                 &in);
			bool is_copy = in.move == MOVE_STORE && in.memory.is_simple &&
			               in.memory.base == w->of.base && in.from < NREGS;

			if (in.flow == FLOW_CALL || in.flow == FLOW_JUMP)
				break;
			if (!round && is_copy && in.memory.offset == w->of.argument)
				argument = in.from;
			if (round && is_copy && in.from == argument && w->npointers < MAX_POINTERS)
				w->pointers[w->npointers++] = in.memory.offset;
			if (argument < NREGS && in.changes & UINT32_C(1) << argument)
				break;
		}
	}
}

/* The second one: what instructions do. Tables of jumps may make leaders behind them. */
static void read_accesses(struct code_flow_reading *r)
{
	struct code_flow *w = r->w;
	struct registers now = { .kept = w->kept };
	size_t frame = 0;

	for (size_t i = 0; i < w->steps.n; i++) {
		struct code_flow_step *s = &w->steps.data[i];
		size_t at = s->addr - w->of.f->low;
		struct registers before;
		struct instruction in;

		if (s->leader)
			now = (struct registers){ .kept = w->kept };
		instruction_read(r->reader, s->addr, r->bytes + at, r->size - at, &in);
		before = now;
		if (s->flow == FLOW_JUMP && s->target == NONE && !in.is_branch)
			code_flow_add_jumps(w, (int)i, &in, &now);
		find_callee(&in, &now, s);
		registers_apply(&now, w, &in);
		s->access = ACCESS_NONE;
		find_access(w, &in, &before, &now, s);
		/* The frame is there from where the stack pointer was moved. */
		if (!frame && s->flow == FLOW_CALL)
			frame = i;
		if (!frame && in.changes & UINT32_C(1) << RSP) {
			for (size_t j = 0; j <= i; j++)
				w->steps.data[j].access = ACCESS_NONE;
		}
	}
}

/* ---- calls ---- */

/*
 * NULL: unknown. Only files without .symtab ask libdw, whose own table of symbols costs a third of
 * a cold run of `tasks`.
 */
static const char *callee_name(struct code_flow *w, const struct code_flow_step *s, struct arena *a)
{
	struct symbol_place symbol;
	uint64_t addr = s->called;

	if (!addr)
		return NULL;
	struct error *err CLEANUP(error_freep) =
		s->indirect ? target_read_uint(w->di->target, addr, POINTER, &addr) : NULL;
	const struct module *m = err ? NULL : module_at(w->di->target, addr);
	struct dwarf_module *dm = m ? debuginfo_module(w->di, m) : NULL;
	if (!dm)
		return NULL;
	if (symtab_of(dm).data) {
		const char *name = symtab_function_at(dm, module_link_addr(m, addr).v);

		return name ? demangle(a, name) : NULL;
	}
	if (symbol_at(w->di, addr, a, &symbol) && symbol.name)
		return symbol.name;
	const struct function *f = lookup_function(w->di, addr);
	return f ? f->name : NULL;
}

static void find_last_calls(struct code_flow *w)
{
	for (size_t i = 0; i + 1 < w->steps.n; i++) {
		struct code_flow_step *s = &w->steps.data[i];
		SCRATCH(a);

		if (s->flow != FLOW_CALL || w->steps.data[i + 1].flow == FLOW_JUMP)
			continue;
		const char *name = callee_name(w, s, &a);
		s->last = name && diverging_is(name);
	}
}

const struct edge *code_flow_edges(const struct code_flow *w, int from, size_t *n)
{
	bool is_table = w->steps.data[from].flow == FLOW_JUMP;
	const size_t end = is_table ? w->ntable : w->edges.n;
	size_t low = is_table ? 0 : w->ntable, high = end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->edges.data[middle].from < from)
			low = middle + 1;
		else
			high = middle;
	}
	for (*n = 0; low + *n < end && w->edges.data[low + *n].from == from;)
		++*n;
	return w->edges.data ? w->edges.data + low : NULL; /* no offset from NULL: undefined */
}

int code_flow_next(const struct code_flow *w, size_t i)
{
	const struct code_flow_step *s = &w->steps.data[i];

	return s->flow != FLOW_JUMP && s->flow != FLOW_END && !s->last && i + 1 < w->steps.n
	               ? (int)i + 1
	               : NONE;
}

struct code_flow_successors code_flow_successors_of(const struct code_flow *w, int from)
{
	const struct code_flow_step *step = &w->steps.data[from];
	struct code_flow_successors ret = { .next = code_flow_next(w, (size_t)from),
		                            .target = step->target };

	if (step->flow == FLOW_JUMP)
		ret.edges = code_flow_edges(w, from, &ret.nedges);
	return ret;
}

bool code_flow_successor(struct code_flow_successors *s, int *to)
{
	if (s->next != NONE) {
		*to = s->next;
		s->next = NONE;
	} else if (s->target != NONE) {
		*to = s->target;
		s->target = NONE;
	} else if (s->nedges) {
		*to = s->edges->to;
		s->edges++;
		s->nedges--;
	} else {
		return false;
	}
	return true;
}

static void code_flow_add_before(struct code_flow *w, int from, int to, bool count)
{
	if (count)
		w->nbefore[to + 1]++;
	else
		w->before[w->nbefore[to]++] = from;
}

static void each_before(struct code_flow *w, bool count)
{
	for (int i = 0; i < (int)w->steps.n; i++) {
		struct code_flow_successors s = code_flow_successors_of(w, i);

		if (i == w->dispatch)
			continue;
		for (int to; code_flow_successor(&s, &to);)
			code_flow_add_before(w, i, to, count);
	}
}

static void find_before(struct code_flow *w)
{
	size_t n = w->steps.n;

	w->nbefore = NEW_ARRAY(&w->arena, int, n + 1);
	each_before(w, true);
	for (size_t i = 0; i < n; i++)
		w->nbefore[i + 1] += w->nbefore[i];
	w->before = NEW_ARRAY(&w->arena, int, (size_t)w->nbefore[n]);
	each_before(w, false);
	/* Each index has run to the end of its list, where the next list begins. */
	memmove(w->nbefore + 1, w->nbefore, n * sizeof(*w->nbefore));
	w->nbefore[0] = 0;
}

/* A suspension goes on at the state that it puts into the coroutine. */
static void add_suspensions(struct code_flow *w)
{
	const struct member *discr = w->of.coroutine ? type_discr(w->of.coroutine) : NULL;
	size_t n = w->edges.n, first = 0;

	w->ntable = n;
	while (first < n && w->edges.data[first].from != w->dispatch)
		first++;
	for (size_t i = 0; discr && w->dispatch != NONE && i < w->steps.n; i++) {
		const struct code_flow_step *s = &w->steps.data[i];
		size_t state = first + (size_t)s->number;

		if (s->puts && s->access == ACCESS_WRITE && s->place.in_coroutine &&
		    s->place.offset == (int64_t)discr->offset && s->number > 2 &&
		    s->number < MAX_TABLE && state < n && w->edges.data[state].from == w->dispatch)
			*vec_push(&w->edges) = (struct edge){ (int)i, w->edges.data[state].to };
	}
}

/* Lists the states of the type; in unoptimised code each has an entry of the dispatch, if any. */
static void code_flow_find_states(struct code_flow *w)
{
	const struct variant *v;
	size_t n = 0;

	w->nstates = 1;
	v = w->of.coroutine ? type_variants(w->of.coroutine, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		if (v[i].discr >= w->nstates && v[i].discr < MAX_TABLE)
			w->nstates = v[i].discr + 1;
	}
}

static bool code_flow_read_code(struct code_flow *w, bool *optimised)
{
	size_t size = w->of.f->high - w->of.f->low;
	struct instruction_reader *reader CLEANUP(instruction_reader_close) = NULL;
	struct code_flow_reading r = { .w = w,
		                       .bytes = arena_alloc(&w->arena, size),
		                       .size = size };
	struct error *err CLEANUP(error_freep) =
		target_read(w->di->target, w->of.f->low, r.bytes, size);

	if (!err)
		err = instruction_reader_open(w->di->target->arch->elf_machine, SYNTAX_INTEL,
		                              &reader);
	if (err)
		return false;
	r.reader = reader;
	w->index = NEW_ARRAY(&w->arena, int, size);
	for (size_t i = 0; i < size; i++)
		w->index[i] = NONE;
	bool read = read_jumps(&r);
	*optimised = r.optimised;
	if (!read)
		return false;
	if (w->of.coroutine)
		find_pointers(&r);
	read_accesses(&r);
	size_t n = w->edges.n;
	/* Leaders that tables made are known now. */
	if (n) {
		w->edges.n = 0;
		w->dispatch = NONE;
		read_accesses(&r);
	}
	if (w->edges.n != n || w->cut)
		return false;
	find_last_calls(w);
	add_suspensions(w);
	code_flow_find_states(w);
	find_before(w);
	return true;
}

struct code_flow *code_flow_read(struct debuginfo *di, const struct flow_function *function,
                                 bool *optimised)
{
	const struct function *f = function->f;
	struct code_flow *w;

	*optimised = false;
	if (f->high <= f->low || f->high - f->low > CODE_FLOW_MAX)
		return NULL;
	w = calloc(1, sizeof(*w));
	if (!w)
		out_of_memory();
	w->di = di;
	w->of = *function;
	w->dispatch = NONE;
	if (code_flow_read_code(w, optimised))
		return w;
	code_flow_free(w);
	return NULL;
}

void code_flow_free(struct code_flow *w)
{
	if (!w)
		return;
	vec_free(&w->steps);
	vec_free(&w->edges);
	arena_free(&w->arena);
	free(w);
}

/* ---- what an instruction does to a variable ---- */

static bool code_flow_is_overlap(const struct flow_place *a, const struct flow_place *b)
{
	return a->in_coroutine == b->in_coroutine && a->offset < b->offset + (int64_t)b->size &&
	       b->offset < a->offset + (int64_t)a->size;
}

static unsigned code_flow_line_at(struct code_flow *w, uint64_t addr)
{
	SCRATCH(a);
	size_t n;
	const struct location *l = lookup_locations(w->di, addr, &a, &n);

	return l[n - 1].line;
}

enum code_flow_effect {
	EFFECT_NONE,
	EFFECT_SET,
	EFFECT_MAY_SET,
	EFFECT_LOSE, /* another variable has its bytes from there on */
	EFFECT_USE,
};

static bool code_flow_is_store(const struct code_flow_step *s)
{
	return s->access == ACCESS_WRITE || s->access == ACCESS_ADDRESS;
}

/*
 * After how many instructions execution comes into a block, before it branches and before something
 * else is put into the place; 0: it does not, or is in it.
 */
static int enters(const struct code_flow *w, const struct flow_variable *v, size_t from,
                  uint64_t block, const struct flow_place *place)
{
	int at = (int)from;

	if (v->is_in(w->steps.data[from].addr, block, v->arg))
		return 0;
	for (int n = 1; n <= NEAR * 2; n++) {
		const struct code_flow_step *s = &w->steps.data[at];

		if (s->flow == FLOW_BRANCH || s->flow == FLOW_END || s->last)
			return 0;
		at = s->flow == FLOW_JUMP ? s->target : at + 1;
		if (at == NONE || (size_t)at >= w->steps.n)
			return 0;
		s = &w->steps.data[at];
		if (v->is_in(s->addr, block, v->arg))
			return n;
		if (code_flow_is_store(s) && code_flow_is_overlap(&s->place, place))
			return 0;
	}
	return 0;
}

/*
 * Whether a store is that which sets a rival: its block begins behind it, as that of an
 * `__awaitee` does, or the line is that of its declaration. own: as of enters(), of the variable.
 */
static bool is_rivals(struct code_flow *w, const struct flow_variable *v,
                      const struct flow_rival *rival, size_t i, int own)
{
	const struct code_flow_step *s = &w->steps.data[i];
	int theirs;

	if (!code_flow_is_overlap(&s->place, &rival->place) || !rival->block)
		return false;
	theirs = rival->block != v->block ? enters(w, v, i, rival->block, &rival->place) : 0;
	if (theirs && (!own || theirs <= own))
		return true;
	return !own && rival->line && rival->line != v->line &&
	       code_flow_line_at(w, s->addr) == rival->line;
}

/* The effect of step i on v, whose bytes other variables have at other times. */
static enum code_flow_effect effect_on_shared(struct code_flow *w, const struct flow_variable *v,
                                              size_t i)
{
	const struct code_flow_step *s = &w->steps.data[i];
	bool is_others = false;
	int own;

	if (!code_flow_is_store(s))
		return code_flow_is_overlap(&s->place, &v->place) ? EFFECT_USE : EFFECT_NONE;
	own = code_flow_is_overlap(&s->place, &v->place) ? enters(w, v, i, v->block, &v->place) : 0;
	for (size_t j = 0; j < v->nrivals; j++) {
		const struct flow_rival *rival = &v->rivals[j];

		if (!code_flow_is_overlap(&s->place, &rival->place))
			continue;
		if (is_rivals(w, v, rival, i, own))
			return EFFECT_LOSE;
		is_others |= !rival->block || v->is_in(s->addr, rival->block, v->arg);
	}
	if (!code_flow_is_overlap(&s->place, &v->place))
		return EFFECT_NONE;
	if (own || code_flow_line_at(w, s->addr) == v->line)
		return EFFECT_SET;
	return !is_others && s->access == ACCESS_WRITE && s->place.offset == v->place.offset &&
	                       s->place.size == v->place.size
	               ? EFFECT_SET
	               : EFFECT_MAY_SET;
}

static enum code_flow_effect effect_on(struct code_flow *w, const struct flow_variable *v, size_t i)
{
	const struct code_flow_step *s = &w->steps.data[i];

	if (s->access == ACCESS_NONE || s->place.in_coroutine != v->place.in_coroutine)
		return EFFECT_NONE;
	if (v->nrivals)
		return effect_on_shared(w, v, i);
	if (!code_flow_is_overlap(&s->place, &v->place))
		return EFFECT_NONE;
	return code_flow_is_store(s) ? EFFECT_SET : EFFECT_USE;
}

/* ---- forwards: where it is set ---- */

enum code_flow_way { WAY_SET = 1, WAY_UNSET = 2 };

struct forward {
	struct code_flow *w;
	const struct flow_variable *v;
	unsigned char *at;      /* before each instruction: enum code_flow_way, of any state */
	unsigned char *effects; /* enum code_flow_effect of each one */
	VEC(int) changed;
	struct arena arena;
};

static void code_flow_join(struct forward *f, int to, unsigned ways)
{
	if (to == NONE || (size_t)to >= f->w->steps.n || !(ways & ~f->at[to]))
		return;
	f->at[to] |= (unsigned char)ways;
	*vec_push(&f->changed) = to;
}

static unsigned code_flow_ways_behind(const struct forward *f, size_t i)
{
	unsigned ways = f->at[i];

	if (f->effects[i] == EFFECT_SET)
		return ways ? WAY_SET : 0;
	if (f->effects[i] == EFFECT_MAY_SET)
		return ways ? ways | WAY_SET : 0;
	if (f->effects[i] == EFFECT_LOSE)
		return ways ? WAY_UNSET : 0;
	return ways;
}

/* The edges of the dispatch lead to the states, in their order. */
static void code_flow_follow_table(struct forward *f, int from)
{
	unsigned ways = code_flow_ways_behind(f, (size_t)from);
	size_t n;
	const struct edge *e = code_flow_edges(f->w, from, &n);

	for (size_t i = 0; i < n; i++) {
		bool is_saved = from == f->w->dispatch && ways && state_set_has(&f->v->saved, i);

		code_flow_join(f, e[i].to, is_saved ? WAY_SET : ways);
	}
}

static void follow_all(struct forward *f)
{
	const struct code_flow *w = f->w;

	code_flow_join(f, 0, WAY_UNSET);
	while (f->changed.n) {
		int at = f->changed.data[--f->changed.n];
		const struct code_flow_step *s = &w->steps.data[at];
		unsigned ways = code_flow_ways_behind(f, (size_t)at);

		code_flow_join(f, code_flow_next(w, (size_t)at), ways);
		code_flow_join(f, s->target, ways);
		/* Behind the end of a poll the next one begins anew. */
		if (s->flow == FLOW_JUMP)
			code_flow_follow_table(f, at);
	}
}

/* ---- backwards: from which states ---- */

/*
 * How the variable may be at the instruction that the question is about, once execution has come to
 * another one: two bits of enum code_flow_way if it is set there, and behind them two if it is not.
 */
enum { IF_UNSET = 2, WAYS = WAY_SET | WAY_UNSET };

/* The ways before an instruction, from those behind it. */
static unsigned ways_before(const struct forward *f, int i, unsigned behind)
{
	unsigned if_set = behind & WAYS, if_unset = behind >> IF_UNSET;

	if (f->effects[i] == EFFECT_SET)
		if_unset = if_set;
	else if (f->effects[i] == EFFECT_MAY_SET)
		if_unset |= if_set;
	else if (f->effects[i] == EFFECT_LOSE)
		if_set = if_unset;
	return if_set | if_unset << IF_UNSET;
}

/* Returns them for each instruction, without the dispatch. */
static unsigned char *follow_back(struct forward *f, int to)
{
	const struct code_flow *w = f->w;
	unsigned char *ret = NEW_ARRAY(&f->arena, unsigned char, w->steps.n);

	ret[to] = WAY_SET | WAY_UNSET << IF_UNSET;
	*vec_push(&f->changed) = to;
	while (f->changed.n) {
		int at = f->changed.data[--f->changed.n];

		for (int i = w->nbefore[at]; i < w->nbefore[at + 1]; i++) {
			int from = w->before[i];
			unsigned ways = ways_before(f, from, ret[at]);

			if (!(ways & ~ret[from]))
				continue;
			ret[from] |= (unsigned char)ways;
			*vec_push(&f->changed) = from;
		}
	}
	return ret;
}

/* Execution begins at the first instruction, and goes on at the dispatch, with each state. */
static void find_states_of(struct forward *f, int to, struct arena *a, struct flow_answer *ret)
{
	const struct code_flow *w = f->w;
	const unsigned char *back = follow_back(f, to);
	const struct edge *e = NULL;
	size_t n = 0;

	if (w->dispatch != NONE && f->at[w->dispatch])
		e = code_flow_edges(w, w->dispatch, &n);
	for (size_t state = 0; state < w->nstates; state++) {
		unsigned ways = back[0] >> IF_UNSET;
		unsigned char from = state < n ? back[e[state].to] : 0;
		unsigned begin = from ? code_flow_ways_behind(f, (size_t)w->dispatch) : 0;

		if (from && state_set_has(&f->v->saved, state))
			begin = WAY_SET;
		if (begin & WAY_SET)
			ways |= from & WAYS;
		if (begin & WAY_UNSET)
			ways |= from >> IF_UNSET;
		if (ways & WAY_SET)
			state_set_add(&ret->set, a, state);
		if (ways & WAY_UNSET)
			state_set_add(&ret->unset, a, state);
	}
}

/*
 * Where an address is taken for a call that sets the variable, it is set behind the call: the
 * effect moves there.
 */
static void code_flow_find_effects(struct forward *f)
{
	struct code_flow *w = f->w;

	for (size_t i = 0; i < w->steps.n; i++) {
		const struct code_flow_step *s = &w->steps.data[i];
		enum code_flow_effect effect = effect_on(w, f->v, i);
		size_t at = i;

		if (effect == EFFECT_NONE)
			continue;
		for (size_t j = i; s->access == ACCESS_ADDRESS && j < i + NEAR && j < w->steps.n;
		     j++) {
			if (w->steps.data[j].flow == FLOW_CALL)
				at = j;
			if (w->steps.data[j].flow != FLOW_NEXT)
				break;
		}
		f->effects[at] = (unsigned char)effect;
	}
}

/* False: nothing sets the variable. */
static bool go_forward(struct forward *f)
{
	struct code_flow *w = f->w;
	bool any = false;

	f->at = NEW_ARRAY(&f->arena, unsigned char, w->steps.n);
	f->effects = NEW_ARRAY(&f->arena, unsigned char, w->steps.n);
	code_flow_find_effects(f);
	for (size_t i = 0; i < w->steps.n; i++)
		any |= f->effects[i] == EFFECT_SET || f->effects[i] == EFFECT_MAY_SET;
	if (!any && state_set_is_empty(&f->v->saved))
		return false;
	follow_all(f);
	return true;
}

/* ---- forwards from an instruction: whether it is used ---- */

static bool code_flow_is_drop(struct code_flow *w, const struct code_flow_step *s)
{
	SCRATCH(a);
	const char *name = callee_name(w, s, &a);

	return name && strstr(name, "drop_in_place");
}

/* Whether the address that an instruction takes is that of a call which drops what is there. */
static bool is_dropped(struct code_flow *w, size_t i)
{
	for (size_t j = i; j < i + NEAR && j < w->steps.n; j++) {
		if (w->steps.data[j].flow == FLOW_CALL)
			return code_flow_is_drop(w, &w->steps.data[j]);
		if (w->steps.data[j].flow != FLOW_NEXT)
			return false;
	}
	return false;
}

static bool is_within(const struct flow_place *a, const struct flow_place *of)
{
	return a->in_coroutine == of->in_coroutine && a->offset >= of->offset &&
	       a->offset < of->offset + (int64_t)of->size;
}

static bool is_whole_drop(struct code_flow *w, const struct flow_variable *v, size_t i)
{
	const struct code_flow_step *s = &w->steps.data[i];

	enum access access = v->by_pointer ? ACCESS_READ : ACCESS_ADDRESS;

	return s->access == access && s->place.in_coroutine == v->place.in_coroutine &&
	       s->place.offset == v->place.offset && is_dropped(w, i);
}

/* Whether the code at an instruction drops the variable before it branches. */
static bool leads_to_drop(struct code_flow *w, const struct flow_variable *v, int at)
{
	for (int left = NEAR; left && at != NONE && (size_t)at < w->steps.n; left--) {
		const struct code_flow_step *s = &w->steps.data[at];

		if (is_whole_drop(w, v, (size_t)at))
			return true;
		if (s->flow != FLOW_NEXT && s->flow != FLOW_JUMP)
			return false;
		at = s->flow == FLOW_JUMP ? s->target : at + 1;
	}
	return false;
}

/* test byte [flag], 1; jne drop */
static bool is_guard(struct code_flow *w, const struct flow_variable *v, size_t i,
                     struct flow_answer *ret)
{
	const struct code_flow_step *s = &w->steps.data[i];
	const struct code_flow_step *test = i ? &w->steps.data[i - 1] : NULL;

	if (s->flow != FLOW_BRANCH || test->access != ACCESS_READ || test->place.size != 1 ||
	    !leads_to_drop(w, v, s->target))
		return false;
	ret->has_flag = true;
	ret->flag = test->place;
	return true;
}

struct code_flow_search {
	struct forward *f;
	struct flow_answer *ret;
	unsigned char *seen;
	VEC(int) left;
};

static void code_flow_search_push(struct code_flow_search *s, int to)
{
	if (to == NONE || (size_t)to >= s->f->w->steps.n || s->seen[to])
		return;
	s->seen[to] = 1;
	*vec_push(&s->left) = to;
}

/* Whether an instruction uses the value that the variable has. */
static bool is_use(struct code_flow_search *s, size_t i)
{
	struct code_flow *w = s->f->w;
	const struct flow_variable *v = s->f->v;
	const struct code_flow_step *step = &w->steps.data[i];

	if (step->access == ACCESS_NONE || step->access == ACCESS_WRITE ||
	    !is_within(&step->place, &v->place))
		return false;
	if (is_whole_drop(w, v, i))
		return true;
	/* A rival's bytes there are not the variable's value. */
	if (v->nrivals && !(s->f->at[i] & WAY_SET))
		return false;
	/* rustc accepts no use there: the address is that of a call which sets it. */
	if (step->access == ACCESS_ADDRESS && s->f->at[i] & WAY_UNSET)
		return false;
	return v->is_in(step->addr, v->block, v->arg) && s->f->effects[i] != EFFECT_LOSE;
}

static void search_edges(struct code_flow_search *s, int from)
{
	size_t n;
	const struct edge *e = code_flow_edges(s->f->w, from, &n);

	for (size_t i = 0; i < n; i++)
		code_flow_search_push(s, e[i].to);
}

/* Whether it is set there, as in the next round of a loop: then no use proves what it has before.
 */
static bool is_set_anew(const struct code_flow_search *s, const struct code_flow_step *step)
{
	const struct flow_variable *v = s->f->v;
	size_t i = (size_t)(step - s->f->w->steps.data);

	return s->f->effects[i] == EFFECT_SET &&
	       (s->f->at[i] & WAY_UNSET || !v->is_in(step->addr, v->block, v->arg));
}

static void find_use(struct code_flow_search *s, size_t from)
{
	struct code_flow *w = s->f->w;

	code_flow_search_push(s, (int)from);
	while (s->left.n && !s->ret->used) {
		int at = s->left.data[--s->left.n];
		const struct code_flow_step *step = &w->steps.data[at];
		bool guards = is_guard(w, s->f->v, (size_t)at, s->ret);

		s->ret->used = is_use(s, (size_t)at);
		/* The bytes stored there then are another value. */
		if (step->access == ACCESS_WRITE &&
		    effect_on(w, s->f->v, (size_t)at) != EFFECT_NONE)
			continue;
		if (s->f->effects[at] == EFFECT_LOSE || is_set_anew(s, step))
			continue;
		if (step->flow != FLOW_JUMP && step->flow != FLOW_END && !step->last)
			code_flow_search_push(s, at + 1);
		if (!guards)
			code_flow_search_push(s, step->target);
		search_edges(s, at);
	}
	vec_free(&s->left);
}

/* Whether an address was taken on a way to the instruction: from what leads there, backwards. */
static bool was_lent(struct code_flow_search *s, const struct flow_variable *v, size_t to)
{
	struct code_flow *w = s->f->w;
	bool ret = false;

	for (size_t i = 0; i < w->steps.n && !ret; i++) {
		const struct code_flow_step *step = &w->steps.data[i];

		if (i == to || step->access != ACCESS_ADDRESS ||
		    !is_within(&step->place, &v->place) || !v->is_in(step->addr, v->block, v->arg))
			continue;
		memset(s->seen, 0, w->steps.n);
		code_flow_search_push(s, (int)i);
		while (s->left.n && !s->seen[to]) {
			int at = s->left.data[--s->left.n];
			const struct code_flow_step *each = &w->steps.data[at];

			if (each->flow != FLOW_JUMP && each->flow != FLOW_END && !each->last)
				code_flow_search_push(s, at + 1);
			code_flow_search_push(s, each->target);
			search_edges(s, at);
		}
		s->left.n = 0;
		ret = s->seen[to];
	}
	vec_free(&s->left);
	return ret;
}

/*
 * As that of the variables of a let chain: what sets it is all in its block, and on the line that
 * declares it. That of `let x = 5;` is before the block, that of `let late;` on other lines.
 */
static bool is_wide(const struct forward *f)
{
	const struct flow_variable *v = f->v;
	bool any = false;

	for (size_t i = 0; i < f->w->steps.n; i++) {
		uint64_t addr = f->w->steps.data[i].addr;

		if (f->effects[i] != EFFECT_SET)
			continue;
		if (!v->is_in(addr, v->block, v->arg))
			return false;
		any |= code_flow_line_at(f->w, addr) == v->line;
	}
	return any;
}

int code_flow_step(const struct code_flow *w, uint64_t pc)
{
	uint64_t addr = pc;

	while (addr > w->of.f->low && code_flow_step_index(w, addr) == NONE)
		addr--;
	return code_flow_step_index(w, addr);
}

static void find_uses(struct forward *f, int at, struct flow_answer *ret)
{
	struct code_flow_search s = { .f = f,
		                      .ret = ret,
		                      .seen = NEW_ARRAY(&f->arena, unsigned char, f->w->steps.n) };

	find_use(&s, (size_t)at);
	ret->wide = is_wide(f);
	if (!ret->used)
		ret->lent = was_lent(&s, f->v, (size_t)at);
}

bool code_flow_ask(struct code_flow *w, const struct flow_variable *v, uint64_t pc, struct arena *a,
                   struct flow_answer *ret)
{
	struct forward f = { .w = w, .v = v };
	int at = code_flow_step(w, pc);
	bool known;

	*ret = (struct flow_answer){ 0 };
	if (at == NONE || !v->place.size)
		return false;
	/* In cleanup code it is not known: no known way leads there. */
	known = go_forward(&f) && f.at[at];
	if (known) {
		find_states_of(&f, at, a, ret);
		find_uses(&f, at, ret);
	}
	vec_free(&f.changed);
	arena_free(&f.arena);
	return known;
}
