#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "commands/focus.h"
#include "commands/out.h"
#include "commands/view.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/inspect.h"

/* Six digits: pauses are known to the microsecond at best. */
#define DUMP_FLAGS (JSON_ENCODE_ANY | JSON_REAL_PRECISION(6))

/*
 * Keys and their meaning: docs/json.md. Tasks are kept as pointers and become JSON one at a
 * time while they are written: a hundred thousand of them need no more memory than one.
 */
struct json {
	struct out out;
	bool lines;
	/* NULL: not part of this answer */
	json_t *threads, *layout, *commands, *summary, *focus, *frame, *printed, *places;
	VEC(const struct task *) tasks;
	struct map seen; /* tasks by their address here */
};

/* null for NULL. Jansson refuses bytes that are no UTF-8. */
static json_t *text(const char *s)
{
	STR(clean);

	if (!s)
		return json_null();
	str_append_clean(&clean, s, strlen(s));
	return json_string(str_text(&clean));
}

static json_t *address(uint64_t addr)
{
	char hex[2 + 16 + 1];

	if (!addr)
		return json_null();
	snprintf(hex, sizeof(hex), "0x%" PRIx64, addr);
	return json_string(hex);
}

static json_t *number_if(bool known, uint64_t n)
{
	return known ? json_integer((json_int_t)n) : json_null();
}

static void set(json_t *object, const char *key, json_t *value)
{
	/* Jansson fails only where memory is gone. */
	if (json_object_set_new(object, key, value) != 0)
		out_of_memory();
}

static void add(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) != 0)
		out_of_memory();
}

static json_t *text_list(const char *const *list, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		add(array, text(list[i]));
	return array;
}

static json_t *wait_json(const struct wait *wait)
{
	if (!wait)
		return json_null();

	json_t *o = json_object();
	set(o, "kind", text(wait->kind));
	set(o, "phrase", text(wait->phrase));
	set(o, "object", address(wait->object));
	set(o, "task", text(wait->task));
	for (size_t i = 0; i < wait->ndetails; i++) {
		const struct wait_detail *d = &wait->details[i];

		if (json_object_get(o, d->key))
			continue;
		if (d->kind == DETAIL_STRING)
			set(o, d->key, text(d->string));
		else if (d->kind == DETAIL_BOOL)
			set(o, d->key, json_boolean(d->number));
		else if (d->kind == DETAIL_LIST)
			set(o, d->key, text_list(d->list, d->nlist));
		else
			set(o, d->key, json_integer(d->number));
	}
	return o;
}

static json_t *local_json(const struct local *local)
{
	json_t *o = json_object();

	set(o, "name", text(local->name));
	set(o, "type", text(local->type));
	set(o, "value", text(local->value));
	set(o, "addr", address(local->addr));
	set(o, "argument", json_boolean(local->argument));
	set(o, "uncertain", json_boolean(local->uncertain));
	set(o, "passed_in", json_boolean(local->passed_in));
	set(o, "problem", text(local->problem));
	return o;
}

/* Only when asked for, although a snapshot may have them. */
static json_t *locals_json(const struct future *f, bool verbose)
{
	json_t *locals = json_array();

	for (size_t i = 0; verbose && i < f->nlocals; i++)
		add(locals, local_json(&f->locals[i]));
	return locals;
}

static json_t *future_json(const struct future *f, bool verbose)
{
	if (!f)
		return json_null();

	json_t *o = json_object(), *children = json_array();
	set(o, "number", json_integer(f->number));
	set(o, "kind", text(future_kind_name(f->kind)));
	set(o, "function", text(f->function));
	set(o, "type", text(f->type));
	set(o, "addr", address(f->addr));
	set(o, "state", text(future_state_name(f->state)));
	set(o, "await_point",
	    number_if(f->state == FUTURE_SUSPENDED && f->await_point >= 0,
	              (uint64_t)f->await_point));
	set(o, "file", text(f->file));
	set(o, "file_short", text(f->file_short));
	set(o, "line", number_if(f->line, f->line));
	set(o, "running", json_boolean(f->running));
	set(o, "dyn", json_boolean(f->dyn));
	set(o, "uncertain", json_boolean(f->uncertain));
	set(o, "aliases", text(f->aliases));
	set(o, "inferred", json_boolean(f->inferred));
	set(o, "edge", text(f->edge));
	set(o, "branch", text(branch_name(f->branch)));
	set(o, "note", text(f->note));
	set(o, "wait", wait_json(f->wait));
	for (size_t i = 0; i < f->nchildren; i++)
		add(children, future_json(f->children[i], verbose));
	set(o, "locals", locals_json(f, verbose));
	set(o, "children", children);
	set(o, "problem", text(f->problem));
	return o;
}

