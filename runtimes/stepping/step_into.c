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

static struct error *has_returned(void *arg, const struct internal_hit *hit, bool *stop)
{
	(void)arg, (void)hit;
	*stop = true;
	return NULL;
}

/* The thread polls a coroutine further in. */
static struct error *at_target(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_frame frame;
	SCRATCH(tmp);

	if (hit->tid != p->where.tid)
		return NULL;
	TRY(step_frame_at_entry(p, hit->tid, &tmp, &frame));
	*stop = p->walk.entered = frame.cfa < p->where.cfa;
	return NULL;
}

/* Notes that of two tasks with the same code, the step follows whichever is polled first. */
static void note_uncertainty(struct step_plan *p)
{
	p->exit.end.note = arena_printf(&p->d->step_cache->arena,
	                                "it may be in another task with the same code: %s",
	                                p->subject.spawn.unseen);
}

/* Some thread polls a coroutine of the type that is spawned for the first time. */
static struct error *at_spawned(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_frame frame;
	SCRATCH(tmp);

	TRY(step_frame_at_entry(p, hit->tid, &tmp, &frame));
	if (!step_instance_is_new(p, hit->addr, &frame))
		return NULL;
	p->where.tid = hit->tid;
	note_uncertainty(p);
	*stop = p->walk.entered = true;
	return NULL;
}

/*
 * at_spawned() for a coroutine that is inlined into a function of its executor: it is at its first
 * line.
 */
static struct error *at_spawned_body(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_place place;

	step_place_at(p, hit->addr, &place);
	if (!place.users)
		return NULL;
	p->where.tid = hit->tid;
	note_uncertainty(p);
	step_exit_set(p, STEP_LINE, stop);
	return NULL;
}

/* A closure of the user's that the library calls. */
static struct error *at_closure(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_frame frame;
	SCRATCH(tmp);

	if (hit->tid != p->where.tid)
		return NULL;
	TRY(step_frame_read(p, hit->tid, &tmp, &frame));
	if (frame.cfa && frame.cfa < p->where.cfa)
		step_exit_set(p, STEP_LINE, stop);
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
		return step_targets_plant(p, called, NULL, 0, &called_ones,
		                          &p->breakpoints.targets);
	/* The spawn on the line tells what to wait for. */
	if (!p->subject.spawn.unseen || p->subject.on_any)
		return NULL;
	TRY(step_targets_plant(p, called, NULL, 0, &spawned, &p->breakpoints.targets));
	return p->breakpoints.targets.n ? step_exit_clear(p) : NULL;
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
	const pid_t tid = p->where.tid;
	internal_breakpoint_vec internals = { 0 };

	struct error *err = step_add_breakpoint(p, &internals, INTERNAL_STEP_CALL, in->returns,
	                                        &filter, has_returned);
	if (!err)
		err = plant_targets(p, called);
	if (!err)
		err = debuggee_continue(p->d);
	*done = !err && why->reason == CONTROL_BREAKPOINT && !p->d->breakpoint &&
	        !p->walk.entered && p->exit.end.reason == STEP_NONE && why->addr == in->returns &&
	        why->tid == tid;
	struct error *end = step_untrap(p, &internals);
	vec_free(&internals);
	if (!err && !p->options->spawned)
		err = step_untrap(p, &p->breakpoints.targets);
	if (err) {
		error_free(end);
		return err;
	}
	return end;
}

/* ---- into ---- */

static struct error *step_into_at_body(void *arg, const struct internal_hit *hit, bool *stop)
{
	(void)hit;
	step_exit_set(arg, STEP_LINE, stop);
	return NULL;
}

/* A call of an async function only makes its coroutine. */
static bool is_worth(const struct step_place *place)
{
	const struct type *result = place->users ? function_read_result(place->function) : NULL;

	return place->users && place->lines->nrows && !(result && type_is_coroutine(result));
}

/* The step goes on in a function that the thread is about to execute, up to its first line. */
static struct error *step_into_enter(struct step_plan *p, const struct step_place *place,
                                     const struct step_frame *frame)
{
	struct tracer_filter filter;

	TRY(step_exit_clear(p));
	p->where.at = *place;
	p->where.cfa = frame->cfa;
	p->where.returns = frame->returns;
	step_instance_enter(p, frame);
	p->subject.inlined = (struct step_instance){ 0 };
	p->subject.on_any = false;
	TRY(step_exit_plant_return(p));
	const struct line_rules rules = step_lines_rules(p);
	uint64_t body = line_rules_body(&rules);
	bool is_coroutine = p->subject.instance.type && type_is_coroutine(p->subject.instance.type);
	/* An async block in a single line begins where its function does. */
	if (!body || (is_coroutine && line_rules_has_body(place->lines, 0))) {
		p->where.at.call = 0;
		p->where.at.line = place->lines->calls[0].line;
		return step_lines_plant(p);
	}
	bool exact = step_lines_filter_call(p, body, &filter);
	return step_add_breakpoint(p, &p->breakpoints.lines, INTERNAL_STEP_LINE, body,
	                           exact ? &filter : NULL, step_into_at_body);
}

