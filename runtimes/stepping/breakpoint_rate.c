/* Rates at which breakpoints are passed, and what the program loses by it: warns once of each. */
#include <inttypes.h>

#include "debugger/base/clock.h"
#include "debugger/base/str.h"
#include "runtimes/hits/predicate.h"
#include "runtimes/stepping/debuggee.h"

enum { COUNT_EVERY_NS = 200000000 };

void breakpoint_warn(const struct breakpoint *bp, const char *text)
{
	const struct debuggee_listener *l = &bp->debuggee->listener;

	if (l->warned)
		l->warned(l->arg, text);
}

/* Any path of the condition; NULL: it has none. */
static const char *breakpoint_rate_any_path(const struct predicate *p)
{
	const char *left = p->left ? breakpoint_rate_any_path(p->left) : NULL;

	if (p->op == PREDICATE_PATH)
		return p->path;
	return left || !p->right ? left : breakpoint_rate_any_path(p->right);
}

/* Adds advice on what halts at less cost. */
static void advise(const struct breakpoint *bp, struct str *text)
{
	const char *path = bp->parsed ? breakpoint_rate_any_path(bp->parsed) : NULL;

	if (bp->task && !bp->event)
		str_printf(text,
		           "; \"task %s\" and \"watch --state\" stop where that task continues, "
		           "and cost the others nothing",
		           bp->task);
	else if (path)
		str_printf(text,
		           "; \"watch %s\", if it is in memory, stops when it changes, and costs "
		           "nothing until then",
		           path);
}

static void warn_of_rate(const struct breakpoint *bp, const struct hit_cost *cost)
{
	STR(text);

	if (bp->message) {
		str_printf(&text,
		           "logpoint %u is hit %" PRIu64
		           " times a second, and the program is stopped for it %u%% of the time",
		           bp->number, cost->per_second, cost->percent);
	} else {
		str_printf(
			&text,
			"breakpoint %u is passed %" PRIu64
			" times a second, and threads are stopped for it at least %u%% of the time",
			bp->number, cost->per_second, cost->percent);
		advise(bp, &text);
	}
	breakpoint_warn(bp, str_text(&text));
}

void breakpoint_count_cost(struct breakpoint *bp)
{
	uint64_t now = clock_now_ns(), begin = bp->debuggee->control.stop_ns;
	struct hit_cost cost;

	if (hit_rate_add(&bp->rate, now, 1, clock_between(begin, now), &cost))
		warn_of_rate(bp, &cost);
}

/* ---- what the tracer lets pass ---- */

static bool has_passes(const struct breakpoint *bp)
{
	return bp->enabled && !bp->rate.reported && (bp->parsed || bp->event || bp->task);
}

/*
 * Takes the passes at all places of a breakpoint; their count starts at 0 again. A program that has
 * ended has none.
 */
static struct error *take_passes(const struct breakpoint *bp, uint64_t *n, uint64_t *ns)
{
	struct error *err;
	uint64_t more, more_ns;

	*n = *ns = 0;
	for (size_t i = 0; i < bp->nplaces; i++) {
		if (!bp->places[i].internal)
			continue;
		err = control_passes(&bp->debuggee->control, bp->places[i].addr, &more, &more_ns);
		if (err && err->kind != ERR_STATE)
			return err;
		if (err) {
			error_free(err);
			return NULL;
		}
		*n += more;
		*ns += more_ns;
	}
	return NULL;
}

/* A control_look. */
static struct error *breakpoint_rate_count(void *arg, bool *stop)
{
	const struct debuggee *d = arg;
	struct hit_cost cost;
	uint64_t n, ns;

	*stop = false;
	for (size_t i = 0; i < d->breakpoints.list.n; i++) {
		struct breakpoint *bp = d->breakpoints.list.data[i];

		if (!has_passes(bp))
			continue;
		TRY(take_passes(bp, &n, &ns));
		if (hit_rate_add(&bp->rate, clock_now_ns(), n, ns, &cost))
			warn_of_rate(bp, &cost);
	}
	return NULL;
}

struct error *breakpoint_begin_rates(struct debuggee *d)
{
	uint64_t n, ns;
	bool any = false;

	for (size_t i = 0; i < d->breakpoints.list.n; i++) {
		struct breakpoint *bp = d->breakpoints.list.data[i];

		hit_rate_begin(&bp->rate, clock_now_ns());
		if (!has_passes(bp))
			continue;
		any = true;
		TRY(take_passes(bp, &n, &ns));
	}
	d->control.count = (struct periodic_check){ .every_ns = any ? COUNT_EVERY_NS : 0,
		                                    .look = breakpoint_rate_count,
		                                    .arg = d };
	return NULL;
}
