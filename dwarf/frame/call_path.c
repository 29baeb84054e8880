#include "dwarf/frame/call_path.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "debugger/target/module.h"
#include "dwarf/module/code_map.h"
#include "dwarf/unwind/cfa_rule.h"

enum {
	RBP = 6, /* DWARF numbers */
	RSP = 7,
	ADDRESS = 8, /* bytes; the return address ends at the CFA */
	MAX_DISTANCE = 1 << 30,
	MAX_CALLS = 1 << 20,
	MAX_BYTES = 1 << 20, /* that are searched for the jumps of one call */
};

/* An instruction that refers to code, whose last bytes are a distance, or that takes a register. */
enum reference {
	NO_REFERENCE,
	CALL,          /* e8: of that address; ff 15 */
	JUMP,          /* e9 */
	LOAD,          /* lea: it loads the address */
	CALL_REGISTER, /* ff d0 to d7 */
	CALL_MEMORY,   /* ff /2: of the address that memory has, found by a register */
};

static uint64_t call_path_at_distance(const struct code_bytes *c, size_t i)
{
	int32_t distance;

	memcpy(&distance, c->bytes + i, sizeof(distance));
	return c->address + i + sizeof(distance) + (uint64_t)(int64_t)distance;
}

/* "mov" or "lea" of 64 bits, relative to the instruction pointer. */
static bool is_relative(const struct code_bytes *c, size_t i)
{
	return i > 0 && i + 6 <= c->len && (c->bytes[i - 1] & 0xfb) == 0x48 &&
	       (c->bytes[i + 1] & 0xc7) == 0x05;
}

/* The length of "ff /2" with an operand in memory, which a register leads to; 0: it is none. */
static size_t memory_call_length(const struct code_bytes *c, size_t i)
{
	unsigned modrm = i + 2 <= c->len ? c->bytes[i + 1] : 0, mod = modrm >> 6, rm = modrm & 7;
	size_t sib = rm == 4, len;

	if ((modrm & 0x38) != 0x10 || mod == 3 || (mod == 0 && rm == 5) || i + 2 + sib > c->len)
		return 0;
	bool far = mod == 2 || (mod == 0 && sib && (c->bytes[i + 2] & 7) == 5);
	len = 2 + sib + (mod == 1 ? 1 : far ? 4 : 0);
	return i + len <= c->len ? len : 0;
}

/*
 * Finds the place that an instruction with its opcode at bytes[i] refers to. Pointers of the global
 * offset table count for what they point to. *end: behind it, from the beginning of the function.
 */
static enum reference call_path_read_reference(const struct code_map *m, const struct code_bytes *c,
                                               size_t i, uint64_t *to, size_t *end)
{
	*end = i + 6;
	switch (c->bytes[i]) {
	case 0xe8:
	case 0xe9:
		if (i + 5 > c->len)
			return NO_REFERENCE;
		*end = i + 5;
		*to = call_path_at_distance(c, i + 1);
		return c->bytes[i] == 0xe8 ? CALL : JUMP;
	case 0x8d:
		if (!is_relative(c, i))
			return NO_REFERENCE;
		*to = call_path_at_distance(c, i + 2);
		return LOAD;
	case 0x8b:
		if (!is_relative(c, i))
			return NO_REFERENCE;
		*to = code_map_pointer(m, call_path_at_distance(c, i + 2));
		return LOAD;
	case 0xff:
		if (i + 2 <= c->len && (c->bytes[i + 1] & 0xf8) == 0xd0) {
			*end = i + 2;
			return CALL_REGISTER;
		}
		if (memory_call_length(c, i)) {
			*end = i + memory_call_length(c, i);
			return CALL_MEMORY;
		}
		if (i + 6 > c->len || (c->bytes[i + 1] != 0x15 && c->bytes[i + 1] != 0x25))
			return NO_REFERENCE;
		*to = code_map_pointer(m, call_path_at_distance(c, i + 2));
		return c->bytes[i + 1] == 0x15 ? CALL : JUMP;
	}
	return NO_REFERENCE;
}

static bool loads(const struct code_map *m, const struct code_bytes *c, uint64_t callee)
{
	for (size_t i = 0; i < c->len; i++) {
		uint64_t to = 0;
		size_t end;

		if (call_path_read_reference(m, c, i, &to, &end) == LOAD && to == callee)
			return true;
	}
	return false;
}

/* The jumps in a function that leave it. */
static bool leaves(const struct code_map *m, const struct code_bytes *c, size_t i, uint64_t *to)
{
	size_t end;

	return call_path_read_reference(m, c, i, to, &end) == JUMP && *to &&
	       (*to < c->address || *to >= c->address + c->len);
}