static json_t *task_json(const struct answer *answer, const struct task *task)
{
	SCRATCH(tmp);
	json_t *o = json_object();
	size_t others;

	set(o, "id", text(task->id));
	set(o, "runtime", json_integer(task->runtime));
	set(o, "addr", address(task->addr));
	set(o, "local_set", address(task->local_set));
	set(o, "state", text(task_state_name(task->state)));
	set(o, "notified", json_boolean(task->state == TASK_RUNNING && task->notified));
	set(o, "thread", number_if(task->thread, task->thread));
	set(o, "type", text(task->type));
	set(o, "waiting_on", text(task_waiting_on(&tmp, answer->snapshot, task, true, &others)));
	set(o, "leaves", json_integer((json_int_t)future_leaves(task->root)));
	set(o, "root", future_json(task->root, answer->verbose));
	set(o, "problem", text(task->problem));
	return o;
}

static json_t *frame_json(const struct stack_frame *f)
{
	json_t *o = json_object();

	set(o, "number", json_integer(f->number));
	set(o, "pc", address(f->pc));
	set(o, "function", text(f->function));
	set(o, "function_full", text(f->function_full));
	set(o, "file", text(f->file));
	set(o, "file_short", text(f->file_short));
	set(o, "line", number_if(f->line, f->line));
	set(o, "inlined", json_boolean(f->inlined));
	set(o, "module", text(f->module));
	set(o, "polls_task", text(f->polls_task));
	return o;
}

static json_t *thread_json(const struct thread_info *th, bool with_frames, bool verbose)
{
	json_t *o = json_object();

	set(o, "number", json_integer(th->number));
	set(o, "tid", json_integer(th->tid));
	set(o, "name", text(th->name));
	set(o, "role", text(thread_role_name(th->role)));
	set(o, "runtime", number_if(th->runtime >= 0, (uint64_t)th->runtime));
	set(o, "worker", number_if(th->worker >= 0, (uint64_t)th->worker));
	set(o, "state", text(th->state));
	set(o, "queue_len", number_if(th->has_queue, th->queue_len));
	set(o, "task", text(th->task));
	set(o, "root", future_json(th->root, verbose));
	set(o, "job", text(th->job));
	set(o, "wait", wait_json(th->wait));
	set(o, "problem", text(th->problem));
	if (with_frames) {
		json_t *frames = json_array();

		for (size_t i = 0; i < th->nframes; i++)
			add(frames, frame_json(&th->frames[i]));
		set(o, "frames", frames);
	}
	return o;
}

static json_t *runtime_json(const struct answer *answer, const struct runtime_info *r)
{
	json_t *o = json_object();
	uint64_t tasks = 0;
	bool known = runtime_tasks(answer, r, &tasks);

	set(o, "index", json_integer(r->index));
	set(o, "kind", text(r->kind));
	set(o, "flavor", text(runtime_flavor_name(r->flavor)));
	set(o, "name", text(r->name));
	set(o, "version", text(r->version));
	set(o, "addr", address(r->addr));
	set(o, "workers", json_integer(r->workers));
	set(o, "tasks", number_if(known, tasks));
	set(o, "expected_tasks", number_if(r->has_expected, r->expected_tasks));
	set(o, "injection_queue_len", number_if(r->has_inject, r->inject_len));
	set(o, "blocking_threads", number_if(r->has_blocking, r->blocking_threads));
	set(o, "blocking_idle", number_if(r->has_blocking, r->blocking_idle));
	set(o, "blocking_queued", number_if(r->has_blocking, r->blocking_queued));
	return o;
}

static json_t *target_json(const struct target_info *target)
{
	SCRATCH(tmp);
	json_t *o = json_object();
	int signal = target->signal;

	set(o, "kind", text(target->kind));
	set(o, "pid", json_integer(target->pid));
	set(o, "core", text(target->core));
	set(o, "command", text(target->command));
	set(o, "exe", text(target->exe));
	set(o, "build_id", text(target->build_id));
	set(o, "arch", text(target->arch));
	set(o, "rustc", text(target->rustc));
	set(o, "tokio", text(target->tokio));
	set(o, "debug_info", text(debug_tier_name(target->tier)));
	set(o, "debug_info_reason", text(target->tier_reason));
	set(o, "signal", number_if(signal, (uint64_t)signal));
	set(o, "signal_name", signal ? text(signal_name(&tmp, signal)) : json_null());
	set(o, "signal_tid", number_if(signal && target->signal_tid, (uint64_t)target->signal_tid));
	return o;
}

