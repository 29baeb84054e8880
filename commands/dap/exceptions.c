/* exceptionInfo, and the filters of setExceptionBreakpoints */
#include "commands/dap/exceptions.h"

#include <inttypes.h>
#include <string.h>

#include "commands/control/stopped.h"
#include "debugger/target/target.h"
#include "runtimes/graph/verdict.h"
#include "runtimes/model/names.h"

/* ---- filters ---- */

static const struct filter {
	enum event_break_kind kind;
	const char *title, *mode; /* for a stop */
	const char *label, *description, *condition;
} filters[] = {
	{ EVENT_BREAK_PANIC, "Panic", "always", "Panics",
	  "Stop where a thread panics, before anything is unwound",
	  "A condition, such as task.name == \"app::serve\"" },
	{ EVENT_BREAK_TASK_PANIC, "Panic of a task", "unhandled", "Panics that end a task",
	  "Stop at panics that only the runtime catches, before anything is unwound",
	  "A condition, such as task.name == \"app::serve\"" },
	{ EVENT_BREAK_DEADLOCK, "Deadlock", "always", "Deadlocks",
	  "Check the program periodically, and stop at a certain deadlock",
	  "The time between two checks, such as 200ms; default 1s" },
};

enum { NFILTERS = sizeof(filters) / sizeof(*filters) };

void exceptions_put_filters(struct json_writer *w)
{
	json_open_array(w, "exceptionBreakpointFilters");
	for (size_t i = 0; i < NFILTERS; i++) {
		json_open_object(w, NULL);
		json_put_text(w, "filter", event_break_name(filters[i].kind));
		json_put_text(w, "label", filters[i].label);
		json_put_text(w, "description", filters[i].description);
		json_put_bool(w, "default", false);
		json_put_bool(w, "supportsCondition", true);
		json_put_text(w, "conditionDescription", filters[i].condition);
		json_close_object(w);
	}
	json_close_array(w);
}

struct error *exceptions_find(const char *id, enum event_break_kind *ret)
{
	for (size_t i = 0; id && i < NFILTERS; i++) {
		*ret = filters[i].kind;
		if (strcmp(event_break_name(*ret), id) == 0)
			return NULL;
	}
	return error_new(ERR_UNSUPPORTED, "unknown exception filter \"%s\"", id ? id : "?");
}

/* ---- the stop ---- */

/* The event that has halted it; NULL: it was none that an editor calls an exception. */
static const struct filter *caught(const struct dap *d)
{
	const struct breakpoint *bp = dap_hit(d);

	for (size_t i = 0; bp && bp->event && i < NFILTERS; i++) {
		if (filters[i].kind == event_break_kind_of(bp->event))
			return &filters[i];
	}
	return NULL;
}

/* The signal at which the program stands, or that ended it; 0: none. */
static int signal_of(struct dap *d)
{
	const struct control_stop *stop = &d->s->debuggee.control.stop;
	const struct snapshot *snap;

	if (!d->post_mortem)
		return stop->reason == CONTROL_SIGNAL ? stop->signal : 0;
	struct error *err CLEANUP(error_freep) = dap_snapshot(d, WANT_TASKS | WANT_RUNNING, &snap);

	return err ? 0 : snap->target.signal;
}

bool exceptions_at_stop(struct dap *d, struct arena *a, struct exception *ret)
{
	const struct filter *f = d->post_mortem ? NULL : caught(d);
	int signal = f ? 0 : signal_of(d);

	if (f) {
		*ret = (struct exception){
			.id = event_break_name(f->kind),
			.title = f->title,
			.text = event_break_describe(dap_hit(d)->event, NULL, a),
			.mode = f->mode,
		};
	} else if (signal) {
		const char *name = signal_name(a, signal);

		*ret = (struct exception){
			.id = name,
			.title = arena_printf(a, d->post_mortem ? "Killed by %s" : "Signal %s",
			                      name),
			.text = name,
			.mode = d->post_mortem ? "unhandled" : "always",
		};
	}
	return f || signal;
}

/* ---- deadlocks ---- */

/* The first task of a verdict. */
static const struct task *first_task(const struct verdicts *v, const struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->nmembers; i++) {
		const struct graph_node *n = &v->graph->nodes[verdict->members[i]];

		if (n->kind == GRAPH_TASK && n->task)
			return n->task;
	}
	return NULL;
}

int exceptions_deadlocked(struct dap *d)
{
	const struct filter *f = d->post_mortem ? NULL : caught(d);
	const struct task *task = NULL;
	const struct snapshot *snap;
	SCRATCH(tmp);

	if (!f || f->kind != EVENT_BREAK_DEADLOCK)
		return 0;
	struct error *err CLEANUP(error_freep) = dap_snapshot(d, ASYNCDBG_CHECK_WANTS, &snap);
	if (err)
		return 0;
	const char *text = event_break_describe(dap_hit(d)->event, NULL, &tmp);
	const struct verdicts *v = asyncdbg_verdicts(d->s->handle, snap);
	for (size_t i = 0; i < v->n && !task; i++) {
		if (strstr(text, verdict_text(&tmp, v->graph, &v->list[i])))
			task = first_task(v, &v->list[i]);
	}
	return task ? ids_of_task(&d->ids, task) : 0;
}

/* ---- exceptionInfo ---- */

struct error *dap_exception_info(struct dap *d, struct request *r)
{
	int64_t thread = dap_number(r, "threadId", 0);
	struct exception e;

	if (thread != d->stop_thread || !exceptions_at_stop(d, r->a, &e))
		return error_new(ERR_STATE, "thread %" PRId64 " has stopped at no exception",
		                 thread);
	json_put_text(r->w, "exceptionId", e.id);
	json_put_text(r->w, "description", e.text);
	json_put_text(r->w, "breakMode", e.mode);
	json_open_object(r->w, "details");
	json_put_text(r->w, "message", e.text);
	json_put_text(r->w, "typeName", e.title);
	json_close_object(r->w);
	return NULL;
}
