/* break, tbreak, logpoint, condition, info breakpoints, delete, enable, disable */
#include <stdint.h>

#include "commands/base/focus.h"
#include "commands/control/break_cmd.h"
#include "commands/control/control.h"
#include "commands/control/stopped.h"
#include "commands/control/watch_cmd.h"
#include "debugger/base/str.h"
#include "runtimes/stepping/debuggee.h"

/* The event that an option names, instead of a place. */
static struct error *read_event(const struct call *call, struct breakpoint_options *ret)
{
	size_t n = call->args.n > 0;

	ret->text = call->args.n ? call->args.word[0] : NULL;
	for (enum event_break_kind kind = EVENT_BREAK_NONE + 1; !event_break_is_catch(kind);
	     kind++) {
		const char *subject = option_value(call, event_break_name(kind));

		if (!subject)
			continue;
		n++;
		ret->event = kind;
		ret->text = subject;
	}
	if (n == 1)
		return NULL;
	return error_new(ERR_USAGE,
	                 n ? "%s takes one place, or one task event"
	                   : "%s needs a place, or a task event such as --on-wake ID",
	                 call->command->name);
}

/* The words from that one on, with blanks between them. */
static const char *break_cmd_join(struct arena *a, const struct words *words, size_t from)
{
	STR(text);

	for (size_t i = from; i < words->n; i++)
		str_printf(&text, "%s%s", i > from ? " " : "", words->word[i]);
	return arena_strdup(a, str_text(&text));
}

static struct error *check_condition_text(const char *text)
{
	SCRATCH(tmp);
	const struct predicate *c;

	return predicate_parse(&tmp, text, &c);
}

struct error *break_cmd_read_condition(const struct call *call, size_t from, const char *before,
                                       struct arena *a, const char **ret)
{
	if (call->args.n <= from)
		return NULL;
	if (strcmp(call->args.word[from], "if") != 0)
		return error_new(
			ERR_USAGE, "\"%s\" is not understood: %s %s if CONDITION%s",
			call->args.word[from], call->command->name, before,
			strchr(call->args.word[0], '<') ? "; a name with blanks needs quotes" : "");
	*ret = break_cmd_join(a, &call->args, from + 1);
	return check_condition_text(*ret);
}

static struct error *check_log(const char *text)
{
	SCRATCH(tmp);
	struct log_message m;

	return log_message_parse(&tmp, text, &m);
}

struct error *break_cmd_read_counts(const struct call *call, uint64_t *skip, uint64_t *every)
{
	const char *after = option_value(call, "after"), *each = option_value(call, "every");

	*skip = *every = 0;
	if (after)
		TRY(words_number(after, "a number of hits", UINT32_MAX, skip));
	if (each)
		TRY(words_number(each, "a number of hits", UINT32_MAX, every));
	if (each && !*every)
		return error_new(ERR_USAGE, "--every must be at least 1");
	return NULL;
}

static struct error *break_cmd_read_options(const struct call *call, struct arena *a,
                                            struct breakpoint_options *ret)
{
	bool logs = call->command == &logpoint_command;

	*ret = (struct breakpoint_options){ .task = option_value(call, "task"),
		                            .temporary = call->command == &tbreak_command };
	if (logs)
		ret->text = call->args.word[0];
	else
		TRY(read_event(call, ret));
	TRY(break_cmd_read_counts(call, &ret->skip, &ret->every));
	if (ret->task)
		TRY(focus_check_task_id(ret->task));
	TRY(ret->event == EVENT_BREAK_NONE ? breakpoint_check(ret->text)
	                                   : event_break_check(ret->event, ret->text));
	if (logs) {
		ret->log = call->args.word[1];
		TRY(check_log(ret->log));
	}
	return break_cmd_read_condition(call, 1 + logs, logs ? "PLACE 'TEXT'" : "PLACE", a,
	                                &ret->condition);
}

static struct error *check_break(const struct call *call)
{
	SCRATCH(tmp);
	struct breakpoint_options options;

	/* A command without words is only refused when it runs. */
	if (!call->args.n && !call->noptions)
		return NULL;
	return break_cmd_read_options(call, &tmp, &options);
}

struct error *break_cmd_add(struct session *s, const struct answer *answer,
                            const struct breakpoint_options *options, struct out *out)
{
	struct breakpoint **bp = NEW(&s->answer, struct breakpoint *);

	if (!s->debuggee.control.pid && asyncdbg_kind(s->handle) != ASYNCDBG_NONE)
		return error_new(ERR_STATE,
		                 asyncdbg_kind(s->handle) == ASYNCDBG_LIVE
		                         ? "breakpoints need a debugged program: \"attach\" "
		                           "attaches to this one"
		                         : "only a running program can have breakpoints");
	TRY(breakpoint_add(&s->debuggee, options, bp));
	if (!s->debuggee.control.pid)
		(*bp)->note = "it is resolved when a program is started or attached to";
	out_begin(out, answer);
	part_breakpoints(out, bp, 1);
	return NULL;
}

static struct error *run_break(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	struct breakpoint_options options;

	TRY(break_cmd_read_options(call, &s->answer, &options));
	return break_cmd_add(s, answer, &options, out);
}

