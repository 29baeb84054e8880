#include "runtimes/stepping/step.h"

#include <string.h>

#include "debugger/base/str.h"
#include "debugger/live/proc.h"
#include "dwarf/names/source.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/step_plan.h"

/* ---- traps ---- */

struct error *step_trap(struct step_plan *p, trap_vec *to, uint64_t addr,
                        const struct tracer_filter *filter, trap_decide *decide)
{
	struct trap *trap;

	TRY(trap_add(&p->d->control,
	             &(struct trap_options){
			     .addr = addr, .filter = filter, .decide = decide, .arg = p },
	             &trap));
	*vec_push(to) = trap;
	return NULL;
}

struct error *step_untrap(struct step_plan *p, trap_vec *traps)
{
	struct error *first = NULL;

	for (size_t i = 0; i < traps->n; i++) {
		struct error *err = trap_remove(&p->d->control, traps->data[i]);

		if (first)
			error_free(err);
		else
			first = err;
	}
	traps->n = 0;
	return first;
}

static struct error *end_traps(struct step_plan *p)
{
	trap_vec rest = { 0 };
	struct error *first = NULL;
	trap_vec *const all[] = { &p->lines,   &p->entries,      &p->drops,
		                  &p->targets, &p->spawn.places, &rest };

	if (p->returning)
		*vec_push(&rest) = p->returning;
	if (p->panicking)
		*vec_push(&rest) = p->panicking;
	trap_hold(&p->d->control);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct error *err = step_untrap(p, all[i]);

		vec_free(all[i]);
		if (first)
			error_free(err);
		else
			first = err;
	}
	return trap_apply_after(&p->d->control, first);
}

/* ---- plans ---- */

/* The code of the package in which the thread stands is taken for the user's from now on. */
static void take_package(struct step_plan *p, uint64_t pc)
{
	const char *dir = p->at.lines ? p->at.lines->comp_dir : NULL, *file = p->at.file;

	if (!file)
		return;
	const char *path = *file == '/' || !dir ? file : arena_printf(p->arena, "%s/%s", dir, file);
	const char *package = source_package(p->arena, path);
	if (!package)
		return;
	p->own_package = package;
	step_place_at(p, pc, &p->at);
}

/* A thread that waits in the kernel may do so for ever. */
static void say_waiting(struct step_plan *p, uint64_t pc)
{
	const size_t size = p->arch->syscall_insn_size;
	const struct debuggee_listener *l = &p->d->listener;
	unsigned char code[sizeof(uint64_t)];
	STR(text);

	if (!size || size > sizeof(code) || !l->warned || !p->out_to)
		return;
	struct error *err CLEANUP(error_freep) =
		control_read(&p->d->control, pc - size, code, size);
	if (err || memcmp(code, p->arch->syscall_insn, size) != 0)
		return;
	str_printf(&text, "%s: thread %d is in a system call: waiting for a return to %s, or ^C",
	           step_kind_name(p->options->kind), (int)p->tid, p->out_to);
	l->warned(l->arg, str_text(&text));
}

/*
 * In a library, a step goes out to the nearest code of the user's. *out false: there is none on the
 * stack, and the package of the library is stepped through.
 */
static struct error *begin_outside(struct step_plan *p, uint64_t pc, bool *out)
{
	TRY(step_end_go_out(p, p->tid, out));
	if (*out) {
		say_waiting(p, pc);
		return NULL;
	}
	take_package(p, pc);
	if (p->at.users && p->at.line)
		return NULL;
	return error_new(ERR_STATE,
	                 "no code of yours is on the stack of this thread: \"--all-code\" "
	                 "steps through libraries, too");
}

static struct error *begin(struct step_plan *p, struct arena *a)
{
	struct step_frame frame;

	if (p->options->whole)
		return step_whole_begin(p);
	TRY(step_frame_read(p, p->tid, a, &frame));
	step_place_at(p, frame.pc, &p->at);
	p->cfa = frame.cfa;
	p->returns = frame.returns;
	p->active = true;
	step_value_begin(p, &frame);
	step_owner_begin(p);
	if (p->options->kind == STEP_INSTRUCTION)
		return NULL;
	if (!p->at.users || !p->at.line) {
		bool out;

		TRY(begin_outside(p, frame.pc, &out));
		if (out)
			return NULL;
	}
	TRY(step_instance_find(p, &frame, &p->instance));
	p->end.async = p->instance.type != NULL;
	p->end.instance = p->instance.addr;
	p->end.instance_size = p->instance.type ? type_size(p->instance.type) : 0;
	/* What is inlined does not return: the code around it goes on. */
	if (p->options->kind != STEP_FINISH || p->at.call) {
		TRY(step_reach_find(p, frame.pc));
		TRY(step_lines_plant(p));
	}
	TRY(step_end_plant(p));
	return step_spawn_begin(p);
}

