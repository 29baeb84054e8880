/* Ends of steps otherwise than at a line: returned, dropped, cancelled, panicked. */
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/live/proc.h"
#include "debugger/target/target.h"
#include "dwarf/names/source.h"
#include "dwarf/types/type.h"
#include "runtimes/common/inspector.h"
#include "runtimes/future/future.h"
#include "runtimes/stepping/step_plan.h"

void step_exit_set(struct step_plan *p, enum step_reason reason, bool *stop)
{
	p->exit.end.reason = reason;
	*stop = true;
}

/* ---- returns ---- */

static struct exit_code code_of_line(struct step_plan *p)
{
	const struct step_place *at = &p->where.at;

	return (struct exit_code){
		.is_coroutine =
			at->lines && at->lines->ncalls && at->lines->calls[at->call].is_coroutine,
		.is_instances = at->call == p->subject.polled_call,
		.polls = p->subject.instance.type != NULL,
		.is_inlined_poll = p->subject.polled_call != 0,
		.instance_returned = p->subject.polled_call && step_instance_has_returned(p),
	};
}

/* Meaning of the return of the step's function. */
static enum step_reason reason_of_return(struct step_plan *p)
{
	const struct exit_code code = code_of_line(p);

	return exit_rules_reason(&code);
}

static struct error *at_users_frame(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;

	(void)hit;
	step_exit_set(p, p->exit.left_as, stop);
	return NULL;
}

/* Whether code of the user's is in a frame, inlined or not. */
static bool step_exit_is_users(struct step_plan *p, uint64_t pc)
{
	SCRATCH(tmp);
	size_t n;
	const struct location *l = lookup_locations(p->in->di, pc, &tmp, &n);

	for (size_t i = 0; i < n; i++) {
		if (step_place_is_users_at(p, &l[i]))
			return true;
	}
	return false;
}

/* Whether a future of the user's is polled in a frame. Code that runs an executor is none. */
static bool polls_users(struct step_plan *p, uint64_t pc, bool coroutine)
{
	SCRATCH(tmp);
	size_t n;
	const struct location *l = lookup_locations(p->in->di, pc, &tmp, &n);

	for (size_t i = 0; i < n; i++) {
		const struct type *t =
			step_place_is_users_at(p, &l[i]) ? step_instance_type(l[i].function) : NULL;

		if (t && (!coroutine || type_is_coroutine(t)))
			return true;
	}
	return false;
}

struct error *step_exit_clear(struct step_plan *p)
{
	struct internal_breakpoint *returning = p->breakpoints.returning;

	p->breakpoints.returning = NULL;
	TRY(internal_breakpoint_remove(&p->d->control, returning));
	TRY(step_untrap(p, &p->breakpoints.lines));
	TRY(step_untrap(p, &p->breakpoints.entries));
	return step_untrap(p, &p->breakpoints.drops);
}

/* The user's code in a frame: "app::main at src/main.rs:16"; NULL: it has no name or line. */
static const char *name_users(struct step_plan *p, uint64_t pc)
{
	struct arena *a = &p->d->step_cache->arena;
	SCRATCH(tmp);
	size_t n;
	const struct location *l = lookup_locations(p->in->di, pc, &tmp, &n);

	for (size_t i = 0; i < n; i++) {
		if (!step_place_is_users_at(p, &l[i]) || !l[i].file || !l[i].line)
			continue;
		const char *name = coroutine_whole_name(&tmp, &l[i]);
		const char *file = source_path_of(p->in->di, &tmp, l[i].file, l[i].comp_dir).text;

		if (name)
			return arena_printf(a, "%s at %s:%u", str_clean(&tmp, name, strlen(name)),
			                    str_clean(&tmp, file, strlen(file)), l[i].line);
	}
	return NULL;
}

/* Goes on to a frame of the user's code that is farther out. */
static struct error *step_exit_leave(struct step_plan *p, const struct frame *frame)
{
	const struct tracer_filter filter = step_returned_to(p, frame->sp);

	p->exit.leaving = true;
	p->exit.left_as = reason_of_return(p);
	p->exit.out_to = name_users(p, frame->lookup_pc);
	p->where.cfa = frame->sp;
	TRY(step_exit_clear(p));
	return step_add_breakpoint(p, &p->breakpoints.lines, INTERNAL_STEP_CALLER, frame->pc,
	                           &filter, at_users_frame);
}

/* The stack of a thread, for exit_rules.h. */
struct step_exit_stack {
	struct step_plan *p;
	struct stack stack;
};

