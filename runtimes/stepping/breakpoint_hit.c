/* Decides whether a thread that comes to a numbered breakpoint halts the program. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "debugger/base/clock.h"
#include "debugger/base/str.h"
#include "runtimes/common/inspector.h"
#include "runtimes/hits/operand.h"
#include "runtimes/query/frame_value.h"
#include "runtimes/stepping/debuggee.h"

/* A look at the thread of a hit: for a condition, or the line of a logpoint. */
struct breakpoint_hit_look {
	struct debuggee *d;
	pid_t tid;
	struct arena *a;
	struct regs regs;
	bool has_regs;
	/* A variable of the condition that may not have its value, and why; NULL: none. */
	const char *doubtful, *doubt;
};

static struct error *read_registers(struct breakpoint_hit_look *l)
{
	if (!l->has_regs)
		TRY(control_registers(&l->d->control, l->tid, l->a, &l->regs));
	l->has_regs = true;
	return NULL;
}

/* ---- operands ---- */

static struct error *breakpoint_hit_find_path(struct breakpoint_hit_look *l, const char *path,
                                              struct predicate_value *ret)
{
	struct inspector *in = asyncdbg_inspector(l->d->handle);
	struct frame_value v;

	TRY(read_registers(l));
	TRY(frame_value(in, &l->regs, path, l->a, &v));
	if (v.doubt && !l->doubt) {
		l->doubtful = path;
		l->doubt = v.doubt;
	}
	*ret = operand_of_value(&v);
	return NULL;
}

static struct error *breakpoint_hit_find_operand(void *arg, const struct predicate *operand,
                                                 struct predicate_value *ret)
{
	struct breakpoint_hit_look *l = arg;

	return operand->op == PREDICATE_PATH ? breakpoint_hit_find_path(l, operand->path, ret)
	                                     : debuggee_task_operand(l->d, l->tid, operand, ret);
}

/* ---- hits ---- */

/* err: why the condition could not be read; owned. Whether it halts all the same. */
static bool breakpoint_hit_cannot_read(struct breakpoint *bp, struct error *err)
{
	bool first = !bp->unreadable++;

	if (first)
		bp->problem = arena_strdup(&bp->condition_arena, err->message);
	error_free(err);
	return first;
}

/* Whether the condition, if there is one, is true. *halts: it is to halt in any case. */
static struct error *test(struct breakpoint *bp, pid_t tid, bool *ret, bool *halts)
{
	SCRATCH(tmp);
	struct breakpoint_hit_look l = { .d = bp->debuggee, .tid = tid, .a = &tmp };

	*halts = false;
	*ret = true;
	if (!bp->parsed)
		return NULL;
	struct error *err = predicate_evaluate(bp->parsed, breakpoint_hit_find_operand, &l, ret);
	if (err && err->kind == ERR_INTERRUPTED)
		return err;
	if (!err && l.doubt && !bp->doubted) {
		bp->doubted = true;
		err = error_new(ERR_STATE, "%s %s; later hits take the value that is there",
		                l.doubtful, l.doubt);
		bp->unreadable = 0;
	}
	if (err)
		*halts = *ret = breakpoint_hit_cannot_read(bp, err);
	return NULL;
}

bool breakpoint_hit(struct breakpoint *bp)
{
	if (++bp->hits <= bp->skip)
		return false;
	return !bp->every || (bp->hits - bp->skip) % bp->every == 0;
}

/* ---- lines of logpoints ---- */

static struct error *read_logged_value(struct breakpoint_hit_look *l, const char *path,
                                       const char **ret, const char **doubt)
{
	struct frame_value v;

	if (strcmp(path, "task.id") == 0) {
		TRY(debuggee_task_text(l->d, l->tid, PREDICATE_TASK_ID, ret));
	} else if (strcmp(path, "task.type") == 0) {
		TRY(debuggee_task_text(l->d, l->tid, PREDICATE_TASK_TYPE, ret));
	} else if (strcmp(path, "task.name") == 0) {
		TRY(debuggee_task_text(l->d, l->tid, PREDICATE_TASK_NAME, ret));
	} else {
		TRY(read_registers(l));
		TRY(frame_value_text(asyncdbg_inspector(l->d->handle), &l->regs, path, l->a, &v));
		*ret = v.text;
		*doubt = v.doubt;
		return NULL;
	}
	if (!*ret)
		return error_new(ERR_STATE, "no task runs here");
	/* Copied, as the next look at the tasks frees the text. */
	*ret = arena_strdup(l->a, *ret);
	return NULL;
}

