/*
 * Steps that look at each instruction: into functions, and over calls by instruction. Only the
 * instructions of the function itself are executed one by one, with the other threads held; what it
 * calls runs freely.
 */
#include "debugger/target/target.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/types/type.h"
#include "runtimes/common/inspector.h"
#include "runtimes/step_rules/into_rules.h"
#include "runtimes/stepping/step_plan.h"

/* ---- targets ---- */

/* The thread polls a coroutine further in. */
static struct error *at_target(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct target_hit here = { .is_own = hit->tid == p->where.tid, .from = p->where.cfa };
	struct step_frame frame = { 0 };
	SCRATCH(tmp);

	if (here.is_own)
		TRY(step_frame_at_entry(p, hit->tid, &tmp, &frame));
	here.cfa = frame.cfa;
	step_targets_act(p, TARGET_CALLED, &here, stop);
	return NULL;
}

/* A closure of the user's that the library calls. */
static struct error *at_closure(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct target_hit here = { .is_own = hit->tid == p->where.tid, .from = p->where.cfa };
	struct step_frame frame = { 0 };
	SCRATCH(tmp);

	if (here.is_own)
		TRY(step_frame_read(p, hit->tid, &tmp, &frame));
	here.cfa = frame.cfa;
	step_targets_act(p, TARGET_CLOSURE, &here, stop);
	return NULL;
}

/*
 * The step follows the thread. Of two tasks with the same code that is whichever is polled first,
 * which the note says.
 */
static void follow_spawned(struct step_plan *p, pid_t tid)
{
	p->where.tid = tid;
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
	step_targets_act(
		p, TARGET_SPAWNED,
		&(struct target_hit){ .is_new = step_instance_is_new(p, hit->addr, &frame) }, stop);
	if (*stop)
		follow_spawned(p, hit->tid);
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
	step_targets_act(p, TARGET_SPAWNED_BODY, &(struct target_hit){ .is_users = place.users },
	                 stop);
	if (*stop)
		follow_spawned(p, hit->tid);
	return NULL;
}

/* ---- calls ---- */

static struct error *has_returned(void *arg, const struct internal_hit *hit, bool *stop)
{
	(void)arg, (void)hit;
	*stop = true;
	return NULL;
}

static struct into_call call_of(const struct step_plan *p)
{
	return (struct into_call){ .kind = p->options->kind,
		                   .spawned = p->options->spawned,
		                   .is_unseen = p->subject.spawn.unseen != NULL,
		                   .on_any = p->subject.on_any };
}

static struct error *plant_targets(struct step_plan *p, const struct function *called)
{
	static const struct step_target_deciders called_ones = { .entry = at_target,
		                                                 .closure = at_closure },
						 spawned = { .entry = at_spawned,
		                                             .inside = at_spawned_body };
	const struct into_call call = call_of(p);
	const enum into_targets targets = into_rules_targets(&call);