static bool frame_has_users(void *arg, size_t frame)
{
	struct step_exit_stack *s = arg;

	return step_exit_is_users(s->p, s->stack.frames[frame].lookup_pc);
}

static bool frame_polls_users(void *arg, size_t frame, bool coroutine)
{
	struct step_exit_stack *s = arg;

	return polls_users(s->p, s->stack.frames[frame].lookup_pc, coroutine);
}

/* polling: only to one that polls a coroutine. */
static struct error *go_out(struct step_plan *p, pid_t tid, bool polling, bool *found)
{
	SCRATCH(tmp);
	struct step_exit_stack s = { .p = p };

	TRY(step_frame_stack(p, tid, STACK_MAX_FRAMES, &tmp, &s.stack));
	const struct exit_frames frames = { .n = s.stack.nframes,
		                            .in_task = p->subject.owner.task != 0,
		                            .has_users = frame_has_users,
		                            .polls_users = frame_polls_users,
		                            .arg = &s };
	size_t n = exit_rules_find_caller(&frames, polling);
	*found = n != 0;
	return n ? step_exit_leave(p, &s.stack.frames[n]) : NULL;
}

struct error *step_exit_run_to_user_caller(struct step_plan *p, pid_t tid, bool *found)
{
	return go_out(p, tid, false, found);
}

/* The function has returned, and is not polled again: to code of the user, or to a library. */
static struct error *returned(struct step_plan *p, const struct internal_hit *hit, bool *stop)
{
	enum step_reason reason = reason_of_return(p);
	const char *note = exit_rules_return_note(reason, p->options->whole);
	bool found;

	p->where.tid = hit->tid;
	if (note)
		p->exit.end.note = note;
	if (p->options->whole || step_exit_is_users(p, hit->addr - 1)) {
		step_exit_set(p, reason, stop);
		return NULL;
	}
	/*
	 * Code that runs an executor may go on for long with a coroutine that is not known to have
	 * ended.
	 */
	TRY(go_out(p, hit->tid, reason == STEP_LEFT, &found));
	if (found)
		return NULL;
	if (!p->exit.end.note)
		p->exit.end.note = exit_rules_library_note(p->subject.instance.type != NULL);
	step_exit_set(p, reason, stop);
	return NULL;
}

static struct error *plant_suspended(struct step_plan *p);
static struct error *step_exit_plant_panic(struct step_plan *p);
static struct error *note_stack(struct step_plan *p, pid_t tid);

/* Ignores that the CPU has no breakpoint left: panics and drops are not seen then. */
static struct error *if_there_is_one(const struct step_plan *p, struct error *err)
{
	if (!err || !p->d->control.hw_breakpoints_only || err->kind != ERR_STATE)
		return err;
	error_free(err);
	return NULL;
}

/*
 * While the instance is suspended, the CPU's breakpoints are for what ends that; and the reverse.
 */
static struct error *free_active(struct step_plan *p)
{
	struct internal_breakpoint *panicking = p->breakpoints.panicking;

	p->breakpoints.panicking = NULL;
	TRY(internal_breakpoint_remove(&p->d->control, panicking));
	return step_untrap(p, &p->breakpoints.lines);
}

static struct error *free_suspended(struct step_plan *p)
{
	TRY(step_untrap(p, &p->breakpoints.entries));
	return step_untrap(p, &p->breakpoints.drops);
}

static struct error *plant_active(struct step_plan *p)
{
	/* A coroutine goes on where it was, another future at the beginning of its function. */
	if (p->breakpoints.reach.limited && !type_is_coroutine(p->subject.instance.type))
		TRY(reachable_lines_find(p, p->where.at.function->low));
	TRY(step_lines_plant(p));
	return step_exit_plant_panic(p);
}

