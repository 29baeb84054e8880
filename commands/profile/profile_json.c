/* A profile as JSON: one document. */
#include <stdlib.h>

#include "commands/json/out_json.h"
#include "commands/profile/profile_view.h"

/* A worker's job has no row. */
static const char *const kinds[TRACE_NJOBS] = {
	[TRACE_TASK] = "task", [TRACE_BLOCKING] = "blocking"
};

static const char *const keys[] = {
	[PROFILE_POLLING] = "polling",   [PROFILE_OFF] = "off_processor",
	[PROFILE_RUNNABLE] = "runnable", [PROFILE_WAITING] = "waiting",
	[PROFILE_UNKNOWN] = "unknown",
};

static void profile_json_put_times(struct json_writer *w, const struct profile_view *v,
                                   const struct profile_times *t)
{
	json_open_object(w, "ns");
	for (size_t i = 0; i < PROFILE_NSTATES; i++) {
		if (i != PROFILE_OFF || !v->no_off)
			json_put_int(w, keys[i], (int64_t)t->ns[i]);
		else
			json_put_null(w, keys[i]);
	}
	json_close_object(w);
}

static void profile_json_put_types(struct json_writer *w, const struct profile_view *v)
{
	json_open_array(w, "types");
	for (size_t i = 0; i < v->tree->ntypes; i++) {
		const struct profile_type *t = &v->tree->types[i];

		json_open_object(w, NULL);
		json_put_text(w, "type", t->type);
		json_put_text(w, "kind", kinds[t->job]);
		json_put_int(w, "tasks", (int64_t)t->tasks);
		out_json_number_if(w, "polls", !v->samples, t->polls);
		json_put_int(w, "lifetime_ns", (int64_t)t->lifetime_ns);
		profile_json_put_times(w, v, &t->times);
		json_close_object(w);
	}
	json_close_array(w);
}

/* Writes the frames of one kind, outermost first. */
static void profile_json_put_frames(struct json_writer *w, const struct profile_node *node,
                                    enum profile_node_kind kind)
{
	if (node->parent)
		profile_json_put_frames(w, node->parent, kind);
	if (node->kind != kind)
		return;
	const struct trace_frame f = { node->name, node->file, node->line, false, node->path };
	out_json_place_frame(w, &f);
}

static void put_stack(struct json_writer *w, const struct profile_view *v,
                      const struct profile_node *node)
{
	const struct profile_type *type = &v->tree->types[node->type];

	json_open_object(w, NULL);
	json_put_text(w, "type", type->type);
	json_put_text(w, "kind", kinds[type->job]);
	json_open_array(w, "frames");
	profile_json_put_frames(w, node, PROFILE_FRAME);
	json_close_array(w);
	if (v->cpu_hz) {
		json_open_array(w, "code");
		profile_json_put_frames(w, node, PROFILE_CODE);
		json_close_array(w);
		json_put_int(w, "samples", (int64_t)node->samples);
	}
	json_put_text(w, "awaits", node->kind == PROFILE_LEAF ? node->name : NULL);
	json_put_bool(w, "cut", node->kind == PROFILE_CUT);
	json_put_bool(w, "place_unknown", node->kind == PROFILE_UNPLACED);
	profile_json_put_times(w, v, &node->self);
	json_close_object(w);
}

static void put_cpu(struct json_writer *w, const struct profile_view *v)
{
	json_open_object(w, "cpu");
	json_put_int(w, "rate", v->cpu_hz);
	json_put_int(w, "samples", (int64_t)v->cpu.samples);
	json_put_int(w, "in_polls", (int64_t)v->cpu.in_polls);
	json_put_int(w, "cut", (int64_t)v->cpu.cut);
	json_put_int(w, "lost", (int64_t)v->cpu.lost);
	json_put_text(w, "missing", v->no_cpu);
	json_close_object(w);
}

static void put_profile(struct json_writer *w, const struct profile_view *v)
{
	json_open_object(w, "profile");
	json_put_int(w, "duration_ns", (int64_t)v->duration_ns);
	out_json_number_if(w, "samples", v->samples != 0, v->samples);
	json_put_int(w, "events", (int64_t)v->totals.events);
	json_put_int(w, "lost", (int64_t)v->totals.lost);
	json_put_int(w, "unmatched", (int64_t)v->totals.unmatched);
	json_put_int(w, "inexact_ns", (int64_t)v->inexact_ns);
	json_put_int(w, "not_followed", (int64_t)v->untracked);
	json_put_text(w, "off_processor_missing", v->no_off);
	if (v->cpu_hz)
		put_cpu(w, v);
	profile_json_put_times(w, v, &v->tree->total);
	profile_json_put_types(w, v);
	json_open_array(w, "stacks");
	for (const struct profile_node *node = NULL; (node = profile_view_next(v, node));) {
		if (profile_times_sum(&node->self))
			put_stack(w, v, node);
	}
	json_close_array(w);
	json_close_object(w);
}

void profile_json_write(FILE *f, const struct profile_view *v, bool line)
{
	struct json_writer *w = alloc_zeroed(sizeof(*w));

	json_writer_init(w, f, line);
	json_open_object(w, NULL);
	json_put_text(w, "schema", "asyncdbg/2");
	json_put_text(w, "command", "profile");
	out_json_target(w, v->answer);
	json_put_text(w, "clock", "monotonic");
	json_put_int(w, "start", (int64_t)v->start);
	json_put_text(w, "backend", v->backend);
	out_json_missing(w, v->plan, v->wanted);
	put_profile(w, v);
	json_close_object(w);
	json_end_line(w);
	json_flush(w);
	free(w);
}