static void json_begin(struct out *o)
{
	struct json *j = (struct json *)o;

	j->threads = json_array();
}

static void clear(struct json *j)
{
	json_t **const parts[] = { &j->threads, &j->layout, &j->commands, &j->summary,
		                   &j->focus,   &j->frame,  &j->printed,  &j->places };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		json_decref(*parts[i]);
		*parts[i] = NULL;
	}
	vec_free(&j->tasks);
	map_free(&j->seen);
}

static void json_drop(struct out *o)
{
	clear((struct json *)o);
}

static void json_free_op(struct out *o)
{
	clear((struct json *)o);
	free(o);
}

/* The document has every runtime anyway. */
static void json_runtime(struct out *o, const struct runtime_info *r, enum runtime_view view)
{
	(void)o;
	(void)r;
	(void)view;
}

static void json_task(struct out *o, const struct task *task, enum task_view view)
{
	struct json *j = (struct json *)o;

	(void)view;
	if (map_put(&j->seen, (uintptr_t)task, NULL))
		*vec_push(&j->tasks) = task;
}

static void json_thread(struct out *o, const struct thread_info *th, enum thread_view view)
{
	struct json *j = (struct json *)o;

	add(j->threads, thread_json(th, view == THREAD_STACK, o->answer.verbose));
	/* A joined stack shows the tasks that are polled on it. */
	for (size_t i = 0; view == THREAD_STACK && i < th->nframes; i++) {
		const char *id = th->frames[i].polls_task;
		const struct task *task =
			id ? snapshot_task(o->answer.snapshot, id, th->number) : NULL;

		if (task)
			json_task(o, task, TASK_ON_THREAD);
	}
}

static json_t *focus_json(const struct focus *f)
{
	json_t *o = json_object();

	set(o, "thread", number_if(f->thread, f->thread ? f->thread->number : 0));
	set(o, "task", text(f->task ? f->task->id : NULL));
	set(o, "frame", number_if(f->frame, f->frame ? f->frame->number : 0));
	return o;
}

static void json_frame(struct out *o, const struct focus *f)
{
	struct json *j = (struct json *)o;

	j->focus = focus_json(f);
	j->frame = future_json(f->frame, o->answer.verbose);
}

static void json_printed(struct out *o, const struct focus *f, const struct local *value)
{
	struct json *j = (struct json *)o;

	j->focus = focus_json(f);
	j->printed = local_json(value);
}

static void json_place(struct out *o, const struct place *place)
{
	struct json *j = (struct json *)o;
	json_t *p = json_object();

	set(p, "what", text(place->what));
	set(p, "phrase", text(place->phrase));
	set(p, "addr", address(place->addr));
	set(p, "task", text(place->task));
	set(p, "thread", number_if(place->thread, place->thread));
	if (!j->places)
		j->places = json_array();
	add(j->places, p);
}

static void json_layout(struct out *o, const struct layout_info *row)
{
	struct json *j = (struct json *)o;
	json_t *r = json_object();

	set(r, "module", text(row->module));
	set(r, "key", text(row->key));
	set(r, "path", text(row->path));
	set(r, "status", text(row_status_name(row->status)));
	set(r, "matched", text(row->matched));
	set(r, "plan", text(row->plan));
	set(r, "tried", text(row->tried));
	if (!j->layout)
		j->layout = json_array();
	add(j->layout, r);
}

static void count(json_t *object, const char *key)
{
	set(object, key, json_integer(json_integer_value(json_object_get(object, key)) + 1));
}

static void json_summary(struct out *o)
{
	struct json *j = (struct json *)o;
	const struct snapshot *s = o->answer.snapshot;
	json_t *threads = json_object(), *tasks = json_object(), *layout = json_object();

	for (size_t i = 0; i < s->nthreads; i++)
		count(threads, thread_role_name(s->threads[i].role));
	for (size_t i = 0; i < s->ntasks; i++)
		count(tasks, task_state_name(s->tasks[i]->state));
	for (size_t i = 0; i < s->nlayout; i++)
		count(layout, row_status_name(s->layout[i].status));
	j->summary = json_object();
	set(j->summary, "threads", threads);
	set(j->summary, "tasks", tasks);
	set(j->summary, "layout", layout);
}

