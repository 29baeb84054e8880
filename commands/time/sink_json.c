/* A trace as JSON: a header, then one object for each event, then the totals. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/json/out_json.h"
#include "commands/time/sink.h"
#include "debugger/base/arena.h"
#include "debugger/base/json_writer.h"
#include "debugger/base/map.h"

enum {
	MAX_MEMBERS = 65536, /* texts of struct sink_json_members */
	MAX_TYPE = 4096,     /* bytes of a type that is in one */
};

/* Members that many items have alike, in the form of a line. */
struct sink_json_members {
	const char *text;
	size_t len;
};

struct sink_json {
	struct sink sink;
	bool lines;
	struct map defined; /* numbers of places that were written */
	struct map known;   /* hash of the subject -> struct sink_json_members */
	struct arena arena;
	struct json_writer w;
	struct json_writer part; /* to write one of struct sink_json_members; it has no file */
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

static void sink_json_begin(struct sink *s, const struct trace_heading *h)
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

typedef void members_fn(struct json_writer *w, const struct trace_item *item);

static void sink_json_put_thread(struct json_writer *w, const struct trace_item *item)
{
	json_put_text(w, "event", trace_event_name(item->event));
	out_json_number_if(w, "tid", item->tid > 0, (uint64_t)item->tid);
	out_json_number_if(w, "worker", item->worker >= 0, (uint64_t)item->worker);
	out_json_number_if(w, "runtime", item->runtime >= 0, (uint64_t)item->runtime);
}

static void put_future(struct json_writer *w, const struct trace_item *item)
{
	json_put_text(w, "type", item->type);
	json_put_text(w, "kind", job_names[item->job]);
}

static const struct sink_json_members *make_members(struct sink_json *j, uint64_t key,
                                                    members_fn *put, const struct trace_item *item)
{
	struct sink_json_members *m;

	if (j->known.n >= MAX_MEMBERS || (item->type && strlen(item->type) > MAX_TYPE))
		return NULL;
	json_writer_init(&j->part, NULL, true);
	put(&j->part, item);
	m = NEW(&j->arena, struct sink_json_members);
	*m = (struct sink_json_members){ arena_strndup(&j->arena, j->part.buffer, j->part.n),
		                         j->part.n };
	map_put(&j->known, key, m);
	return m;
}

/* Writes members that are the same in each item with that key. */
static void put_alike(struct sink_json *j, uint64_t key, members_fn *put,
                      const struct trace_item *item)
{
	const struct sink_json_members *m = j->lines ? map_get(&j->known, key) : NULL;

	if (!m && j->lines)
		m = make_members(j, key, put, item);
	if (m)
		json_put_members(&j->w, m->text, m->len);
	else
		put(&j->w, item);
}

static uint64_t key_of_thread(const struct trace_item *item)
{
	const uint64_t of_worker = (uint64_t)(uint32_t)item->worker << 32 | (uint32_t)item->runtime;

	return map_key_of_pair((uint64_t)(uint32_t)item->tid << 8 | item->event, of_worker);
}

/* Writes the length of a poll or park, or its upper limit if its end is late. */
static void put_length(struct json_writer *w, const char *name, const char *at_most,
                       const struct trace_item *item)
{
	out_json_number_if(w, name, !item->late, item->poll_ns);
	if (item->late)
		json_put_int(w, at_most, (int64_t)item->at_most_ns);
}

static void sink_json_item(struct sink *s, const struct trace_item *item)
{
	struct sink_json *j = (struct sink_json *)s;
	struct json_writer *w = &j->w;

	if (item->place)
		define_place(j, item->place);
	json_open_object(w, NULL);
	json_put_int(w, "t", (int64_t)item->time);
	put_alike(j, key_of_thread(item), sink_json_put_thread, item);
	out_json_task_key(w, "task", item->task);
	if (item->task)
		put_alike(j, map_key_of_pair((uintptr_t)item->type, 1 + (uint64_t)item->job),
		          put_future, item);
	if (item->event == TRACE_POLL_END) {
		put_length(w, "poll_ns", "poll_ns_at_most", item);
		if (item->ready_known)
			json_put_bool(w, "ready", item->ready);
		else
			json_put_null(w, "ready");
		out_json_number_if(w, "place", item->place != NULL,
		                   item->place ? item->place->number : 0);
	} else if (item->event == TRACE_UNPARK) {
		put_length(w, "parked_ns", "parked_ns_at_most", item);
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

static void sink_json_flush(struct sink *s)
{
	json_flush(&((struct sink_json *)s)->w);
	fflush(s->f);
}

static void sink_json_end(struct sink *s, const struct trace_ending *e)
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
	sink_json_flush(s);
}

static void sink_json_free_sink(struct sink *s)
{
	struct sink_json *j = (struct sink_json *)s;

	map_free(&j->defined);
	map_free(&j->known);
	arena_free(&j->arena);
	free(s);
}

static const struct sink_ops ops = { sink_json_begin, sink_json_item, NULL, NULL,
	                             sink_json_flush, sink_json_end,  NULL, sink_json_free_sink };

struct sink *sink_json_new(FILE *f, const struct out_options *options, bool lines)
{
	struct sink_json *j = alloc_zeroed(sizeof(*j));

	j->sink = (struct sink){ .ops = &ops, .f = f, .options = options };
	j->lines = lines;
	json_writer_init(&j->w, f, lines);
	return &j->sink;
}
