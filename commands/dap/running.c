#include "commands/dap/running.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/control/stop.h"
#include "commands/dap/breakpoints.h"
#include "commands/out/stopped.h"
#include "runtimes/model/names.h"
#include "runtimes/stepping/trap.h"

/* ---- what is printed ---- */

/* A stream of which each line goes to the console. */
static ssize_t write_console(void *cookie, const char *bytes, size_t len)
{
	struct dap *d = cookie;

	message_send_output(&d->sender, "console", bytes, len);
	return (ssize_t)len;
}

struct out *running_messages(struct dap *d)
{
	const cookie_io_functions_t functions = { .write = write_console };

	if (d->console)
		return d->console;
	d->console_file = fopencookie(d, "w", functions);
	if (!d->console_file)
		out_of_memory();
	setvbuf(d->console_file, NULL, _IOLBF, BUFSIZ);
	d->console = out_text_new(
		&(struct out_options){ .answers = d->console_file, .messages = d->console_file });
	return d->console;
}

/* ---- events ---- */

/* The number of the thread or task that a stop is of. */
static int stop_thread(struct dap *d, pid_t tid)
{
	const struct snapshot *snap;
	struct error *err CLEANUP(error_freep) = dap_snapshot(d, WANT_TASKS | WANT_RUNNING, &snap);
	const struct thread_info *th = err ? NULL : snapshot_thread_by_tid(snap, tid);
	const struct task *task = th && th->task ? snapshot_task(snap, th->task, th->number) : NULL;

	return task ? ids_of_task(&d->ids, task) : ids_of_thread(&d->ids, tid);
}

/* Whether the stop is the end of a step. */
static bool is_step(const struct dap *d)
{
	const struct debuggee *of = &d->s->debuggee;

	return stopped_is_step(&(struct stopped){
		.why = of->control.stop, .breakpoint = of->breakpoint, .step = of->step });
}

/* "returned, resumed after 3 polls; ..." */
static const char *step_text(struct arena *a, const struct step_end *end)
{
	return arena_printf(
		a, "%s%s%s%s", step_reason_name(end->reason),
		end->polls ? arena_printf(a, ", resumed after %" PRIu64 " polls", end->polls) : "",
		end->note ? "; " : "", end->note ? end->note : "");
}

static const char *stop_reason(const struct dap *d, const struct breakpoint *bp)
{
	static const char *const reasons[] = {
		[DAP_LINE] = "breakpoint",
		[DAP_FUNCTION] = "function breakpoint",
		[DAP_INSTRUCTION] = "instruction breakpoint",
		[DAP_PANIC] = "exception",
	};
	const struct control_stop *stop = &d->s->debuggee.control.stop;

	if (d->wants_pause)
		return "pause";
	if (is_step(d))
		return "step";
	switch (stop->reason) {
	case CONTROL_BREAKPOINT:
		return bp ? reasons[breakpoints_kind(d, bp)] : "breakpoint";
	case CONTROL_SIGNAL:
		return "exception";
	case CONTROL_INTERRUPTED:
		return "pause";
	case CONTROL_STEPPED:
		return "step";
	case CONTROL_STARTED:
	case CONTROL_ATTACHED:
		return "entry";
	default:
		return "pause";
	}
}

static void put_description(const struct dap *d, struct json_writer *w, const struct breakpoint *bp)
{
	const struct control_stop *stop = &d->s->debuggee.control.stop;
	SCRATCH(tmp);

	if (stop->reason == CONTROL_SIGNAL) {
		const char *name = signal_name(&tmp, stop->signal);

		json_put_text(w, "description", arena_printf(&tmp, "Signal %s", name));
		json_put_text(w, "text", name);
	} else if (bp && breakpoints_kind(d, bp) == DAP_PANIC) {
		json_put_text(w, "description", "Panic");
		json_put_text(w, "text", "panic");
	} else if (bp) {
		json_put_text(w, "description", arena_printf(&tmp, "Breakpoint %u", bp->number));
		if (bp->undecided)
			json_put_text(w, "text",
			              arena_printf(&tmp, "its condition cannot be read: %s",
			                           bp->problem));
	} else if (is_step(d)) {
		json_put_text(w, "description", step_text(&tmp, &d->s->debuggee.step));
	} else if (stop->reason == CONTROL_EXEC) {
		json_put_text(w, "description", "It runs another program now");
	}
}

