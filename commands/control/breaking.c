/* break, tbreak, condition, info breakpoints, delete, enable, disable */
#include <stdint.h>

#include "commands/base/focus.h"
#include "commands/control/control.h"
#include "debugger/base/str.h"
#include "runtimes/stepping/predicate.h"

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

static struct error *read_options(const struct call *call, struct arena *a,
                                  struct breakpoint_options *ret)
{
	const char *after = option_value(call, "after"), *every = option_value(call, "every");

	*ret = (struct breakpoint_options){ .text = call->args.word[0],
		                            .task = option_value(call, "task"),
		                            .temporary = call->command == &tbreak_command };
	if (after)
		TRY(words_number(after, "a number of hits", UINT32_MAX, &ret->skip));
	if (every)
		TRY(words_number(every, "a number of hits", UINT32_MAX, &ret->every));
	if (ret->task)
		TRY(focus_check_task_id(ret->task));
	TRY(breakpoint_check(ret->text));
	if (call->args.n == 1)
		return NULL;
	if (strcmp(call->args.word[1], "if") != 0)
		return error_new(ERR_USAGE, "\"%s\" is not understood: %s PLACE if CONDITION",
		                 call->args.word[1], call->command->name);
	ret->condition = join(a, &call->args, 2);
	return check_condition_text(ret->condition);
}

static struct error *check_break(const struct call *call)
{
	SCRATCH(tmp);
	struct breakpoint_options options;

	return read_options(call, &tmp, &options);
}

static struct error *run_break(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	struct breakpoint **bp = NEW(&s->answer, struct breakpoint *);
	struct breakpoint_options options;

	if (!s->debuggee.control.pid && asyncdbg_kind(s->handle) != ASYNCDBG_NONE)
		return error_new(ERR_STATE,
		                 asyncdbg_kind(s->handle) == ASYNCDBG_LIVE
		                         ? "breakpoints need control: \"attach\" takes it"
		                         : "only a program that runs can have breakpoints");
	TRY(read_options(call, &s->answer, &options));
	TRY(breakpoint_add(&s->debuggee, &options, bp));
	if (!s->debuggee.control.pid)
		(*bp)->note = "it will be looked for when a program is started or attached to";
	out_begin(out, answer);
	out->ops->breakpoints(out, bp, 1);
	return NULL;
}

static struct error *run_info(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	(void)call;
	out_begin(out, answer);
	out->ops->breakpoints(out, s->debuggee.breakpoints.list.data,
	                      s->debuggee.breakpoints.list.n);
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

static struct error *change_all(struct session *s, const struct command *command)
{
	for (size_t i = s->debuggee.breakpoints.list.n; i-- > 0;)
		TRY(change(command, s->debuggee.breakpoints.list.data[i]));
	return NULL;
}

static struct error *run_change(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	unsigned number;

	for (size_t i = 0; i < call->args.n; i++) {
		TRY(read_number(call->args.word[i], &number));
		if (!breakpoint_numbered(&s->debuggee.breakpoints, number))
			return error_new(ERR_STATE, "there is no breakpoint %u", number);
	}
	if (!call->args.n)
		TRY(change_all(s, call->command));
	for (size_t i = 0; i < call->args.n; i++) {
		TRY(read_number(call->args.word[i], &number));
		struct breakpoint *bp = breakpoint_numbered(&s->debuggee.breakpoints, number);

		if (bp) /* a number may be there twice */
			TRY(change(call->command, bp));
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
	unsigned number;

	TRY(read_number(call->args.word[0], &number));
	*bp = breakpoint_numbered(&s->debuggee.breakpoints, number);
	if (!*bp)
		return error_new(ERR_STATE, "there is no breakpoint %u", number);
	TRY(breakpoint_set_condition(*bp, join(&s->answer, &call->args, 1)));
	out_begin(out, answer);
	out->ops->breakpoints(out, bp, 1);
	return NULL;
}

/* ---- the commands ---- */

static const struct command_option break_options[] = {
	{ "task", "ID", false, "Only when this task runs there" },
	{ "after", "N", false, "Pass the first N hits" },
	{ "every", "N", false, "Stop at each Nth hit only" },
	{ 0 },
};

#define BREAK_HELP                                                                                 \
	"    PLACE is FILE:LINE (src/main.rs:41), a function (app::serve, Server::serve;\n"        \
	"    an async one by its plain path) or 0xADDRESS. All instances of generic and\n"         \
	"    inlined functions are meant. A line without code stands for the next that has\n"      \
	"    some. With --task, each hit costs a look at the tasks that run.\n"                    \
	"    CONDITION compares paths as of print, task.id, task.type and task.name with\n"        \
	"    numbers, true, false and \"texts\": n > 3 && !(req.path == \"/\" || task.id == 7).\n" \
	"    Hits of which it is false are not counted. Options stand before the if."

const struct command break_command = {
	.name = "break",
	.args = "PLACE [if CONDITION]",
	.min_args = 1,
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
	.args = "PLACE [if CONDITION]",
	.min_args = 1,
	.max_args = SIZE_MAX,
	.options = break_options,
	.check = check_break,
	.summary = "As break, but only once",
	.help = BREAK_HELP,
	.offline = true,
	.run = run_break,
};

const struct command condition_command = {
	.name = "condition",
	.args = "N [CONDITION]",
	.min_args = 1,
	.max_args = SIZE_MAX,
	.check = check_condition,
	.summary = "Give a breakpoint another condition, or none",
	.help = "    help break says what a condition is.",
	.offline = true,
	.run = run_condition,
};

const struct command info_breakpoints_command = {
	.name = "info breakpoints",
	.summary = "The breakpoints, with their places and hits",
	.offline = true,
	.run = run_info,
};

#define CHANGE(name_, summary_)                                                                    \
	{                                                                                          \
		.name = (name_), .args = "[N...]", .max_args = SIZE_MAX, .check = check_numbers,   \
		.summary = (summary_), .offline = true, .run = run_change                          \
	}

const struct command delete_command = CHANGE("delete", "Delete breakpoints by number, or all");
const struct command enable_command = CHANGE("enable", "Enable breakpoints by number, or all");
const struct command disable_command = CHANGE("disable", "Disable breakpoints by number, or all");
