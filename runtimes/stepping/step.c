/*
 * Internal breakpoints of a step, by their lists in struct step_plan: where each is placed, and
 * what a hit that its filter lets through means. The callbacks in parentheses read what a hit
 * shows and act; what to do is decided in runtimes/step_rules.
 *
 * - lines, at other lines of the function, for the instance or the call in progress alone: the
 *   step is over. It ends by a return where the line is behind an inlined call (at_line()).
 * - returning, at the return address of the call or poll in progress: if the future is suspended,
 *   its poll is over, and entries and drops are planted, or the step is over if it cannot be
 *   followed; otherwise the function has returned (step_exit_at_return()).
 * - lines, at the next frame of the user's code if the caller is a library: the thread has come
 *   out to a caller that the user knows (at_users_frame()).
 * - entries, at the entry of the instance's poll function, while it is suspended, or all the time
 *   at the head of an inlined coroutine: any thread polls it again, and that poll is the one in
 *   progress now; or its memory has another instance, so that the first one was dropped unseen
 *   (at_entry(), at_inlined_entry()).
 * - drops, at drop glue of the future, and of a coroutine that is inlined into its poll function:
 *   it was dropped before it was ready, or its task was cancelled (step_exit_at_drop()). An inlined
 *   one that has returned is dropped, too: only a suspended one counts (at_inlined_drop(),
 *   at_own_drop()).
 * - panicking, at rust_panic(): the step is over if the panic unwinds the call in progress before
 *   anything catches it (at_panic()).
 *
 * `step` executes instructions one by one (step_into.c). A function of the user's that they call is
 * the one of the step from then on, and the step ends there, at:
 *
 * - lines, at the first line of its body (step_into_at_body()), or the other lines of a coroutine
 *   (at_line()).
 *
 * Where it runs over a call, as `nexti` does, it also has:
 *
 * - a list of its own, at the return address of that call: the call is over (has_returned()).
 * - targets, at poll functions of coroutines that the call may poll, and at closures of the user's
 *   in its generics: the thread has come to one further in, and the step goes on in the coroutine
 *   (at_target()) or ends in the closure (at_closure()). Not for `nexti`.
 *
 * `step --spawned` follows the task that the line makes, on whatever thread (step_to_task_end.c):
 *
 * - spawn.places, where the runtime makes tasks: the line has made one, whose header is known now
 *   (at_spawn()).
 * - entries, at the poll function of that task: some thread polls it, and is followed (at_poll()).
 * - targets, at code of the user's in its future: the step goes on in a function, to its first
 *   line (at_code()), or ends at that of an inlined one (step_to_task_end_at_body()).
 * - lines, at the return address of that poll: it came to no code of the user's
 *   (at_poll_return()).
 * - targets, if the place where tasks are made is not known, at coroutines of the spawned types:
 *   one is polled for the first time, and the step ends in it (at_spawned(), at_spawned_body()).
 *
 * With --production, which has the CPU's four breakpoints alone, lines and panicking exist only
 * while a poll is in progress, entries and drops only while the future is suspended. A periodic
 * check finds that the thread of the step has ended (step_exit_watch_thread()).
 */
#include "runtimes/stepping/step.h"

#include <string.h>

#include "debugger/base/str.h"
#include "debugger/live/proc.h"
#include "dwarf/names/source.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/step_plan.h"

/* ---- internal breakpoints ---- */

struct error *step_add_breakpoint(struct step_plan *p, internal_breakpoint_vec *to,
                                  enum internal_breakpoint_kind kind, uint64_t addr,
                                  const struct tracer_filter *filter, hit_callback *decide)
{
	struct internal_breakpoint *internal;

	TRY(internal_breakpoint_add(
		&p->d->control,
		&(struct internal_breakpoint_options){
			.addr = addr, .filter = filter, .decide = decide, .arg = p, .kind = kind },
		&internal));
	*vec_push(to) = internal;
	return NULL;
}

struct error *step_untrap(struct step_plan *p, internal_breakpoint_vec *internals)
{
	struct error *first = NULL;

	for (size_t i = 0; i < internals->n; i++) {
		struct error *err = internal_breakpoint_remove(&p->d->control, internals->data[i]);

		if (first)
			error_free(err);
		else
			first = err;
	}
	internals->n = 0;
	return first;
}

static struct error *end_traps(struct step_plan *p)
{
	internal_breakpoint_vec rest = { 0 };
	struct error *first = NULL;
	internal_breakpoint_vec *const all[] = { &p->breakpoints.lines,    &p->breakpoints.entries,
		                                 &p->breakpoints.drops,    &p->breakpoints.targets,
		                                 &p->subject.spawn.places, &rest };