struct error *step_exit_at_return(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	bool pending;

	TRY(step_instance_is_pending(p, hit->tid, &pending));
	const struct exit_poll poll = { .pending = pending,
		                        .has_address = p->subject.instance.addr != 0,
		                        .is_inlined = p->subject.polled_call != 0,
		                        .has_entries = p->breakpoints.entries.n != 0,
		                        .later_entries = p->d->control.hw_breakpoints_only };
	const enum exit_return outcome = exit_rules_at_return(&poll);
	if (outcome == EXIT_LOST) {
		p->where.tid = hit->tid;
		p->exit.end.note = "it is suspended, and the debug info does not have its address: "
				   "it cannot be followed";
		step_exit_set(p, STEP_LEFT, stop);
		return NULL;
	}
	if (outcome == EXIT_RETURNED) {
		TRY(step_value_take(p, hit->tid));
		return returned(p, hit, stop);
	}
	struct internal_breakpoint *internal = p->breakpoints.returning;

	p->where.active = false;
	p->breakpoints.returning = NULL;
	TRY(internal_breakpoint_remove(&p->d->control, internal));
	if (p->d->control.hw_breakpoints_only)
		TRY(free_active(p));
	/* Another instance may be polled by a call with the same frame meanwhile. */
	if (p->breakpoints.by_call)
		TRY(step_untrap(p, &p->breakpoints.lines));
	TRY(step_task_note(p, hit->tid));
	TRY(note_stack(p, hit->tid));
	return plant_suspended(p);
}

struct tracer_filter step_returned_to(const struct step_plan *p, uint64_t sp)
{
	return (struct tracer_filter){ .reg = p->arch->sp, .size = 8, .value = sp };
}

struct error *step_exit_plant_return(struct step_plan *p)
{
	const struct tracer_filter filter = step_returned_to(p, p->where.cfa);

	if (!p->where.returns)
		return NULL;
	return step_lines_refuse(p,
	                         internal_breakpoint_add(&p->d->control,
	                                                 &(struct internal_breakpoint_options){
								 .addr = p->where.returns,
								 .filter = &filter,
								 .kind = INTERNAL_STEP_RETURN,
								 .decide = step_exit_at_return,
								 .arg = p },
	                                                 &p->breakpoints.returning),
	                         p->breakpoints.lines.n);
}

/* ---- polls ---- */

/* The state of the coroutine in the memory of the instance; it may be no coroutine. */
static enum instance_state state_there(struct step_plan *p)
{
	return type_is_coroutine(p->subject.instance.type) ? step_instance_state(p)
	                                                   : INSTANCE_UNKNOWN;
}

static void end_replaced(struct step_plan *p, const struct internal_hit *hit, bool *stop)
{
	p->where.tid = hit->tid;
	p->exit.end.note = "another one is about to be polled in its memory";
	step_exit_set(p, STEP_DROPPED, stop);
}

static struct error *resume(struct step_plan *p, const struct internal_hit *hit,
                            const struct step_frame *frame, bool *stop)
{
	p->where.active = true;
	p->exit.end.polls++;
	p->where.tid = hit->tid;
	p->where.cfa = frame->cfa;
	p->where.returns = frame->returns;
	step_value_begin(p, frame);
	/* The instructions of the resumed coroutine are to be executed one by one again. */
	*stop = p->walk.resumed = p->options->kind == STEP_INTO;
	if (p->d->control.hw_breakpoints_only)
		TRY(free_suspended(p));
	TRY(step_exit_plant_return(p));
	if (p->d->control.hw_breakpoints_only)
		return plant_active(p);
	return p->breakpoints.by_call ? step_lines_plant(p) : NULL;
}

static struct error *at_entry(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_frame frame;
	SCRATCH(tmp);

	if (p->where.active)
		return NULL;
	if (exit_rules_is_replaced(state_there(p))) {
		end_replaced(p, hit, stop);
		return NULL;
	}
	TRY(step_frame_at_entry(p, hit->tid, &tmp, &frame));
	return resume(p, hit, &frame, stop);
}

/*
 * The head of a coroutine that is inlined. The function need not have returned: what polls it again
 * and again may be inlined there, too.
 */
static struct error *at_inlined_entry(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_frame frame;
	SCRATCH(tmp);

	const struct exit_progress progress = { .active = p->where.active,
		                                .tid = p->where.tid,
		                                .cfa = p->where.cfa,
		                                .was_suspended = p->subject.was_suspended,
		                                .polls = p->exit.end.polls };
	/* The head of the coroutine may have code that its first poll executes later, too. */
	if (exit_rules_was_polled(&progress) && exit_rules_is_replaced(state_there(p))) {
		end_replaced(p, hit, stop);
		return NULL;
	}
	TRY(step_frame_read(p, hit->tid, &tmp, &frame));
	/* The hit may be of another poll or of this one: that is not known. */
	if (exit_rules_is_same_poll(&progress, hit->tid, frame.cfa))
		return NULL;
	if (p->where.active) {
		struct internal_breakpoint *returning = p->breakpoints.returning;

		p->breakpoints.returning = NULL;
		TRY(internal_breakpoint_remove(&p->d->control, returning));
		if (p->breakpoints.by_call)
			TRY(step_untrap(p, &p->breakpoints.lines));
	}
	return resume(p, hit, &frame, stop);
}

