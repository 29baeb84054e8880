/* Writes the plan of a trace as JSON, and polls that take long. */

#include "commands/json/out_json.h"

#include "debugger/elf/usdt_notes.h"
#include "runtimes/common/runtime.h"
#include "runtimes/trace/plan.h"
#include "runtimes/trace/trace.h"
#include "runtimes/trace/trace_key.h"
#include <string.h>

static const char *const role_names[] = {
	[TRACE_AT_POLL] = "poll",   [TRACE_AT_RETURN] = "return", [TRACE_AT_WAKE] = "wake",
	[TRACE_AT_WAKER] = "waker", [TRACE_AT_SPAWN] = "spawn",   [TRACE_AT_END] = "terminate",
	[TRACE_AT_PARK] = "park",
};

static const char *const argument_names[] = { "rdi", "rsi", "rdx", "rcx" };

static bool has_task(const struct trace_point *p)
{
	return p->role != TRACE_AT_RETURN && p->role != TRACE_AT_PARK && !p->kernel.exchange.used;
}

static void put_point(struct json_writer *w, const struct trace_point *p)
{
	json_open_object(w, NULL);
	json_put_text(w, "at", role_names[p->role]);
	json_put_text(w, "function", p->function);
	json_put_text(w, "type", p->type);
	json_put_address(w, "address", p->address);
	json_put_address(w, "offset", p->offset);
	json_put_text(w, "task_in", has_task(p) ? argument_names[p->kernel.argument & 3] : NULL);
	json_put_bool(w, "single_step", p->slow);
	json_close_object(w);
}

static void put_own(struct json_writer *w, const struct usdt_notes *own)
{
	json_open_array(w, "static_probes");
	for (size_t i = 0; i < own->n; i++) {
		const struct usdt_probe *p = &own->probes[i];

		json_open_object(w, NULL);
		json_put_text(w, "file", p->file);
		json_put_text(w, "provider", p->provider);
		json_put_text(w, "name", p->name);
		json_put_text(w, "arguments", p->arguments);
		json_put_address(w, "address", p->location);
		json_put_address(w, "offset", p->location_offset);
		if (p->semaphore)
			json_put_address(w, "semaphore", p->semaphore);
		else
			json_put_text(w, "semaphore", NULL);
		json_close_object(w);
	}
	json_close_array(w);
	json_put_int(w, "static_probes_left_out", (int64_t)usdt_notes_lost(own));
}

void out_json_task_key(struct json_writer *w, const char *name, uint64_t key)
{
	SCRATCH(tmp);

	if (trace_key_is_number(key))
		json_put_id(w, name, key);
	else
		json_put_text(w, name, trace_key_text(&tmp, key));
}

static void put_missing(struct json_writer *w, const struct trace_missing *m, const char *kind)
{
	json_open_object(w, NULL);
	json_put_text(w, "event", trace_event_name(m->event));
	if (kind)
		json_put_text(w, "kind", kind);
	json_put_text(w, "reason", m->reason);
	json_put_text(w, "runtime", m->runtime);
	json_put_bool(w, "never", m->never);
	json_close_object(w);
}

void out_json_missing(struct json_writer *w, const struct trace_plan *plan, const bool *wanted)
{
	json_open_array(w, "missing");
	if (plan && plan->late_job_ends.reason && (!wanted || wanted[TRACE_POLL_END]))
		put_missing(w, &plan->late_job_ends, "blocking");
	for (size_t i = 0; plan && i < plan->nmissing; i++) {
		const struct trace_missing *m = &plan->missing[i];

		if (wanted && !wanted[m->event])
			continue;
		put_missing(w, m, NULL);
	}
	json_close_array(w);
}

/* Whether a trace sees where tasks of the runtime of that point are spawned. */
static bool has_sites(const struct trace_plan *plan, const struct trace_point *of)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct trace_point *p = &plan->points[i];

		if (p->runtime == of->runtime && p->copy == of->copy && p->role == TRACE_AT_SPAWN &&
		    (p->kernel.behind_id || p->kernel.path_from))
			return true;
	}
	return false;
}

