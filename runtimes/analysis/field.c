#include "runtimes/analysis/field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/names.h"
#include "runtimes/model/wait_kind.h"

/* ---- walks ---- */

typedef bool of_future(const struct field_of *of, const struct future *f,
                       const struct field_test *t);

static bool any_future(const struct field_of *of, const struct future *f,
                       const struct field_test *t, of_future *test)
{
	if (!f)
		return false;
	if (test(of, f, t))
		return true;
	for (size_t i = 0; i < f->nchildren; i++) {
		if (any_future(of, f->children[i], t, test))
			return true;
	}
	return false;
}

static bool field_test_text(const struct field_test *t, const char *text)
{
	return text && t->text(t, text);
}

/* ---- fields of the task ---- */

static bool id_texts(const struct field_of *of, const struct field_test *t)
{
	return field_test_text(t, of->task->id);
}

static bool id_numbers(const struct field_of *of, const struct field_test *t)
{
	return of->task->number && t->number(t, (int64_t)of->task->number);
}

static const char *id_value(const struct field_of *of)
{
	return of->task->id;
}

static const char *state_value(const struct field_of *of)
{
	return task_state_name(of->task->state);
}

static bool state_texts(const struct field_of *of, const struct field_test *t)
{
	return field_test_text(t, state_value(of));
}

static const char *kind_value(const struct field_of *of)
{
	return of->job ? "blocking" : "task";
}

static bool kind_texts(const struct field_of *of, const struct field_test *t)
{
	return field_test_text(t, kind_value(of));
}

static const struct runtime_info *field_runtime_of(const struct field_of *of)
{
	const struct snapshot *s = of->snapshot;

	return of->task->runtime < s->nruntimes && !of->task->undriven
	               ? &s->runtimes[of->task->runtime]
	               : NULL;
}

static bool runtime_texts(const struct field_of *of, const struct field_test *t)
{
	const struct runtime_info *r = field_runtime_of(of);

	return r &&
	       (field_test_text(t, r->name) || field_test_text(t, r->flavor ? r->flavor : r->kind));
}

static bool runtime_numbers(const struct field_of *of, const struct field_test *t)
{
	return !of->task->undriven && t->number(t, of->task->runtime);
}

static const char *runtime_value(const struct field_of *of)
{
	const struct runtime_info *r = field_runtime_of(of);

	if (of->task->undriven)
		return "none known";
	if (!r)
		return arena_uint(of->a, of->task->runtime);
	return arena_printf(of->a, "%u (%s%s%s%s)", r->index, r->flavor ? r->flavor : r->kind,
	                    r->name ? ", name \"" : "", r->name ? r->name : "",
	                    r->name ? "\"" : "");
}

static bool thread_numbers(const struct field_of *of, const struct field_test *t)
{
	return of->task->thread && t->number(t, of->task->thread);
}

static const char *thread_value(const struct field_of *of)
{
	return of->task->thread ? arena_printf(of->a, "#%u", of->task->thread) : NULL;
}

static const char *type_value(const struct field_of *of)
{
	return of->task->type;
}

static bool type_texts(const struct field_of *of, const struct field_test *t)
{
	return field_test_text(t, of->task->type);
}

static bool of_problem(const struct field_of *of, const struct future *f,
                       const struct field_test *t)
{
	(void)of;
	return field_test_text(t, f->problem);
}

static bool problem_texts(const struct field_of *of, const struct field_test *t)
{
	return field_test_text(t, of->task->problem) ||
	       any_future(of, of->task->root, t, of_problem);
}

static const char *problem_value(const struct field_of *of)
{
	return of->task->problem;
}

/* ---- fields of any frame ---- */

static const char *field_name_of(const struct future *f)
{
	return f->function ? f->function : f->type;
}

static bool of_function(const struct field_of *of, const struct future *f,
                        const struct field_test *t)
{
	(void)of;
	return field_test_text(t, field_name_of(f)) || field_test_text(t, f->aliases);
}

static bool function_texts(const struct field_of *of, const struct field_test *t)
{
	return any_future(of, of->task->root, t, of_function) ||
	       (of->job && field_test_text(t, of->job->function));
}

static const char *function_value(const struct field_of *of)
{
	return of->task->root ? task_name(of->task) : NULL;
}

static const char *field_place_of(struct arena *a, const char *file, unsigned line)
{
	return file && line ? arena_printf(a, "%s:%u", file, line) : file;
}

