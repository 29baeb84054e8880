#include "commands/control/stop.h"

#include <signal.h>
#include <string.h>

#include "commands/base/focus.h"
#include "commands/control/control.h"
#include "commands/control/stopped.h"
#include "debugger/base/str.h"
#include "debugger/target/target.h"
#include "dwarf/code/source_path.h"
#include "runtimes/model/names.h"
#include "runtimes/query/code_at.h"

struct error *stop_need_program(const struct session *s)
{
	if (s->debuggee.control.pid)
		return NULL;
	return error_new(ERR_STATE, "no program is being debugged: \"run -- PROGRAM\" starts one, "
	                            "\"attach PID\" attaches to one");
}

/* ---- signals that end us ---- */

static void on_end(int signal)
{
	(void)signal;
	interrupt_request_end();
}

/* Breakpoints must be removed before asyncdbg ends. */
static void end_in_order(void)
{
	const struct sigaction action = { .sa_handler = on_end };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* ---- begin ---- */

static void stop_warn(const struct session *s, struct out *out)
{
	const struct control *c = &s->debuggee.control;

	end_in_order();
	if (c->hw_breakpoints_only) {
		fprintf(out->options.messages,
		        "asyncdbg: attached to process %d, which is stopped until \"continue\"; "
		        "only the four hardware breakpoints are used, and nothing is written into "
		        "its code\n",
		        (int)c->pid);
		return;
	}
	fprintf(out->options.messages,
	        "asyncdbg: attached to process %d, which is stopped until \"continue\"; "
	        "breakpoints are written into its code\n",
	        (int)c->pid);
	if (!c->launched)
		fprintf(out->options.messages,
		        "asyncdbg: if asyncdbg is killed by kill -9, its breakpoints stay in the "
		        "code, and the process dies at the first one it reaches\n");
}

/* Breakpoints from before it began that have no place in it. */
static void warn_of_absent(const struct session *s, struct out *out)
{
	const struct breakpoints *b = &s->debuggee.breakpoints;

	for (size_t i = 0; i < b->list.n; i++) {
		const struct breakpoint *bp = b->list.data[i];
		SCRATCH(tmp);

		if (bp->enabled && !bp->nplaces && bp->note)
			fprintf(out->options.messages, "asyncdbg: %s %u, %s: %s\n",
			        breakpoint_noun(bp), bp->number,
			        str_clean(&tmp, bp->text, strlen(bp->text)), bp->note);
	}
}

struct error *stop_begin(struct session *s, struct out *out)
{
	struct control *c = &s->debuggee.control;

	if (!c->pid) {
		TRY(session_reopen(s, 0, NULL));
		return error_new(ERR_STATE, "the program ended before its own code began");
	}
	TRY(session_reopen(s, c->pid, c->tracer));
	stop_warn(s, out);
	TRY(debuggee_begin(&s->debuggee, s->handle));
	warn_of_absent(s, out);
	return NULL;
}

/* ---- where it stands ---- */

static void show_source(struct session *s, const struct code_at *l, struct stopped *ret,
                        FILE *messages, struct arena *a)
{
	const struct source_line place = {
		.file = l->file, .comp_dir = l->comp_dir, .display = ret->file, .line = l->line
	};

	listing_set_focus(s, &place);
	ret->source = listing_line(s, &place, messages, a);
}

/* The innermost coroutine that the thread polls; NULL: none is known. */
static const struct future *innermost_running(const struct snapshot *snap,
                                              const struct thread_info *th)
{
	const struct task *task = th && th->task ? snapshot_task(snap, th->task, th->number) : NULL;
	const struct future *f = task ? task->root : th ? th->root : NULL;

	while (f && f->running && f->nchildren == 1)
		f = f->children[0];
	return f && f->running ? f : NULL;
}

/* Finds the function and the source line at the pc of the stopped thread. */
static void find_place(struct session *s, const struct snapshot *snap, struct stopped *ret,
                       FILE *messages, struct arena *a)
{
	const struct target *t = asyncdbg_target(s->handle);
	struct debuginfo *di = asyncdbg_debuginfo(s->handle);
	const struct thread *th = target_thread_by_tid(t, ret->why.tid);
	struct code_at at;

	if (!th || !th->has_regs)
		return;
	code_at_find(di, th->regs.r[t->arch->pc], innermost_running(snap, ret->thread), a, &at);
	ret->function = at.function;
	ret->aliases = at.aliases;
	if (at.file) {
		const char *file = source_path_of(di, a, at.file, at.comp_dir).text;

		ret->file = str_clean(a, file, strlen(file));
		ret->line = at.line;
		show_source(s, &at, ret, messages, a);
	}
}

/* Whether the stack is needed: it shows the code that caused the event. */
static bool stop_shows_stack(const struct stopped *stopped)
{
	const struct breakpoint *bp = stopped->breakpoint;
	enum event_break_kind kind =
		bp && bp->event ? event_break_kind_of(bp->event) : EVENT_BREAK_NONE;

	return kind == EVENT_BREAK_WAKE || kind == EVENT_BREAK_SPAWN || kind == EVENT_BREAK_DROP ||
	       kind == EVENT_BREAK_PANIC || kind == EVENT_BREAK_TASK_PANIC;
}

/* Takes a snapshot of the stopped thread, and of the thread on which the step began. */
static struct error *stop_look(struct session *s, const struct stopped *stopped,
                               const struct snapshot **ret)
{
	const pid_t tids[] = { stopped->why.tid, stopped->step.from };
	size_t n = stopped->step.from && stopped->step.from != stopped->why.tid ? 2 : 1;

	if (stop_shows_stack(stopped))
		return session_snapshot(s, WANT_RUNNING | WANT_STACKS, NULL, ret);
	s->debuggee.seen_nstops = s->debuggee.control.nstops;
	return asyncdbg_threads(s->handle, tids, n, true, ret);
}

/* Whether a step has stayed in the call of the function where it began. */
static bool has_stayed(const struct stopped *stopped)
{
	const struct step_exit *end = &stopped->step;

	return stopped_is_step(stopped) && end->reason == STEP_LINE &&
	       (end->kind == STEP_NEXT || end->kind == STEP_UNTIL);
}

/* Finds the variables that a step has changed, and keeps all for the next one. */
static void see_variables(struct session *s, const struct snapshot *snap, struct stopped *ret)
{
	const struct step_exit *end = &ret->step;
	const uint64_t size = end->instance_size ? end->instance_size : 1;
	const struct resumed_object resumed = { end->instance,
		                                end->async && end->polls ? size : 0 };

	if (has_stayed(ret))
		ret->changed =
			seen_variables_changed(&s->seen_variables, ret->function, snap->native,
		                               &resumed, &s->answer, &ret->nchanged);
	seen_variables_keep(&s->seen_variables, ret->function, snap->native);
}

/* Lists all breakpoints and watchpoints that halt the program; the headline has one of them. */
static void list_hits(const struct debuggee *d, struct stopped *ret, struct arena *a)
{
	ret->breakpoints = NEW_ARRAY(a, const struct breakpoint *, d->breakpoints.list.n);
	ret->watches = NEW_ARRAY(a, const struct watchpoint *, d->watches.list.n);
	for (size_t i = 0; i < d->breakpoints.list.n; i++) {
		if (d->breakpoints.list.data[i]->halts)
			ret->breakpoints[ret->nbreakpoints++] = d->breakpoints.list.data[i];
	}
	for (size_t i = 0; i < d->watches.list.n; i++) {
		if (d->watches.list.data[i]->halts)
			ret->watches[ret->nwatches++] = d->watches.list.data[i];
	}
}

struct error *stop_describe(struct session *s, FILE *messages, struct stopped *ret)
{
	const struct snapshot *snap;

	*ret = (struct stopped){ .pid = asyncdbg_target(s->handle)->pid,
		                 .why = s->debuggee.control.stop,
		                 .watch = watch_is_stop(&s->debuggee) ? s->debuggee.watch : NULL,
		                 .breakpoint = s->debuggee.breakpoint,
		                 .step = s->debuggee.step };
	/* The drop of a watched variable halts at a breakpoint. */
	if (ret->watch)
		ret->why.reason = CONTROL_WATCH;
	list_hits(&s->debuggee, ret, &s->answer);
	if (!s->debuggee.control.pid)
		return NULL;
	TRY(stop_look(s, ret, &snap));
	ret->thread = snapshot_thread_by_tid(snap, ret->why.tid);
	if (ret->step.reason != STEP_NONE)
		ret->from = snapshot_thread_by_tid(snap, ret->step.from);
	if (ret->breakpoint && ret->breakpoint->event)
		ret->event = event_break_describe(
			ret->breakpoint->event, ret->thread ? ret->thread->task : NULL, &s->answer);
	if (ret->thread)
		focus_set_thread(s, ret->thread);
	find_place(s, snap, ret, messages, &s->answer);
	see_variables(s, snap, ret);
	return NULL;
}

struct error *stop_show(struct session *s, const struct answer *answer, struct out *out)
{
	struct stopped *stopped = NEW(&s->answer, struct stopped);
	struct answer with = *answer;

	TRY(stop_describe(s, out->options.messages, stopped));
	if (s->debuggee.control.pid)
		with.wants = asyncdbg_last_wants(s->handle);
	if (stopped->thread && stop_shows_stack(stopped))
		with.snapshot = asyncdbg_last(s->handle);
	out_begin(out, &with);
	part_stopped(out, stopped);
	if (stopped->thread && stop_shows_stack(stopped))
		out->ops->thread(out, stopped->thread, THREAD_STACK);
	return NULL;
}

/* ---- run ---- */

/* Signals that do not stop the program are reported at once, as it runs on. */
static void report_signal(void *arg, pid_t tid, int signal)
{
	SCRATCH(tmp);

	fprintf(arg, "asyncdbg: thread %d receives %s\n", (int)tid, signal_name(&tmp, signal));
}

/* Prints the line of a logpoint as an answer of its own. */
static struct error *show_logged(void *arg, const struct logged *line)
{
	struct out *out = arg;

	out_begin(out, &(struct answer){ .command = logpoint_command.name });
	part_logged(out, line);
	return out_end(out);
}

static void show_warning(void *arg, const char *text)
{
	const struct out *out = arg;

	fprintf(out->options.messages, "asyncdbg: %s\n", text);
}

/* Shows the end of the program; the session then has no process. */
static struct error *show_end(struct session *s, const struct answer *answer, struct out *out)
{
	TRY(stop_show(s, answer, out));
	TRY(out_end(out));
	return session_reopen(s, 0, NULL);
}

struct error *stop_run(struct session *s, const struct step_options *step, struct out *out)
{
	struct control *c = &s->debuggee.control;

	TRY(stop_need_program(s));
	c->on_signal = report_signal;
	c->on_signal_arg = out->options.messages;
	s->debuggee.listener = (struct debuggee_listener){ show_logged, show_warning, out };
	TRY(step ? step_run(&s->debuggee, step) : debuggee_continue(&s->debuggee));
	if (!c->pid || c->stop.reason != CONTROL_EXEC)
		return s->debuggee.libraries.internal ? NULL : libraries_look(&s->debuggee);
	TRY(control_enter(c));
	return stop_begin(s, out);
}

struct error *stop_delete_temporary(struct session *s)
{
	for (size_t i = s->debuggee.breakpoints.list.n; i-- > 0;) {
		struct breakpoint *bp = s->debuggee.breakpoints.list.data[i];

		if (bp->halts && bp->temporary)
			TRY(breakpoint_delete(bp));
	}
	return NULL;
}

/* Shows the stop, or the end of the program, after a run. */
static struct error *show_run(struct session *s, const struct answer *answer, struct out *out)
{
	if (!s->debuggee.control.pid)
		return show_end(s, answer, out);
	TRY(stop_show(s, answer, out));
	TRY(out_end(out));
	return stop_delete_temporary(s);
}

struct error *stop_continue(struct session *s, const struct answer *answer, struct out *out)
{
	TRY(stop_run(s, NULL, out));
	return show_run(s, answer, out);
}

/* Whether the step has come to a line, and nothing else was there. */
static bool stop_goes_on(const struct session *s)
{
	return s->debuggee.control.pid && s->debuggee.step.reason == STEP_LINE &&
	       !s->debuggee.breakpoint && !s->debuggee.watch;
}

struct error *stop_step(struct session *s, const struct step_options *step, uint64_t count,
                        const struct answer *answer, struct out *out)
{
	struct step_options options = *step;

	/* The kept variables belong to the thread that has stopped. */
	if (options.tid != s->debuggee.control.stop.tid)
		seen_variables_free(&s->seen_variables);
	for (;;) {
		TRY(stop_run(s, &options, out));
		if (count-- <= 1 || !stop_goes_on(s))
			break;
		/* The next step does not know that the stack was lost in this one. */
		if (s->debuggee.step.polls)
			seen_variables_free(&s->seen_variables);
		options.tid = s->debuggee.control.stop.tid;
	}
	return show_run(s, answer, out);
}
