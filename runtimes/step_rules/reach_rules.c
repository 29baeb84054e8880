#include "runtimes/step_rules/reach_rules.h"

#include "debugger/base/error.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"

enum {
	MAX_WAY_OUT = 64, /* instructions */
	MAX_GAP = 16,     /* instructions without a line before those of the head */
	MAX_ROUND = 128,  /* instructions from a jump back to the line again */
};

static bool reach_rules_read(const struct reach_code *code, uint64_t addr, struct instruction *ret)
{
	return addr >= code->low && addr < code->high && code->read(code->arg, addr, ret) &&
	       !ret->bad;
}

static bool reach_rules_is_jump(const struct instruction *in)
{
	return in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH;
}

/* ---- the first lines ---- */

struct reach_walk {
	const struct reach_code *code;
	uint64_t from;
	bool (*ends)(void *arg, uint64_t addr);
	void *arg;
	struct map *places;
	struct map seen;        /* addresses of instructions */
	VEC(uint64_t) branches; /* to be followed */
	bool unknown;           /* a jump leads to where only the program knows */
};

/* Takes the places that an instruction leads to; returns whether execution goes on behind it. */
static bool reach_rules_follow(struct reach_walk *w, const struct instruction *in)
{
	if (reach_rules_is_jump(in) && in->is_branch)
		*vec_push(&w->branches) = in->target;
	else if (reach_rules_is_jump(in))
		w->unknown = true;
	return in->flow == FLOW_NEXT || in->flow == FLOW_CALL || in->flow == FLOW_BRANCH;
}

/* Follows the code from an address to the first places where the step ends. */
static void reach_rules_walk(struct reach_walk *w, uint64_t addr)
{
	struct instruction in;
	bool on = true;

	for (; on && addr >= w->code->low && addr < w->code->high; addr += in.size) {
		if (map_has(&w->seen, addr))
			return;
		map_put(&w->seen, addr, NULL);
		if (addr != w->from && w->ends(w->arg, addr)) {
			map_put(w->places, addr, NULL);
			return;
		}
		if (!reach_rules_read(w->code, addr, &in)) {
			w->unknown = true;
			return;
		}
		on = reach_rules_follow(w, &in);
	}
}

bool reach_rules_first_ends(const struct reach_code *code, uint64_t from,
                            bool (*ends)(void *arg, uint64_t addr), void *arg, struct map *places)
{
	struct reach_walk w = {
		.code = code, .from = from, .ends = ends, .arg = arg, .places = places
	};

	*vec_push(&w.branches) = from;
	while (w.branches.n && !w.unknown) {
		reach_rules_walk(&w, w.branches.data[--w.branches.n]);
		struct error *err = interrupt_check();
		if (err) {
			error_free(err);
			w.unknown = true;
		}
	}
	vec_free(&w.branches);
	map_free(&w.seen);
	return !w.unknown;
}

/* ---- jumps back ---- */

bool reach_rules_is_jump_back(const struct instruction *in, uint64_t addr)
{
	return reach_rules_is_jump(in) && in->is_branch && in->target < addr;
}

/*
 * The row with a line at which a thread arrives from an address without a jump: *ret is its
 * address. NULL: there is none.
 */
static const struct function_row *reach_rules_arrival(const struct reach_code *code,
                                                      const struct function_lines *l, uint64_t addr,
                                                      uint64_t *ret)
{
	struct instruction in;
	size_t row = 0;

	if (addr < code->low || addr >= code->high)
		return NULL;
	while (row < l->nrows && l->rows[row].addr <= addr)
		row++;
	/* The address is in the middle of a row that has a line, or at its beginning. */
	if (row && l->rows[row - 1].line) {
		*ret = addr;
		return &l->rows[row - 1];
	}
	for (unsigned i = 0; i < MAX_GAP && addr < code->high; i++, addr += in.size) {
		for (; row < l->nrows && l->rows[row].addr <= addr; row++) {
			*ret = l->rows[row].addr;
			if (l->rows[row].line)
				return &l->rows[row];
		}
		if (!reach_rules_read(code, addr, &in) || in.flow != FLOW_NEXT)
			return NULL;
	}
	return NULL;
}

/*
 * The place at which the thread comes to the beginning of the line again from an address, by way of
 * another line that has no place of its own: optimised code of a loop's head is that of inlined
 * calls alone.
 */
static const struct function_row *reach_rules_round(const struct reach_code *code,
                                                    const struct line_rules *r, uint64_t addr)
{
	struct instruction in;
	bool passed = false;

	for (unsigned i = 0; i < MAX_ROUND && reach_rules_read(code, addr, &in); i++) {
		const struct function_row *row = function_lines_at(r->lines, addr);
		const enum line_rules_whose whose = row ? line_rules_whose_line(r, row) : LINE_NONE;
		const bool begins =
			row && row->addr == addr && row->statement && row->call == r->call;

		if (begins && (whose == LINE_OTHER || passed))
			return whose == LINE_HERE && !row->in_await ? row : NULL;
		passed |= whose == LINE_OTHER && row->call != r->call;
		if (in.flow == FLOW_END || (in.flow == FLOW_JUMP && !in.is_branch))
			return NULL;
		addr = in.flow == FLOW_JUMP ? in.target : addr + in.size;
	}
	return NULL;
}

const struct function_row *reach_rules_jump_back(const struct reach_code *code,
                                                 const struct line_rules *r, uint64_t target,
                                                 uint64_t *ret)
{
	const struct function_row *row = reach_rules_arrival(code, r->lines, target, ret);

	/* A row of a statement has a place already. */
	if (row && !(row->statement && row->addr == *ret) && line_rules_may_stop_within(r, row))
		return row;
	row = reach_rules_round(code, r, target);
	if (row)
		*ret = row->addr;
	return row;
}

/* ---- the way out ---- */

bool reach_rules_leaves(const struct reach_code *code, const struct function_lines *l,
                        uint64_t from, size_t call)
{
	struct instruction in;

	for (unsigned i = 0; i < MAX_WAY_OUT && reach_rules_read(code, from, &in) && !in.stores;
	     i++) {
		if (in.flow == FLOW_END)
			return str_begins(in.text, "ret");
		if (in.flow != FLOW_NEXT && (in.flow != FLOW_JUMP || !in.is_branch))
			return false;
		from = in.flow == FLOW_JUMP ? in.target : from + in.size;
		const struct function_row *row =
			in.flow == FLOW_JUMP ? function_lines_at(l, from) : NULL;
		if (row && !line_rules_is_around(l, call, row->call))
			return true;
	}
	return false;
}
