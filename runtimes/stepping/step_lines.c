/* Places at which a step over lines may stop: the beginnings of the other lines of its function. */
#include "dwarf/lookup/argument_place.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/types/type.h"
#include "dwarf/unwind/cfa_rule.h"
#include "runtimes/common/inspector.h"
#include "runtimes/query/first_poll.h"
#include "runtimes/stepping/step_plan.h"

/* ---- which rows ---- */

static bool is_users_file(void *plan, const char *file)
{
	return step_place_is_users(plan, file);
}

static bool makes_coroutine(void *plan, const struct function *f)
{
	const struct type *result = function_read_result(f);

	(void)plan;
	return result && type_is_coroutine(result);
}

struct line_rules step_lines_rules(struct step_plan *p)
{
	return (struct line_rules){
		.lines = p->where.at.lines,
		.low = p->where.at.function ? p->where.at.function->low : 0,
		.file = p->where.at.file,
		.line = p->where.at.line,
		.call = p->where.at.call,
		.polled_call = p->subject.polled_call,
		.kind = p->options->kind,
		.until = p->options->line,
		.is_users = is_users_file,
		.makes_coroutine = makes_coroutine,
		.arg = p,
	};
}

/* ---- whose ---- */

/* The thread is in the call in progress. */
bool step_lines_filter_call(const struct step_plan *p, uint64_t addr, struct tracer_filter *ret)
{
	struct cfa_rule rule;

	if (!cfa_rule_at(p->in->target, addr, &rule))
		return false;
	*ret = (struct tracer_filter){
		.reg = rule.reg, .offset = { rule.offset }, .size = 8, .value = p->where.cfa
	};
	return true;
}

static bool find_argument(const struct step_plan *p, uint64_t addr, struct argument_place *ret)
{
	const struct function_lines *l = p->where.at.lines;

	if (!p->subject.polled_call)
		return argument_place_at(p->where.at.function, addr, ret);
	const struct function_row *row = function_lines_at(l, addr);
	return row && line_rules_is_around(l, p->subject.polled_call, row->call) &&
	       argument_place_inlined_at(p->where.at.function,
	                                 l->calls[p->subject.polled_call].site, addr, ret);
}

bool step_lines_filter_instance(const struct step_plan *p, uint64_t addr, struct tracer_filter *ret)
{
	struct argument_place place;

	if (!p->subject.instance.addr || !find_argument(p, addr, &place))
		return false;
	*ret = (struct tracer_filter){ .reg = place.reg,
		                       .nloads = place.in_memory,
		                       .offset = { place.offset },
		                       .size = 8,
		                       .value = p->subject.instance.addr };
	return true;
}

bool step_lines_has(struct step_plan *p, uint64_t addr)
{
	const struct line_rules rules = step_lines_rules(p);

	return map_has(&p->breakpoints.loops, addr) || line_rules_ends_at(&rules, addr);
}

bool step_lines_is_repeated(struct step_plan *p, uint64_t addr)
{
	struct first_poll first;

	first_poll_read(p->in, p->subject.polled_call ? NULL : p->where.at.function,
	                p->where.at.lines, &first);
	const enum instance_state state = first_poll_has(&first, addr) && p->subject.instance.addr
	                                          ? step_instance_state(p)
	                                          : INSTANCE_UNKNOWN;
	return state != INSTANCE_UNKNOWN && state != INSTANCE_UNRESUMED;
}

static struct error *at_line(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	const struct function_row *row = function_lines_at(p->where.at.lines, hit->addr);
	const struct line_rules rules = step_lines_rules(p);

	if (reachable_lines_leaves(p, hit->addr))
		return NULL;
	p->where.tid = hit->tid;
	step_exit_set(
		p, row ? line_rules_reason(&rules, row, step_instance_has_returned(p)) : STEP_LINE,
		stop);
	if (p->exit.end.reason == STEP_LEFT)
		p->exit.end.note = exit_rules_inlined_note;
	if (p->options->kind == STEP_FINISH)
		p->exit.end.value_problem = step_inlined_value;
	return NULL;
}

struct error *step_lines_refuse(struct step_plan *p, struct error *err, size_t nlines)
{
	/* The breakpoints that the step has just taken are free again once it is refused. */
	const size_t needed = nlines + (p->where.returns != 0), free = p->breakpoints.lines.n;

	if (!err || !p->d->control.hw_breakpoints_only || err->kind != ERR_STATE)
		return err;
	struct error *more = error_new(
		ERR_STATE,
		"this step needs %zu of the %d hardware breakpoints, as %s%s, and %zu %s free: "
		"\"tbreak LINE\" and \"continue\" need one",
		needed, TRACER_MAX_WATCHES,
		p->breakpoints.reach.limited
			? "one is needed at each line that the code leads to from here"
			: "one is needed at each line that the optimised function has",
		p->where.returns ? ", and one where it returns" : "", free,
		free == 1 ? "is" : "are");
	error_free(err);
	return more;
}

/* A line that has an internal breakpoint, and whose hits count there. */
struct wanted_line {
	uint64_t addr;
	struct tracer_filter filter[2];
};
typedef VEC(struct wanted_line) wanted_lines;

/* Adds a line with its filter; nothing if neither the instance nor the call is known. */
static void add_wanted(struct step_plan *p, const struct first_poll *first, uint64_t addr,
                       wanted_lines *to)
{
	struct wanted_line line = { .addr = addr };

	if (p->breakpoints.reach.limited && !map_has(&p->breakpoints.reach.places, addr))
		return;
	if (!step_lines_filter_instance(p, addr, &line.filter[0])) {
		if (!step_lines_filter_call(p, addr, &line.filter[0]))
			return;
		p->breakpoints.by_call = true;
	}
	line.filter[0].and_next = first_poll_filter(first, addr, &line.filter[1]);
	*vec_push(to) = line;
}

static void find_wanted(struct step_plan *p, const struct first_poll *first, wanted_lines *ret)
{
	const struct function_lines *l = p->where.at.lines;
	const struct line_rules rules = step_lines_rules(p);
	uint64_t last = 0;

	for (size_t i = 0; l && i < l->nrows; i++) {
		const struct function_row *row = &l->rows[i];

		if (row->addr == last || !line_rules_may_stop_at(&rules, row))
			continue;
		last = row->addr;
		add_wanted(p, first, last, ret);
	}
	for (size_t i = 0; i < p->breakpoints.loop_places.n; i++)
		add_wanted(p, first, p->breakpoints.loop_places.data[i], ret);
}

struct error *step_lines_plant(struct step_plan *p)
{
	struct first_poll first;
	struct error *err = NULL;
	wanted_lines wanted = { 0 };

	reachable_lines_loops(p);
	first_poll_read(p->in, p->where.at.lines ? p->where.at.function : NULL, p->where.at.lines,
	                &first);
	find_wanted(p, &first, &wanted);
	for (size_t i = 0; i < wanted.n && !err; i++)
		err = step_add_breakpoint(p, &p->breakpoints.lines, INTERNAL_STEP_LINE,
		                          wanted.data[i].addr, wanted.data[i].filter, at_line);
	err = step_lines_refuse(p, err, wanted.n);
	vec_free(&wanted);
	return err;
}