/* A search for the ways that lead by jumps to a function. */
struct jump_search {
	const struct code_map *m;
	uint64_t to;
	size_t bytes;          /* that may yet be looked at */
	struct call_link *ret; /* of the first way */
};

/* The number of ways from a function on, by as many jumps as are left: 0, 1, or more. */
static size_t call_path_add_jumps(struct jump_search *s, uint64_t from, size_t left)
{
	const struct code_function *f = code_map_at(s->m, from);
	struct code_bytes c;
	size_t ways = 0;

	if (from == s->to)
		return 1;
	if (!left || !f || f->low != from || !code_map_bytes(s->m, f, &c) || c.len > s->bytes)
		return 0;
	s->bytes -= c.len;
	for (size_t i = 0; i < c.len && ways < 2; i++) {
		uint64_t next = 0;
		size_t n = s->ret->n;

		if (!leaves(s->m, &c, i, &next))
			continue;
		size_t more = call_path_add_jumps(s, next, left - 1);
		if (more == 1 && !ways)
			s->ret->jumps[s->ret->n++] = c.address + i;
		else
			s->ret->n = n;
		ways += more;
	}
	return ways;
}

bool call_path_link(const struct code_map *m, uint64_t after, uint64_t callee,
                    struct call_link *ret)
{
	static const size_t lengths[] = { 5, 6, 2 };
	const struct code_function *f = code_map_at(m, after - 1);
	struct code_bytes c;

	*ret = (struct call_link){ 0 };
	if (!f || !code_map_bytes(m, f, &c))
		return false;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		size_t own = after - c.address, end;
		uint64_t to = 0;

		if (own < lengths[i] || own > c.len)
			continue;
		enum reference r = call_path_read_reference(m, &c, own - lengths[i], &to, &end);
		if (end != own)
			continue;
		if (r == CALL)
			return call_path_add_jumps(
				       &(struct jump_search){ m, callee, MAX_BYTES, ret }, to,
				       CALL_PATH_JUMPS) == 1;
		if (r == CALL_REGISTER)
			return loads(m, &c, callee);
	}
	return false;
}

bool call_path_is_indirect(const struct code_map *m, uint64_t after)
{
	enum { SHORTEST = 2, LONGEST = 7 };
	const struct code_function *f = code_map_at(m, after - 1);
	struct code_bytes c;

	if (!f || !code_map_bytes(m, f, &c))
		return false;
	for (size_t len = SHORTEST; len <= LONGEST; len++) {
		size_t own = after - c.address, end;
		uint64_t to;

		if (own < len || own > c.len)
			continue;
		enum reference r = call_path_read_reference(m, &c, own - len, &to, &end);
		if (end == own && (r == CALL_REGISTER || r == CALL_MEMORY))
			return true;
	}
	return false;
}

/* ---- all calls ---- */

static const uint64_t any_target = UINT64_MAX; /* the callee of calls of an unknown address */

struct call_path_call {
	uint64_t callee, caller; /* entries */
	uint64_t after;          /* 0: a jump */
};

struct call_path_finder {
	const struct target *t;
	const struct code_map *m;
	const struct call_path_search *search;
	struct map starts; /* entries of the functions that count */
	VEC(struct call_path_call) calls;
	VEC(uint64_t) loaded; /* what the function at hand loads */
	VEC(uint64_t) queue;  /* functions that lead to a target */
	struct map reached;   /* the same */
	struct map visited;   /* what calls return to */
	call_path_fn *visit;
	void *arg;
};

/* end: of the call, from the beginning of the function; 0: it is a jump. */
static void call_path_add_call(struct call_path_finder *f, const struct code_bytes *c,
                               uint64_t callee, size_t end)
{
	if (f->calls.n < MAX_CALLS)
		*vec_push(&f->calls) =
			(struct call_path_call){ callee, c->address, end ? c->address + end : 0 };
}

/* Calls through registers, each of all functions that this one loads; indirect: or of any. */
static void scan_registers(struct call_path_finder *f, const struct code_bytes *c, bool indirect)
{
	for (size_t i = 0; (f->loaded.n || indirect) && i < c->len; i++) {
		uint64_t to;
		size_t end;

		if (c->bytes[i] != 0xff)
			continue;
		enum reference r = call_path_read_reference(f->m, c, i, &to, &end);
		if (indirect && (r == CALL_REGISTER || r == CALL_MEMORY))
			call_path_add_call(f, c, any_target, end);
		for (size_t j = 0; r == CALL_REGISTER && j < f->loaded.n; j++)
			call_path_add_call(f, c, f->loaded.data[j], end);
	}
}

static bool has_part(const char *name, const char *const *parts)
{
	for (; parts && *parts; parts++) {
		if (strstr(name, *parts))
			return true;
	}
	return false;
}

