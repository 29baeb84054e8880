#include "dwarf/lookup/code_ways.h"

#include <string.h>

#include "debugger/arch/arch.h"
#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "debugger/code/instruction.h"
#include "debugger/target/target.h"
#include "dwarf/module/symbols.h"
#include "dwarf/names/diverging.h"

enum {
	MAX_STRAIGHT = 64,        /* bytes */
	MAX_JOINED = 64 << 10,    /* bytes of a function */
	MAX_FUNCTION = 256 << 10, /* bytes */
	MAX_TABLE = 4096,         /* entries of a table of jumps */
	POINTER = 8,              /* bytes */
};

/* ---- the code ---- */

/* The machine code of a function; zeroed at first, for function_code_close(). */
struct function_code {
	struct instruction_reader *reader;
	uint64_t low; /* run-time */
	size_t size;
	const uint8_t *bytes; /* in an arena */
};

/* False: the code is longer than max bytes, or cannot be read. */
static bool function_code_open(struct debuginfo *di, const struct function *f, size_t max,
                               struct arena *a, struct function_code *ret)
{
	if (f->high <= f->low || f->high - f->low > max)
		return false;
	uint8_t *bytes = arena_alloc(a, f->high - f->low);
	struct error *err = target_read(di->target, f->low, bytes, f->high - f->low);
	if (!err)
		err = instruction_reader_open(di->target->arch->elf_machine, SYNTAX_INTEL,
		                              &ret->reader);
	ret->low = f->low;
	ret->size = f->high - f->low;
	ret->bytes = bytes;
	bool known = !err;
	error_free(err);
	return known;
}

static void function_code_at(const struct function_code *c, uint64_t addr, struct instruction *ret)
{
	size_t at = addr - c->low;

	instruction_read(c->reader, addr, c->bytes + at, c->size - at, ret);
}

static bool function_code_has(const struct function_code *c, uint64_t addr)
{
	return addr >= c->low && addr - c->low < c->size;
}

static void function_code_close(struct function_code *c)
{
	instruction_reader_close(&c->reader);
}

/* ---- code into which other code jumps ---- */

/* Whether execution goes on from one address to the other, whatever is there. */
static bool is_straight(const struct function_code *c, uint64_t from, uint64_t to)
{
	struct instruction in = { 0 };

	for (; from < to && !in.bad && in.flow == FLOW_NEXT; from += in.size)
		function_code_at(c, from, &in);
	return from == to && !in.bad && in.flow == FLOW_NEXT;
}

/* Whether a jump leads to an address behind from, up to to. */
static bool has_jump(const struct function_code *c, uint64_t from, uint64_t to)
{
	struct instruction in;

	for (uint64_t addr = c->low; addr < c->low + c->size; addr += in.size) {
		function_code_at(c, addr, &in);
		if (in.is_branch && in.target > from && in.target <= to)
			return true;
	}
	return false;
}

bool code_ways_join(struct debuginfo *di, uint64_t from, uint64_t to)
{
	const struct function *f = lookup_function(di, from);
	struct function_code c CLEANUP(function_code_close) = { 0 };
	SCRATCH(tmp);

	return f && from < to && to - from <= MAX_STRAIGHT && f->low <= from && to < f->high &&
	       function_code_open(di, f, MAX_JOINED, &tmp, &c) && is_straight(&c, from, to) &&
	       has_jump(&c, from, to);
}

/* ---- the first place ---- */

struct code_ways_walk {
	struct debuginfo *di;
	struct function_code code;
	struct reached_place *places;
	struct map places_at; /* address -> struct reached_place * */
	struct map seen;      /* addresses of instructions */
	VEC(uint64_t) branches;
	uint64_t table;   /* the last address that a register was given by itself; 0: none */
	bool is_dispatch; /* the next jump by a table is that by the coroutine's state */
	bool unknown;
};

static void code_ways_push(struct code_ways_walk *w, uint64_t addr)
{
	if (function_code_has(&w->code, addr) && !map_has(&w->seen, addr))
		*vec_push(&w->branches) = addr;
}