	if (p->breakpoints.returning)
		*vec_push(&rest) = p->breakpoints.returning;
	if (p->breakpoints.panicking)
		*vec_push(&rest) = p->breakpoints.panicking;
	internal_breakpoint_begin_batch(&p->d->control);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct error *err = step_untrap(p, all[i]);

		vec_free(all[i]);
		if (first)
			error_free(err);
		else
			first = err;
	}
	return internal_breakpoint_commit_after(&p->d->control, first);
}

/* ---- plans ---- */

/* The code of the package in which the thread stands is taken for the user's from now on. */
static void take_package(struct step_plan *p, uint64_t pc)
{
	const char *dir = p->where.at.lines ? p->where.at.lines->comp_dir : NULL,
		   *file = p->where.at.file;

	if (!file)
		return;
	const char *path = *file == '/' || !dir ? file : arena_printf(p->arena, "%s/%s", dir, file);
	const char *package = source_package(p->arena, path);
	if (!package)
		return;
	p->own_package = package;
	step_place_at(p, pc, &p->where.at);
}

/* A thread that waits in the kernel may do so for ever. */
static void say_waiting(struct step_plan *p, uint64_t pc)
{
	const size_t size = p->arch->syscall_insn_size;
	const struct debuggee_listener *l = &p->d->listener;
	unsigned char code[sizeof(uint64_t)];
	STR(text);

	if (!size || size > sizeof(code) || !l->warned || !p->exit.out_to)
		return;
	struct error *err CLEANUP(error_freep) =
		control_read(&p->d->control, pc - size, code, size);
	if (err || memcmp(code, p->arch->syscall_insn, size) != 0)
		return;
	str_printf(&text, "%s: thread %d is in a system call: waiting for a return to %s, or ^C",
	           step_kind_name(p->options->kind), (int)p->where.tid, p->exit.out_to);
	l->warned(l->arg, str_text(&text));
}

/*
 * Begins a step in a library: it goes out to the nearest code of the user's. *out false: there is
 * none on the stack, and the package of the library is stepped through.
 */
static struct error *begin_outside(struct step_plan *p, uint64_t pc, bool *out)
{
	TRY(step_exit_run_to_user_caller(p, p->where.tid, out));
	if (*out) {
		say_waiting(p, pc);
		return NULL;
	}
	take_package(p, pc);
	if (p->where.at.users && p->where.at.line)
		return NULL;
	return error_new(ERR_STATE, "no user code on this thread's stack: \"--all-code\" "
	                            "steps through libraries, too");
}

static struct error *step_begin(struct step_plan *p, struct arena *a)
{
	struct step_frame frame;

	if (p->options->whole)
		return step_to_task_end_begin(p);
	TRY(step_frame_read(p, p->where.tid, a, &frame));
	step_place_at(p, frame.pc, &p->where.at);
	p->where.cfa = frame.cfa;
	p->where.returns = frame.returns;
	p->where.active = true;
	step_value_begin(p, &frame);
	step_task_begin(p);
	if (p->options->kind == STEP_INSTRUCTION)
		return NULL;
	if (!p->where.at.users || !p->where.at.line) {
		bool out;

		TRY(begin_outside(p, frame.pc, &out));
		if (out)
			return NULL;
	}
	TRY(step_instance_find(p, &frame, &p->subject.instance));
	p->exit.end.async = p->subject.instance.type != NULL;
	p->exit.end.instance = p->subject.instance.addr;
	p->exit.end.instance_size =
		p->subject.instance.type ? type_size(p->subject.instance.type) : 0;
	/* Inlined code does not return: the code around it goes on. */
	if (p->options->kind != STEP_FINISH || p->where.at.call) {
		TRY(reachable_lines_find(p, frame.pc));
		TRY(step_lines_plant(p));
	}
	TRY(step_exit_plant(p));
	return step_spawn_begin(p);
}

static struct error *step_run_once(struct step_plan *p)
{
	bool into = p->options->kind == STEP_INTO && !p->exit.leaving;

	debuggee_forget_hits(p->d);
	step_exit_watch_thread(p);
	if (into || p->options->kind == STEP_INSTRUCTION)
		return control_stop_from_error(&p->d->control, step_into_run(p));
	return debuggee_continue(p->d);
}

/* Place at which the function is now, or was suspended; else where the step began. */
static const char *where(struct step_plan *p)
{
	struct arena *a = &p->d->step_cache->arena;
	unsigned line = p->where.active ? step_frame_line(p) : step_instance_line(p);

	if (line)
		return arena_printf(a, "%s line %u", p->where.active ? "at" : "suspended at", line);
	return arena_printf(a, "%sat line %u when the step began",
	                    p->where.active ? "" : "suspended, ", p->where.at.line);
}