static void put_missing_key(struct json_writer *w, const struct trace_missing_key *m)
{
	json_open_object(w, NULL);
	json_put_text(w, "event", trace_event_name(m->event));
	json_put_text(w, "key", m->key);
	json_put_text(w, "reason", m->reason);
	json_put_text(w, "runtime", m->runtime);
	json_close_object(w);
}

/* Whether the plan says itself that tasks of that runtime have no places of spawns. */
static bool lacks_sites(const struct trace_plan *plan, const char *runtime)
{
	for (size_t i = 0; i < plan->nmissing_keys; i++) {
		if (strcmp(plan->missing_keys[i].runtime, runtime) == 0)
			return true;
	}
	return false;
}

void out_json_missing_keys(struct json_writer *w, const struct trace_plan *plan)
{
	const struct trace_point *last = NULL;

	json_open_array(w, "missing_keys");
	for (size_t i = 0; i < plan->nmissing_keys; i++)
		put_missing_key(w, &plan->missing_keys[i]);
	for (size_t i = 0; i < plan->n; i++) {
		const struct trace_point *p = &plan->points[i];

		if ((last && p->runtime == last->runtime && p->copy == last->copy) ||
		    p->role != TRACE_AT_POLL || has_sites(plan, p) ||
		    lacks_sites(plan, p->runtime->name))
			continue;
		last = p;
		put_missing_key(w, &(struct trace_missing_key){
					   TRACE_SPAWN, "spawned_at",
					   "a trace cannot read it from the tasks of this build",
					   p->runtime->name });
	}
	json_close_array(w);
}

void out_json_place_frame(struct json_writer *w, const struct trace_frame *f)
{
	json_open_object(w, NULL);
	json_put_text(w, "function", f->function);
	json_put_text(w, "file", f->file);
	out_json_number_if(w, "line", f->line != 0, f->line);
	json_close_object(w);
}

void out_json_place(struct json_writer *w, const struct trace_place *place)
{
	json_put_bool(w, "cut", place->cut);
	json_open_array(w, "frames");
	for (size_t i = 0; i < place->nframes; i++)
		out_json_place_frame(w, &place->frames[i]);
	json_close_array(w);
	json_put_text(w, "awaits", place->leaf);
}

void out_json_probes(struct json_writer *w, const struct trace_plan *plan,
                     const struct usdt_notes *own)
{
	json_open_array(w, "events");
	for (size_t i = 0; i < TRACE_NEVENTS; i++) {
		if (plan->has[i])
			json_put_text(w, NULL, trace_event_name((enum trace_event)i));
	}
	json_close_array(w);
	out_json_missing(w, plan, NULL);
	json_open_array(w, "points");
	for (size_t i = 0; i < plan->n; i++)
		put_point(w, &plan->points[i]);
	json_close_array(w);
	put_own(w, own);
}

void out_json_stall(struct json_writer *w, const struct stall *stall)
{
	const struct trace_item *item = stall->item;

	json_open_object(w, "stall");
	out_json_task_key(w, "task", item->task);
	json_put_text(w, "type", item->type);
	json_put_int(w, "tid", item->tid);
	json_put_int(w, "poll_ns", (int64_t)stall->ns);
	json_put_bool(w, "ended", stall->over);
	json_put_bool(w, "began_before", stall->before);
	out_json_number_if(w, "looks", stall->looks != 0, stall->looks);
	json_close_object(w);
}

void out_json_recorded(struct json_writer *w, const struct recorded *what)
{
	json_open_object(w, "recorded");
	json_put_text(w, "file", what->path);
	json_put_text(w, "when", what->when);
	json_put_text(w, "why", what->why);
	json_put_int(w, "events", (int64_t)what->events);
	json_put_int(w, "lost", (int64_t)what->lost);
	json_put_int(w, "duration_ns", (int64_t)what->duration_ns);
	json_put_text(w, "snapshot", what->snapshot);
	json_put_text(w, "core", what->core);
	out_json_number_if(w, "signal", what->signal != 0, (uint64_t)what->signal);
	json_close_object(w);
}
