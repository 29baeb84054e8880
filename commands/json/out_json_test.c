/* Tests of the JSON output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "commands/test/answer.h"

static void free_json(json_t **j)
{
	json_decref(*j);
}

#define JSON_VALUE(name) json_t *name CLEANUP(free_json)

/* A value by keys and indexes: at(j, "tasks", "0", "root", NULL). Fails where there is none. */
static json_t *at(json_t *j, ...)
{
	va_list keys;
	const char *key;

	va_start(keys, j);
	while ((key = va_arg(keys, const char *))) {
		j = json_is_array(j) ? json_array_get(j, (size_t)atoi(key))
		                     : json_object_get(j, key);
		if (!j)
			fail_msg("no %s", key);
	}
	va_end(keys);
	return j;
}

static void assert_text(json_t *j, const char *expected)
{
	assert_true(json_is_string(j));
	assert_string_equal(json_string_value(j), expected);
}

static void assert_number(json_t *j, json_int_t expected)
{
	assert_true(json_is_integer(j));
	assert_int_equal(json_integer_value(j), expected);
}

/* The document that a command prints. */
static json_t *answer_of(const struct command *command, const struct snapshot *snap,
                         const char *arg)
{
	CAUGHT(c);
	json_error_t error;

	catch (&c, JSON);
	assert_null(run_command(&c, command, snap, arg));
	assert_string_equal(c.messages, "");
	json_t *j = json_loads(c.answers, JSON_REJECT_DUPLICATES, &error);
	if (!j)
		fail_msg("line %d: %s\n%s", error.line, error.text, c.answers);
	return j;
}

static void the_whole_program(void **state)
{
	SNAPSHOT(s);

	(void)state;
	add_running_job(s);
	add_note(s, "a note");
	s->reading = (struct reading){ .how = READ_LIMITED,
		                       .pause_ns = 412345,
		                       .longest_ns = 250000,
		                       .stops = 2,
		                       .threads = 4,
		                       .bytes = 8192 };
	s->tasks[0]->changed = true;
	JSON_VALUE(j) = answer_of(&async_backtrace_all_command, s, NULL);
	assert_text(at(j, "schema", NULL), "asyncdbg/2");
	assert_text(at(j, "command", NULL), "async backtrace all");
	assert_text(at(j, "target", "kind", NULL), "live");
	assert_number(at(j, "target", "pid", NULL), 28406);
	assert_true(json_is_null(at(j, "target", "core", NULL)));
	assert_true(json_is_null(at(j, "target", "signal", NULL)));
	assert_true(json_is_true(at(j, "complete", NULL)));
	assert_true(json_real_value(at(j, "pause_ms", NULL)) == 0.412345);
	assert_text(at(j, "stop", "mode", NULL), "limited");
	assert_number(at(j, "stop", "stops", NULL), 2);
	assert_number(at(j, "stop", "threads", NULL), 4);
	assert_number(at(j, "stop", "bytes", NULL), 8192);
	assert_true(json_real_value(at(j, "stop", "longest_ms", NULL)) == 0.25);
	assert_true(json_is_true(at(j, "tasks", "0", "changed", NULL)));
	assert_null(json_object_get(at(j, "tasks", "1", NULL), "changed"));
	assert_text(at(j, "runtimes", "0", "addr", NULL), "0x4000");
	assert_number(at(j, "runtimes", "0", "injection_queue_len", NULL), 7);
	assert_text(at(j, "notes", "0", NULL), "a note");
	/* The thread of no runtime is not shown. */
	assert_int_equal(json_array_size(at(j, "threads", NULL)), 4);
	assert_text(at(j, "threads", "0", "root", "children", "0", "file_short", NULL),
	            ".../tcp/listener.rs");
	assert_number(at(j, "threads", "2", "queue_len", NULL), 4);
	assert_text(at(j, "threads", "2", "task", NULL), "5");
	assert_null(json_object_get(at(j, "threads", "2", NULL), "frames"));
	/* Behind the tasks: the job that thread 4 runs. */
	assert_int_equal(json_array_size(at(j, "tasks", NULL)), 3);
}

