/* A page of `top` as JSON. */
#include <inttypes.h>

#include "commands/json/out_json.h"
#include "commands/top/top_page.h"
#include "debugger/base/clock.h"

static void top_json_put_id(struct json_writer *w, const char *key, uint64_t id)
{
	out_json_task_key(w, key, id);
}

static void top_json_put_if(struct json_writer *w, const char *key, bool known, uint64_t n)
{
	out_json_number_if(w, key, known, n);
}

static void top_json_put_place(struct json_writer *w, const struct trace_place *place)
{
	if (!place) {
		json_put_null(w, "place");
		return;
	}
	json_open_object(w, "place");
	out_json_place(w, place);
	json_close_object(w);
}

static const char *const states[NDOINGS] = { NULL, "runnable", "polling", "waiting" };

static const char *top_json_kind_of(enum trace_job job)
{
	return job == TRACE_BLOCKING ? "blocking" : job == TRACE_UNKNOWN_JOB ? NULL : "task";
}

/* Whether the time is known at which a task began its activity. */
static bool has_since(const struct top_page *p, const struct top_task *task)
{
	return task->doing != DOING_UNKNOWN && !p->sampling &&
	       (task->doing != DOING_POLLING || !p->frame->late_ends);
}

static void put_what(struct json_writer *w, const struct top_page *p, const struct top_row *row)
{
	if (row->task) {
		top_json_put_id(w, "task", row->task->id);
		json_put_text(w, "state", states[row->task->doing]);
		top_json_put_if(w, "since_ns", has_since(p, row->task),
		                moment_between(row->task->since, p->frame->time));
	} else {
		json_put_int(w, "tasks", (int64_t)row->tasks);
		json_put_int(w, "ended", (int64_t)row->ended);
		json_open_object(w, "states");
		for (size_t i = DOING_RUNNABLE; i < NDOINGS; i++)
			json_put_int(w, states[i], (int64_t)row->doing[i]);
		json_close_object(w);
	}
	if (row->task || p->view->grouping == TOP_BY_TYPE)
		json_put_text(w, "kind", top_json_kind_of(row->job));
	json_put_text(w, "type", row->type);
	if (row->task || p->view->grouping == TOP_BY_PLACE)
		top_json_put_place(w, row->place);
}

static void put_wakes(struct json_writer *w, const struct top_page *p, const struct top_row *row)
{
	const struct top_known *k = &p->known;

	top_json_put_if(w, "wakes", k->wakes, row->wakes);
	top_json_put_if(w, "own_wakes", k->own, row->own_wakes);
	top_json_put_if(w, "wakes_by_no_task", k->wakes, row->no_task);
	if (!k->wakes || !row->waker.wakes) {
		json_put_null(w, "woken_by");
		return;
	}
	json_open_object(w, "woken_by");
	top_json_put_id(w, "task", row->waker.task);
	json_put_text(w, "type", row->waker.type);
	json_put_int(w, "wakes", (int64_t)row->waker.wakes);
	json_close_object(w);
}

static void top_json_put_row(struct json_writer *w, const struct top_page *p,
                             const struct top_row *row)
{
	const struct top_known *k = &p->known;

	json_open_object(w, NULL);
	put_what(w, p, row);
	top_json_put_if(w, "polls", k->polls, row->polls);
	top_json_put_if(w, "polled_ns", k->busy, row->polled_ns);
	top_json_put_if(w, "poll_longest_ns", k->ends && !p->sampling, row->poll_longest);
	top_json_put_if(w, "poll_p99_ns", k->ends && row->poll_p99, row->poll_p99);
	top_json_put_if(w, "runnable_ns", k->wakes || p->sampling, row->runnable_ns);
	top_json_put_if(w, "runnable_longest_ns", k->wakes, row->runnable_longest);
	top_json_put_if(w, "runnable_p50_ns", k->wakes && row->runnable_p50, row->runnable_p50);
	top_json_put_if(w, "runnable_p99_ns", k->wakes && row->runnable_p99, row->runnable_p99);
	put_wakes(w, p, row);
	json_close_object(w);
}

static void top_json_put_hints(struct json_writer *w, const struct top_page *p)
{
	static const char *const values[TOP_NHINTS] = {
		[TOP_SELF_WAKING] = "per_cent",
		[TOP_NEVER_YIELDS] = "poll_ns",
		[TOP_LARGE_FUTURE] = "bytes",
	};

	json_open_array(w, "hints");
	for (size_t i = 0; i < p->hints.n; i++) {
		const struct top_hint *h = &p->hints.list[i];

		json_open_object(w, NULL);
		json_put_text(w, "hint", top_hints_name(h->kind));
		top_json_put_id(w, "task", h->task);
		json_put_text(w, "type", h->type);
		json_put_int(w, "tasks", (int64_t)h->tasks);
		if (values[h->kind])
			json_put_int(w, values[h->kind], (int64_t)h->value);
		if (h->kind == TOP_LARGE_FUTURE)
			json_put_bool(w, "boxed", h->boxed);
		json_close_object(w);
	}
	json_close_array(w);
}