/* Moves the error of something that cannot be read into the arena. */
static struct error *keep_problem(struct arena *a, struct error *err, const char **problem)
{
	if (!err || err->kind == ERR_INTERRUPTED)
		return err;
	*problem = arena_strdup(a, err->message);
	error_free(err);
	return NULL;
}

static struct error *read_logged(struct breakpoint_hit_look *l, const struct log_message *m,
                                 struct log_value *values)
{
	for (size_t i = 0; i < m->n; i++) {
		const char *path = m->pieces[i].text;

		if (!m->pieces[i].is_path)
			continue;
		values->path = path;
		TRY(keep_problem(l->a, read_logged_value(l, path, &values->value, &values->doubt),
		                 &values->problem));
		if (values->problem)
			values->value = NULL;
		values++;
	}
	return NULL;
}

static uint64_t realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Reports a line. Only an interruption and the listener make errors. */
static struct error *report_line(const struct breakpoint *bp, const struct internal_hit *hit)
{
	SCRATCH(tmp);
	struct debuggee *d = bp->debuggee;
	struct breakpoint_hit_look l = { .d = d, .tid = hit->tid, .a = &tmp };
	struct log_value *values = NEW_ARRAY(&tmp, struct log_value, bp->message->npaths + 1);
	struct logged line = {
		.breakpoint = bp, .when_ns = realtime_ns(), .tid = hit->tid, .values = values
	};
	const char *problem;

	if (!d->listener.logged)
		return NULL;
	TRY(read_logged(&l, bp->message, values));
	TRY(keep_problem(&tmp, debuggee_task(d, hit->tid, &line.task), &problem));
	line.text = log_message_text(&tmp, bp->message, values);
	return d->listener.logged(d->listener.arg, &line);
}

/* A logpoint never halts. *stop: whether it has something to report; cleared. */
static struct error *log_hit(struct breakpoint *bp, const struct internal_hit *hit, bool *stop)
{
	bool reports = *stop;
	struct error *err = NULL;
	STR(text);

	*stop = false;
	if (reports && bp->undecided) {
		str_printf(&text, "logpoint %u: its condition cannot be read: %s", bp->number,
		           bp->problem);
		breakpoint_warn(bp, str_text(&text));
	} else if (reports) {
		err = report_line(bp, hit);
	}
	bp->undecided = false;
	/* This hit may be decided again. */
	if (err && err->kind == ERR_INTERRUPTED)
		bp->hits--;
	breakpoint_count_cost(bp);
	return err;
}

struct error *breakpoint_decide(void *place, const struct internal_hit *hit, bool *stop)
{
	struct breakpoint *bp = ((struct breakpoint_place *)place)->breakpoint;
	const char *task = NULL;
	bool matches, halts, counts = true;

	*stop = bp->halts = false;
	if (bp->event)
		TRY(event_break_decide(place, hit, &counts));
	if (!counts)
		return NULL;
	if (bp->task) {
		TRY(debuggee_task(bp->debuggee, hit->tid, &task));
		if (!task || strcmp(task, bp->task) != 0) {
			breakpoint_count_cost(bp);
			return NULL;
		}
	}
	TRY(test(bp, hit->tid, &matches, &halts));
	bp->undecided = halts;
	*stop = matches && (breakpoint_hit(bp) || halts);
	if (bp->message)
		return log_hit(bp, hit, stop);
	bp->halts = *stop;
	if (*stop && !bp->debuggee->breakpoint)
		bp->debuggee->breakpoint = bp;
	if (!*stop)
		breakpoint_count_cost(bp);
	return NULL;
}