/* Of blocking pools: the jobs that run, then those in queues. */
static void jobs_are_rows_of_tasks(void **state)
{
	SNAPSHOT(s);
	struct job jobs[] = {
		{ .id = "9", .thread = 4, .function = "app::main::{closure#0}" },
		{ .id = "12", .addr = 0x7700, .function = "app::hash" },
		{ .runtime = -1, .addr = 0x7800, .ahead = 1 },
		{ .addr = 0x7900, .ahead = JOB_NO_ORDER },
	};

	(void)state;
	jobs[0].addr = 0x7600;
	jobs[0].type = "app::main::{closure_env#0}";
	s->jobs = jobs;
	s->njobs = 4;
	JSON_VALUE(j) = answer_of(&tasks_command, s, NULL);
	json_t *rows = at(j, "tasks", NULL), *running = at(rows, "2", NULL);

	assert_int_equal(json_array_size(rows), 6);
	assert_text(at(rows, "1", "kind", NULL), "task");
	assert_text(at(running, "id", NULL), "9");
	assert_text(at(running, "kind", NULL), "blocking");
	assert_text(at(running, "state", NULL), "running");
	assert_number(at(running, "thread", NULL), 4);
	assert_true(json_is_null(at(running, "ahead", NULL)));
	assert_text(at(running, "addr", NULL), "0x7600");
	assert_text(at(running, "type", NULL), "app::main::{closure_env#0}");
	assert_text(at(rows, "3", "id", NULL), "12");
	assert_text(at(rows, "3", "state", NULL), "scheduled");
	assert_text(at(rows, "3", "job", NULL), "app::hash");
	assert_text(at(rows, "3", "addr", NULL), "0x7700");
	assert_true(json_is_null(at(rows, "3", "thread", NULL)));
	assert_true(json_is_null(at(rows, "4", "id", NULL)));
	assert_true(json_is_null(at(rows, "4", "runtime", NULL)));
	assert_number(at(rows, "4", "ahead", NULL), 1);
	assert_true(json_is_null(at(rows, "5", "ahead", NULL)));
}

static void places_of_tasks(void **state)
{
	static const struct source_place spawned = { "src/main.rs", "src/main.rs", 42 };
	static const struct source_place defined = { "/a/src/x.rs", "src/x.rs", 10 };
	SNAPSHOT(s);

	(void)state;
	s->tasks[0]->spawned_at = &spawned;
	s->tasks[0]->defined_at = &defined;
	JSON_VALUE(j) = answer_of(&tasks_command, s, NULL);
	json_t *task = at(j, "tasks", "0", NULL);

	assert_text(at(task, "spawned_at", "file", NULL), "src/main.rs");
	assert_number(at(task, "spawned_at", "line", NULL), 42);
	assert_text(at(task, "defined_at", "file", NULL), "/a/src/x.rs");
	assert_text(at(task, "defined_at", "file_short", NULL), "src/x.rs");
	assert_true(json_is_null(at(j, "tasks", "1", "spawned_at", NULL)));
	assert_true(json_is_null(at(j, "tasks", "1", "defined_at", NULL)));
}

static void a_task_and_its_futures(void **state)
{
	SNAPSHOT(s);

	(void)state;
	JSON_VALUE(j) = answer_of(&async_task_command, s, "4");
	assert_int_equal(json_array_size(at(j, "tasks", NULL)), 1);

	json_t *task = at(j, "tasks", "0", NULL);
	assert_text(at(task, "id", NULL), "4");
	assert_text(at(task, "addr", NULL), "0x9400");
	assert_text(at(task, "state", NULL), "idle");
	assert_true(json_is_null(at(task, "thread", NULL)));
	assert_text(at(task, "root", "kind", NULL), "async_fn");
	assert_text(at(task, "root", "state", NULL), "suspended");
	assert_number(at(task, "root", "await_point", NULL), 1);
	assert_text(at(task, "root", "file", NULL), "/build/src/main.rs");
	assert_number(at(task, "root", "line", NULL), 21);

	json_t *leaf = at(task, "root", "children", "0", NULL);
	assert_true(json_is_null(at(leaf, "state", NULL)));
	assert_true(json_is_null(at(leaf, "await_point", NULL)));
	assert_int_equal(json_array_size(at(leaf, "children", NULL)), 0);
	assert_text(at(leaf, "wait", "kind", NULL), "sleep");
	assert_text(at(leaf, "wait", "object", NULL), "0x7f00");
	assert_number(at(leaf, "wait", "remaining_ms", NULL), -18000);
	assert_true(json_is_true(at(leaf, "wait", "registered", NULL)));
	assert_text(at(leaf, "wait", "syscall", NULL), "futex");
}