/* ---- drops ---- */

static struct error *step_exit_at_drop(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	bool cancelled;

	p->where.tid = hit->tid;
	TRY(step_task_is_cancelled(p, hit->tid, &cancelled));
	step_exit_set(p, cancelled ? STEP_CANCELLED : STEP_DROPPED, stop);
	return NULL;
}

/*
 * A drop of a suspended coroutine ends the step. One that has returned is dropped as well, but its
 * return ends the step.
 */
static struct error *at_inlined_drop(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;

	return step_instance_is_suspended(p, &p->subject.inlined) ? step_exit_at_drop(p, hit, stop)
	                                                          : NULL;
}

/* at_inlined_drop() for the step's own instance, which is inlined. */
static struct error *at_own_drop(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;

	return step_instance_is_suspended(p, &p->subject.instance) ? step_exit_at_drop(p, hit, stop)
	                                                           : NULL;
}

/* An argument of a function that is about to run. */
static struct error *breakpoint_argument(struct step_plan *p, internal_breakpoint_vec *to,
                                         enum internal_breakpoint_kind kind, uint64_t addr,
                                         unsigned n, uint64_t value, hit_callback *decide)
{
	const struct tracer_filter filter = { .reg = p->arch->arguments[n],
		                              .size = 8,
		                              .value = value };

	return step_add_breakpoint(p, to, kind, addr, &filter, decide);
}

static struct error *step_exit_plant_drops(struct step_plan *p, const struct function *poll,
                                           const struct step_instance *of, hit_callback *decide)
{
	const struct step_addresses *drops = step_cache_drops(p->d->step_cache, poll, of->type);

	for (size_t i = 0; i < drops->n; i++)
		TRY(if_there_is_one(p, breakpoint_argument(p, &p->breakpoints.drops,
		                                           INTERNAL_STEP_DROP, drops->data[i], 0,
		                                           of->addr, decide)));
	return NULL;
}

/*
 * The function may drop what is inlined into it, or leave that to the code that drops its own
 * object.
 */
static struct error *plant_inlined_drops(struct step_plan *p)
{
	const struct exit_code code = code_of_line(p);
	const struct function *poll = exit_rules_is_inlined_poll(&code)
	                                      ? p->where.at.lines->calls[p->where.at.call].function
	                                      : NULL;
	const struct type *type = poll ? step_instance_type(poll) : NULL;

	if (!type || !type_is_coroutine(type) || p->breakpoints.drops.n)
		return NULL;
	if (!p->subject.inlined.addr)
		p->subject.inlined = step_instance_within(p, type);
	return p->subject.inlined.addr
	               ? step_exit_plant_drops(p, poll, &p->subject.inlined, at_inlined_drop)
	               : NULL;
}

/* Internal breakpoints where an inlined instance may be resumed, and where it is dropped. */
static struct error *plant_polled_inlined(struct step_plan *p)
{
	const struct function_lines *l = p->where.at.lines;
	const struct line_rules rules = step_lines_rules(p);
	struct tracer_filter filter;
	uint64_t last = 0;

	if (p->breakpoints.entries.n)
		return NULL;
	for (size_t i = 0; i < l->nrows; i++) {
		const struct function_row *row = &l->rows[i];

		if (!line_rules_resumes_at(&rules, row, last) ||
		    !step_lines_filter_instance(p, row->addr, &filter))
			continue;
		TRY(step_add_breakpoint(p, &p->breakpoints.entries, INTERNAL_STEP_RESUME, row->addr,
		                        &filter, at_inlined_entry));
		last = row->addr;
	}
	return p->breakpoints.drops.n
	               ? NULL
	               : step_exit_plant_drops(p, l->calls[p->subject.polled_call].function,
	                                       &p->subject.instance, at_own_drop);
}

/* Internal breakpoints for a suspended instance: it may be polled again, or dropped. */
static struct error *plant_suspended(struct step_plan *p)
{
	if (p->subject.polled_call)
		return plant_polled_inlined(p);
	if (p->breakpoints.entries.n)
		return NULL;
	/* The address of a result that is returned in memory is the first argument. */
	for (unsigned i = 0; i < 2; i++)
		TRY(breakpoint_argument(p, &p->breakpoints.entries, INTERNAL_STEP_RESUME,
		                        p->where.at.function->low, i, p->subject.instance.addr,
		                        at_entry));
	TRY(plant_inlined_drops(p));
	return step_exit_plant_drops(p, p->where.at.function, &p->subject.instance,
	                             step_exit_at_drop);
}

