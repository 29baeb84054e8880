/*
 * Steps that look at each instruction: into functions, and over calls by instruction. Only the
 * instructions of the function itself are executed one by one, with the other threads held; what it
 * calls runs freely.
 */
#include "debugger/target/target.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/types/type.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/step_plan.h"

enum {
	MAX_INSTRUCTION = 16, /* bytes */
	ALONE = 1000,         /* instructions, until the other threads run for a moment */
};

/* ---- calls ---- */

/* Whether the thread has executed a call since it was at before; *returns: where it returns to. */
static bool has_called(struct step_plan *p, const struct step_frame *before,
                       const struct step_frame *now)
{
	uint64_t returns = now->returns - before->pc;

	return before->sp - now->sp == p->arch->entry_cfa && returns && returns < MAX_INSTRUCTION &&
	       now->pc - before->pc >= MAX_INSTRUCTION;
}

static struct error *has_returned(void *arg, const struct trap_hit *hit, bool *stop)
{
	(void)arg, (void)hit;
	*stop = true;
	return NULL;
}

/* The thread polls a coroutine further in. */
static struct error *at_target(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_frame frame;
	SCRATCH(tmp);

	if (hit->tid != p->tid)
		return NULL;
	TRY(step_frame_at_entry(p, hit->tid, &tmp, &frame));
	*stop = p->entered = frame.cfa < p->cfa;
	return NULL;
}

/* Of two tasks with the same code, whichever is polled first. */
static void note_doubt(struct step_plan *p)
{
	p->end.note =
		arena_printf(&p->d->step_cache->arena,
	                     "it may be in another task with the same code: %s", p->spawn.unseen);
}

/* Some thread polls a coroutine of the type that is spawned for the first time. */
static struct error *at_spawned(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_frame frame;
	SCRATCH(tmp);

	TRY(step_frame_at_entry(p, hit->tid, &tmp, &frame));
	if (!step_instance_is_new(p, hit->addr, &frame))
		return NULL;
	p->tid = hit->tid;
	note_doubt(p);
	*stop = p->entered = true;
	return NULL;
}

/* The same of one that is inlined into a function of its executor: it is at its first line. */
static struct error *at_spawned_body(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_place place;

	step_place_at(p, hit->addr, &place);
	if (!place.users)
		return NULL;
	p->tid = hit->tid;
	note_doubt(p);
	step_end_set(p, STEP_LINE, stop);
	return NULL;
}

/* A closure of the user's that the library calls. */
static struct error *at_closure(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_frame frame;
	SCRATCH(tmp);

	if (hit->tid != p->tid)
		return NULL;
	TRY(step_frame_read(p, hit->tid, &tmp, &frame));
	if (frame.cfa && frame.cfa < p->cfa)
		step_end_set(p, STEP_LINE, stop);
	return NULL;
}

static struct error *plant_targets(struct step_plan *p, const struct function *called)
{
	static const struct step_target_deciders called_ones = { .entry = at_target,
		                                                 .closure = at_closure },
						 spawned = { .entry = at_spawned,
		                                             .inside = at_spawned_body };

	if (p->options->kind != STEP_INTO)
		return NULL;
	if (!p->options->spawned)
		return step_targets_plant(p, called, NULL, 0, &called_ones, &p->targets);
	/* What it spawns tells what to wait for. */
	if (!p->spawn.unseen || p->on_any)
		return NULL;
	TRY(step_targets_plant(p, called, NULL, 0, &spawned, &p->targets));
	return p->targets.n ? step_end_clear(p) : NULL;
}

/*
 * Lets a call run until it returns. *done false: something else has halted the program, or has
 * ended the step.
 */