static json_t *answer_in(struct session *session, const struct command *command,
                         const struct snapshot *snap, const char *arg, bool verbose)
{
	CAUGHT(c);

	catch (&c, JSON);
	assert_null(run_in_session(&c, session, command, snap, arg, verbose));
	json_t *j = json_loads(c.answers, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(j);
	return j;
}

/* The snapshot of a core may have variables because another command wanted them. */
static void variables_only_on_request(void **state)
{
	SNAPSHOT(s);
	struct session session = { 0 };

	(void)state;
	make_locals(&s->arena, s->tasks[0]->root);
	s->tasks[0]->root->locals[1].redacted = true;
	JSON_VALUE(plain) = answer_in(&session, &async_task_command, s, "4", false);
	assert_int_equal(json_array_size(at(plain, "tasks", "0", "root", "locals", NULL)), 0);
	JSON_VALUE(j) = answer_in(&session, &async_task_command, s, "4", true);
	json_t *locals = at(j, "tasks", "0", "root", "locals", NULL);
	assert_int_equal(json_array_size(locals), 4);
	assert_text(at(locals, "0", "name", NULL), "n");
	assert_text(at(locals, "0", "value", NULL), "7");
	assert_text(at(locals, "0", "addr", NULL), "0x5010");
	assert_true(json_is_false(at(locals, "0", "argument", NULL)));
	assert_true(json_is_true(at(locals, "1", "argument", NULL)));
	assert_text(at(locals, "2", "type", NULL), "alloc::string::String");
	assert_true(json_is_null(at(locals, "2", "addr", NULL)));
	assert_true(json_is_true(at(locals, "2", "uncertain", NULL)));
	assert_null(json_object_get(at(locals, "0", NULL), "redacted"));
	assert_true(json_is_true(at(locals, "1", "redacted", NULL)));
	assert_true(json_is_null(at(locals, "3", "value", NULL)));
	assert_text(at(locals, "3", "problem", NULL), "unreadable");
	assert_int_equal(
		json_array_size(at(j, "tasks", "0", "root", "children", "0", "locals", NULL)), 0);
}

static void the_focus_and_what_is_in_it(void **state)
{
	SNAPSHOT(s);
	struct session session = { 0 };
	struct local value = { .name = "n", .type = "u32", .value = "7" };
	struct place place = { .what = "stack", .phrase = "stack of thread #3", .thread = 3 };

	(void)state;
	make_locals(&s->arena, s->tasks[1]->root);
	s->printed = &value;
	s->places = &place;
	s->nplaces = 1;
	JSON_VALUE(blocked) = answer_in(&session, &frame_command, s, "1", false);
	assert_number(at(blocked, "focus", "thread", NULL), 1);
	assert_true(json_is_null(at(blocked, "focus", "task", NULL)));
	assert_number(at(blocked, "focus", "frame", NULL), 1);
	assert_number(at(blocked, "frame", "line", NULL), 188);
	assert_int_equal(json_array_size(at(blocked, "tasks", NULL)), 0);
	JSON_VALUE(task) = answer_in(&session, &task_command, s, "5", false);
	assert_number(at(task, "focus", "thread", NULL), 3);
	assert_text(at(task, "focus", "task", NULL), "5");
	assert_int_equal(json_array_size(at(task, "frame", "locals", NULL)), 0);
	JSON_VALUE(locals) = answer_in(&session, &locals_command, s, NULL, false);
	assert_int_equal(json_array_size(at(locals, "frame", "locals", NULL)), 4);
	JSON_VALUE(printed) = answer_in(&session, &print_command, s, "n", false);
	assert_text(at(printed, "printed", "value", NULL), "7");
	assert_text(at(printed, "focus", "task", NULL), "5");
	assert_null(json_object_get(printed, "frame"));
	JSON_VALUE(places) = answer_in(&session, &whatis_command, s, "0x10", false);
	assert_text(at(places, "places", "0", "what", NULL), "stack");
	assert_number(at(places, "places", "0", "thread", NULL), 3);
	assert_true(json_is_null(at(places, "places", "0", "task", NULL)));
	assert_null(json_object_get(places, "focus"));
	s->tasks[1]->root = NULL;
	JSON_VALUE(rootless) = answer_in(&session, &task_command, s, NULL, false);
	assert_true(json_is_null(at(rootless, "frame", NULL)));
	assert_true(json_is_null(at(rootless, "focus", "frame", NULL)));
}

static void what_a_task_waits_on(void **state)
{
	SNAPSHOT(s);
	struct arena *a = &s->arena;
	struct future *fork = make_future(a, FUTURE_OTHER, "Fork", NULL);
	struct wait wait = { .kind = "mutex", .phrase = "std mutex, held", .object = 0x7f00 };

	(void)state;
	make_fork(a, fork, 3,
	          (struct future *[]){
			  make_edge(make_future(a, FUTURE_OTHER, "Old", NULL), "select arm 0",
	                            BRANCH_DISABLED),
			  make_edge(make_sleep(a), "select arm 1", BRANCH_POLLED),
			  make_edge(make_future(a, FUTURE_OTHER, "New", NULL), "select arm 2",
	                            BRANCH_POLLED),
		  });
	s->tasks[0]->root = fork;
	s->tasks[1]->root = NULL;
	s->threads[2].wait = &wait;
	JSON_VALUE(j) = answer_of(&async_backtrace_all_command, s, NULL);
	assert_text(at(j, "tasks", "0", "waiting_on", NULL),
	            "sleep future, sleeping already happened 18 seconds ago");
	assert_number(at(j, "tasks", "0", "leaves", NULL), 2);
	assert_text(at(j, "tasks", "0", "root", "children", "0", "branch", NULL), "disabled");
	/* It is running: its thread waits. */
	assert_text(at(j, "tasks", "1", "waiting_on", NULL), "std mutex, held");
	assert_number(at(j, "tasks", "1", "leaves", NULL), 0);
	assert_text(at(j, "threads", "2", "wait", "phrase", NULL), "std mutex, held");
	assert_true(json_is_null(at(j, "threads", "1", "wait", NULL)));
	s->tasks[1]->state = TASK_SCHEDULED;
	JSON_VALUE(scheduled) = answer_of(&tasks_command, s, NULL);
	assert_true(json_is_null(at(scheduled, "tasks", "1", "waiting_on", NULL)));
}

static void only_what_is_shown(void **state)
{
	SNAPSHOT(s);

	(void)state;
	add_running_job(s);
	JSON_VALUE(running) = answer_of(&async_backtrace_command, s, NULL);
	assert_int_equal(json_array_size(at(running, "tasks", NULL)), 1);
	assert_text(at(running, "tasks", "0", "id", NULL), "5");
	assert_number(at(running, "tasks", "0", "thread", NULL), 3);
	JSON_VALUE(tasks) = answer_of(&tasks_command, s, NULL);
	assert_int_equal(json_array_size(at(tasks, "threads", NULL)), 0);
	assert_int_equal(json_array_size(at(tasks, "tasks", NULL)), 3);
	JSON_VALUE(runtimes) = answer_of(&runtimes_command, s, NULL);
	assert_int_equal(json_array_size(at(runtimes, "tasks", NULL)), 0);
	assert_int_equal(json_array_size(at(runtimes, "runtimes", NULL)), 1);
}

/* A joined stack includes the task that it polls, once. */
static void stacks_bring_the_tasks_they_poll(void **state)
{
	SNAPSHOT(s);
	struct stack_frame frames[] = {
		{ .pc = 0x55d0001, .function = "app::poll", .polls_task = "5", .inlined = true },
		{ .number = 1, .pc = UINT64_MAX, .polls_task = "5" },
	};

	(void)state;
	s->threads[2].frames = frames;
	s->threads[2].nframes = 2;
	JSON_VALUE(j) = answer_of(&threads_command, s, NULL);
	assert_int_equal(json_array_size(at(j, "threads", NULL)), 5);
	assert_int_equal(json_array_size(at(j, "threads", "0", "frames", NULL)), 0);
	assert_text(at(j, "threads", "2", "frames", "0", "pc", NULL), "0x55d0001");
	assert_text(at(j, "threads", "2", "frames", "1", "pc", NULL), "0xffffffffffffffff");
	assert_true(json_is_null(at(j, "threads", "2", "frames", "1", "function", NULL)));
	assert_int_equal(json_array_size(at(j, "tasks", NULL)), 1);
}

/* Details of a wait cannot take the place of the fixed keys. */
static void details_do_not_override(void **state)
{
	SNAPSHOT(s);
	struct wait_detail evil[] = { { .key = "kind", .kind = DETAIL_STRING, .string = "other" },
		                      { .key = "task", .kind = DETAIL_INT, .number = 9 } };
	struct wait *wait = s->tasks[0]->root->children[0]->wait;

	(void)state;
	wait->details = evil;
	wait->ndetails = 2;
	JSON_VALUE(j) = answer_of(&async_task_command, s, "4");
	json_t *w = at(j, "tasks", "0", "root", "children", "0", "wait", NULL);
	assert_text(at(w, "kind", NULL), "sleep");
	assert_true(json_is_null(at(w, "task", NULL)));
}

static void hostile_strings(void **state)
{
	static const char evil[] = "a\033[2J\"\\\n\x9b\xff\xc0\xaf%s";
	SNAPSHOT(s);

	(void)state;
	s->target.command = s->runtimes[0].name = s->threads[0].state = evil;
	s->tasks[0]->root->function = s->tasks[0]->problem = evil;
	s->tasks[0]->root->children[0]->wait->phrase = evil;
	add_note(s, evil);
	JSON_VALUE(j) = answer_of(&async_backtrace_all_command, s, NULL);

	const char *note = json_string_value(at(j, "notes", "0", NULL));
	assert_non_null(note);
	assert_memory_equal(note, "a?[2J\"\\?", 8);
	assert_text(at(j, "tasks", "0", "root", "function", NULL), note);
	assert_text(at(j, "tasks", "0", "root", "children", "0", "wait", "phrase", NULL), note);
	assert_text(at(j, "target", "command", NULL), note);
}

/* A future with a chain of depth futures below it. */
static struct future *make_chain(struct arena *a, unsigned depth)
{
	struct future *f = make_sleep(a);

	for (unsigned i = 0; i < depth; i++)
		f = make_await(a, "deep", 0, "src/deep.rs", i + 1, f);
	return f;
}

static void deep_trees(void **state)
{
	enum { DEPTH = 500 };
	SNAPSHOT(s);
	unsigned depth = 0;

	(void)state;
	s->tasks[0]->root = make_chain(&s->arena, DEPTH);
	JSON_VALUE(j) = answer_of(&async_task_command, s, "4");
	json_t *f = at(j, "tasks", "0", "root", NULL);
	for (; json_array_size(at(f, "children", NULL)); f = at(f, "children", "0", NULL))
		depth++;
	assert_int_equal(depth, DEPTH);
}

static void one_line_a_task(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);
	char *rest = NULL;

	(void)state;
	add_running_job(s);
	catch (&c, JSONL);
	assert_null(run_command(&c, &async_backtrace_all_command, s, NULL));
	JSON_VALUE(head) = json_loads(strtok_r(c.answers, "\n", &rest), 0, NULL);
	JSON_VALUE(first) = json_loads(strtok_r(NULL, "\n", &rest), 0, NULL);
	JSON_VALUE(second) = json_loads(strtok_r(NULL, "\n", &rest), 0, NULL);
	JSON_VALUE(job) = json_loads(strtok_r(NULL, "\n", &rest), 0, NULL);
	assert_null(strtok_r(NULL, "\n", &rest));
	assert_null(json_object_get(head, "tasks"));
	assert_int_equal(json_array_size(at(head, "threads", NULL)), 4);
	assert_text(at(first, "id", NULL), "4");
	assert_text(at(second, "id", NULL), "5");
	assert_text(at(job, "kind", NULL), "blocking");
}