/* Says what the step was waiting for. */
static void give_up(struct step_plan *p)
{
	struct arena *a = &p->d->step_cache->arena;
	const char *name = step_kind_name(p->options->kind);

	p->exit.end.reason = STEP_BROKEN;
	if (!p->d->control.pid)
		p->exit.end.note = arena_printf(a, "%s: the program ended meanwhile", name);
	else if (p->options->whole)
		p->exit.end.note =
			arena_printf(a, "%s --whole cancelled: the task has not finished", name);
	else if (p->exit.leaving && p->exit.out_to)
		p->exit.end.note =
			arena_printf(a, "%s cancelled: it was waiting for the return to %s", name,
		                     p->exit.out_to);
	else if (p->subject.instance.addr && !p->where.active)
		p->exit.end.note = arena_printf(
			a, "%s cancelled: the async function was not resumed, it is %s", name,
			where(p));
	else if (p->where.at.line)
		p->exit.end.note =
			arena_printf(a, "%s cancelled: the function was %s", name, where(p));
	else
		p->exit.end.note = arena_printf(a, "%s cancelled", name);
}

static void step_finish(struct step_plan *p)
{
	struct control_stop *stop = &p->d->control.stop;

	/* Something else has halted the program in that moment. */
	if (p->exit.end.reason == STEP_THREAD_ENDED &&
	    (stop->reason != CONTROL_CAUGHT || p->d->breakpoint))
		p->exit.end.reason = STEP_NONE;
	if (p->exit.end.reason == STEP_THREAD_ENDED)
		stop->tid = proc_living_thread(p->d->control.pid);
	if (p->exit.end.reason != STEP_NONE)
		return;
	/* A single instruction has its own reason to stop. */
	if (p->options->kind == STEP_INSTRUCTION && p->d->control.stop.reason == CONTROL_STEPPED)
		p->exit.end.reason = STEP_LINE;
	else
		give_up(p);
}

/* A step that ends where no internal breakpoint was needed may have come to breakpoints of the
 * user. */
static struct error *arrive(struct step_plan *p)
{
	struct control *c = &p->d->control;

	if (!p->walk.by_itself || !c->pid || p->exit.end.reason == STEP_THREAD_ENDED)
		return NULL;
	return control_stop_from_error(c, control_report_breakpoint_here(c, p->where.tid));
}

struct error *step_run(struct debuggee *d, const struct step_options *options)
{
	struct step_plan p = { .d = d, .options = options, .where.tid = options->tid };
	SCRATCH(tmp);

	if (!d->control.pid || !d->handle)
		return error_new(ERR_STATE, "no program is being debugged");
	if (!d->step_cache)
		d->step_cache = step_cache_new();
	p.in = asyncdbg_inspector(d->handle);
	p.arch = p.in->target->arch;
	p.own_package = debuginfo_program_package(p.in->di);
	p.arena = &tmp;
	p.exit.end = (struct step_exit){ .kind = options->kind, .from = options->tid };
	internal_breakpoint_begin_batch(&d->control);
	struct error *err = internal_breakpoint_commit_after(&d->control, step_begin(&p, &tmp));
	if (!err)
		err = step_run_once(&p);
	d->control.step = (struct periodic_check){ 0 };
	struct error *end = control_stop_from_error(&d->control, end_traps(&p));
	/* The program has ended, and the step with it. */
	if (!d->control.pid)
		p.exit.end.reason = STEP_NONE;
	step_finish(&p);
	map_free(&p.breakpoints.reach.places);
	map_free(&p.breakpoints.loops);
	vec_free(&p.breakpoints.loop_places);
	if (err) {
		error_free(end);
		return err;
	}
	d->step = p.exit.end;
	return end ? end : arrive(&p);
}

const char *step_kind_name(enum step_kind kind)
{
	static const char *const names[] = {
		[STEP_NEXT] = "next",   [STEP_INTO] = "step",         [STEP_FINISH] = "finish",
		[STEP_UNTIL] = "until", [STEP_INSTRUCTION] = "nexti",
	};

	return names[kind];
}

const char *step_reason_name(enum step_reason reason)
{
	static const char *const names[] = {
		[STEP_NONE] = "none",         [STEP_LINE] = "step",
		[STEP_RETURNED] = "returned", [STEP_LEFT] = "left",
		[STEP_DROPPED] = "dropped",   [STEP_CANCELLED] = "cancelled",
		[STEP_PANICKED] = "panicked", [STEP_THREAD_ENDED] = "thread-ended",
		[STEP_BROKEN] = "broken",
	};

	return names[reason];
}