static struct error *run_call(struct step_plan *p, const struct step_frame *in,
                              const struct function *called, bool *done)
{
	const struct tracer_filter filter = step_returned_to(p, in->cfa);
	const struct control_stop *why = &p->d->control.stop;
	const pid_t tid = p->tid;
	trap_vec traps = { 0 };

	struct error *err = step_trap(p, &traps, in->returns, &filter, has_returned);
	if (!err)
		err = plant_targets(p, called);
	if (!err)
		err = debuggee_continue(p->d);
	*done = !err && why->reason == CONTROL_BREAKPOINT && !p->d->breakpoint && !p->entered &&
	        p->end.reason == STEP_NONE && why->addr == in->returns && why->tid == tid;
	struct error *end = step_untrap(p, &traps);
	vec_free(&traps);
	if (!err && !p->options->spawned)
		err = step_untrap(p, &p->targets);
	if (err) {
		error_free(end);
		return err;
	}
	return end;
}

/* ---- into ---- */

/*
 * Where a function begins that is no coroutine: the second statement, as its prologue is the first.
 * 0: that is of a library's function which is inlined there.
 */
static uint64_t body_of(struct step_plan *p)
{
	const struct function_lines *l = p->at.lines;

	for (size_t i = 0; i < l->nrows; i++) {
		const struct function_row *row = &l->rows[i];

		if (row->statement && row->line && row->addr > p->at.function->low)
			return step_place_is_users(p, row->file) ? row->addr : 0;
	}
	return p->at.function->low;
}

static struct error *at_body(void *arg, const struct trap_hit *hit, bool *stop)
{
	(void)hit;
	step_end_set(arg, STEP_LINE, stop);
	return NULL;
}

/* A call of an async function only makes its coroutine. */
static bool is_worth(const struct step_place *place)
{
	const struct type *result = place->users ? function_read_result(place->function) : NULL;

	return place->users && place->lines->nrows && !(result && type_is_coroutine(result));
}

/* The step goes on in a function that the thread is about to execute, up to its first line. */
static struct error *enter(struct step_plan *p, const struct step_place *place,
                           const struct step_frame *frame)
{
	struct tracer_filter filter;

	TRY(step_end_clear(p));
	p->at = *place;
	p->cfa = frame->cfa;
	p->returns = frame->returns;
	step_instance_enter(p, frame);
	p->inlined = (struct step_instance){ 0 };
	p->on_any = false;
	TRY(step_end_plant_return(p));
	uint64_t body = body_of(p);
	bool is_coroutine = p->instance.type && type_is_coroutine(p->instance.type);
	/* An async block in a single line begins where its function does. */
	if (!body || (is_coroutine && step_lines_has_body(place->lines, 0))) {
		p->at.call = 0;
		p->at.line = place->lines->calls[0].line;
		return step_lines_plant(p);
	}
	bool exact = step_lines_filter_call(p, body, &filter);
	return step_trap(p, &p->lines, body, exact ? &filter : NULL, at_body);
}

/* ---- one instruction after the other ---- */

enum walked {
	WALKED,   /* it goes on */
	WALK_RUN, /* the rest of the step takes no more single instructions */
	WALK_END, /* the step has ended, or something else has halted the program */
};

/* The thread is about to execute the first instruction of a coroutine's poll function. */
static struct error *enter_target(struct step_plan *p)
{
	struct step_frame frame;
	struct step_place place;
	SCRATCH(tmp);

	p->entered = false;
	TRY(step_frame_at_entry(p, p->tid, &tmp, &frame));
	step_place_at(p, frame.pc, &place);
	TRY(step_untrap(p, &p->targets));
	return enter(p, &place, &frame);
}

/* What the line spawns is waited for, whatever the thread does meanwhile. */
static struct error *wait_spawned(struct step_plan *p, enum walked *ret)
{
	if (!p->on_any)
		TRY(step_end_clear(p));
	p->on_any = true;
	*ret = WALK_RUN;
	return NULL;
}

/* The thread has called something from the line. */
static struct error *called(struct step_plan *p, const struct step_frame *now, enum walked *ret)
{
	struct step_place place;
	bool done;