static void put_workers(struct json_writer *w, const struct top_page *p)
{
	json_open_array(w, "workers");
	for (size_t i = 0; i < p->nworkers; i++) {
		const struct top_worker *x = &p->workers[i];

		json_open_object(w, NULL);
		top_json_put_if(w, "runtime", x->runtime >= 0, (uint64_t)x->runtime);
		top_json_put_if(w, "worker", x->worker >= 0, (uint64_t)x->worker);
		top_json_put_if(w, "polls", p->known.polls, x->polls);
		top_json_put_if(w, "parks", p->known.parking && !p->sampling, x->parks);
		top_json_put_if(w, "busy_ns", p->known.parking, x->busy_ns);
		top_json_put_if(w, "parked_ns", p->known.parking, x->parked_ns);
		top_json_put_if(w, "queue", x->has_queue, x->queue_len);
		json_close_object(w);
	}
	json_close_array(w);
}

static void put_stalls(struct json_writer *w, const struct top_page *p)
{
	const struct top_frame *f = p->frame;
	size_t ended = 0;

	json_put_int(w, "stalls_total", (int64_t)f->stall_total);
	json_open_array(w, "stalls");
	for (size_t i = 0; i < f->nstalls; i++) {
		const struct top_stall *s = &f->stalls[i];

		if (!s->open && ended++ == f->nfresh)
			break; /* an earlier frame had it */
		json_open_object(w, NULL);
		top_json_put_id(w, "task", s->task);
		json_put_text(w, "type", s->type);
		json_put_int(w, "tid", s->tid);
		json_put_int(w, "began", (int64_t)s->began.ns);
		json_put_int(w, "poll_ns", (int64_t)s->ns);
		json_put_bool(w, "ended", !s->open);
		top_json_put_place(w, s->place);
		json_close_object(w);
	}
	json_close_array(w);
}

static void put_sampling(struct json_writer *w, const struct top_page *p)
{
	const struct top_sampling *s = p->sampling;

	json_put_bool(w, "sampled", s != NULL);
	if (!s)
		return;
	json_put_int(w, "looks", (int64_t)s->looks);
	json_put_real(w, "every_s", s->every);
	json_put_text(w, "why_sampled", s->why);
}

static void put_totals(struct json_writer *w, const struct top_page *p)
{
	const struct top_frame *f = p->frame;

	json_put_int(w, "tasks", (int64_t)f->n);
	top_json_put_if(w, "spawned", p->known.polls, f->spawned);
	top_json_put_if(w, "ended", p->known.polls, f->finished);
	top_json_put_if(w, "polls", p->known.polls, f->polls);
	top_json_put_if(w, "polled_ns", p->known.busy, f->polled_ns);
	top_json_put_if(w, "wakes", p->known.wakes, f->wakes);
	json_put_int(w, "untracked", (int64_t)f->untracked);
	json_put_int(w, "lost", (int64_t)p->lost);
}

void top_json_write(const struct top_page *p, struct json_writer *w)
{
	const struct top_view *view = p->view;

	json_open_object(w, NULL);
	json_put_text(w, "schema", "asyncdbg/2");
	json_put_text(w, "command", "top");
	out_json_target(w, p->answer);
	json_open_object(w, "top");
	json_put_int(w, "frame", (int64_t)p->number);
	json_put_int(w, "time", (int64_t)p->frame->time.ns);
	json_put_int(w, "interval_ns", (int64_t)moment_between(p->frame->began, p->frame->time));
	put_sampling(w, p);
	put_totals(w, p);
	top_json_put_hints(w, p);
	put_workers(w, p);
	put_stalls(w, p);
	json_put_text(w, "sort", top_view_field_name(view->sort));
	json_put_text(w, "group", view->grouping ? top_view_grouping_name(view->grouping) : NULL);
	json_put_int(w, "matched", (int64_t)p->list.matched);
	json_put_int(w, "rows_total", (int64_t)p->list.total);
	json_open_array(w, "rows");
	for (size_t i = 0; i < p->list.n; i++)
		top_json_put_row(w, p, &p->list.rows[i]);
	json_close_array(w);
	json_close_object(w);
	json_close_object(w);
	json_end_line(w);
}
