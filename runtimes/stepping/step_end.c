/* How a step ends otherwise than at a line: returned, dropped, cancelled, panicked. */
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/live/proc.h"
#include "debugger/target/target.h"
#include "dwarf/names/source.h"
#include "dwarf/types/type.h"
#include "runtimes/common/inspector.h"
#include "runtimes/future/future.h"
#include "runtimes/stepping/step_plan.h"

void step_end_set(struct step_plan *p, enum step_reason reason, bool *stop)
{
	p->end.reason = reason;
	*stop = true;
}

/* ---- returns ---- */

const char step_inlined_note[] =
	"its code is inlined into another function: whether it has returned, "
	"is suspended or was dropped is not known";

/*
 * The code is the body of a coroutine, but that of the function does not poll it alone: what the
 * function returns says nothing of the coroutine.
 */
static bool is_inlined_poll(const struct step_plan *p)
{
	return p->at.lines && p->at.lines->ncalls && p->at.lines->calls[p->at.call].is_coroutine &&
	       (p->at.call != p->polled_call || !p->instance.type);
}

/* What the return of its function means. */
static enum step_reason reason_of_return(struct step_plan *p)
{
	bool known = p->polled_call ? step_instance_has_returned(p) : !is_inlined_poll(p);

	return known ? STEP_RETURNED : STEP_LEFT;
}

static struct error *at_users_frame(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;

	(void)hit;
	step_end_set(p, p->left_as, stop);
	return NULL;
}

/* Whether code of the user's is in a frame, inlined or not. */
static bool is_users(struct step_plan *p, uint64_t pc)
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

/* The innermost frame from the nth on that has code of the user's; 0: none. */
static size_t find_users_frame(struct step_plan *p, const struct stack *stack, size_t n)
{
	for (; n < stack->nframes; n++) {
		if (is_users(p, stack->frames[n].lookup_pc))
			return n;
	}
	return 0;
}

/* Whether a future of the user's is polled in a frame. What runs an executor is none. */
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

struct error *step_end_clear(struct step_plan *p)
{
	struct trap *returning = p->returning;

	p->returning = NULL;
	TRY(trap_remove(&p->d->control, returning));
	TRY(step_untrap(p, &p->lines));
	TRY(step_untrap(p, &p->entries));
	return step_untrap(p, &p->drops);
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
		const char *file = inspector_source(p->in, &tmp, l[i].file, l[i].comp_dir).text;

		if (name)
			return arena_printf(a, "%s at %s:%u", str_clean(&tmp, name, strlen(name)),
			                    str_clean(&tmp, file, strlen(file)), l[i].line);
	}
	return NULL;
}

/* Goes on to a frame of the user's code that is farther out. */
static struct error *leave(struct step_plan *p, const struct frame *frame)
{
	const struct tracer_filter filter = step_returned_to(p, frame->sp);

	p->leaving = true;
	p->left_as = reason_of_return(p);
	p->out_to = name_users(p, frame->lookup_pc);
	p->cfa = frame->sp;
	TRY(step_end_clear(p));
	return step_trap(p, &p->lines, frame->pc, &filter, at_users_frame);
}

/*
 * Whether the code of the user's in the nth frame is of the task that the thread runs. A function
 * that runs all tasks of its thread, as main() does, goes on long after the task, or for ever.
 */
static bool is_of_task(struct step_plan *p, const struct stack *stack, size_t n)
{
	if (!p->owner.task)
		return true;
	for (; n < stack->nframes; n++) {
		if (polls_users(p, stack->frames[n].lookup_pc, false))
			return true;
	}
	return false;
}

/* polling: only to one that polls a coroutine. */
static struct error *go_out(struct step_plan *p, pid_t tid, bool polling, bool *found)
{
	SCRATCH(tmp);
	struct stack stack;

	TRY(step_frame_stack(p, tid, STACK_MAX_FRAMES, &tmp, &stack));
	size_t n = find_users_frame(p, &stack, 1);
	*found = n && is_of_task(p, &stack, n) &&
	         (!polling || polls_users(p, stack.frames[n].lookup_pc, true));
	return *found ? leave(p, &stack.frames[n]) : NULL;
}

struct error *step_end_go_out(struct step_plan *p, pid_t tid, bool *found)
{
	return go_out(p, tid, false, found);
}

/* The function has returned for good: to code of the user, or to a library. */
static struct error *returned(struct step_plan *p, const struct trap_hit *hit, bool *stop)
{
	enum step_reason reason = reason_of_return(p);
	bool found;