static struct error *run(struct step_plan *p)
{
	bool into = p->options->kind == STEP_INTO && !p->leaving;

	debuggee_forget_hits(p->d);
	step_end_watch_thread(p);
	if (into || p->options->kind == STEP_INSTRUCTION)
		return control_as_stop(&p->d->control, step_into_run(p));
	return debuggee_continue(p->d);
}

/* Where the function is now, or was suspended; else where the step began. */
static const char *where(struct step_plan *p)
{
	struct arena *a = &p->d->step_cache->arena;
	unsigned line = p->active ? step_frame_line(p) : step_instance_line(p);

	if (line)
		return arena_printf(a, "%s line %u", p->active ? "at" : "suspended at", line);
	return arena_printf(a, "%sat line %u when the step began", p->active ? "" : "suspended, ",
	                    p->at.line);
}

/* Says what the step was waiting for. */
static void give_up(struct step_plan *p)
{
	struct arena *a = &p->d->step_cache->arena;
	const char *name = step_kind_name(p->options->kind);

	p->end.reason = STEP_BROKEN;
	if (!p->d->control.pid)
		p->end.note = arena_printf(a, "%s: the program ended meanwhile", name);
	else if (p->options->whole)
		p->end.note =
			arena_printf(a, "%s --whole is given up: the task has not finished", name);
	else if (p->leaving && p->out_to)
		p->end.note = arena_printf(a, "%s is given up: it waited for a return to %s", name,
		                           p->out_to);
	else if (p->instance.addr && !p->active)
		p->end.note = arena_printf(a,
		                           "%s is given up: it waited for the async function to be "
		                           "resumed, which is %s",
		                           name, where(p));
	else if (p->at.line)
		p->end.note =
			arena_printf(a, "%s is given up: the function was %s", name, where(p));
	else
		p->end.note = arena_printf(a, "%s is given up before its end", name);
}

static void finish(struct step_plan *p)
{
	struct control_stop *stop = &p->d->control.stop;

	/* Something else came in that moment. */
	if (p->end.reason == STEP_THREAD_ENDED &&
	    (stop->reason != CONTROL_CAUGHT || p->d->breakpoint))
		p->end.reason = STEP_NONE;
	if (p->end.reason == STEP_THREAD_ENDED)
		stop->tid = proc_living_thread(p->d->control.pid);
	if (p->end.reason != STEP_NONE)
		return;
	/* A single instruction has its own reason to stop. */
	if (p->options->kind == STEP_INSTRUCTION && p->d->control.stop.reason == CONTROL_STEPPED)
		p->end.reason = STEP_LINE;
	else
		give_up(p);
}

/* A step that ends where no trap was needed may have come to breakpoints of the user. */
static struct error *arrive(struct step_plan *p)
{
	struct control *c = &p->d->control;

	if (!p->by_itself || !c->pid || p->end.reason == STEP_THREAD_ENDED)
		return NULL;
	return control_as_stop(c, control_arrive(c, p->tid));
}

struct error *step_run(struct debuggee *d, const struct step_options *options)
{
	struct step_plan p = { .d = d, .options = options, .tid = options->tid };
	SCRATCH(tmp);

	if (!d->control.pid || !d->handle)
		return error_new(ERR_STATE, "no program is under control");
	if (!d->step_cache)
		d->step_cache = step_cache_new();
	p.in = asyncdbg_inspector(d->handle);
	p.arch = p.in->target->arch;
	p.own_package = p.in->own_package;
	p.arena = &tmp;
	p.end = (struct step_end){ .kind = options->kind, .from = options->tid };
	trap_hold(&d->control);
	struct error *err = trap_apply_after(&d->control, begin(&p, &tmp));
	if (!err)
		err = run(&p);
	d->control.step = (struct control_look){ 0 };
	struct error *end = control_as_stop(&d->control, end_traps(&p));
	/* It has ended where the step did. */
	if (!d->control.pid)
		p.end.reason = STEP_NONE;
	finish(&p);
	map_free(&p.reach.places);
	map_free(&p.loops);
	vec_free(&p.loop_places);
	if (err) {
		error_free(end);
		return err;
	}
	d->step = p.end;
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