static const char *field_source_text(struct arena *a, const struct source_place *p)
{
	return p ? field_place_of(a, p->file_short ? p->file_short : p->file, p->line) : NULL;
}

static bool test_source(const struct field_of *of, const struct field_test *t,
                        const struct source_place *p)
{
	return p && (field_test_text(t, field_source_text(of->a, p)) ||
	             field_test_text(t, field_place_of(of->a, p->file, p->line)));
}

static const char *spawned_value(const struct field_of *of)
{
	return field_source_text(of->a, of->task->spawned_at);
}

static bool spawned_texts(const struct field_of *of, const struct field_test *t)
{
	return test_source(of, t, of->task->spawned_at);
}

static const char *defined_value(const struct field_of *of)
{
	return field_source_text(of->a, of->task->defined_at);
}

static bool defined_texts(const struct field_of *of, const struct field_test *t)
{
	return test_source(of, t, of->task->defined_at);
}

static bool of_location(const struct field_of *of, const struct future *f,
                        const struct field_test *t)
{
	return field_test_text(t, field_place_of(of->a, f->file_short, f->line)) ||
	       field_test_text(t, field_place_of(of->a, f->file, f->line));
}

static bool location_texts(const struct field_of *of, const struct field_test *t)
{
	return any_future(of, of->task->root, t, of_location);
}

static const char *location_value(const struct field_of *of)
{
	const struct future *f = future_awaiting(of->task->root);

	return f ? field_place_of(of->a, f->file_short, f->line) : NULL;
}

static bool of_span(const struct field_of *of, const struct future *f, const struct field_test *t)
{
	(void)of;
	return field_test_text(t, f->note);
}

static bool span_texts(const struct field_of *of, const struct field_test *t)
{
	return any_future(of, of->task->root, t, of_span);
}

static const char *span_value(const struct field_of *of)
{
	for (const struct future *f = of->task->root; f; f = future_first_polled(f)) {
		if (f->note)
			return f->note;
	}
	return NULL;
}

/* ---- fields of the wait ---- */

static bool of_wait(const struct field_of *of, const struct future *f, const struct field_test *t)
{
	(void)of;
	return f->wait &&
	       (field_test_text(t, f->wait->kind) || field_test_text(t, f->wait->phrase));
}

static bool waiting_texts(const struct field_of *of, const struct field_test *t)
{
	size_t others;

	return any_future(of, of->task->root, t, of_wait) ||
	       field_test_text(t, task_waiting_on(of->a, of->snapshot, of->task, true, &others));
}

/* Groups use the kind of the wait, because phrases differ from task to task. */
static const char *waiting_value(const struct field_of *of)
{
	const struct future *leaf = future_leaf(of->task->root);
	size_t others;

	if (of->task->state != TASK_RUNNING && leaf && leaf->wait) {
		const char *mark = future_mark(of->task->root);

		return mark ? arena_printf(of->a, "%s [%s]", leaf->wait->kind, mark)
		            : leaf->wait->kind;
	}
	return task_waiting_on(of->a, of->snapshot, of->task, false, &others);
}

static bool field_of_task(const struct field_of *of, const struct future *f,
                          const struct field_test *t)
{
	(void)of;
	return f->wait && field_test_text(t, f->wait->task);
}

static bool of_task_number(const struct field_of *of, const struct future *f,
                           const struct field_test *t)
{
	(void)of;
	return f->wait && f->wait->task && t->number(t, (int64_t)strtoull(f->wait->task, NULL, 10));
}

static bool task_texts(const struct field_of *of, const struct field_test *t)
{
	return any_future(of, of->task->root, t, field_of_task);
}

static bool task_numbers(const struct field_of *of, const struct field_test *t)
{
	return any_future(of, of->task->root, t, of_task_number);
}

static const char *task_value(const struct field_of *of)
{
	const struct future *leaf = future_leaf(of->task->root);

	return leaf && leaf->wait ? leaf->wait->task : NULL;
}

static bool of_object(const struct field_of *of, const struct future *f, const struct field_test *t)
{
	return f->wait && f->wait->object &&
	       field_test_text(t, arena_printf(of->a, "0x%" PRIx64, f->wait->object));
}

static bool object_texts(const struct field_of *of, const struct field_test *t)
{
	return any_future(of, of->task->root, t, of_object);
}

static const char *object_value(const struct field_of *of)
{
	const struct future *leaf = future_leaf(of->task->root);

	return leaf && leaf->wait && leaf->wait->object
	               ? arena_printf(of->a, "0x%" PRIx64, leaf->wait->object)
	               : NULL;
}