static struct error *break_cmd_run_info(struct session *s, const struct answer *answer,
                                        const struct call *call, struct out *out)
{
	out_begin(out, answer);
	if (option_has(call, "internal")) {
		size_t n;
		const struct internal_breakpoint_row *rows =
			internal_breakpoint_list(&s->debuggee.control, &s->answer, &n);

		part_internal_breakpoints(out, rows, n);
		return NULL;
	}
	if (s->debuggee.breakpoints.list.n || !s->debuggee.watches.list.n)
		part_breakpoints(out, s->debuggee.breakpoints.list.data,
		                 s->debuggee.breakpoints.list.n);
	if (s->debuggee.watches.list.n)
		part_watchpoints(out, s->debuggee.watches.list.data, s->debuggee.watches.list.n);
	return NULL;
}

static struct error *break_cmd_read_number(const char *word, unsigned *ret)
{
	uint64_t number;

	TRY(words_number(word, "a breakpoint number", UINT32_MAX, &number));
	*ret = (unsigned)number;
	return NULL;
}

static struct error *check_numbers(const struct call *call)
{
	unsigned number;

	for (size_t i = 0; i < call->args.n; i++)
		TRY(break_cmd_read_number(call->args.word[i], &number));
	return NULL;
}

static struct error *change(const struct command *command, struct breakpoint *bp)
{
	if (command == &delete_command)
		return breakpoint_delete(bp);
	return breakpoint_enable(bp, command == &enable_command);
}

static struct error *change_watch(const struct command *command, struct watchpoint *w)
{
	if (command == &delete_command)
		return watch_delete(w);
	return watch_enable(w, command == &enable_command);
}

static struct error *change_all(struct session *s, const struct command *command)
{
	for (size_t i = s->debuggee.breakpoints.list.n; i-- > 0;)
		TRY(change(command, s->debuggee.breakpoints.list.data[i]));
	for (size_t i = s->debuggee.watches.list.n; i-- > 0;) {
		struct watchpoint *w = s->debuggee.watches.list.data[i];

		if (command != &enable_command || !w->note)
			TRY(change_watch(command, w));
	}
	return NULL;
}

/* Bare `delete` asks for confirmation, as in gdb. */
static bool may_change_all(const struct session *s, const struct command *command)
{
	const struct debuggee *d = &s->debuggee;

	return command != &delete_command || !(d->breakpoints.list.n + d->watches.list.n) ||
	       session_confirm(s, "Delete all breakpoints?");
}

static struct error *run_change(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	unsigned number;

	for (size_t i = 0; i < call->args.n; i++) {
		TRY(break_cmd_read_number(call->args.word[i], &number));
		if (!breakpoint_numbered(&s->debuggee.breakpoints, number) &&
		    !watch_numbered(&s->debuggee, number))
			return error_new(ERR_STATE, "no breakpoint number %u", number);
	}
	if (!call->args.n && may_change_all(s, call->command))
		TRY(change_all(s, call->command));
	for (size_t i = 0; i < call->args.n; i++) {
		TRY(break_cmd_read_number(call->args.word[i], &number));
		struct breakpoint *bp = breakpoint_numbered(&s->debuggee.breakpoints, number);
		struct watchpoint *w = watch_numbered(&s->debuggee, number);

		/* A number may be there twice. */
		if (bp)
			TRY(change(call->command, bp));
		else if (w)
			TRY(change_watch(call->command, w));
	}
	return break_cmd_run_info(s, answer, call, out);
}

/* ---- condition ---- */

static struct error *check_condition(const struct call *call)
{
	SCRATCH(tmp);
	unsigned number;

	TRY(break_cmd_read_number(call->args.word[0], &number));
	return call->args.n > 1 ? check_condition_text(break_cmd_join(&tmp, &call->args, 1)) : NULL;
}

static struct error *run_condition(struct session *s, const struct answer *answer,
                                   const struct call *call, struct out *out)
{
	struct breakpoint **bp = NEW(&s->answer, struct breakpoint *);
	struct watchpoint **w = NEW(&s->answer, struct watchpoint *);
	const char *text = break_cmd_join(&s->answer, &call->args, 1);
	unsigned number;

	TRY(break_cmd_read_number(call->args.word[0], &number));
	*bp = breakpoint_numbered(&s->debuggee.breakpoints, number);
	*w = watch_numbered(&s->debuggee, number);
	if (!*bp && !*w)
		return error_new(ERR_STATE, "no breakpoint number %u", number);
	TRY(*bp ? breakpoint_set_condition(*bp, text) : watch_cmd_change_condition(s, *w, text));
	out_begin(out, answer);
	if (*bp)
		part_breakpoints(out, bp, 1);
	else
		part_watchpoints(out, w, 1);
	return NULL;
}

/* ---- the commands ---- */

