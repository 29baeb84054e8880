/* guard: runs a command, and shows the waits of its async processes when it hangs. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "commands/base/interval.h"
#include "commands/incident/guarded.h"
#include "commands/incident/incident.h"
#include "commands/incident/incident_file.h"
#include "commands/incident/patient_file.h"
#include "debugger/base/str.h"
#include "debugger/live/read_guard.h"
#include "runtimes/executor_detect/async_processes.h"

enum {
	STATUS_TIMED_OUT = 124, /* as timeout(1) has them */
	STATUS_CANNOT_RUN = 126,
	STATUS_NOT_FOUND = 127,
};

/* Grace period: for processes to end after SIGTERM, and for the reader of the report meanwhile. */
static const double grace_s = 5;
/* Further time for a reader that takes nothing of the report once they have ended. */
static const double reader_s = 60;

static struct error *read_limits(const struct call *call, struct guarded_limits *ret)
{
	const char *timeout = option_value(call, "timeout"),
		   *silence = option_value(call, "silence");

	*ret = (struct guarded_limits){ 0 };
	if (timeout)
		TRY(interval_read(timeout, &ret->timeout));
	if (silence)
		TRY(interval_read(silence, &ret->silence));
	return NULL;
}

static struct error *guard_check(const struct call *call)
{
	struct guarded_limits limits;

	return read_limits(call, &limits);
}

/* ---- report about a command that hangs ---- */

struct guard {
	struct session *s;
	const struct call *call;
	FILE *messages;
	const char *directory; /* --report; NULL: none */
};

static void guard_report_error(const struct guard *g, struct error *err)
{
	STR(line);

	if (!err)
		return;
	str_append_clean(&line, err->message, strlen(err->message));
	fprintf(g->messages, "asyncdbg: %s\n", str_text(&line));
	error_free(err);
}

/* Runs a command line on the process. Its errors are reported. */
static void guard_show(const struct guard *g, struct session *s, struct out *out, const char *line)
{
	SCRATCH(tmp);
	struct words *commands;
	size_t n;
	enum status status = STATUS_OK;
	struct error *err = words_split(&tmp, line, &commands, &n);

	for (size_t i = 0; !err && i < n; i++) {
		fprintf(g->messages, "\n--- %s\n", line);
		g->call->shell->execute(s, out, &commands[i], &status);
	}
	guard_report_error(g, err);
}

static void guard_save(const struct guard *g, struct session *s, const struct process *p)
{
	SCRATCH(tmp);
	const char *path;
	struct error *err = incident_file_write(&tmp, s, g->directory, p->name, "guard", &path);

	if (err)
		guard_report_error(g, error_wrap(err, "--report"));
	else
		fprintf(g->messages, "saved: %s.snapshot and .html\n", path);
}

static void show_process(const struct guard *g, const struct process *p, struct out *out)
{
	struct asyncdbg_options options = *g->s->options;
	struct session s CLEANUP(session_close) = { 0 };

	fprintf(g->messages, "\n=== process %d: %s\n", (int)p->pid, p->command);
	options.pid = p->pid;
	struct error *err = session_open(&options, &s);
	if (err) {
		guard_report_error(g, err);
		return;
	}
	guard_show(g, &s, out, "async backtrace all --group");
	guard_show(g, &s, out, "check");
	guard_show(g, &s, out, "async graph");
	if (g->directory)
		guard_save(g, &s, p);
}

/* Shows every async process below this one. */
static struct error *show_all(const struct guard *g, struct out *out)
{
	SCRATCH(tmp);
	struct async_processes_options options = { .closed = true, .session = *g->s->options };
	struct async_processes list;
	size_t n = 0;

	TRY(async_processes_read(&tmp, &options, &list));
	bool *below = NEW_ARRAY(&tmp, bool, list.all.n);
	process_list_below(&list.all, getpid(), below);
	for (size_t i = 0; i < list.n; i++) {
		if (!below[list.data[i].process - list.all.data])
			continue;
		show_process(g, list.data[i].process, out);
		n++;
	}
	for (size_t i = 0; !n && i < list.all.n; i++) {
		const struct process *p = &list.all.data[i];

		if (below[i])
			fprintf(g->messages, "process %d: %s: not async\n", (int)p->pid,
			        *p->command ? p->command : p->name);
	}
	return NULL;
}