static void scan(struct call_path_finder *f, const struct code_function *function)
{
	struct code_bytes c;

	if (!code_map_bytes(f->m, function, &c))
		return;
	f->loaded.n = 0;
	for (size_t i = 0; i < c.len; i++) {
		uint64_t to = 0;
		size_t end;
		enum reference r = call_path_read_reference(f->m, &c, i, &to, &end);

		if (r == NO_REFERENCE || r == CALL_REGISTER || r == CALL_MEMORY || !to ||
		    !map_has(&f->starts, to))
			continue;
		if (r != LOAD)
			call_path_add_call(f, &c, to, r == CALL ? end : 0);
		else
			*vec_push(&f->loaded) = to;
	}
	scan_registers(f, &c, has_part(function->name, f->search->indirect));
}

static int by_callee(const void *a, const void *b)
{
	const struct call_path_call *x = a, *y = b;

	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

/* Whether the way may end with the calls in that function. */
static bool call_path_ends_in(const struct call_path_finder *f, uint64_t caller)
{
	const struct code_function *function = code_map_at(f->m, caller);

	return f->search->end && function && strstr(function->name, f->search->end);
}

static void visit_end(struct call_path_finder *f, uint64_t after)
{
	if (!f->search->ends || f->search->ends(after, f->arg))
		f->visit(after, &(struct call_frame){ 0 }, f->arg);
}

uint32_t call_path_kept(const struct target *t, uint64_t pc)
{
	int64_t offset;

	if (!cfa_rule_kept(t, pc, RBP, &offset))
		return CALL_KEPT_UNKNOWN;
	return !offset                                       ? 0
	       : offset > -MAX_DISTANCE && offset < -ADDRESS ? (uint32_t)(-offset - ADDRESS)
	                                                     : CALL_KEPT_UNKNOWN;
}

static void visit_call(struct call_path_finder *f, const struct call_path_call *call, bool ends)
{
	uint64_t pc = call->after - 1 + f->m->dm->module->bias;
	struct cfa_rule rule;

	if (!call->after || !map_put(&f->visited, call->after, NULL))
		return;
	if (ends) {
		visit_end(f, call->after);
		return;
	}
	if (!cfa_rule_at(f->t, pc, &rule) || (rule.reg != RSP && rule.reg != RBP) ||
	    rule.offset > MAX_DISTANCE)
		return;
	/* Behind the call, the stack pointer is above its return address. */
	int64_t distance = rule.reg == RBP ? rule.offset - ADDRESS : rule.offset;
	if (distance <= 0)
		return;
	const struct call_frame frame = { (uint32_t)distance, rule.reg == RBP,
		                          call_path_kept(f->t, pc) };
	f->visit(call->after, &frame, f->arg);
}

/* From the targets outwards. */
static void call_path_walk(struct call_path_finder *f)
{
	if (f->calls.n)
		qsort(f->calls.data, f->calls.n, sizeof(struct call_path_call), by_callee);
	for (size_t next = 0; next < f->queue.n; next++) {
		uint64_t callee = f->queue.data[next];
		size_t low = 0, high = f->calls.n;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if (f->calls.data[middle].callee < callee)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < f->calls.n && f->calls.data[low].callee == callee; low++) {
			const struct call_path_call *call = &f->calls.data[low];
			bool ends = call_path_ends_in(f, call->caller);

			visit_call(f, call, ends);
			if (!ends && map_put(&f->reached, call->caller, NULL))
				*vec_push(&f->queue) = call->caller;
		}
	}
}

void call_path_frames(const struct target *t, const struct code_map *m,
                      const struct call_path_search *search, call_path_fn *visit, void *arg)
{
	struct call_path_finder f = {
		.t = t, .m = m, .search = search, .visit = visit, .arg = arg
	};
	VEC(const struct code_function *) functions = { 0 };

	for (size_t i = 0; i < search->n; i++) {
		map_put(&f.starts, search->targets[i], NULL);
		if (map_put(&f.reached, search->targets[i], NULL))
			*vec_push(&f.queue) = search->targets[i];
	}
	if (search->n)
		*vec_push(&f.queue) = any_target;
	for (size_t i = 0; i < m->n; i++) {
		if (!has_part(m->functions[i].name, search->parts))
			continue;
		*vec_push(&functions) = &m->functions[i];
		map_put(&f.starts, m->functions[i].low, NULL);
	}
	for (size_t i = 0; i < functions.n; i++)
		scan(&f, functions.data[i]);
	call_path_walk(&f);
	vec_free(&functions);
	vec_free(&f.calls);
	vec_free(&f.loaded);
	vec_free(&f.queue);
	map_free(&f.starts);
	map_free(&f.reached);
	map_free(&f.visited);
}