/* ---- one instruction after the other ---- */

enum step_into_walked {
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

	p->walk.entered = false;
	TRY(step_frame_at_entry(p, p->where.tid, &tmp, &frame));
	step_place_at(p, frame.pc, &place);
	TRY(step_untrap(p, &p->breakpoints.targets));
	return step_into_enter(p, &place, &frame);
}

/* Waits for the task that the line spawns, whatever the thread does meanwhile. */
static struct error *wait_spawned(struct step_plan *p, enum step_into_walked *ret)
{
	if (!p->subject.on_any)
		TRY(step_exit_clear(p));
	p->subject.on_any = true;
	*ret = WALK_RUN;
	return NULL;
}

/* The thread has called something from the line. */
static struct error *step_into_called(struct step_plan *p, const struct step_frame *now,
                                      enum step_into_walked *ret)
{
	struct step_place place;
	bool done;

	step_place_at(p, now->pc, &place);
	if (p->options->kind == STEP_INTO && !p->options->spawned && is_worth(&place)) {
		*ret = WALK_RUN;
		return step_into_enter(p, &place, now);
	}
	TRY(run_call(p, now, place.users ? NULL : place.function, &done));
	*ret = done ? WALKED : WALK_END;
	if (p->walk.entered) {
		*ret = WALK_RUN;
		return enter_target(p);
	}
	if (done && (p->subject.on_any || p->breakpoints.targets.n))
		return wait_spawned(p, ret);
	if (done && p->options->kind == STEP_INSTRUCTION)
		p->d->control.stop.reason = CONTROL_STEPPED;
	return NULL;
}

/* The function has returned to its caller; it may be polled again. */
static struct error *step_into_left(struct step_plan *p, const struct step_frame *now,
                                    enum step_into_walked *ret)
{
	const struct internal_hit hit = { p->where.tid, now->pc };
	bool stop = false;

	TRY(step_exit_at_return(p, &hit, &stop));
	*ret = stop ? WALK_END : WALK_RUN;
	p->walk.by_itself = stop;
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
	if (++p->walk.walked % ALONE == 0) {
		TRY(control_yield(c, p->where.tid));
		if (!c->pid || c->stop.reason != CONTROL_STEPPED)
			return NULL;
	}
	TRY(control_step(c, p->where.tid));
	*done = c->pid && c->stop.reason == CONTROL_STEPPED;
	return NULL;
}

/* The registers of the thread cannot be read: the instruction may have been its last one. */
static struct error *end_unless_alive(struct step_plan *p, struct error *err)
{
	struct control *c = &p->d->control;
	bool ended;
	struct error *more = step_exit_if_thread_ended(p, &ended);

	error_free(more);
	if (more || !ended)
		return err;
	c->stop = (struct control_stop){ .reason = CONTROL_CAUGHT, .tid = c->pid };
	error_free(err);
	return NULL;
}

static struct error *step_into_walk(struct step_plan *p, enum step_into_walked *ret)
{
	struct control *c = &p->d->control;
	struct step_frame before, now;
	bool done;
	SCRATCH(tmp);

	*ret = WALK_END;
	TRY(step_frame_at_entry(p, p->where.tid, &tmp, &before));
	TRY(execute(p, &done));
	if (!done)
		return NULL;
	struct error *err = step_frame_at_entry(p, p->where.tid, &tmp, &now);
	if (err)
		return end_unless_alive(p, err);
	TRY(step_spawn_arrive(p, now.pc));
	if (p->subject.on_any)
		return wait_spawned(p, ret);
	if (has_called(p, &before, &now))
		return step_into_called(p, &now, ret);
	p->walk.by_itself = p->options->kind == STEP_INSTRUCTION;
	if (p->walk.by_itself)
		return NULL;
	if (now.pc == p->where.returns && now.sp == p->where.cfa)
		return step_into_left(p, &now, ret);
	if (step_lines_has(p, now.pc) && !step_lines_is_repeated(p, now.pc) &&
	    !reachable_lines_leaves(p, now.pc)) {
		c->stop.reason = CONTROL_BREAKPOINT;
		p->walk.by_itself = true;
		p->exit.end.reason = STEP_LINE;
		return NULL;
	}
	*ret = WALKED;
	return interrupt_check();
}

/* Lets the program run to the end of the step, or to where its instructions are of interest. */
static struct error *step_into_run_on(struct step_plan *p)
{
	TRY(debuggee_continue(p->d));
	if (!p->walk.entered)
		return NULL;
	TRY(enter_target(p));
	return debuggee_continue(p->d);
}

struct error *step_into_run(struct step_plan *p)
{
	enum step_into_walked state;

	do {
		p->walk.resumed = false;
		do
			TRY(step_into_walk(p, &state));
		while (state == WALKED && p->options->kind == STEP_INTO);
		if (state == WALK_RUN)
			TRY(step_into_run_on(p));
		/* The coroutine is polled again, on whatever thread. */
	} while (state == WALK_RUN && p->walk.resumed && p->exit.end.reason == STEP_NONE &&
	         p->d->control.pid);
	step_spawn_note(p);
	return NULL;
}
