#include <stdlib.h>
#include <string.h>

#include "commands/json/out_json.h"
#include "commands/out/out.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/model/names.h"
#include "runtimes/session/asyncdbg.h"

struct shown_thread {
	const struct thread_info *thread;
	bool with_frames;
};

struct shown_part {
	const struct part_kind *kind;
	const void *part;
};

/*
 * docs/json.md defines the keys. What a command shows is kept as pointers into the snapshot and
 * converted while it is written, so memory for JSON does not grow with the number of tasks.
 */
struct json {
	struct out out;
	bool lines;
	VEC(struct shown_part) parts; /* in the order of the calls, behind those of the snapshot */
	VEC(struct shown_thread) threads;
	VEC(const struct task *) tasks;
	VEC(const struct job *) jobs; /* written behind the tasks */
	struct map seen;              /* set of tasks, by their address in this process */
	struct json_writer writer;
};

static void json_begin(struct out *o)
{
	(void)o;
}

static void out_json_clear(struct json *j)
{
	vec_free(&j->threads);
	vec_free(&j->parts);
	vec_free(&j->tasks);
	vec_free(&j->jobs);
	map_free(&j->seen);
}

static void json_drop(struct out *o)
{
	out_json_clear((struct json *)o);
}

static void json_free_op(struct out *o)
{
	out_json_clear((struct json *)o);
	free(o);
}

static void json_task(struct out *o, const struct task *task, enum task_view view)
{
	struct json *j = (struct json *)o;

	(void)view;
	if (map_put(&j->seen, (uintptr_t)task, NULL))
		*vec_push(&j->tasks) = task;
}

static void json_job(struct out *o, const struct job *job, enum task_view view)
{
	(void)view;
	*vec_push(&((struct json *)o)->jobs) = job;
}

static void json_thread(struct out *o, const struct thread_info *th, enum thread_view view)
{
	struct json *j = (struct json *)o;

	*vec_push(&j->threads) = (struct shown_thread){ th, view == THREAD_STACK };
	/* A joined stack also shows the tasks polled on it. */
	for (size_t i = 0; view == THREAD_STACK && i < th->nframes; i++) {
		const char *id = th->frames[i].polls_task;
		const struct task *task =
			id ? snapshot_task(o->answer.snapshot, id, th->number) : NULL;

		if (task)
			json_task(o, task, TASK_ON_THREAD);
	}
}

static void json_part(struct out *o, const struct part_kind *kind, const void *part)
{
	if (kind->json)
		*vec_push(&((struct json *)o)->parts) = (struct shown_part){ kind, part };
}

/* Writes how a live process was read. */
static void put_reading(struct json_writer *w, const struct reading *r)
{
	json_put_real(w, "pause_ms", (double)r->pause_ns / 1e6);
	json_open_object(w, "stop");
	json_put_text(w, "mode", reading_how_name(r->how));
	json_put_int(w, "stops", r->stops);
	json_put_real(w, "longest_ms", (double)r->longest_ns / 1e6);
	json_put_int(w, "threads", (int64_t)r->threads);
	json_put_int(w, "bytes", (int64_t)r->bytes);
	json_close_object(w);
}

static void put_snapshot(struct json *j)
{
	const struct snapshot *s = j->out.answer.snapshot;
	struct json_writer *w = &j->writer;

	out_json_target(w, &j->out.answer);
	json_put_bool(w, "complete", s->complete);
	if (s->others)
		json_put_text(w, "other_executors", s->others);
	if (s->target.core)
		json_put_null(w, "pause_ms");
	else
		put_reading(w, &s->reading);
	json_open_array(w, "runtimes");
	for (size_t i = 0; i < s->nruntimes; i++)
		out_json_runtime(w, &j->out.answer, &s->runtimes[i]);
	json_close_array(w);
	if (out_undriven_tasks(&j->out.answer))
		json_put_int(w, "undriven_tasks", (int64_t)out_undriven_tasks(&j->out.answer));
	json_put_list(w, "notes", s->notes, s->nnotes);
	json_open_array(w, "threads");
	for (size_t i = 0; i < j->threads.n; i++)
		out_json_thread(w, j->threads.data[i].thread, j->threads.data[i].with_frames,
		                j->out.answer.verbose);
	json_close_array(w);
	if (j->out.answer.wants & WANT_HOLDINGS)
		out_json_holdings(w, s, j->tasks.data, j->tasks.n);
}

/* Writes all members but the tasks, and leaves the document's object open. */
static void out_json_put_head(struct json *j)
{
	struct json_writer *w = &j->writer;

	json_open_object(w, NULL);
	json_put_text(w, "schema", "asyncdbg/2");
	json_put_text(w, "command", j->out.answer.command);
	if (j->out.answer.snapshot)
		put_snapshot(j);
	for (size_t i = 0; i < j->parts.n; i++)
		j->parts.data[i].kind->json(w, j->parts.data[i].part);
}

/* Writes the rows of tasks[]; each ends a line of --jsonl. */
static void out_json_put_tasks(struct json *j)
{
	struct json_writer *w = &j->writer;

	for (size_t i = 0; i < j->tasks.n && !ferror(w->f); i++) {
		out_progress(&j->out, i, j->tasks.n);
		out_json_task(w, &j->out.answer, j->tasks.data[i]);
		if (j->lines)
			json_end_line(w);
	}
	for (size_t i = 0; i < j->jobs.n && !ferror(w->f); i++) {
		out_json_job(w, &j->out.answer, j->jobs.data[i]);
		if (j->lines)
			json_end_line(w);
	}
}

static void write_lines(struct json *j)
{
	out_json_put_head(j);
	json_close_object(&j->writer);
	json_end_line(&j->writer);
	out_json_put_tasks(j);
}

static void write_document(struct json *j)
{
	struct json_writer *w = &j->writer;

	out_json_put_head(j);
	if (j->out.answer.snapshot) {
		json_open_array(w, "tasks");
		out_json_put_tasks(j);
		json_close_array(w);
	}
	json_close_object(w);
	json_end_line(w);
}

static void json_end(struct out *o)
{
	struct json *j = (struct json *)o;

	json_writer_init(&j->writer, o->options.answers, j->lines);
	if (j->lines)
		write_lines(j);
	else
		write_document(j);
	json_flush(&j->writer);
	out_json_clear(j);
}

static const struct out_ops json_ops = {
	.begin = json_begin,
	.part = json_part,
	.thread = json_thread,
	.task = json_task,
	.job = json_job,
	.end = json_end,
	.drop = json_drop,
	.free = json_free_op,
};

struct out *out_json_new(const struct out_options *options, bool lines)
{
	struct json *j = calloc(1, sizeof(*j));

	if (!j)
		out_of_memory();
	j->out.ops = &json_ops;
	j->out.options = *options;
	j->lines = lines;
	j->out.format = lines ? OUT_JSON_LINES : OUT_JSON;
	return &j->out;
}
