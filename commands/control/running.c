/* run, attach, continue, detach, kill, stepi */
#include <limits.h>
#include <stdint.h>

#include "commands/base/focus.h"
#include "commands/control/control.h"
#include "commands/control/stop.h"
#include "debugger/target/target.h"

#define PRODUCTION_OPTION                                                                          \
	{                                                                                          \
		"production", NULL, false,                                                         \
			"Use only hardware breakpoints, and write nothing into the code"           \
	}

/* ---- run ---- */

/* Keeps the words of a program, with NULL at the end. */
static void keep_argv(struct session *s, const char *const *words, size_t n)
{
	struct arena old = s->run_arena;

	s->run_arena = (struct arena){ 0 };
	const char **argv = NEW_ARRAY(&s->run_arena, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		argv[i] = arena_strdup(&s->run_arena, words[i]);
	s->argv = argv;
	arena_free(&old);
}

static struct error *choose_program(struct session *s, const struct call *call)
{
	size_t n = 0;

	if (call->args.n) {
		keep_argv(s, call->args.word, call->args.n);
	} else if (!s->argv && s->program) {
		while (s->program[n])
			n++;
		keep_argv(s, s->program, n);
	}
	if (!s->argv)
		return error_new(ERR_USAGE, "run needs a program: run -- PROGRAM ARGUMENTS");
	return NULL;
}

/* A program that was started without its breakpoints is useless: it is ended. Owns err. */
static struct error *end_unfinished(struct session *s, struct error *err)
{
	if (!s->debuggee.control.pid)
		return err;
	error_free(debuggee_kill(&s->debuggee));
	error_free(session_reopen(s, 0, NULL));
	return error_wrap(err, "the program was killed before its own code began");
}

/*
 * A program that `run` has started ends, as in gdb, when the user agrees; one that runs on without
 * us does not.
 */
static struct error *end_running(struct session *s, bool *agreed)
{
	const struct control *c = &s->debuggee.control;
	char question[96];

	*agreed = true;
	if (!c->pid)
		return NULL;
	if (!c->launched)
		return error_new(ERR_STATE,
		                 "process %d is already being debugged: \"kill\" kills it, "
		                 "\"detach\" detaches from it",
		                 (int)c->pid);
	snprintf(question, sizeof(question),
	         "Process %d is being debugged. Kill it and start again?", (int)c->pid);
	*agreed = session_confirm(s, question);
	return *agreed ? debuggee_kill(&s->debuggee) : NULL;
}

static struct error *run_run(struct session *s, const struct answer *answer,
                             const struct call *call, struct out *out)
{
	struct control_program program = { .cwd = option_value(call, "cwd"),
		                           .random = option_has(call, "random-addresses"),
		                           .no_input = s->no_input,
		                           .keep = option_has(call, "keep") };
	bool agreed;

	TRY(end_running(s, &agreed));
	if (!agreed)
		return NULL;
	if (!s->debuggee.control.tracer && asyncdbg_kind(s->handle) != ASYNCDBG_NONE)
		return error_new(ERR_USAGE,
		                 "run starts a program itself: -p and -c cannot be used with it");
	TRY(choose_program(s, call));
	program.argv = s->argv;
	s->debuggee.control.hw_breakpoints_only = option_has(call, "production");
	TRY(control_run(&s->debuggee.control, &program));
	if (!program.random)
		fprintf(out->options.messages, "asyncdbg: address space randomization is disabled; "
		                               "--random-addresses keeps it\n");
	struct error *err = stop_begin(s, out);
	if (err)
		return end_unfinished(s, err);
	if (option_has(call, "stop"))
		return stop_show(s, answer, out);
	return stop_continue(s, answer, out);
}

static const struct command_option run_options[] = {
	{ "stop", NULL, false, "Stop at the first instruction of the program's own code" },
	{ "cwd", "DIR", false, "Working directory of the program" },
	{ "random-addresses", NULL, false, "Do not disable address space randomization" },
	PRODUCTION_OPTION,
	{ "keep", NULL, false, "Keep the program running when asyncdbg ends" },
	{ 0 },
};

const struct command run_command = {
	.name = "run",
	.args = "[-- PROGRAM [ARGUMENT...]]",
	.max_args = SIZE_MAX,
	.options = run_options,
	.summary = "Start a program and run it to the first breakpoint",
	.help = "        asyncdbg -e 'break app::serve' run -- ./app --port 80\n"
		"    Without PROGRAM, starts the last one again. Breakpoints are kept. A\n"
		"    program that is still running from an earlier run is killed first: the\n"
		"    prompt asks. The program is killed when asyncdbg ends, unless it is\n"
		"    detached or started with --keep. It has the terminal while it runs; ^C\n"
		"    stops it.",
	.offline = true,
	.takes_program = true,
	.stays = true,
	.run = run_run,
};

/* ---- attach ---- */

static struct error *read_pid(const struct call *call, pid_t *ret)
{
	uint64_t pid = 0;

	if (call->args.n)
		TRY(words_number(call->args.word[0], "a process id", INT_MAX, &pid));
	*ret = (pid_t)pid;
	return NULL;
}

static struct error *check_attach(const struct call *call)
{
	pid_t pid;

	return read_pid(call, &pid);
}

static struct error *run_attach(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	pid_t pid;

	TRY(read_pid(call, &pid));
	if (!pid && asyncdbg_kind(s->handle) == ASYNCDBG_LIVE)
		pid = asyncdbg_target(s->handle)->pid;
	if (!pid)
		return error_new(ERR_USAGE, "attach needs a process: attach PID");
	if (!s->debuggee.control.pid)
		s->debuggee.control.hw_breakpoints_only = option_has(call, "production");
	TRY(control_attach(&s->debuggee.control, pid));
	struct error *err = stop_begin(s, out);
	if (err) {
		error_free(control_detach(&s->debuggee.control));
		return err;
	}
	return stop_show(s, answer, out);
}

static const struct command_option attach_options[] = {
	PRODUCTION_OPTION,
	{ 0 },
};

const struct command attach_command = {
	.name = "attach",
	.args = "[PID]",
	.max_args = 1,
	.options = attach_options,
	.check = check_attach,
	.summary = "Attach to a process and stop it; without PID, to the one given by -p",
	.help = "    The process is stopped until continue, and keeps running when asyncdbg\n"
		"    ends. With --production this holds even after kill -9 of asyncdbg:\n"
		"    breakpoints are hardware breakpoints, of which there are four.",
	.offline = true,
	.stays = true,
	.run = run_attach,
};

/* ---- continue, detach, kill ---- */

/* Without control a session stops the process only while a snapshot is taken. */
static struct error *say_running(struct session *s, const struct call *call, struct out *out)
{
	enum asyncdbg_kind kind = asyncdbg_kind(s->handle);

	if (kind == ASYNCDBG_SAVED || kind == ASYNCDBG_CORE)
		return error_new(ERR_STATE, "a core or a snapshot cannot run");
	if (kind == ASYNCDBG_NONE)
		return error_new(ERR_USAGE,
		                 "no target: use -p PID, or start a program with \"run\"");
	fprintf(out->options.messages,
	        "asyncdbg: process %d is running: it is only stopped while it is read%s\n",
	        (int)asyncdbg_target(s->handle)->pid,
	        call->command == &detach_command ? ", and not attached to in between"
	                                         : "; \"attach\" attaches to it");
	return NULL;
}

static struct error *run_continue(struct session *s, const struct answer *answer,
                                  const struct call *call, struct out *out)
{
	return s->debuggee.control.pid ? stop_continue(s, answer, out) : say_running(s, call, out);
}

static struct error *run_detach(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	pid_t pid = s->debuggee.control.pid;

	(void)answer;
	if (!pid)
		return say_running(s, call, out);
	TRY(control_detach(&s->debuggee.control));
	fprintf(out->options.messages,
	        "asyncdbg: detached from process %d, which continues with its original code\n",
	        (int)pid);
	return session_reopen(s, pid, NULL);
}

static struct error *run_kill(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	(void)call;
	TRY(stop_need_program(s));
	TRY(debuggee_kill(&s->debuggee));
	TRY(stop_show(s, answer, out));
	TRY(out_end(out));
	return session_reopen(s, 0, NULL);
}

const struct command continue_command = {
	.name = "continue",
	.summary = "Continue the program until a breakpoint, a signal or its end",
	.help = "    ^C stops it. A process that is not being debugged runs all the time, and\n"
		"    is only stopped while it is read.",
	.offline = true,
	.stays = true,
	.repeats = true,
	.run = run_continue,
};

const struct command detach_command = {
	.name = "detach",
	.summary = "Detach; the program continues with its original code",
	.offline = true,
	.run = run_detach,
};

const struct command kill_command = {
	.name = "kill",
	.summary = "Kill the program",
	.offline = true,
	.stays = true,
	.run = run_kill,
};

/* ---- stepi ---- */

static struct error *run_stepi(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	uint64_t n = 1;

	TRY(stop_need_program(s));
	if (call->args.n)
		TRY(words_number(call->args.word[0], "a number of instructions", UINT32_MAX, &n));
	pid_t tid = s->focus ? s->focus : s->debuggee.control.pid;

	struct control *c = &s->debuggee.control;

	for (; n && c->pid; n--) {
		struct error *err = interrupt_check();

		TRY(control_stop_from_error(c, err ? err : debuggee_step_one(&s->debuggee, tid)));
		if (c->stop.reason != CONTROL_STEPPED)
			break;
	}
	TRY(stop_show(s, answer, out));
	TRY(out_end(out));
	return c->pid ? stop_delete_temporary(s) : session_reopen(s, 0, NULL);
}

static struct error *check_stepi(const struct call *call)
{
	uint64_t n;

	return call->args.n ? words_number(call->args.word[0], "a number of instructions",
	                                   UINT32_MAX, &n)
	                    : NULL;
}

const struct command stepi_command = {
	.name = "stepi",
	.args = "[N]",
	.max_args = 1,
	.check = check_stepi,
	.summary = "Execute one instruction, or N, of the selected thread; others stay stopped",
	.offline = true,
	.stays = true,
	.repeats = true,
	.run = run_stepi,
};