	step_place_at(p, now->pc, &place);
	if (p->options->kind == STEP_INTO && !p->options->spawned && is_worth(&place)) {
		*ret = WALK_RUN;
		return enter(p, &place, now);
	}
	TRY(run_call(p, now, place.users ? NULL : place.function, &done));
	*ret = done ? WALKED : WALK_END;
	if (p->entered) {
		*ret = WALK_RUN;
		return enter_target(p);
	}
	if (done && (p->on_any || p->targets.n))
		return wait_spawned(p, ret);
	if (done && p->options->kind == STEP_INSTRUCTION)
		p->d->control.stop.reason = CONTROL_STEPPED;
	return NULL;
}

/* The function has returned to who called it; it may be polled again. */
static struct error *left(struct step_plan *p, const struct step_frame *now, enum walked *ret)
{
	const struct trap_hit hit = { p->tid, now->pc };
	bool stop = false;

	TRY(step_end_at_return(p, &hit, &stop));
	*ret = stop ? WALK_END : WALK_RUN;
	p->by_itself = stop;
	if (stop)
		p->d->control.stop.reason = CONTROL_BREAKPOINT;
	return NULL;
}

/* Executes one instruction; *done false: something has halted the program, or has ended the step.
 */
static struct error *execute(struct step_plan *p, bool *done)
{
	struct control *c = &p->d->control;

	*done = false;
	/* A loop may wait for another thread. */
	if (++p->walked % ALONE == 0) {
		TRY(control_yield(c, p->tid));
		if (!c->pid || c->stop.reason != CONTROL_STEPPED)
			return NULL;
	}
	TRY(control_step(c, p->tid));
	*done = c->pid && c->stop.reason == CONTROL_STEPPED;
	return NULL;
}

/* The registers of the thread cannot be read: the instruction may have been its last one. */
static struct error *end_unless_alive(struct step_plan *p, struct error *err)
{
	struct control *c = &p->d->control;
	bool ended;
	struct error *more = step_end_if_thread_ended(p, &ended);

	error_free(more);
	if (more || !ended)
		return err;
	c->stop = (struct control_stop){ .reason = CONTROL_CAUGHT, .tid = c->pid };
	error_free(err);
	return NULL;
}

static struct error *walk(struct step_plan *p, enum walked *ret)
{
	struct control *c = &p->d->control;
	struct step_frame before, now;
	bool done;
	SCRATCH(tmp);

	*ret = WALK_END;
	TRY(step_frame_at_entry(p, p->tid, &tmp, &before));
	TRY(execute(p, &done));
	if (!done)
		return NULL;
	struct error *err = step_frame_at_entry(p, p->tid, &tmp, &now);
	if (err)
		return end_unless_alive(p, err);
	TRY(step_spawn_arrive(p, now.pc));
	if (p->on_any)
		return wait_spawned(p, ret);
	if (has_called(p, &before, &now))
		return called(p, &now, ret);
	p->by_itself = p->options->kind == STEP_INSTRUCTION;
	if (p->by_itself)
		return NULL;
	if (now.pc == p->returns && now.sp == p->cfa)
		return left(p, &now, ret);
	if (step_lines_has(p, now.pc) && !step_lines_is_repeated(p, now.pc) &&
	    !step_reach_leaves(p, now.pc)) {
		c->stop.reason = CONTROL_BREAKPOINT;
		p->by_itself = true;
		p->end.reason = STEP_LINE;
		return NULL;
	}
	*ret = WALKED;
	return interrupt_check();
}

/* Lets the program run to the end of the step, or to where its instructions are of interest. */
static struct error *run(struct step_plan *p)
{
	TRY(debuggee_continue(p->d));
	if (!p->entered)
		return NULL;
	TRY(enter_target(p));
	return debuggee_continue(p->d);
}

struct error *step_into_run(struct step_plan *p)
{
	enum walked state;

	do {
		p->resumed = false;
		do
			TRY(walk(p, &state));
		while (state == WALKED && p->options->kind == STEP_INTO);
		if (state == WALK_RUN)
			TRY(run(p));
		/* It is polled anew, on whatever thread. */
	} while (state == WALK_RUN && p->resumed && p->end.reason == STEP_NONE &&
	         p->d->control.pid);
	step_spawn_note(p);
	return NULL;
}