	p->tid = hit->tid;
	if (reason == STEP_LEFT)
		p->end.note = step_inlined_note;
	if (p->options->whole)
		p->end.note = "its task has finished";
	if (p->options->whole || is_users(p, hit->addr - 1)) {
		step_end_set(p, reason, stop);
		return NULL;
	}
	/* What runs an executor may go on for long with a coroutine that is not known to have
	 * ended. */
	TRY(go_out(p, hit->tid, reason == STEP_LEFT, &found));
	if (found)
		return NULL;
	if (!p->end.note)
		p->end.note = p->instance.type ? "no async function of yours awaits it"
		                               : "no code of yours called it";
	step_end_set(p, reason, stop);
	return NULL;
}

static struct error *plant_suspended(struct step_plan *p);
static struct error *plant_panic(struct step_plan *p);
static struct error *note_stack(struct step_plan *p, pid_t tid);

/* What is not seen where the processor has no breakpoint left for it: panics and drops. */
static struct error *if_there_is_one(const struct step_plan *p, struct error *err)
{
	if (!err || !p->d->control.production || err->kind != ERR_STATE)
		return err;
	error_free(err);
	return NULL;
}

/* While it is suspended, the processor's breakpoints are for what ends that; and the reverse. */
static struct error *free_active(struct step_plan *p)
{
	struct trap *panicking = p->panicking;

	p->panicking = NULL;
	TRY(trap_remove(&p->d->control, panicking));
	return step_untrap(p, &p->lines);
}

static struct error *free_suspended(struct step_plan *p)
{
	TRY(step_untrap(p, &p->entries));
	return step_untrap(p, &p->drops);
}

static struct error *plant_active(struct step_plan *p)
{
	/* A coroutine goes on where it was, another future at the beginning of its function. */
	if (p->reach.limited && !type_is_coroutine(p->instance.type))
		TRY(step_reach_find(p, p->at.function->low));
	TRY(step_lines_plant(p));
	return plant_panic(p);
}

struct error *step_end_at_return(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	bool pending;

	TRY(step_instance_is_pending(p, hit->tid, &pending));
	bool unseen = p->polled_call && !p->entries.n && !p->d->control.production;
	if (pending && (!p->instance.addr || unseen)) {
		p->tid = hit->tid;
		p->end.note = "it is suspended, and the debug info does not tell its address: it "
			      "cannot be followed";
		step_end_set(p, STEP_LEFT, stop);
		return NULL;
	}
	if (!pending) {
		TRY(step_value_take(p, hit->tid));
		return returned(p, hit, stop);
	}
	struct trap *trap = p->returning;

	p->active = false;
	p->returning = NULL;
	TRY(trap_remove(&p->d->control, trap));
	if (p->d->control.production)
		TRY(free_active(p));
	/* Another instance may be polled by a call with the same frame meanwhile. */
	if (p->by_call)
		TRY(step_untrap(p, &p->lines));
	TRY(step_owner_note(p, hit->tid));
	TRY(note_stack(p, hit->tid));
	return plant_suspended(p);
}

struct tracer_filter step_returned_to(const struct step_plan *p, uint64_t sp)
{
	return (struct tracer_filter){ .reg = p->arch->sp, .size = 8, .value = sp };
}

struct error *step_end_plant_return(struct step_plan *p)
{
	const struct tracer_filter filter = step_returned_to(p, p->cfa);

	if (!p->returns)
		return NULL;
	return step_lines_refuse(p,
	                         trap_add(&p->d->control,
	                                  &(struct trap_options){ .addr = p->returns,
	                                                          .filter = &filter,
	                                                          .decide = step_end_at_return,
	                                                          .arg = p },
	                                  &p->returning),
	                         p->lines.n);
}

/* ---- polls ---- */

/*
 * Whether another instance is polled for the first time in the memory of this one, which was
 * suspended. Its drop was not seen, as optimised code has it inline.
 */
static bool is_replaced(struct step_plan *p)
{
	const char *state = type_is_coroutine(p->instance.type) ? step_instance_state(p) : NULL;

	return state && strcmp(state, "Unresumed") == 0;
}

static void end_replaced(struct step_plan *p, const struct trap_hit *hit, bool *stop)
{
	p->tid = hit->tid;
	p->end.note = "another one is about to be polled in its memory";
	step_end_set(p, STEP_DROPPED, stop);
}

