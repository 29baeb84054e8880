/* Where a step over lines may stop: the beginnings of the other lines of its function. */
#include "dwarf/lookup/argument_place.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/types/type.h"
#include "dwarf/unwind/cfa_rule.h"
#include "runtimes/common/inspector.h"
#include "runtimes/query/first_poll.h"
#include "runtimes/stepping/step_plan.h"

/* ---- which rows ---- */

bool step_lines_is_here(const struct step_plan *p, const struct function_row *row)
{
	return row->line == p->at.line &&
	       (row->file == p->at.file ||
	        (row->file && p->at.file && strcmp(row->file, p->at.file) == 0));
}

bool step_lines_is_around(const struct function_lines *l, size_t outer, size_t call)
{
	while (call && call != outer)
		call = l->calls[call].parent;
	return call == outer;
}

/* It has what panics if it must not be resumed, too. A step that begins there is at the same line.
 */
bool step_lines_is_head(const struct function_lines *l, const struct function_row *row)
{
	const struct function_call *call = &l->calls[row->call];

	return call->is_coroutine && row->line == call->line;
}

/* Whether the line has a row that is in no await that is in progress. */
static bool begins_outside(const struct function_lines *l, const struct function_row *row)
{
	for (size_t i = 0; i < l->nrows; i++) {
		const struct function_row *other = &l->rows[i];

		if (other->line == row->line && other->call == row->call && other->statement &&
		    !other->in_await)
			return true;
	}
	return false;
}

static bool may_stop_at(struct step_plan *p, const struct function_row *row)
{
	return row->statement && step_lines_may_stop_within(p, row);
}

bool step_lines_may_stop_within(struct step_plan *p, const struct function_row *row)
{
	const struct function_lines *l = p->at.lines;
	unsigned least = p->options->line ? p->options->line : p->at.line + 1;

	/* At the entry nothing is known of the arguments, and the function did not get there. */
	if (!row->line || row->addr == p->at.function->low || step_lines_is_head(l, row))
		return false;
	if (p->options->kind == STEP_UNTIL && row->call == p->at.call && row->line < least)
		return false;
	if (p->options->kind == STEP_FINISH && row->call == p->at.call)
		return false;
	/*
	 * Where it is inlined, the code around it counts as what it returns to. An inlined
	 * coroutine that is suspended returns to the await, too.
	 */
	if (row->call != p->at.call)
		return step_lines_is_around(l, row->call, p->at.call) &&
		       step_place_is_users(p, row->file) &&
		       !(row->in_await && l->calls[p->at.call].is_coroutine);
	/* Macros of libraries have lines of their own files. */
	if (step_lines_is_here(p, row) || !step_place_is_users(p, row->file))
		return false;
	return !row->in_await || !begins_outside(l, row);
}

bool step_lines_has_body(const struct function_lines *l, size_t call)
{
	for (size_t i = 0; i < l->nrows; i++) {
		const struct function_row *row = &l->rows[i];

		if (row->call == call && row->statement && row->line &&
		    row->line != l->calls[call].line)
			return true;
	}
	return false;
}

/*
 * Where a coroutine that is inlined has not come to its body yet: its head, and the async function,
 * which only makes it.
 */
static bool is_before_body(const struct step_plan *p, const struct function_row *row)
{
	const struct function_lines *l = p->at.lines;
	const struct function *f = l->calls[row->call].function;
	const struct type *result = f ? function_read_result(f) : NULL;

	return (result && type_is_coroutine(result)) ||
	       (step_lines_is_head(l, row) && step_lines_has_body(l, row->call));
}

/* A step into functions stops in those that are inlined at the line, too. */
static bool enters_inlined(struct step_plan *p, const struct function_row *row)
{
	return p->options->kind == STEP_INTO && row->statement && row->line &&
	       row->call != p->at.call &&
	       step_lines_is_around(p->at.lines, p->at.call, row->call) &&
	       step_place_is_users(p, row->file) && !is_before_body(p, row);
}

/* ---- whose ---- */

/* The thread is in the call in progress. */
bool step_lines_filter_call(const struct step_plan *p, uint64_t addr, struct tracer_filter *ret)
{
	struct cfa_rule rule;

	if (!cfa_rule_at(p->in->target, addr, &rule))
		return false;
	*ret = (struct tracer_filter){
		.reg = rule.reg, .offset = { rule.offset }, .size = 8, .value = p->cfa
	};
	return true;
}

static bool find_argument(const struct step_plan *p, uint64_t addr, struct argument_place *ret)
{
	const struct function_lines *l = p->at.lines;

	if (!p->polled_call)
		return argument_place_at(p->at.function, addr, ret);
	const struct function_row *row = function_lines_at(l, addr);
	return row && step_lines_is_around(l, p->polled_call, row->call) &&
	       argument_place_inlined_at(p->at.function, l->calls[p->polled_call].site, addr, ret);
}