static bool of_detail(const struct future *f, const char *key, const struct field_test *t)
{
	int64_t number;

	return f->wait && wait_number(f->wait, key, &number) && t->number(t, number);
}

/* A number in the wait details of some kinds of leaves. Its key is the name of the field. */
#define DETAIL(key)                                                                                \
	static bool of_##key(const struct field_of *of, const struct future *f,                    \
	                     const struct field_test *t)                                           \
	{                                                                                          \
		(void)of;                                                                          \
		return of_detail(f, #key, t);                                                      \
	}                                                                                          \
	static bool key##_numbers(const struct field_of *of, const struct field_test *t)           \
	{                                                                                          \
		return any_future(of, of->task->root, t, of_##key);                                \
	}

/* Futures that are not polled were mostly never polled: they do not count. */
static bool any_waker_registered(const struct future *f, const struct field_test *t)
{
	if (!f || f->branch != BRANCH_POLLED)
		return false;
	if (f->wait && field_test_text(t, waker_registered_name(f->wait->armed)))
		return true;
	for (size_t i = 0; i < f->nchildren; i++) {
		if (any_waker_registered(f->children[i], t))
			return true;
	}
	return false;
}

static bool waker_registered_texts(const struct field_of *of, const struct field_test *t)
{
	return any_waker_registered(of->task->root, t);
}

static const char *waker_registered_value(const struct field_of *of)
{
	const struct future *leaf = future_leaf(of->task->root);

	return leaf && leaf->wait ? waker_registered_name(leaf->wait->armed) : NULL;
}

DETAIL(remaining_ms)
DETAIL(queued)
DETAIL(position)
DETAIL(permits_missing)
DETAIL(send_queue)
DETAIL(retransmits)

/* ---- properties of any frame ---- */

/* The first text that a future of the tree has under that key. */
static const char *property_text(const struct future *f, const char *key)
{
	const char *text = f && f->properties ? wait_text(f->properties, key) : NULL;

	for (size_t i = 0; f && i < f->nchildren && !text; i++)
		text = property_text(f->children[i], key);
	return text;
}

static bool property_number(const struct future *f, const char *key, const struct field_test *t)
{
	int64_t number;

	if (f && f->properties && wait_number(f->properties, key, &number) && t->number(t, number))
		return true;
	for (size_t i = 0; f && i < f->nchildren; i++) {
		if (property_number(f->children[i], key, t))
			return true;
	}
	return false;
}

/* The key of a property is the name of the field. */
#define PROPERTY_TEXT(key)                                                                         \
	static const char *key##_value(const struct field_of *of)                                  \
	{                                                                                          \
		return property_text(of->task->root, #key);                                        \
	}                                                                                          \
	static bool key##_texts(const struct field_of *of, const struct field_test *t)             \
	{                                                                                          \
		return field_test_text(t, key##_value(of));                                        \
	}
#define PROPERTY_NUMBER(key)                                                                       \
	static bool key##_numbers(const struct field_of *of, const struct field_test *t)           \
	{                                                                                          \
		return property_number(of->task->root, #key, t);                                   \
	}

PROPERTY_TEXT(http_role)
PROPERTY_TEXT(http_version)
PROPERTY_TEXT(http_phase)
PROPERTY_TEXT(http_method)
PROPERTY_TEXT(http_path)
PROPERTY_NUMBER(http_queued)
PROPERTY_NUMBER(http_streams)
PROPERTY_TEXT(task_name)
PROPERTY_NUMBER(task_number)

/* ---- fields of the tree ---- */

/* The number of frames from the root to the leaf. */
static int64_t depth_of(const struct field_of *of)
{
	const struct future *leaf = future_leaf(of->task->root);
	int64_t depth = 0;

	for (const struct future *f = of->task->root; f; depth++) {
		const struct future *next = NULL;

		for (size_t i = 0; f != leaf && i < f->nchildren && !next; i++) {
			if (f->children[i]->branch == BRANCH_POLLED)
				next = f->children[i];
		}
		f = next;
	}
	return depth;
}

static bool depth_numbers(const struct field_of *of, const struct field_test *t)
{
	return t->number(t, depth_of(of));
}

static const char *depth_value(const struct field_of *of)
{
	return arena_uint(of->a, (uint64_t)depth_of(of));
}

static bool frames_numbers(const struct field_of *of, const struct field_test *t)
{
	return t->number(t, future_frames(of->task->root));
}

static const char *frames_value(const struct field_of *of)
{
	return arena_uint(of->a, future_frames(of->task->root));
}

static bool leaves_numbers(const struct field_of *of, const struct field_test *t)
{
	return t->number(t, (int64_t)future_leaves(of->task->root));
}

static const char *leaves_value(const struct field_of *of)
{
	return arena_uint(of->a, future_leaves(of->task->root));
}

const struct field field_table[] = {
	{ "id", "its id", id_texts, id_numbers, id_value },
	{ "kind", "task, or blocking: a job of a blocking pool", kind_texts, NULL, kind_value },
	{ "state", "idle, scheduled, running, complete or cancelled", state_texts, NULL,
	  state_value },
	{ "runtime", "number, flavor or name of its runtime", runtime_texts, runtime_numbers,
	  runtime_value },
	{ "type", "type of the spawned future", type_texts, NULL, type_value },
	{ "spawned_at", "file:line of its spawn, where tokio_unstable records it", spawned_texts,
	  NULL, spawned_value },
	{ "defined_at", "file:line at which its async fn or block begins", defined_texts, NULL,
	  defined_value },
	{ "function", "function of any frame; --group: of the outermost", function_texts, NULL,
	  function_value },
	{ "location", "file:line of any frame; --group: where your own code awaits", location_texts,
	  NULL, location_value },
	{ "waiting_on", "kind and text of what any frame waits for; --group: the kind",
	  waiting_texts, NULL, waiting_value },
	{ "task", "id of a task that it waits for", task_texts, task_numbers, task_value },
	{ "object", "address of what it waits for", object_texts, NULL, object_value },
	{ "armed", "yes, no or unknown: whether its waker is registered with what it waits on",
	  waker_registered_texts, NULL, waker_registered_value },
	{ "thread", "number of the thread that runs it", NULL, thread_numbers, thread_value },
	{ "span", "details of any frame, such as its tracing span", span_texts, NULL, span_value },
	{ "problem", "why something could not be read", problem_texts, NULL, problem_value },
	{ "depth", "futures from the outermost to the innermost", NULL, depth_numbers,
	  depth_value },
	{ "frames", "futures in its tree", NULL, frames_numbers, frames_value },
	{ "leaves", "number of things that it waits on at the same time", NULL, leaves_numbers,
	  leaves_value },
	{ "remaining_ms", "milliseconds until its timer fires; negative: overdue", NULL,
	  remaining_ms_numbers, NULL },
	{ "queued", "messages in a channel that it waits for", NULL, queued_numbers, NULL },
	{ "position", "its place in a queue", NULL, position_numbers, NULL },
	{ "permits_missing", "that it waits for", NULL, permits_missing_numbers, NULL },
	{ "send_queue", "bytes in the Send-Q of a socket that it waits to write to", NULL,
	  send_queue_numbers, NULL },
	{ "retransmits", "segments that such a socket has retransmitted", NULL, retransmits_numbers,
	  NULL },
	{ "http_role", "server or client: its side of its HTTP connection", http_role_texts, NULL,
	  http_role_value },
	{ "http_version", "HTTP/1.1, HTTP/2", http_version_texts, NULL, http_version_value },
	{ "http_phase", "what its HTTP connection is doing", http_phase_texts, NULL,
	  http_phase_value },
	{ "http_method", "of the request in progress", http_method_texts, NULL, http_method_value },
	{ "http_path", "of the request in progress", http_path_texts, NULL, http_path_value },
	{ "http_queued", "bytes that its HTTP connection has not written yet", NULL,
	  http_queued_numbers, NULL },
	{ "http_streams", "open streams of its HTTP/2 connection", NULL, http_streams_numbers,
	  NULL },
	{ "task_name", "name that the program gave it (async-std)", task_name_texts, NULL,
	  task_name_value },
	{ "task_number", "id that async-std gave it", NULL, task_number_numbers, NULL },
	{ 0 },
};

struct error *field_find(const char *name, const struct field **ret)
{
	STR(names);

	for (const struct field *f = field_table; f->name; f++) {
		*ret = f;
		if (strcmp(f->name, name) == 0)
			return NULL;
		str_printf(&names, "%s%s", names.len ? ", " : "", f->name);
	}
	return error_new(ERR_USAGE, "unknown field \"%s\": %s", name, str_text(&names));
}
