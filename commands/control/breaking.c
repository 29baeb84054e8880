/* break, tbreak, logpoint, condition, info breakpoints, delete, enable, disable */
#include <stdint.h>

#include "commands/base/focus.h"
#include "commands/control/breaking.h"
#include "commands/control/control.h"
#include "commands/control/watching.h"
#include "debugger/base/str.h"
#include "runtimes/hits/predicate.h"

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
	                 n ? "%s takes one place, or one event of a task"
	                   : "%s needs a place, or an event of a task: --on-wake ID",
	                 call->command->name);
}

/* The words from that one on, with blanks between them. */
static const char *join(struct arena *a, const struct words *words, size_t from)
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

struct error *breaking_read_condition(const struct call *call, size_t from, const char *before,
                                      struct arena *a, const char **ret)
{
	if (call->args.n <= from)
		return NULL;
	if (strcmp(call->args.word[from], "if") != 0)
		return error_new(ERR_USAGE, "\"%s\" is not understood: %s %s if CONDITION%s",
		                 call->args.word[from], call->command->name, before,
		                 strchr(call->args.word[0], '<')
		                         ? "; a name with blanks needs quotes around it"
		                         : "");
	*ret = join(a, &call->args, from + 1);
	return check_condition_text(*ret);
}

static struct error *check_log(const char *text)
{
	SCRATCH(tmp);
	struct log_message m;

	return log_message_parse(&tmp, text, &m);
}

struct error *breaking_read_counts(const struct call *call, uint64_t *skip, uint64_t *every)
{
	const char *after = option_value(call, "after"), *each = option_value(call, "every");

	*skip = *every = 0;
	if (after)
		TRY(words_number(after, "a number of hits", UINT32_MAX, skip));
	if (each)
		TRY(words_number(each, "a number of hits", UINT32_MAX, every));
	if (each && !*every)
		return error_new(ERR_USAGE, "--every counts from 1: each hit");
	return NULL;
}

static struct error *read_options(const struct call *call, struct arena *a,
                                  struct breakpoint_options *ret)
{
	bool logs = call->command == &logpoint_command;

	*ret = (struct breakpoint_options){ .task = option_value(call, "task"),
		                            .temporary = call->command == &tbreak_command };
	if (logs)
		ret->text = call->args.word[0];
	else
		TRY(read_event(call, ret));
	TRY(breaking_read_counts(call, &ret->skip, &ret->every));
	if (ret->task)
		TRY(focus_check_task_id(ret->task));
	TRY(ret->event == EVENT_BREAK_NONE ? breakpoint_check(ret->text)
	                                   : event_break_check(ret->event, ret->text));
	if (logs) {
		ret->log = call->args.word[1];
		TRY(check_log(ret->log));
	}
	return breaking_read_condition(call, 1 + logs, logs ? "PLACE 'TEXT'" : "PLACE", a,
	                               &ret->condition);
}

static struct error *check_break(const struct call *call)
{
	SCRATCH(tmp);
	struct breakpoint_options options;

	/* A command without words is only refused when it runs. */
	if (!call->args.n && !call->noptions)
		return NULL;
	return read_options(call, &tmp, &options);
}

struct error *breaking_add(struct session *s, const struct answer *answer,
                           const struct breakpoint_options *options, struct out *out)
{
	struct breakpoint **bp = NEW(&s->answer, struct breakpoint *);

	if (!s->debuggee.control.pid && asyncdbg_kind(s->handle) != ASYNCDBG_NONE)
		return error_new(ERR_STATE,
		                 asyncdbg_kind(s->handle) == ASYNCDBG_LIVE
		                         ? "breakpoints need control: \"attach\" takes it"
		                         : "only a program that runs can have breakpoints");
	TRY(breakpoint_add(&s->debuggee, options, bp));
	if (!s->debuggee.control.pid)
		(*bp)->note = "it will be looked for when a program is started or attached to";
	out_begin(out, answer);
	out->ops->breakpoints(out, bp, 1);
	return NULL;
}