bool step_lines_filter_instance(const struct step_plan *p, uint64_t addr, struct tracer_filter *ret)
{
	struct argument_place place;

	if (!p->instance.addr || !find_argument(p, addr, &place))
		return false;
	*ret = (struct tracer_filter){ .reg = place.reg,
		                       .nloads = place.in_memory,
		                       .offset = { place.offset },
		                       .size = 8,
		                       .value = p->instance.addr };
	return true;
}

bool step_lines_has(struct step_plan *p, uint64_t addr)
{
	const struct function_lines *l = p->at.lines;

	if (map_has(&p->loops, addr))
		return true;
	for (size_t i = 0; i < l->nrows; i++) {
		const struct function_row *row = &l->rows[i];

		if (row->addr == addr && (may_stop_at(p, row) || enters_inlined(p, row)))
			return true;
	}
	return false;
}

bool step_lines_is_repeated(struct step_plan *p, uint64_t addr)
{
	struct first_poll first;

	first_poll_read(p->in, p->polled_call ? NULL : p->at.function, p->at.lines, &first);
	const char *state =
		first_poll_has(&first, addr) && p->instance.addr ? step_instance_state(p) : NULL;
	return state && strcmp(state, "Unresumed") != 0;
}

/*
 * What an inlined call has come to when the code around it goes on. A coroutine goes on behind an
 * await only when what it awaits is ready.
 */
static enum step_reason reason_at(struct step_plan *p, const struct function_row *row)
{
	const struct function_call *call = &p->at.lines->calls[p->at.call];
	bool awaited = p->at.call && p->at.lines->calls[call->parent].is_coroutine;

	if (row->call == p->at.call)
		return STEP_LINE;
	if (call->is_coroutine && !awaited && !step_instance_has_returned(p))
		return STEP_LEFT;
	return call->is_coroutine || p->options->kind == STEP_FINISH ? STEP_RETURNED : STEP_LINE;
}

static struct error *at_line(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	const struct function_row *row = function_lines_at(p->at.lines, hit->addr);

	if (step_reach_leaves(p, hit->addr))
		return NULL;
	p->tid = hit->tid;
	step_end_set(p, row ? reason_at(p, row) : STEP_LINE, stop);
	if (p->end.reason == STEP_LEFT)
		p->end.note = step_inlined_note;
	if (p->options->kind == STEP_FINISH)
		p->end.value_problem = step_inlined_value;
	return NULL;
}

struct error *step_lines_refuse(struct step_plan *p, struct error *err, size_t nlines)
{
	/* The breakpoints that the step has just taken are free again once it is refused. */
	const size_t needed = nlines + (p->returns != 0), free = p->lines.n;

	if (!err || !p->d->control.production || err->kind != ERR_STATE)
		return err;
	struct error *more = error_new(
		ERR_STATE,
		"this step needs %zu of the processor's %d hardware breakpoints, as %s%s, and %zu "
		"%s free: \"tbreak LINE\" and \"continue\" need one",
		needed, TRACER_MAX_WATCHES,
		p->reach.limited ? "one is needed at each line that the code leads to from here"
				 : "one is needed at each line that the optimised function has",
		p->returns ? ", and one where it returns" : "", free, free == 1 ? "is" : "are");
	error_free(err);
	return more;
}

/* A line that has a trap, and whose hits count there. */
struct wanted_line {
	uint64_t addr;
	struct tracer_filter filter[2];
};
typedef VEC(struct wanted_line) wanted_lines;

/* Nothing is added where neither the instance nor the call is known. */
static void add_wanted(struct step_plan *p, const struct first_poll *first, uint64_t addr,
                       wanted_lines *to)
{
	struct wanted_line line = { .addr = addr };

	if (p->reach.limited && !map_has(&p->reach.places, addr))
		return;
	if (!step_lines_filter_instance(p, addr, &line.filter[0])) {
		if (!step_lines_filter_call(p, addr, &line.filter[0]))
			return;
		p->by_call = true;
	}
	line.filter[0].and_next = first_poll_filter(first, addr, &line.filter[1]);
	*vec_push(to) = line;
}

static void find_wanted(struct step_plan *p, const struct first_poll *first, wanted_lines *ret)
{
	const struct function_lines *l = p->at.lines;
	uint64_t last = 0;

	for (size_t i = 0; l && i < l->nrows; i++) {
		const struct function_row *row = &l->rows[i];

		if (row->addr == last || !may_stop_at(p, row))
			continue;
		last = row->addr;
		add_wanted(p, first, last, ret);
	}
	for (size_t i = 0; i < p->loop_places.n; i++)
		add_wanted(p, first, p->loop_places.data[i], ret);
}

struct error *step_lines_plant(struct step_plan *p)
{
	struct first_poll first;
	struct error *err = NULL;
	wanted_lines wanted = { 0 };

	step_reach_loops(p);
	first_poll_read(p->in, p->at.lines ? p->at.function : NULL, p->at.lines, &first);
	find_wanted(p, &first, &wanted);
	for (size_t i = 0; i < wanted.n && !err; i++)
		err = step_trap(p, &p->lines, wanted.data[i].addr, wanted.data[i].filter, at_line);
	err = step_lines_refuse(p, err, wanted.n);
	vec_free(&wanted);
	return err;
}
