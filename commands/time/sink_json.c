/* A trace as JSON: a header, then one object for each event, then the totals. */
#include <inttypes.h>
#include <stdlib.h>

#include "commands/json/out_json.h"
#include "commands/time/sink.h"
#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "runtimes/saved/json_writer.h"

struct sink_json {
	struct sink sink;
	bool lines;
	struct map defined; /* numbers of places that were written */
	struct json_writer w;
};

static const char *const job_names[] = {
	[TRACE_TASK] = "task",
	[TRACE_BLOCKING] = "blocking",
	[TRACE_WORKER] = "worker",
	[TRACE_UNKNOWN_JOB] = NULL,
};

static void put_events(struct json_writer *w, const struct trace_heading *h)
{
	json_open_array(w, "events");
	for (size_t i = 0; i < TRACE_NEVENTS; i++) {
		if (h->plan->has[i] && h->wanted[i])
			json_put_text(w, NULL, trace_event_name((enum trace_event)i));
	}
	json_close_array(w);
	out_json_missing(w, h->plan, h->wanted);
	if (h->wanted[TRACE_SPAWN])
		out_json_missing_keys(w, h->plan);
}

static void begin(struct sink *s, const struct trace_heading *h)
{
	struct sink_json *j = (struct sink_json *)s;
	struct json_writer *w = &j->w;

	s->start = h->start;
	json_open_object(w, NULL);
	json_put_text(w, "schema", "asyncdbg/2");
	json_put_text(w, "command", "trace");
	out_json_target(w, h->answer);
	json_put_text(w, "clock", "monotonic");
	json_put_int(w, "start", (int64_t)h->start);
	json_put_text(w, "backend", h->backend);
	put_events(w, h);
	json_put_int(w, "probes", (int64_t)(h->plan->n + h->nstatics));
	json_put_int(w, "expected_cost_ns_per_poll", (int64_t)h->cost_ns);
	if (j->lines) {
		json_close_object(w);
		json_end_line(w);
	} else {
		json_open_array(w, "items");
	}
}

/* A place before its first use. */
static void define_place(struct sink_json *j, const struct trace_place *place)
{
	struct json_writer *w = &j->w;

	if (!map_put(&j->defined, place->number, j))
		return;
	json_open_object(w, NULL);
	json_put_int(w, "place", (int64_t)place->number);
	out_json_place(w, place);
	json_close_object(w);
	if (j->lines)
		json_end_line(w);
}

static void put_argument(struct json_writer *w, const struct trace_argument *arg)
{
	char text[32];

	json_open_object(w, NULL);
	if (!arg->known) {
		json_put_null(w, "value");
	} else if (arg->is_signed || arg->value <= INT64_MAX) {
		json_put_int(w, "value", (int64_t)arg->value);
	} else {
		snprintf(text, sizeof(text), "%" PRIu64, arg->value);
		json_put_text(w, "value", text);
	}
	if (arg->text)
		json_put_text(w, "text", arg->text);
	json_close_object(w);
}

static void put_hit(struct json_writer *w, const struct trace_hit *hit)
{
	json_put_text(w, "provider", hit->probe->provider);
	json_put_text(w, "name", hit->probe->name);
	json_open_array(w, "args");
	for (size_t i = 0; i < hit->n; i++)
		put_argument(w, &hit->arguments[i]);
	json_close_array(w);
}

static void item(struct sink *s, const struct trace_item *item)
{
	struct sink_json *j = (struct sink_json *)s;
	struct json_writer *w = &j->w;
	bool of_task = item->task != 0;

	if (item->place)
		define_place(j, item->place);
	json_open_object(w, NULL);
	json_put_int(w, "t", (int64_t)item->time);
	json_put_text(w, "event", trace_event_name(item->event));
	out_json_number_if(w, "tid", item->tid > 0, (uint64_t)item->tid);
	out_json_number_if(w, "worker", item->worker >= 0, (uint64_t)item->worker);
	out_json_number_if(w, "runtime", item->runtime >= 0, (uint64_t)item->runtime);
	out_json_task_key(w, "task", item->task);
	if (of_task) {
		json_put_text(w, "type", item->type);
		json_put_text(w, "kind", job_names[item->job]);
	}
	if (item->event == TRACE_POLL_END) {
		json_put_int(w, "poll_ns", (int64_t)item->poll_ns);
		if (item->ready_known)
			json_put_bool(w, "ready", item->ready);
		else
			json_put_null(w, "ready");
		out_json_number_if(w, "place", item->place != NULL,
		                   item->place ? item->place->number : 0);
	} else if (item->event == TRACE_UNPARK) {
		json_put_int(w, "parked_ns", (int64_t)item->poll_ns);
	}
	if (item->event == TRACE_WAKE || item->event == TRACE_SPAWN || item->event == TRACE_USDT)
		out_json_task_key(w, "by", item->by);
	if (item->event == TRACE_SPAWN)
		out_json_source(w, "spawned_at", item->spawned_at);
	if (item->hit)
		put_hit(w, item->hit);
	if (item->late)
		json_put_bool(w, "late", true);
	json_close_object(w);
	if (j->lines)
		json_end_line(w);
}

static void flush(struct sink *s)
{
	json_flush(&((struct sink_json *)s)->w);
	fflush(s->f);
}

static void end(struct sink *s, const struct trace_ending *e)
{
	struct sink_json *j = (struct sink_json *)s;
	struct json_writer *w = &j->w;

	if (!j->lines)
		json_close_array(w);
	json_open_object(w, j->lines ? NULL : "end");
	if (j->lines)
		json_put_text(w, "event", "end");
	json_put_int(w, "events", (int64_t)e->totals.events);
	json_put_int(w, "lost", (int64_t)e->totals.lost);
	json_put_int(w, "unmatched", (int64_t)e->totals.unmatched);
	json_put_int(w, "duration_ns", (int64_t)e->duration_ns);
	json_put_int(w, "detach_ns", (int64_t)e->detach_ns);
	json_close_object(w);
	if (!j->lines)
		json_close_object(w);
	json_end_line(w);
	flush(s);
}

static void free_sink(struct sink *s)
{
	map_free(&((struct sink_json *)s)->defined);
	free(s);
}

static const struct sink_ops ops = { begin, item, NULL, NULL, flush, end, NULL, free_sink };

struct sink *sink_json_new(FILE *f, const struct out_options *options, bool lines)
{
	struct sink_json *j = alloc_zeroed(sizeof(*j));

	j->sink = (struct sink){ .ops = &ops, .f = f, .options = options };
	j->lines = lines;
	json_writer_init(&j->w, f, lines);
	return &j->sink;
}