static struct error *resume(struct step_plan *p, const struct trap_hit *hit,
                            const struct step_frame *frame, bool *stop)
{
	p->active = true;
	p->end.polls++;
	p->tid = hit->tid;
	p->cfa = frame->cfa;
	p->returns = frame->returns;
	step_value_begin(p, frame);
	/* Its instructions are to be executed one by one again. */
	*stop = p->resumed = p->options->kind == STEP_INTO;
	if (p->d->control.production)
		TRY(free_suspended(p));
	TRY(step_end_plant_return(p));
	if (p->d->control.production)
		return plant_active(p);
	return p->by_call ? step_lines_plant(p) : NULL;
}

static struct error *at_entry(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_frame frame;
	SCRATCH(tmp);

	if (p->active)
		return NULL;
	if (is_replaced(p)) {
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
static struct error *at_inlined_entry(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_frame frame;
	SCRATCH(tmp);

	/* Its head may have code that its first poll executes later, too. */
	bool polled_before = p->was_suspended || p->end.polls || !p->active;
	if (polled_before && is_replaced(p)) {
		end_replaced(p, hit, stop);
		return NULL;
	}
	TRY(step_frame_read(p, hit->tid, &tmp, &frame));
	/* Of another poll, or of this one: that is not known. */
	if (p->active && hit->tid == p->tid && frame.cfa == p->cfa)
		return NULL;
	if (p->active) {
		struct trap *returning = p->returning;

		p->returning = NULL;
		TRY(trap_remove(&p->d->control, returning));
		if (p->by_call)
			TRY(step_untrap(p, &p->lines));
	}
	return resume(p, hit, &frame, stop);
}

/* ---- drops ---- */

static struct error *at_drop(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	bool cancelled;

	p->tid = hit->tid;
	TRY(step_owner_is_cancelled(p, hit->tid, &cancelled));
	step_end_set(p, cancelled ? STEP_CANCELLED : STEP_DROPPED, stop);
	return NULL;
}

/* One that has returned is dropped as well: what returns from it says so. */
static struct error *at_inlined_drop(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;

	return step_instance_is_suspended(p, &p->inlined) ? at_drop(p, hit, stop) : NULL;
}

/* The same of the instance, which is inlined. */
static struct error *at_own_drop(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;

	return step_instance_is_suspended(p, &p->instance) ? at_drop(p, hit, stop) : NULL;
}

/* An argument of a function that is about to run. */
static struct error *trap_argument(struct step_plan *p, trap_vec *to, uint64_t addr, unsigned n,
                                   uint64_t value, trap_decide *decide)
{
	const struct tracer_filter filter = { .reg = p->arch->arguments[n],
		                              .size = 8,
		                              .value = value };

	return step_trap(p, to, addr, &filter, decide);
}

static struct error *plant_drops(struct step_plan *p, const struct function *poll,
                                 const struct step_instance *of, trap_decide *decide)
{
	const struct step_addresses *drops = step_cache_drops(p->d->step_cache, poll, of->type);

	for (size_t i = 0; i < drops->n; i++)
		TRY(if_there_is_one(
			p, trap_argument(p, &p->drops, drops->data[i], 0, of->addr, decide)));
	return NULL;
}

/* The function may drop what is inlined into it, or leave that to who drops its own object. */
static struct error *plant_inlined_drops(struct step_plan *p)
{
	const struct function *poll =
		is_inlined_poll(p) ? p->at.lines->calls[p->at.call].function : NULL;
	const struct type *type = poll ? step_instance_type(poll) : NULL;

	if (!type || !type_is_coroutine(type) || p->drops.n)
		return NULL;
	if (!p->inlined.addr)
		p->inlined = step_instance_within(p, type);
	return p->inlined.addr ? plant_drops(p, poll, &p->inlined, at_inlined_drop) : NULL;
}

/* Where the instance may be resumed, if it is inlined, and where it is dropped. */
static struct error *plant_polled_inlined(struct step_plan *p)
{
	const struct function_lines *l = p->at.lines;
	struct tracer_filter filter;
	uint64_t last = 0;

	if (p->entries.n)
		return NULL;
	for (size_t i = 0; i < l->nrows; i++) {
		const struct function_row *row = &l->rows[i];

		if (row->call != p->polled_call || row->addr == last ||
		    !step_lines_is_head(l, row) ||
		    !step_lines_filter_instance(p, row->addr, &filter))
			continue;
		TRY(step_trap(p, &p->entries, row->addr, &filter, at_inlined_entry));
		last = row->addr;
	}
	return p->drops.n ? NULL
	                  : plant_drops(p, l->calls[p->polled_call].function, &p->instance,
	                                at_own_drop);
}

/* It is suspended: it may be polled again, or dropped. */
static struct error *plant_suspended(struct step_plan *p)
{
	if (p->polled_call)
		return plant_polled_inlined(p);
	if (p->entries.n)
		return NULL;
	/* Where a result is returned in memory, its address is the first argument. */
	for (unsigned i = 0; i < 2; i++)
		TRY(trap_argument(p, &p->entries, p->at.function->low, i, p->instance.addr,
		                  at_entry));
	TRY(plant_inlined_drops(p));
	return plant_drops(p, p->at.function, &p->instance, at_drop);
}

/* ---- its thread ---- */

enum { MAX_STACK = 64 << 20, EVERY_NS = 100000000 };

/*
 * Notes whether the instance, just suspended, lies on the stack of its thread: in the same mapping,
 * farther out than the call, and below the thread's own data, which the C library has at its end.
 */
static struct error *note_stack(struct step_plan *p, pid_t tid)
{
	SCRATCH(tmp);
	uint64_t addr = p->instance.addr;
	struct region region;
	struct regs regs;

	p->on_stack = false;
	if (addr - p->cfa >= MAX_STACK)
		return NULL;
	TRY(control_registers(&p->d->control, tid, &tmp, &regs));
	if (regs.thread_pointer - p->cfa < MAX_STACK && addr >= regs.thread_pointer)
		return NULL;
	p->on_stack = target_region(p->in->target, &tmp, p->cfa, &region) && addr < region.end;
	return NULL;
}

struct error *step_end_if_thread_ended(void *arg, bool *stop)
{
	struct step_plan *p = arg;
	bool needed = p->active || p->leaving || p->on_stack;

	*stop = false;
	if (!needed || p->on_any || !proc_thread_has_ended(p->d->control.pid, p->tid))
		return NULL;
	bool goes_on = p->options->kind == STEP_FINISH || p->options->kind == STEP_UNTIL;
	unsigned line = p->active ? 0 : step_instance_line(p);
	p->end.note = arena_printf(&p->d->step_cache->arena,
	                           p->active && !goes_on ? "thread %d has ended in the middle of "
	                                                   "line %u"
	                           : p->active ? "thread %d has ended in the middle of a step from "
	                                         "line %u"
	                           : line      ? "thread %d has ended, on whose stack it was "
	                                         "suspended at line %u"
	                                       : "thread %d has ended, on whose stack it was "
	                                         "suspended, in a step from line %u",
	                           (int)p->tid, line ? line : p->at.line);
	step_end_set(p, STEP_THREAD_ENDED, stop);
	return NULL;
}

void step_end_watch_thread(struct step_plan *p)
{
	p->d->control.step = (struct control_look){ .every_ns = EVERY_NS,
		                                    .look = step_end_if_thread_ended,
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
		if (l[i].name &&
		    (strstr(l[i].name, "panicking::catch_unwind") ||
		     strstr(l[i].name, "panicking::try") || strcmp(l[i].name, "__rust_try") == 0))
			return true;
	}
	return false;
}

/* Whether the panic unwinds the call in progress. */
static bool is_unwound(struct step_plan *p, const struct stack *stack)
{
	for (size_t i = 0; i < stack->nframes; i++) {
		if (i && stack->frames[i].sp == p->cfa)
			return true;
		if (stack->frames[i].sp > p->cfa || catches(p, stack->frames[i].lookup_pc))
			return false;
	}
	return false;
}

static struct error *at_panic(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	SCRATCH(tmp);
	struct stack stack;

	if (!p->active || hit->tid != p->tid)
		return NULL;
	TRY(step_frame_stack(p, hit->tid, STACK_MAX_FRAMES, &tmp, &stack));
	if (is_unwound(p, &stack))
		step_end_set(p, STEP_PANICKED, stop);
	return NULL;
}

static struct error *plant_panic(struct step_plan *p)
{
	uint64_t panic = step_cache_panic(p->d->step_cache, p->in->di);

	if (!panic)
		return NULL;
	return if_there_is_one(
		p, trap_add(&p->d->control,
	                    &(struct trap_options){ .addr = panic, .decide = at_panic, .arg = p },
	                    &p->panicking));
}

struct error *step_end_plant(struct step_plan *p)
{
	TRY(step_end_plant_return(p));
	TRY(plant_panic(p));
	if (p->d->control.production)
		return NULL;
	TRY(plant_inlined_drops(p));
	return p->polled_call ? plant_polled_inlined(p) : NULL;
}