static struct error *run_break(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	struct breakpoint_options options;

	TRY(read_options(call, &s->answer, &options));
	return breaking_add(s, answer, &options, out);
}

static struct error *run_info(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	(void)call;
	out_begin(out, answer);
	if (s->debuggee.breakpoints.list.n || !s->debuggee.watches.list.n)
		out->ops->breakpoints(out, s->debuggee.breakpoints.list.data,
		                      s->debuggee.breakpoints.list.n);
	if (s->debuggee.watches.list.n)
		out->ops->watchpoints(out, s->debuggee.watches.list.data,
		                      s->debuggee.watches.list.n);
	return NULL;
}

static struct error *read_number(const char *word, unsigned *ret)
{
	uint64_t number;

	TRY(words_number(word, "a number of a breakpoint", UINT32_MAX, &number));
	*ret = (unsigned)number;
	return NULL;
}

static struct error *check_numbers(const struct call *call)
{
	unsigned number;

	for (size_t i = 0; i < call->args.n; i++)
		TRY(read_number(call->args.word[i], &number));
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

/* As gdb does it, `delete` alone asks. */
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
		TRY(read_number(call->args.word[i], &number));
		if (!breakpoint_numbered(&s->debuggee.breakpoints, number) &&
		    !watch_numbered(&s->debuggee, number))
			return error_new(ERR_STATE, "there is no breakpoint %u", number);
	}
	if (!call->args.n && may_change_all(s, call->command))
		TRY(change_all(s, call->command));
	for (size_t i = 0; i < call->args.n; i++) {
		TRY(read_number(call->args.word[i], &number));
		struct breakpoint *bp = breakpoint_numbered(&s->debuggee.breakpoints, number);
		struct watchpoint *w = watch_numbered(&s->debuggee, number);

		/* A number may be there twice. */
		if (bp)
			TRY(change(call->command, bp));
		else if (w)
			TRY(change_watch(call->command, w));
	}
	return run_info(s, answer, call, out);
}

/* ---- condition ---- */

static struct error *check_condition(const struct call *call)
{
	SCRATCH(tmp);
	unsigned number;

	TRY(read_number(call->args.word[0], &number));
	return call->args.n > 1 ? check_condition_text(join(&tmp, &call->args, 1)) : NULL;
}

static struct error *run_condition(struct session *s, const struct answer *answer,
                                   const struct call *call, struct out *out)
{
	struct breakpoint **bp = NEW(&s->answer, struct breakpoint *);
	struct watchpoint **w = NEW(&s->answer, struct watchpoint *);
	const char *text = join(&s->answer, &call->args, 1);
	unsigned number;

	TRY(read_number(call->args.word[0], &number));
	*bp = breakpoint_numbered(&s->debuggee.breakpoints, number);
	*w = watch_numbered(&s->debuggee, number);
	if (!*bp && !*w)
		return error_new(ERR_STATE, "there is no breakpoint %u", number);
	TRY(*bp ? breakpoint_set_condition(*bp, text) : watching_change_condition(s, *w, text));
	out_begin(out, answer);
	if (*bp)
		out->ops->breakpoints(out, bp, 1);
	else
		out->ops->watchpoints(out, w, 1);
	return NULL;
}

/* ---- the commands ---- */

static const struct command_option break_options[] = {
	{ "task", "ID", false, "Only when this task runs there" },
	{ "after", "N", false, "Pass the first N hits" },
	{ "every", "N", false, "Stop at each Nth hit only" },
	{ "on-resume", "ID", false, "When that task is polled, instead of at a place" },
	{ "on-wake", "ID", false, "When that task is woken: the thread that wakes it stops" },
	{ "on-spawn", "TYPE", false, "When a task is made of a future of such a type (a regex)" },
	{ "on-done", "ID", false, "When that task has ended, by itself or aborted" },
	{ "on-drop", "ID", false, "When that task's future is dropped before it has returned" },
	{ 0 },
};