/*
 * lea rax, [rip + table]; movsxd rcx, [rax + rcx * 4]; add rax, rcx; jmp rax. In code that is not
 * relocated: jmp [rax * 8 + table]. The first entry of the jump by the state is that of a coroutine
 * which was not polled yet.
 */
static void code_ways_follow_table(struct code_ways_walk *w, const struct instruction *in)
{
	const bool absolute = in->memory.is_entry;
	const uint64_t table = absolute ? (uint64_t)in->memory.offset : w->table;
	const size_t size = absolute ? POINTER : sizeof(int32_t);
	uint64_t entry = 0, n = 0;

	for (; table && n < (w->is_dispatch ? 1 : MAX_TABLE); n++) {
		struct error *err CLEANUP(error_freep) =
			target_read_uint(w->di->target, table + n * size, size, &entry);

		entry = absolute ? entry : table + (uint64_t)(int64_t)(int32_t)entry;
		if (err || !function_code_has(&w->code, entry))
			break;
		code_ways_push(w, entry);
	}
	w->unknown |= n == 0;
	w->is_dispatch = false;
}

/*
 * Whether a call is the last instruction of its way. Unoptimised code has a jump behind each call
 * that may unwind and return.
 */
static bool is_last_call(struct code_ways_walk *w, const struct instruction *in)
{
	struct symbol_place symbol;
	struct instruction next;
	uint64_t addr = in->target;
	SCRATCH(tmp);

	if (!function_code_has(&w->code, in->addr + in->size) || !in->has_target)
		return false;
	function_code_at(&w->code, in->addr + in->size, &next);
	if (next.flow == FLOW_JUMP)
		return false;
	struct error *err CLEANUP(error_freep) =
		in->is_branch ? NULL : target_read_uint(w->di->target, addr, POINTER, &addr);
	return !err && symbol_at(w->di, addr, &tmp, &symbol) && symbol.name &&
	       diverging_is(symbol.name);
}

/* Whether execution goes on behind an instruction; other ways are kept for later. */
static bool follow(struct code_ways_walk *w, const struct instruction *in)
{
	if (in->bad)
		return false;
	if (in->has_target && !in->is_branch && !in->memory.reads && !in->memory.writes)
		w->table = in->target;
	/* Nothing is called before the jump by the state; without an await there is no such jump.
	 */
	w->is_dispatch &= in->flow != FLOW_CALL;
	if ((in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH) && in->is_branch)
		code_ways_push(w, in->target);
	else if (in->flow == FLOW_JUMP)
		code_ways_follow_table(w, in);
	return in->flow == FLOW_NEXT || in->flow == FLOW_BRANCH ||
	       (in->flow == FLOW_CALL && !is_last_call(w, in));
}

static void walk_from(struct code_ways_walk *w, uint64_t addr)
{
	struct instruction in;

	for (bool on = true; on && function_code_has(&w->code, addr); addr += in.size) {
		struct reached_place *place = map_get(&w->places_at, addr);

		if (place)
			place->first = true;
		if (place || !map_put(&w->seen, addr, NULL))
			return;
		function_code_at(&w->code, addr, &in);
		on = follow(w, &in);
	}
}

bool code_ways_first(struct debuginfo *di, const struct function *f, struct reached_place *places,
                     size_t n)
{
	struct code_ways_walk w = { .di = di, .places = places };
	bool any = false;
	SCRATCH(tmp);

	w.unknown = !function_code_open(di, f, MAX_FUNCTION, &tmp, &w.code);
	w.is_dispatch = f->name && strstr(f->name, "{async_");
	for (size_t i = 0; i < n; i++) {
		places[i].first = false;
		map_put(&w.places_at, places[i].addr, &places[i]);
	}
	code_ways_push(&w, f->low);
	while (w.branches.n && !w.unknown)
		walk_from(&w, w.branches.data[--w.branches.n]);
	for (size_t i = 0; i < n && !w.unknown; i++)
		any |= places[i].first && !places[i].is_barrier;
	map_free(&w.places_at);
	map_free(&w.seen);
	vec_free(&w.branches);
	function_code_close(&w.code);
	return any;
}
