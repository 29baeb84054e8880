/* initialize, launch, attach, configurationDone, disconnect, terminate */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/control/stop.h"
#include "commands/dap/context.h"
#include "commands/dap/data.h"
#include "commands/dap/exceptions.h"
#include "commands/dap/loading.h"
#include "commands/dap/running.h"

enum { MAX_TASKS = 500, MAX_WORDS = 65536 };

/* ---- initialize ---- */

static const char *const capabilities[] = {
	"supportsConfigurationDoneRequest", "supportsEvaluateForHovers",
	"supportsClipboardContext",         "supportsDelayedStackTraceLoading",
	"supportsRestartRequest",           "supportTerminateDebuggee",
	"supportsTerminateRequest",         "supportsCancelRequest",
	"supportsExceptionInfoRequest",     "supportsReadMemoryRequest",
	"supportsDisassembleRequest",       "supportsModulesRequest",
	"supportsCompletionsRequest",
};

/* Capabilities for live processes, not for cores and snapshots. */
static const char *const live_capabilities[] = {
	"supportsFunctionBreakpoints",
	"supportsInstructionBreakpoints",
	"supportsConditionalBreakpoints",
	"supportsHitConditionalBreakpoints",
	"supportsSteppingGranularity",
	"supportsExceptionFilterOptions",
	"supportsDataBreakpoints",
	"supportsSetVariable",
	"supportsSetExpression",
	"supportsLogPoints",
	"supportsBreakpointLocationsRequest",
};

static void session_put_capabilities(struct json_writer *w, const char *const *names, size_t n,
                                     bool yes)
{
	for (size_t i = 0; i < n; i++)
		json_put_bool(w, names[i], yes);
}

struct error *dap_initialize(struct dap *d, struct request *r)
{
	const char *format = dap_text(r, "pathFormat");

	if (d->state != DAP_NEW)
		return error_new(ERR_STATE, "already initialized");
	d->client = (struct dap_client){
		.lines_from_0 = !dap_is_true(r, "linesStartAt1", true),
		.columns_from_0 = !dap_is_true(r, "columnsStartAt1", true),
		.paths_are_uris = format && strcmp(format, "uri") == 0,
		.progress = dap_is_true(r, "supportsProgressReporting", false),
		.invalidated = dap_is_true(r, "supportsInvalidatedEvent", false),
		.memory = dap_is_true(r, "supportsMemoryReferences", false),
		.ansi = dap_is_true(r, "supportsANSIStyling", false),
	};
	if (d->client.paths_are_uris)
		return error_new(ERR_UNSUPPORTED, "only pathFormat \"path\" is supported");
	session_put_capabilities(r->w, capabilities, sizeof(capabilities) / sizeof(*capabilities),
	                         true);
	session_put_capabilities(r->w, live_capabilities,
	                         sizeof(live_capabilities) / sizeof(*live_capabilities), true);
	exceptions_put_filters(r->w);
	json_put_list(r->w, "completionTriggerCharacters", (const char *const[]){ "." }, 1);
	if (d->client.progress)
		loading_listen(d, LOADING_DELAY_MS);
	d->state = DAP_IDLE;
	d->max_tasks = MAX_TASKS;
	return NULL;
}

/* ---- a program ---- */

/* Reads the arguments that launch and attach have in common. */
static struct error *read_common(struct dap *d, struct request *r)
{
	struct session *s = d->s;
	const char *program = dap_text(r, "program"), *layout = dap_text(r, "layout");
	int64_t max = dap_number(r, "maxTasks", MAX_TASKS);

	if (d->state != DAP_IDLE)
		return error_new(ERR_STATE, "there is already a program");
	if (max < 1 || max > INT_MAX)
		return error_new(ERR_USAGE, "maxTasks must be at least 1");
	d->max_tasks = (size_t)max;
	TRY(paths_set(&d->paths, node_get(r->arguments, "sourceMap")));
	for (size_t i = 0; i < d->paths.rules.n; i++) /* for the commands of the console */
		TRY(source_files_add_map(&s->sources,
		                         arena_printf(r->a, "%s=%s", d->paths.rules.data[i].from,
		                                      d->paths.rules.data[i].to)));
	s->own_options = *s->options;
	s->options = &s->own_options;
	if (program && *program)
		s->own_options.target.exe = arena_strdup(&d->arena, program);
	if (layout && *layout)
		s->own_options.inspector.layout = arena_strdup(&d->arena, layout);
	return NULL;
}

static struct error *read_words(struct dap *d, struct request *r, const char ***ret)
{
	const struct node *args = node_get(r->arguments, "args");
	size_t n = node_count(args), i = 0;

	if ((args && args->kind != JSON_IS_ARRAY) || n > MAX_WORDS)
		return error_new(ERR_USAGE, "args must be an array of strings");
	const char **argv = NEW_ARRAY(&d->arena, const char *, n + 2);
	argv[i++] = d->s->own_options.target.exe;
	for (const struct node *word = node_first(args); word; word = word->next) {
		if (!node_text(word))
			return error_new(ERR_USAGE, "args must be an array of strings");
		argv[i++] = arena_strdup(&d->arena, node_text(word));
	}
	*ret = argv;
	return NULL;
}