/* ---- its thread ---- */

enum { EVERY_NS = 100000000 };

/* Notes whether the instance, which has just been suspended, lies on the stack of its thread. */
static struct error *note_stack(struct step_plan *p, pid_t tid)
{
	SCRATCH(tmp);
	struct exit_stack on = { .addr = p->subject.instance.addr, .cfa = p->where.cfa };
	struct region region;
	struct regs regs;

	p->subject.on_stack = false;
	if (!exit_rules_is_near(on.addr, on.cfa))
		return NULL;
	TRY(control_registers(&p->d->control, tid, &tmp, &regs));
	on.thread_pointer = regs.thread_pointer;
	on.end = target_region(p->in->target, &tmp, on.cfa, &region) ? region.end : 0;
	p->subject.on_stack = exit_rules_is_on_stack(&on);
	return NULL;
}

struct error *step_exit_if_thread_ended(void *arg, bool *stop)
{
	struct step_plan *p = arg;
	struct exit_thread thread = { .tid = p->where.tid,
		                      .kind = p->options->kind,
		                      .active = p->where.active,
		                      .leaving = p->exit.leaving,
		                      .on_stack = p->subject.on_stack,
		                      .on_any = p->subject.on_any,
		                      .line = p->where.at.line };

	*stop = false;
	if (!exit_rules_needs_thread(&thread) ||
	    !proc_thread_has_ended(p->d->control.pid, p->where.tid))
		return NULL;
	thread.suspended = p->where.active ? 0 : step_instance_line(p);
	p->exit.end.note = exit_rules_thread_note(&thread, &p->d->step_cache->arena);
	step_exit_set(p, STEP_THREAD_ENDED, stop);
	return NULL;
}

void step_exit_watch_thread(struct step_plan *p)
{
	p->d->control.step = (struct periodic_check){ .every_ns = EVERY_NS,
		                                      .look = step_exit_if_thread_ended,
		                                      .arg = p };
}

/* ---- panics ---- */

/* A function through which catch_unwind() calls what may panic. */
static bool catches(struct step_plan *p, uint64_t pc)
{
	SCRATCH(tmp);
	size_t n;
	const struct location *l = lookup_functions_at(p->in->di, pc, &tmp, &n);

	for (size_t i = 0; i < n; i++) {
		if (l[i].name && exit_rules_is_catch(l[i].name))
			return true;
	}
	return false;
}

static uint64_t frame_sp(void *arg, size_t frame)
{
	struct step_exit_stack *s = arg;

	return s->stack.frames[frame].sp;
}

static bool frame_catches(void *arg, size_t frame)
{
	struct step_exit_stack *s = arg;

	return catches(s->p, s->stack.frames[frame].lookup_pc);
}

static struct error *at_panic(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	SCRATCH(tmp);
	struct step_exit_stack s = { .p = p };

	if (!p->where.active || hit->tid != p->where.tid)
		return NULL;
	TRY(step_frame_stack(p, hit->tid, STACK_MAX_FRAMES, &tmp, &s.stack));
	const struct exit_panic panic = { .n = s.stack.nframes,
		                          .cfa = p->where.cfa,
		                          .sp = frame_sp,
		                          .catches = frame_catches,
		                          .arg = &s };
	if (exit_rules_is_unwound(&panic))
		step_exit_set(p, STEP_PANICKED, stop);
	return NULL;
}

static struct error *step_exit_plant_panic(struct step_plan *p)
{
	uint64_t panic = step_cache_panic(p->d->step_cache, p->in->di);

	if (!panic)
		return NULL;
	return if_there_is_one(p, internal_breakpoint_add(&p->d->control,
	                                                  &(struct internal_breakpoint_options){
								  .addr = panic,
								  .kind = INTERNAL_STEP_PANIC,
								  .decide = at_panic,
								  .arg = p },
	                                                  &p->breakpoints.panicking));
}

struct error *step_exit_plant(struct step_plan *p)
{
	TRY(step_exit_plant_return(p));
	TRY(step_exit_plant_panic(p));
	if (p->d->control.hw_breakpoints_only)
		return NULL;
	TRY(plant_inlined_drops(p));
	return p->subject.polled_call ? plant_polled_inlined(p) : NULL;
}