/* ---- the command ---- */

static struct guarded *ending; /* the command whose time is over */

/* Ends the command whose time is over even where a read blocks. */
static void end_unread(void)
{
	guarded_end_all(ending, grace_s);
	_exit(STATUS_TIMED_OUT);
}

static struct error *report_hang(const struct guard *g, const struct guarded *command,
                                 enum guarded_end why)
{
	const struct guarded_limits *limits = &command->limits;
	struct out_options options = { .answers = g->messages,
		                       .messages = g->messages,
		                       .ascii = true,
		                       .interactive = true,
		                       .group = true };
	struct out *out CLEANUP(out_freep) = out_text_new(&options);

	if (why == GUARDED_SILENT)
		fprintf(g->messages, "asyncdbg: no output for %g s%s: ", limits->silence,
		        guarded_is_unread(command) ? ", and nobody reads the output" : "");
	else
		fprintf(g->messages, "asyncdbg: not finished after %g s: ", limits->timeout);
	fprintf(g->messages, "what it waits for follows, then it is killed\n");
	return show_all(g, out);
}

/* The command ends in time, whether or not anybody reads the report. */
static struct error *hangs(const struct guard *g, struct guarded *command, enum guarded_end why)
{
	fflush(g->messages);
	struct patient_file *file = patient_file_new(fileno(g->messages), grace_s);
	struct guard to_file = *g;

	to_file.messages = patient_file_stream(file);
	ending = command;
	read_guard_at_end(end_unread);
	struct error *err = report_hang(&to_file, command, why);

	read_guard_at_end(NULL);
	guarded_end_all(command, grace_s);
	patient_file_end(file, reader_s);
	return err;
}

static struct error *run_guarded(const struct guard *g, const char *const *argv,
                                 const struct guarded_limits *limits, unsigned *status)
{
	struct guarded command CLEANUP(guarded_close);
	enum guarded_end why;
	struct error *err = guarded_start(&command, argv, limits);

	if (err && !command.pid && err->kind == ERR_OS) {
		*status = err->errnum == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
		guard_report_error(g, err);
		return NULL;
	}
	if (!err)
		err = guarded_wait(&command, &why);
	if (err)
		return err;
	if (why == GUARDED_ENDED) {
		*status = (unsigned)command.status;
		return NULL;
	}
	*status = STATUS_TIMED_OUT;
	return hangs(g, &command, why);
}

static struct error *guard_run(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	struct guard g = { s, call, out->options.messages, option_value(call, "report") };
	struct guarded_limits limits;
	unsigned status = 0;

	(void)answer;
	TRY(read_limits(call, &limits));
	if (limits.timeout <= 0 && limits.silence <= 0)
		return error_new(ERR_USAGE,
		                 "guard needs --timeout TIME or --silence TIME, above 0");
	if (!s->program)
		return error_new(ERR_USAGE, "guard needs a program: asyncdbg guard ... -- COMMAND, "
		                            "on the command line");
	if (asyncdbg_kind(s->handle) != ASYNCDBG_NONE)
		return error_new(ERR_USAGE, "guard starts a program itself: -p, -c, --name and "
		                            "--unit cannot be used with it");
	struct error *err = run_guarded(&g, s->program, &limits, &status);

	s->finding = status;
	return err;
}

static const struct command_option options[] = {
	{ "timeout", "TIME", false, "Kill the command if it runs longer than TIME" },
	{ "silence", "TIME", false,
	  "Kill the command if it writes nothing to its output for TIME" },
	{ "report", "DIR", false, "Write a snapshot and a report of each async process to DIR" },
	{ 0 },
};

const struct command guard_command = {
	.name = "guard",
	.options = options,
	.check = guard_check,
	.summary = "Run a command, such as a test, and show what it is waiting for if it hangs",
	.help = "        asyncdbg guard --timeout 10m -- cargo test\n"
		"    Output, terminal and exit status of the command are passed through: 128+N\n"
		"    for signal N, 127 if the command does not exist. When it takes too long,\n"
		"    the async processes it started are shown on standard error: async\n"
		"    backtrace all --group, check and async graph. Then all of them are killed,\n"
		"    and the exit status is 124. No privileges are needed, as asyncdbg is the\n"
		"    parent process.",
	.offline = true,
	.takes_program = true,
	.run = guard_run,
};