/* Tasks written one at a time are indented as in a document written at once. */
static void indented_as_a_whole(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	catch (&c, JSON);
	assert_null(run_command(&c, &async_backtrace_all_command, s, NULL));
	JSON_VALUE(j) = json_loads(c.answers, 0, NULL);
	char *whole = json_dumps(j, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	assert_non_null(whole);
	c.answers[strlen(c.answers) - 1] = '\0';
	assert_string_equal(c.answers, whole);
	free(whole);
}

static void no_document_for_an_error(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	catch (&c, JSON);
	struct error *err CLEANUP(error_freep) = run_command(&c, &async_task_command, s, "77");
	assert_non_null(err);
	assert_string_equal(c.answers, "");
	/* Data of a dropped answer is not in the next answer. */
	interrupt_request();
	struct error *cancelled CLEANUP(error_freep) =
		run_command(&c, &async_backtrace_all_command, s, NULL);
	interrupt_clear();
	assert_int_equal(cancelled->kind, ERR_INTERRUPTED);
	assert_null(run_command(&c, &async_task_command, s, "4"));
	JSON_VALUE(j) = json_loads(c.answers, 0, NULL);
	assert_int_equal(json_array_size(at(j, "tasks", NULL)), 1);
	assert_int_equal(json_array_size(at(j, "threads", NULL)), 0);
}

static void a_core_has_no_pause(void **state)
{
	SNAPSHOT(s);

	(void)state;
	s->target.kind = "core";
	s->target.core = "core.1";
	s->target.signal = 6;
	s->target.signal_tid = 28408;
	JSON_VALUE(j) = answer_of(&info_command, s, NULL);
	assert_true(json_is_null(at(j, "pause_ms", NULL)));
	assert_null(json_object_get(j, "stop"));
	assert_text(at(j, "target", "core", NULL), "core.1");
	assert_number(at(j, "target", "signal", NULL), 6);
	assert_text(at(j, "target", "signal_name", NULL), "SIGABRT");
	assert_number(at(j, "summary", "tasks", "idle", NULL), 1);
	assert_number(at(j, "summary", "threads", "worker", NULL), 2);
	assert_null(json_object_get(at(j, "summary", "threads", NULL), "nothing"));
}

/* Checks a value against a schema definition: no unknown keys, no missing required ones. */
static void assert_defined(json_t *schema, const char *definition, json_t *value)
{
	json_t *d = *definition ? at(schema, "definitions", definition, NULL) : schema;
	json_t *properties = at(d, "properties", NULL), *unused, *name;
	const char *key;
	size_t i;

	json_object_foreach(value, key, unused) if (!json_object_get(properties, key))
		fail_msg("%s: %s is not in the schema", definition, key);
	json_array_foreach(at(d, "required", NULL), i,
	                   name) if (!json_object_get(value, json_string_value(name)))
		fail_msg("%s: %s is missing", definition, json_string_value(name));
}

static void the_schema_knows_every_key(void **state)
{
	SNAPSHOT(s);
	SCRATCH(tmp);
	struct stack_frame frame = { .pc = 1 };
	struct socket_info socket = { .fd = 0, .kind = "tcp" };
	struct layout_info row = { "demo", "key", "path", ROW_OK, "path", NULL, NULL };
	const char *top = getenv("SOURCE_DIR");

	(void)state;
	JSON_VALUE(schema) = json_load_file(
		arena_printf(&tmp, "%s/docs/asyncdbg.schema.json", top ? top : "."), 0, NULL);
	assert_non_null(schema);
	s->threads[0].frames = &frame;
	s->threads[0].nframes = 1;
	s->layout = &row;
	s->nlayout = 1;
	s->sockets = &socket;
	s->nsockets = 1;
	s->has_sockets = true;
	s->tasks[0]->root->children[0]->wait->ndetails = 0;
	JSON_VALUE(stacks) = answer_of(&threads_command, s, NULL);
	JSON_VALUE(task) = answer_of(&async_task_command, s, "4");
	JSON_VALUE(layout) = answer_of(&info_layout_command, s, NULL);
	JSON_VALUE(sockets) = answer_of(&info_sockets_command, s, NULL);
	JSON_VALUE(info) = answer_of(&info_command, s, NULL);
	JSON_VALUE(help) = answer_of(&help_command, NULL, NULL);

	struct session session = { 0 };
	struct local value = { .name = "n", .value = "7" };
	struct place place = { .what = "stack", .phrase = "stack of thread #3" };
	make_locals(&s->arena, s->threads[0].root);
	s->printed = &value;
	s->places = &place;
	s->nplaces = 1;
	JSON_VALUE(locals) = answer_in(&session, &locals_command, s, NULL, false);
	JSON_VALUE(printed) = answer_in(&session, &print_command, s, "n", false);
	JSON_VALUE(places) = answer_in(&session, &whatis_command, s, "1", false);
	assert_defined(schema, "", locals);
	assert_defined(schema, "", printed);
	assert_defined(schema, "", places);
	assert_defined(schema, "focus", at(locals, "focus", NULL));
	assert_defined(schema, "local", at(locals, "frame", "locals", "0", NULL));
	assert_defined(schema, "local", at(printed, "printed", NULL));
	assert_defined(schema, "place", at(places, "places", "0", NULL));
	assert_defined(schema, "", stacks);
	assert_defined(schema, "", layout);
	assert_defined(schema, "", sockets);
	assert_defined(schema, "socket", at(sockets, "sockets", "0", NULL));
	assert_defined(schema, "", info);
	assert_defined(schema, "", help);
	assert_defined(schema, "target", at(stacks, "target", NULL));
	assert_defined(schema, "runtime", at(stacks, "runtimes", "0", NULL));
	assert_defined(schema, "thread", at(stacks, "threads", "0", NULL));
	assert_defined(schema, "frame", at(stacks, "threads", "0", "frames", "0", NULL));
	assert_defined(schema, "task", at(task, "tasks", "0", NULL));
	assert_defined(schema, "future", at(task, "tasks", "0", "root", NULL));
	assert_defined(schema, "wait",
	               at(task, "tasks", "0", "root", "children", "0", "wait", NULL));
	assert_defined(schema, "layout_row", at(layout, "layout", "0", NULL));
	assert_defined(schema, "summary", at(info, "summary", NULL));
	assert_defined(schema, "command", at(help, "commands", "0", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_program),
		cmocka_unit_test(a_task_and_its_futures),
		cmocka_unit_test(variables_only_on_request),
		cmocka_unit_test(the_focus_and_what_is_in_it),
		cmocka_unit_test(what_a_task_waits_on),
		cmocka_unit_test(only_what_is_shown),
		cmocka_unit_test(stacks_bring_the_tasks_they_poll),
		cmocka_unit_test(details_do_not_override),
		cmocka_unit_test(hostile_strings),
		cmocka_unit_test(deep_trees),
		cmocka_unit_test(one_line_a_task),
		cmocka_unit_test(indented_as_a_whole),
		cmocka_unit_test(no_document_for_an_error),
		cmocka_unit_test(a_core_has_no_pause),
		cmocka_unit_test(the_schema_knows_every_key),
		cmocka_unit_test(jobs_are_rows_of_tasks),
		cmocka_unit_test(places_of_tasks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
