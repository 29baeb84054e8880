/* Writes what several answers say of traces as JSON: keys of tasks, events that are missing,
 * places. */
#include "commands/json/out_json.h"

#include "runtimes/trace/plan.h"
#include "runtimes/trace/trace.h"
#include "runtimes/trace/trace_key.h"
#include <string.h>

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

static void put_missing_key(struct json_writer *w, const struct trace_missing_key *m)
{
	json_open_object(w, NULL);
	json_put_text(w, "event", trace_event_name(m->event));
	json_put_text(w, "key", m->key);
	json_put_text(w, "reason", m->reason);
	json_put_text(w, "runtime", m->runtime);
	json_close_object(w);
}

void out_json_missing_keys(struct json_writer *w, const struct trace_plan *plan)
{
	json_open_array(w, "missing_keys");
	for (size_t i = 0; i < plan->nmissing_keys; i++)
		put_missing_key(w, &plan->missing_keys[i]);
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