void running_send_stop(struct dap *d, const struct breakpoint *bp)
{
	const struct control_stop *stop = &d->s->debuggee.control.stop;
	int thread = stop_thread(d, stop->tid ? stop->tid : d->s->debuggee.control.pid);
	struct message *m;

	if (d->client.invalidated) {
		m = message_event("invalidated");
		json_put_list(&m->w, "areas", (const char *const[]){ "threads" }, 1);
		message_send(m, &d->sender);
	}
	m = message_event("stopped");
	json_put_text(&m->w, "reason", stop_reason(d, bp));
	put_description(d, &m->w, bp);
	json_put_int(&m->w, "threadId", thread);
	json_put_bool(&m->w, "allThreadsStopped", true);
	if (bp) {
		json_open_array(&m->w, "hitBreakpointIds");
		json_put_int(&m->w, NULL, bp->number);
		json_close_array(&m->w);
	}
	d->state = DAP_STOPPED;
	d->wants_pause = false;
	message_send(m, &d->sender);
}

void running_send_post_mortem(struct dap *d)
{
	const struct snapshot *snap;
	struct error *err CLEANUP(error_freep) = dap_snapshot(d, WANT_TASKS | WANT_RUNNING, &snap);
	int signal = err ? 0 : snap->target.signal;
	const struct thread_info *th =
		signal ? snapshot_thread_by_tid(snap, snap->target.signal_tid) : NULL;
	SCRATCH(tmp);

	if (err)
		dap_note(d, "asyncdbg: %s", err->message);
	if (!th && !err && snap->nthreads)
		th = &snap->threads[0];
	struct message *m = message_event("stopped");
	json_put_text(&m->w, "reason", signal ? "exception" : "pause");
	json_put_text(&m->w, "description",
	              signal ? arena_printf(&tmp, "Ended by %s", signal_name(&tmp, signal))
	                     : "Post-mortem");
	if (signal)
		json_put_text(&m->w, "text", signal_name(&tmp, signal));
	json_put_int(&m->w, "threadId", th ? stop_thread(d, th->tid) : 1);
	json_put_bool(&m->w, "allThreadsStopped", true);
	message_send(m, &d->sender);
}

void running_send_end(struct dap *d)
{
	const struct control_stop *stop = &d->s->debuggee.control.stop;
	struct message *m;

	output_close(&d->output);
	if (stop->reason == CONTROL_EXITED || stop->reason == CONTROL_KILLED) {
		SCRATCH(tmp);

		if (stop->reason == CONTROL_KILLED)
			dap_note(d, "the program was ended by %s", signal_name(&tmp, stop->signal));
		m = message_event("exited");
		json_put_int(&m->w, "exitCode",
		             stop->reason == CONTROL_EXITED ? stop->status : 128 + stop->signal);
		message_send(m, &d->sender);
	}
	d->state = DAP_ENDED;
	dap_forget(d);
	message_send(message_event("terminated"), &d->sender);
}

/* ---- running ---- */

/* Stops at which the client hears nothing: a message is to be answered. */
static bool is_for_message(const struct dap *d)
{
	return d->s->debuggee.control.stop.reason == CONTROL_INTERRUPTED && !d->wants_pause;
}

/* Lets it run, unless a hit is still to be decided. */
static struct error *run(struct dap *d)
{
	struct control *c = &d->s->debuggee.control;
	bool stop = false;

	if (d->undecided) {
		const struct trap_hit hit = { c->stop.tid, c->stop.addr };

		TRY(trap_ask(c, &hit, &stop));
		d->undecided = false;
		if (stop)
			return NULL;
	}
	if (d->steps_one)
		return control_step(c, d->step.tid);
	return stop_run(d->s, d->steps ? &d->step : NULL, running_messages(d));
}

struct error *running_continue(struct dap *d)
{
	struct session *s = d->s;

	dap_forget(d);
	struct error *err = run(d);
	inbox_calm(&d->inbox);
	d->steps = d->steps_one = false;
	/* A message came while a hit was looked at: it is answered first. */
	if (err && err->kind == ERR_INTERRUPTED && !interrupt_is_end()) {
		d->undecided |= s->debuggee.control.stop.reason == CONTROL_BREAKPOINT;
		error_free(err);
		return NULL;
	}
	TRY(err);
	if (!s->debuggee.control.pid) {
		running_send_end(d);
		return session_reopen(s, 0, NULL);
	}
	if (is_for_message(d))
		return NULL;
	struct breakpoint *bp = s->debuggee.breakpoint;
	running_send_stop(d, bp);
	return bp && bp->temporary ? breakpoint_delete(bp) : NULL;
}

void running_look(struct dap *d, pid_t before, bool moves)
{
	const struct control *now = &d->s->debuggee.control;

	if (!before)
		return;
	if (!now->pid)
		running_send_end(d);
	else if (moves || now->pid != before)
		running_send_stop(d, NULL);
}

void running_end(struct dap *d, bool kill)
{
	struct session *s = d->s;

	interrupt_clear();
	if (s->debuggee.control.pid && kill)
		error_free(control_kill(&s->debuggee.control));
	else if (s->debuggee.control.pid)
		error_free(control_detach(&s->debuggee.control));
	output_close(&d->output);
	out_free(d->console);
	if (d->console_file)
		fclose(d->console_file);
	d->console = NULL;
	d->console_file = NULL;
}
