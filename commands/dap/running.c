#include "commands/dap/running.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/control/stop.h"
#include "commands/control/stopped.h"
#include "commands/dap/breakpoints.h"
#include "commands/dap/data.h"
#include "commands/dap/exceptions.h"
#include "runtimes/model/names.h"

/* ---- output ---- */

/* Writes to a stream whose lines go to the console. */
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
static const char *step_text(struct arena *a, const struct step_exit *end)
{
	return arena_printf(
		a, "%s%s%s%s%s%s", step_reason_name(end->reason), end->value ? " " : "",
		end->value ? end->value : "",
		end->polls ? arena_printf(a, ", resumed after %" PRIu64 " polls", end->polls) : "",
		end->note ? "; " : "", end->note ? end->note : "");
}

static const char *stop_reason(const struct dap *d, const struct breakpoint *bp, bool exception)
{
	static const char *const reasons[] = {
		[DAP_LINE] = "breakpoint",
		[DAP_FUNCTION] = "function breakpoint",
		[DAP_INSTRUCTION] = "instruction breakpoint",
	};
	const struct control_stop *stop = &d->s->debuggee.control.stop;

	if (d->pending.pause)
		return "pause";
	if (exception)
		return "exception";
	if (d->post_mortem)
		return "pause";
	if (is_step(d))
		return "step";
	if (data_hit(d))
		return "data breakpoint";
	switch (stop->reason) {
	case CONTROL_BREAKPOINT:
		return bp ? reasons[breakpoints_kind(d, bp)] : "breakpoint";
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

/* Describes the event at a breakpoint; NULL: there is none. */
static const char *breakpoint_text(const struct breakpoint *bp, struct arena *a)
{
	if (bp->undecided)
		return arena_printf(a, "its condition cannot be read: %s", bp->problem);
	return bp->event ? event_break_describe(bp->event, NULL, a) : NULL;
}

/* e: NULL where it is no exception. */
static void put_description(const struct dap *d, struct json_writer *w, const struct breakpoint *bp,
                            const struct exception *e)
{
	const struct watchpoint *watch = data_hit(d);
	const char *description = NULL, *text = NULL;
	SCRATCH(tmp);

	if (e) {
		description = e->title;
		text = e->text;
	} else if (bp) {
		description = arena_printf(&tmp, "Breakpoint %u", bp->number);
	} else if (watch) {
		description = arena_printf(&tmp, "Data breakpoint %u", watch->number);
		text = data_describe(watch, &tmp);
	} else if (is_step(d)) {
		description = step_text(&tmp, &d->s->debuggee.step);
	} else if (d->s->debuggee.control.stop.reason == CONTROL_EXEC) {
		description = "It executes another program now";
	} else if (d->post_mortem) {
		description = "Post-mortem";
	}
	if (bp && (bp->undecided || !e))
		text = breakpoint_text(bp, &tmp);
	if (description)
		json_put_text(w, "description", description);
	if (text)
		json_put_text(w, "text", text);
}

static void running_put_hits(struct json_writer *w, const struct debuggee *of)
{
	if (!of->breakpoint && !of->watch)
		return;
	json_open_array(w, "hitBreakpointIds");
	for (size_t i = 0; i < of->breakpoints.list.n; i++) {
		if (of->breakpoints.list.data[i]->halts)
			json_put_int(w, NULL, of->breakpoints.list.data[i]->number);
	}
	for (size_t i = 0; i < of->watches.list.n; i++) {
		if (of->watches.list.data[i]->halts)
			json_put_int(w, NULL, of->watches.list.data[i]->number);
	}
	json_close_array(w);
}

static void send_stopped(struct dap *d, int thread, const struct breakpoint *bp)
{
	struct message *m = message_event("stopped");
	struct exception e;
	SCRATCH(tmp);

	bool exception = exceptions_at_stop(d, &tmp, &e);
	json_put_text(&m->w, "reason", stop_reason(d, bp, exception));
	put_description(d, &m->w, bp, exception ? &e : NULL);
	json_put_int(&m->w, "threadId", thread);
	json_put_bool(&m->w, "allThreadsStopped", true);
	running_put_hits(&m->w, &d->s->debuggee);
	d->stop_thread = thread;
	message_send(m, &d->sender);
}

void running_send_stop(struct dap *d)
{
	const struct control_stop *stop = &d->s->debuggee.control.stop;
	int thread = exceptions_deadlocked(d);

	if (!thread)
		thread = stop_thread(d, stop->tid ? stop->tid : d->s->debuggee.control.pid);
	if (d->client.invalidated) {
		struct message *m = message_event("invalidated");

		json_put_list(&m->w, "areas", (const char *const[]){ "threads" }, 1);
		message_send(m, &d->sender);
	}
	if (stop->reason == CONTROL_EXEC)
		data_forget(d);
	d->state = DAP_STOPPED;
	breakpoints_send_changes(d);
	send_stopped(d, thread, dap_hit(d));
	d->pending.pause = false;
}

void running_send_post_mortem(struct dap *d)
{
	const struct snapshot *snap;
	struct error *err CLEANUP(error_freep) = dap_snapshot(d, WANT_TASKS | WANT_RUNNING, &snap);
	const struct thread_info *th = NULL;

	if (err)
		dap_note(d, "asyncdbg: %s", err->message);
	else if (snap->target.signal)
		th = snapshot_thread_by_tid(snap, snap->target.signal_tid);
	if (!th && !err && snap->nthreads)
		th = &snap->threads[0];
	send_stopped(d, th ? stop_thread(d, th->tid) : 1, NULL);
}

void running_send_end(struct dap *d)
{
	const struct control_stop *stop = &d->s->debuggee.control.stop;
	struct message *m;

	output_close(&d->output);
	if (stop->reason == CONTROL_EXITED || stop->reason == CONTROL_KILLED) {
		SCRATCH(tmp);

		if (stop->reason == CONTROL_KILLED)
			dap_note(d, "the program was killed by %s",
			         signal_name(&tmp, stop->signal));
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

/* Whether the stop is only to answer a message: the client is not informed of it. */
static bool is_for_message(const struct dap *d)
{
	return d->s->debuggee.control.stop.reason == CONTROL_INTERRUPTED && !d->pending.pause;
}

/* Lets it run, unless a hit is still to be decided. */
static struct error *running_run(struct dap *d)
{
	struct control *c = &d->s->debuggee.control;
	bool stop = false;

	if (d->pending.decision) {
		TRY(control_ask(c, &stop));
		d->pending.decision = false;
		if (stop)
			return NULL;
	}
	if (d->pending.step_one)
		return debuggee_step_one(&d->s->debuggee, d->pending.options.tid);
	return stop_run(d->s, d->pending.step ? &d->pending.options : NULL, running_messages(d));
}

/* Whether the last stop is a hit. */
static bool is_hit(const struct control *c)
{
	return c->stop.reason == CONTROL_BREAKPOINT || c->stop.reason == CONTROL_WATCH;
}

struct error *running_continue(struct dap *d)
{
	struct session *s = d->s;

	dap_forget(d);
	struct error *err = running_run(d);
	inbox_calm(&d->inbox);
	d->pending.step = d->pending.step_one = false;
	/* A message came while a hit was looked at: it is answered first. */
	if (err && err->kind == ERR_INTERRUPTED && !interrupt_is_end()) {
		d->pending.decision |= is_hit(&s->debuggee.control);
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
	running_send_stop(d);
	return stop_delete_temporary(s);
}

void running_look(struct dap *d, pid_t before, bool moves)
{
	const struct control *now = &d->s->debuggee.control;

	if (!before)
		return;
	if (!now->pid)
		running_send_end(d);
	else if (moves || now->pid != before)
		running_send_stop(d);
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