	if (targets == INTO_NO_TARGETS)
		return NULL;
	TRY(step_targets_plant(p, called, NULL, 0,
	                       targets == INTO_CALLED_ONES ? &called_ones : &spawned,
	                       &p->breakpoints.targets));
	/* The step waits for the task alone, if there is code to wait for. */
	return targets == INTO_SPAWNED_ONES && p->breakpoints.targets.n ? step_exit_clear(p) : NULL;
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
	const struct into_halt halt = { .at_breakpoint = why->reason == CONTROL_BREAKPOINT,
		                        .is_numbered = p->d->breakpoint != NULL,
		                        .has_entered = p->walk.entered,
		                        .has_ended = p->exit.end.reason != STEP_NONE,
		                        .at = { why->tid, why->addr },
		                        .expected = { tid, in->returns } };
	*done = !err && into_rules_has_returned(&halt);
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
	if (!into_rules_stops_at_body(body, is_coroutine, line_rules_has_body(place->lines, 0))) {
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

/* Whether the step goes on in what the thread has called. */
static bool step_into_enters(const struct step_plan *p, const struct step_place *place)
{
	struct into_call call = call_of(p);
	const struct type *result = place->users ? function_read_result(place->function) : NULL;

	call.is_users = place->users;
	call.has_lines = place->users && place->lines->nrows;
	call.makes_coroutine = result && type_is_coroutine(result);
	return into_rules_enters(&call);
}

/* A call from the line has run. */
static struct error *step_into_after_call(struct step_plan *p, bool done,
                                          enum step_into_walked *ret)
{
	const struct into_call_end end = { .kind = p->options->kind,
		                           .has_returned = done,
		                           .has_entered = p->walk.entered,
		                           .on_any = p->subject.on_any,
		                           .has_targets = p->breakpoints.targets.n != 0 };

	switch (into_rules_after_call(&end)) {
	case INTO_CALL_ENTERED:
		*ret = WALK_RUN;
		return enter_target(p);
	case INTO_CALL_SPAWNED:
		return wait_spawned(p, ret);
	case INTO_CALL_STEPPED:
		p->d->control.stop.reason = CONTROL_STEPPED;
		*ret = WALK_END;
		return NULL;
	case INTO_CALL_DONE:
		*ret = WALKED;
		return NULL;
	case INTO_CALL_HALTED:
		break;
	}
	*ret = WALK_END;
	return NULL;
}

/* The thread has called something from the line. */
static struct error *step_into_called(struct step_plan *p, const struct step_frame *now,
                                      enum step_into_walked *ret)
{
	struct step_place place;
	bool done;

	step_place_at(p, now->pc, &place);
	if (step_into_enters(p, &place)) {
		*ret = WALK_RUN;
		return step_into_enter(p, &place, now);
	}
	TRY(run_call(p, now, place.users ? NULL : place.function, &done));
	return step_into_after_call(p, done, ret);
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
	if (into_rules_yields(++p->walk.walked)) {
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

/* The thread has come to the end of the step by itself. */
static void end_at_line(struct step_plan *p)
{
	p->d->control.stop.reason = CONTROL_BREAKPOINT;
	p->walk.by_itself = true;
	p->exit.end.reason = STEP_LINE;
}

static bool ends_at(struct step_plan *p, uint64_t pc)
{
	return p->where.at.lines && step_lines_has(p, pc) && !step_lines_is_repeated(p, pc) &&
	       !reachable_lines_leaves(p, pc);
}

static struct error *after_instruction(struct step_plan *p, const struct step_frame *before,
                                       const struct step_frame *now, enum step_into_walked *ret)
{
	const struct into_instruction executed = { .kind = p->options->kind,
		                                   .before = { before->pc, before->sp },
		                                   .now = { now->pc, now->sp },
		                                   .pushed = p->arch->entry_cfa,
		                                   .returns_to = now->returns,
		                                   .cfa = p->where.cfa,
		                                   .returns = p->where.returns,
		                                   .on_any = p->subject.on_any,
		                                   .ends = ends_at(p, now->pc) };

	switch (into_rules_after_instruction(&executed)) {
	case INTO_SPAWNED:
		return wait_spawned(p, ret);
	case INTO_CALLED:
		return step_into_called(p, now, ret);
	case INTO_RETURNED:
		return step_into_left(p, now, ret);
	case INTO_STEPPED:
		p->walk.by_itself = true;
		return NULL;
	case INTO_LINE:
		end_at_line(p);
		return NULL;
	case INTO_ON:
		break;
	}
	*ret = WALKED;
	return interrupt_check();
}

static struct error *step_into_walk(struct step_plan *p, enum step_into_walked *ret)
{
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
	return after_instruction(p, &before, &now, ret);
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
	struct into_run run;

	do {
		enum step_into_walked state;

		p->walk.resumed = false;
		do
			TRY(step_into_walk(p, &state));
		while (state == WALKED);
		if (state == WALK_RUN)
			TRY(step_into_run_on(p));
		run = (struct into_run){ .ran = state == WALK_RUN,
			                 .was_resumed = p->walk.resumed,
			                 .has_ended = p->exit.end.reason != STEP_NONE,
			                 .is_alive = p->d->control.pid != 0 };
		/* The coroutine is polled again, on whatever thread. */
	} while (into_rules_walks_again(&run));
	step_spawn_note(p);
	return NULL;
}