static const struct command_option break_options[] = {
	{ "task", "ID", false, "Stop only if this task is running there" },
	{ "after", "N", false, "Skip the first N hits" },
	{ "every", "N", false, "Stop only at every Nth hit" },
	{ "on-resume", "ID", false, "Stop when this task is polled, instead of at a place" },
	{ "on-wake", "ID", false, "Stop the thread that wakes this task" },
	{ "on-spawn", "TYPE", false,
	  "Stop when a task with a future of such a type (a regex) is spawned" },
	{ "on-done", "ID", false, "Stop when this task has ended, by itself or aborted" },
	{ "on-drop", "ID", false,
	  "Stop when this task's future is dropped before it has returned" },
	{ 0 },
};

#define BREAK_HELP                                                                                 \
	"    PLACE is FILE:LINE (src/main.rs:41), a function (app::serve,\n"                       \
	"    Server::serve; also an async one) or 0xADDRESS. A function includes all\n"            \
	"    its generic and inlined instances; app::eat<u8> or \"<app::A as app::B>::f\"\n"       \
	"    is a single one. A line without code stands for the next line that has\n"             \
	"    some; a place that is not found is pending until a library that has it is\n"          \
	"    loaded.\n"                                                                            \
	"    --task is cheap if the executable contains the only runtime and its tasks\n"          \
	"    have numbers; otherwise each hit costs a look at the tasks.\n"                        \
	"    CONDITION compares expressions of print, task.id, task.type and task.name\n"          \
	"    with numbers, true, false and \"strings\": n > 3 && !(req.path == \"/\" ||\n"         \
	"    task.id == 7). task.type is the full type, or the path of the async fn:\n"            \
	"    \"svc::f\". Hits where the condition is false are not counted. Options go\n"          \
	"    before the if.\n"                                                                     \
	"    --on-... stops the thread that causes the event; for a wake-up and a spawn\n"         \
	"    its stack is shown. An ID that does not exist yet is waited for. An event\n"          \
	"    that cannot be seen in this build is refused, with the reason."

const struct command break_command = {
	.name = "break",
	.args = "[PLACE [if CONDITION]]",
	.max_args = SIZE_MAX,
	.options = break_options,
	.check = check_break,
	.summary = "Set a breakpoint at a line or a function",
	.help = BREAK_HELP,
	.offline = true,
	.run = run_break,
};

const struct command tbreak_command = {
	.name = "tbreak",
	.args = "[PLACE [if CONDITION]]",
	.max_args = SIZE_MAX,
	.options = break_options,
	.check = check_break,
	.summary = "Set a breakpoint that is deleted at its first hit",
	.help = BREAK_HELP,
	.offline = true,
	.run = run_break,
};

static const struct command_option log_options[] = {
	{ "task", "ID", false, "Stop only if this task is running there" },
	{ "after", "N", false, "Skip the first N hits" },
	{ "every", "N", false, "Report only every Nth hit" },
	{ 0 },
};

const struct command logpoint_command = {
	.name = "logpoint",
	.args = "PLACE 'TEXT {PATH}' [if CONDITION]",
	.min_args = 2,
	.max_args = SIZE_MAX,
	.options = log_options,
	.check = check_break,
	.summary = "Set a logpoint: print a line at a place, and continue",
	.help = "        logpoint src/main.rs:41 'request {req.uri} of {peer}' if n > 3\n"
		"    PLACE and CONDITION are those of break. The line has the time, the task\n"
		"    and the text; expressions in braces are replaced by their values, or by\n"
		"    the reason why there is none. {task.id}, {task.type} and {task.name}\n"
		"    describe the task; {{ and }} are braces. Each line stops the program for a\n"
		"    moment; if that costs much of its time, it is reported once. gdb calls\n"
		"    this dprintf.",
	.offline = true,
	.run = run_break,
};

const struct command condition_command = {
	.name = "condition",
	.args = "N [CONDITION]",
	.min_args = 1,
	.max_args = SIZE_MAX,
	.check = check_condition,
	.summary = "Set or remove the condition of a breakpoint or watchpoint",
	.help = "    For conditions see help break.",
	.offline = true,
	.run = run_condition,
};

static const struct command_option info_options[] = {
	{ "internal", NULL, false,
	  "List the breakpoints of the debugger itself, and what they are for" },
	{ 0 },
};

const struct command info_breakpoints_command = {
	.name = "info breakpoints",
	.options = info_options,
	.summary = "List breakpoints, with their places and hits",
	.help = "    With --internal: each address that has a breakpoint now, as one of yours is\n"
		"    there or asyncdbg needs it. Those of a step are gone when it ends; --log\n"
		"    stepping shows them.",
	.offline = true,
	.repeats = true,
	.run = break_cmd_run_info,
};

#define CHANGE(name_, summary_, help_)                                                             \
	{                                                                                          \
		.name = (name_), .args = "[N...]", .max_args = SIZE_MAX, .check = check_numbers,   \
		.summary = (summary_), .help = (help_), .offline = true, .run = run_change         \
	}

const struct command delete_command =
	CHANGE("delete", "Delete breakpoints by number, or all",
               "    At the prompt, delete without a number asks first.");
const struct command enable_command =
	CHANGE("enable", "Enable breakpoints by number, or all", NULL);
const struct command disable_command =
	CHANGE("disable", "Disable breakpoints by number, or all", NULL);