#define BREAK_HELP                                                                                 \
	"    PLACE is FILE:LINE (src/main.rs:41), a function (app::serve, Server::serve;\n"        \
	"    an async one by its plain path) or 0xADDRESS. All instances of generic and\n"         \
	"    inlined functions are meant; app::eat<u8> or \"<app::A as app::B>::f\" is one of\n"   \
	"    them. A line without code stands for the next that has some; a place that is\n"       \
	"    nowhere is pending until a library that has it is loaded.\n"                          \
	"    With --task, hits of other tasks cost little if the executable has the only\n"        \
	"    runtime and its tasks have numbers; otherwise each costs a look at the tasks.\n"      \
	"    CONDITION compares paths as of print, task.id, task.type and task.name with\n"        \
	"    numbers, true, false and \"texts\": n > 3 && !(req.path == \"/\" || task.id == 7).\n" \
	"    task.type is the whole type, or the path of its async fn: \"svc::f\".\n"              \
	"    Hits of which it is false are not counted. Options stand before the if.\n"            \
	"    Events of tasks (--on-...) stop the thread that causes them; of a wake and a\n"       \
	"    spawn its stack follows. The number of a task that is not there yet is waited\n"      \
	"    for. What the build does not let one see is refused, with the reason."

const struct command break_command = {
	.name = "break",
	.args = "[PLACE [if CONDITION]]",
	.max_args = SIZE_MAX,
	.options = break_options,
	.check = check_break,
	.summary = "Stop the program under control where it comes to a line or a function",
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
	.summary = "As break, but only once",
	.help = BREAK_HELP,
	.offline = true,
	.run = run_break,
};

static const struct command_option log_options[] = {
	{ "task", "ID", false, "Only when this task runs there" },
	{ "after", "N", false, "Pass the first N hits" },
	{ "every", "N", false, "Report each Nth hit only" },
	{ 0 },
};

const struct command logpoint_command = {
	.name = "logpoint",
	.args = "PLACE 'TEXT {PATH}' [if CONDITION]",
	.min_args = 2,
	.max_args = SIZE_MAX,
	.options = log_options,
	.check = check_break,
	.summary = "Print a line where the program under control comes to a place, and go on",
	.help = "    logpoint src/main.rs:41 'request {req.uri} of {peer}' if n > 3\n"
		"    PLACE and CONDITION are those of break. The line has the time, the task and\n"
		"    the text, with the values of the paths in braces as print shows them, or\n"
		"    why there is none; {task.id}, {task.type} and {task.name} are those of the\n"
		"    task, {{ and }} are braces. Each line stops the program for a moment; if\n"
		"    that costs much of its time, it is reported once. gdb calls this dprintf.",
	.offline = true,
	.run = run_break,
};

const struct command condition_command = {
	.name = "condition",
	.args = "N [CONDITION]",
	.min_args = 1,
	.max_args = SIZE_MAX,
	.check = check_condition,
	.summary = "Give a breakpoint or watchpoint another condition, or none",
	.help = "    help break says what a condition is.",
	.offline = true,
	.run = run_condition,
};

const struct command info_breakpoints_command = {
	.name = "info breakpoints",
	.summary = "The breakpoints, with their places and hits",
	.offline = true,
	.repeats = true,
	.run = run_info,
};

#define CHANGE(name_, summary_, help_)                                                             \
	{                                                                                          \
		.name = (name_), .args = "[N...]", .max_args = SIZE_MAX, .check = check_numbers,   \
		.summary = (summary_), .help = (help_), .offline = true, .run = run_change         \
	}

const struct command delete_command =
	CHANGE("delete", "Delete breakpoints by number, or all",
               "    At the prompt it asks before it deletes all; in scripts and on the command\n"
               "    line it does not.");
const struct command enable_command =
	CHANGE("enable", "Enable breakpoints by number, or all", NULL);
const struct command disable_command =
	CHANGE("disable", "Disable breakpoints by number, or all", NULL);