static void json_help(struct out *o, const struct command *command, enum help_view view)
{
	struct json *j = (struct json *)o;
	json_t *c = json_object(), *options = json_array();

	(void)view;
	if (command->verbose)
		add(options, json_string("-v"));
	set(c, "name", text(command->name));
	set(c, "args", text(command->args));
	set(c, "options", options);
	set(c, "summary", text(command->summary));
	if (!j->commands)
		j->commands = json_array();
	add(j->commands, c);
}

static void add_snapshot(struct json *j, json_t *o)
{
	const struct snapshot *s = j->out.answer.snapshot;
	json_t *runtimes = json_array(), *notes = json_array();

	for (size_t i = 0; i < s->nruntimes; i++)
		add(runtimes, runtime_json(&j->out.answer, &s->runtimes[i]));
	for (size_t i = 0; i < s->nnotes; i++)
		add(notes, text(s->notes[i]));
	set(o, "target", target_json(&s->target));
	set(o, "complete", json_boolean(s->complete));
	set(o, "pause_ms", s->target.core ? json_null() : json_real((double)s->pause_ns / 1e6));
	set(o, "runtimes", runtimes);
	set(o, "notes", notes);
	set(o, "threads", json_incref(j->threads));
}

/* Everything but the tasks. */
static json_t *head(struct json *j)
{
	json_t *o = json_object();

	set(o, "schema", json_string("asyncdbg/1"));
	set(o, "command", text(j->out.answer.command));
	if (j->out.answer.snapshot)
		add_snapshot(j, o);
	const struct {
		const char *key;
		json_t *value;
	} parts[] = {
		{ "summary", j->summary }, { "layout", j->layout }, { "commands", j->commands },
		{ "focus", j->focus },     { "frame", j->frame },   { "printed", j->printed },
		{ "places", j->places },
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (parts[i].value)
			set(o, parts[i].key, json_incref(parts[i].value));
	}
	return o;
}

struct sink {
	FILE *f;
	int indent; /* blanks after each line break */
};

static int write_indented(const char *buffer, size_t size, void *data)
{
	const struct sink *sink = data;

	/* A line break within a string is always escaped, so each one here is layout. */
	for (const char *end; size && (end = memchr(buffer, '\n', size));) {
		size_t len = (size_t)(end - buffer) + 1;

		fwrite(buffer, 1, len, sink->f);
		fprintf(sink->f, "%*s", sink->indent, "");
		buffer += len;
		size -= len;
	}
	fwrite(buffer, 1, size, sink->f);
	return 0;
}

/* Takes the reference to value. */
static void write_value(struct json *j, json_t *value, int indent)
{
	struct sink sink = { j->out.options.answers, indent };
	size_t flags = DUMP_FLAGS | (j->lines ? JSON_COMPACT : JSON_INDENT(2));

	json_dump_callback(value, write_indented, &sink, flags);
	json_decref(value);
}

static void write_lines(struct json *j)
{
	FILE *f = j->out.options.answers;

	write_value(j, head(j), 0);
	fputc('\n', f);
	for (size_t i = 0; i < j->tasks.n && !ferror(f); i++) {
		write_value(j, task_json(&j->out.answer, j->tasks.data[i]), 0);
		fputc('\n', f);
	}
}

static void write_document(struct json *j)
{
	FILE *f = j->out.options.answers;
	json_t *members = head(j), *value;
	const char *key, *separator = "{\n";

	json_object_foreach(members, key, value)
	{
		fprintf(f, "%s  \"%s\": ", separator, key);
		write_value(j, json_incref(value), 2);
		separator = ",\n";
	}
	json_decref(members);
	if (!j->out.answer.snapshot) {
		fputs("\n}\n", f);
		return;
	}
	fputs(",\n  \"tasks\": [", f);
	for (size_t i = 0; i < j->tasks.n && !ferror(f); i++) {
		fputs(i ? ",\n    " : "\n    ", f);
		write_value(j, task_json(&j->out.answer, j->tasks.data[i]), 4);
	}
	fputs(j->tasks.n ? "\n  ]\n}\n" : "]\n}\n", f);
}

static void json_end(struct out *o)
{
	struct json *j = (struct json *)o;

	if (j->lines)
		write_lines(j);
	else
		write_document(j);
	clear(j);
}

static const struct out_ops json_ops = {
	.begin = json_begin,
	.runtime = json_runtime,
	.thread = json_thread,
	.task = json_task,
	.frame = json_frame,
	.printed = json_printed,
	.place = json_place,
	.layout = json_layout,
	.summary = json_summary,
	.help = json_help,
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
	return &j->out;
}