static bool sets(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* Our environment with the changes of "env", in which null takes a variable away. */
static struct error *read_env(struct dap *d, struct request *r, char ***ret)
{
	const struct node *env = node_get(r->arguments, "env");
	size_t n = 0, ours = 0;

	if (env && env->kind != JSON_IS_OBJECT)
		return error_new(ERR_USAGE, "env must be an object of strings");
	while (environ[ours])
		ours++;
	char **list = NEW_ARRAY(&d->arena, char *, ours + node_count(env) + 1);
	for (size_t i = 0; i < ours; i++) {
		bool changed = false;

		for (const struct node *v = node_first(env); v; v = v->next)
			changed |= sets(environ[i], v->key);
		if (!changed)
			list[n++] = environ[i];
	}
	for (const struct node *v = node_first(env); v; v = v->next) {
		if (v->kind != JSON_IS_TEXT && v->kind != JSON_IS_NULL)
			return error_new(ERR_USAGE, "env: %s is not a string", v->key);
		if (v->kind == JSON_IS_TEXT)
			list[n++] = arena_printf(&d->arena, "%s=%s", v->key, v->text);
	}
	*ret = list;
	return NULL;
}

static struct error *start(struct dap *d, struct control_program *program)
{
	int ends[2];

	TRY(output_open(&d->output, &d->sender, ends));
	program->output = ends[0];
	program->errors = ends[1];
	struct error *err = control_run(&d->s->debuggee.control, program);
	close(ends[0]);
	close(ends[1]);
	if (!err)
		err = output_start(&d->output);
	if (err)
		output_close(&d->output);
	return err;
}

/* Reads the arguments, environment and directory of a launch. */
static struct error *read_program(struct dap *d, struct request *r)
{
	struct control_program program = { .no_input = true };
	const char *cwd = dap_text(r, "cwd");

	TRY(read_words(d, r, (const char ***)(void *)&program.argv));
	TRY(read_env(d, r, (char ***)(void *)&program.env));
	program.cwd = cwd && *cwd ? arena_strdup(&d->arena, cwd) : NULL;
	program.random = dap_is_true(r, "randomAddresses", false);
	d->program = program;
	d->pending.stop_at_entry = dap_is_true(r, "stopOnEntry", false);
	return NULL;
}

/* Starts it, to where its own code begins; else there is none. */
static struct error *session_begin_program(struct dap *d)
{
	TRY(start(d, &d->program));
	struct error *err = stop_begin(d->s, running_messages(d));

	if (!err)
		return NULL;
	if (d->s->debuggee.control.pid)
		error_free(control_kill(&d->s->debuggee.control));
	output_close(&d->output);
	error_free(session_reopen(d->s, 0, NULL));
	return err;
}

struct error *dap_launch(struct dap *d, struct request *r)
{
	if (dap_text(r, "core") || dap_text(r, "snapshot"))
		return dap_attach(d, r);
	TRY(read_common(d, r));
	if (!d->s->own_options.target.exe)
		return error_new(ERR_USAGE, "launch needs \"program\", the path of an executable");
	TRY(read_program(d, r));
	TRY(session_begin_program(d));
	d->launched = true;
	d->state = DAP_CONFIGURED;
	return NULL;
}

static struct error *session_open_file(struct dap *d, const char *file)
{
	struct asyncdbg_options *options = &d->s->own_options;

	asyncdbg_close(d->s->handle);
	d->s->handle = NULL;
	options->pid = 0;
	options->program = NULL;
	options->file = arena_strdup(&d->arena, file);
	return asyncdbg_open(options, &d->s->handle);
}

static struct error *attach_to(struct dap *d, pid_t pid)
{
	TRY(control_attach(&d->s->debuggee.control, pid));
	struct error *err = stop_begin(d->s, running_messages(d));
	if (!err)
		return NULL;
	if (d->s->debuggee.control.pid)
		error_free(control_detach(&d->s->debuggee.control));
	error_free(session_reopen(d->s, 0, NULL));
	return err;
}

struct error *dap_attach(struct dap *d, struct request *r)
{
	const char *core = dap_text(r, "core"), *saved = dap_text(r, "snapshot");
	const struct asyncdbg_options *given = d->s->options;
	int64_t pid = dap_number(r, "pid", 0);
	const char *file = core ? core : saved ? saved : pid ? NULL : given->file;

	if (!pid && dap_text(r, "pid"))
		pid = strtoll(dap_text(r, "pid"), NULL, 10);
	if (!pid && !file)
		pid = given->pid;
	TRY(read_common(d, r));
	if ((pid != 0) + (file != NULL) + (core && saved) != 1 || pid < 0 || pid > INT_MAX)
		return error_new(ERR_USAGE, "attach needs one of pid, core and snapshot");
	if (file) {
		TRY(session_open_file(d, file));
		d->post_mortem = true;
		d->pending.stop_at_entry = true;
	} else {
		TRY(attach_to(d, (pid_t)pid));
		d->pending.stop_at_entry = dap_is_true(r, "stopOnAttach", false);
	}
	d->state = DAP_CONFIGURED;
	return NULL;
}

/* Reports the requests that a program that does not run, or that was not launched, cannot serve. */
static void reduce_capabilities(struct dap *d)
{
	struct message *m = message_event("capabilities");
	size_t n = sizeof(live_capabilities) / sizeof(*live_capabilities);

	json_open_object(&m->w, "capabilities");
	json_put_bool(&m->w, "supportsRestartRequest", false);
	session_put_capabilities(&m->w, live_capabilities, d->post_mortem ? n : 0, false);
	json_close_object(&m->w);
	message_send(m, &d->sender);
}

static void session_send_process(struct dap *d)
{
	const struct target *t = asyncdbg_target(d->s->handle);
	const char *exe = d->s->own_options.target.exe;
	struct message *m;

	if (!t)
		return;
	m = message_event("process");
	json_put_text(&m->w, "name", exe ? exe : t->command ? t->command : "process");
	if (t->pid > 0)
		json_put_int(&m->w, "systemProcessId", t->pid);
	json_put_bool(&m->w, "isLocalProcess", true);
	json_put_text(&m->w, "startMethod", d->launched ? "launch" : "attach");
	json_put_int(&m->w, "pointerSize", 64);
	message_send(m, &d->sender);
}

void dap_after_start(struct dap *d)
{
	if (!d->launched)
		reduce_capabilities(d);
	session_send_process(d);
	struct message *m = message_event("initialized");
	message_send(m, &d->sender);
}

/* ---- configurationDone ---- */

struct error *dap_configured(struct dap *d, struct request *r)
{
	(void)r;
	if (d->state != DAP_CONFIGURED)
		return error_new(ERR_STATE, "already configured");
	d->state = d->pending.stop_at_entry ? DAP_STOPPED : DAP_RUNNING;
	return NULL;
}

void dap_after_configured(struct dap *d)
{
	if (d->post_mortem)
		running_send_post_mortem(d);
	else if (d->state == DAP_STOPPED)
		running_send_stop(d);
}

/* ---- restart ---- */

struct error *dap_restart(struct dap *d, struct request *r)
{
	struct request launch = *r;

	if (!d->launched)
		return error_new(ERR_STATE, "only a launched program can be restarted");
	if (d->state == DAP_CONFIGURED)
		return error_new(ERR_STATE, "\"configurationDone\" must come first");
	launch.arguments = node_get(r->arguments, "arguments");
	if (launch.arguments)
		TRY(read_program(d, &launch));
	if (d->s->debuggee.control.pid)
		TRY(control_kill(&d->s->debuggee.control));
	output_close(&d->output);
	dap_forget(d);
	data_forget(d);
	d->pending.decision = d->pending.step = d->pending.step_one = d->pending.pause =
		d->pending.terminate = false;
	TRY(session_reopen(d->s, 0, NULL));
	struct error *err = session_begin_program(d);
	if (err)
		running_send_end(d);
	else
		d->state = d->pending.stop_at_entry ? DAP_STOPPED : DAP_RUNNING;
	return err;
}

void dap_after_restart(struct dap *d)
{
	session_send_process(d);
	dap_after_configured(d);
}

/* ---- the end ---- */

struct error *dap_disconnect(struct dap *d, struct request *r)
{
	bool kill = dap_is_true(r, "terminateDebuggee", d->launched);

	running_end(d, kill && !dap_is_true(r, "suspendDebuggee", false));
	d->done = true;
	return NULL;
}

struct error *dap_terminate(struct dap *d, struct request *r)
{
	struct control *c = &d->s->debuggee.control;

	(void)r;
	if (!c->pid) {
		c->stop = (struct control_stop){ .reason = CONTROL_GONE };
		return NULL;
	}
	/* A program that was launched and has not run yet has nothing to tidy up. */
	if (d->pending.terminate || (d->launched && d->state == DAP_CONFIGURED))
		return control_kill(c);
	if (kill(c->pid, SIGTERM) != 0)
		return error_os(errno, "SIGTERM");
	d->pending.terminate = true;
	d->pending.resume = d->state == DAP_STOPPED;
	d->state = DAP_RUNNING; /* to receive it */
	return NULL;
}

void dap_after_terminate(struct dap *d)
{
	if (!d->s->debuggee.control.pid) {
		if (d->state != DAP_ENDED)
			running_send_end(d);
	} else if (d->pending.resume) {
		struct message *m = message_event("continued");

		json_put_int(&m->w, "threadId", d->stop_thread);
		json_put_bool(&m->w, "allThreadsContinued", true);
		message_send(m, &d->sender);
		d->pending.resume = false;
	}
}
