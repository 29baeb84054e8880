/* break, tbreak, info breakpoints, delete, enable, disable */
#include <stdint.h>

#include "commands/base/focus.h"
#include "commands/control/control.h"

static struct error *read_options(const struct call *call, struct breakpoint_options *ret)
{
	const char *after = option_value(call, "after");

	*ret = (struct breakpoint_options){ .text = call->args.word[0],
		                            .task = option_value(call, "task"),
		                            .temporary = call->command == &tbreak_command };
	if (after)
		TRY(words_number(after, "a number of hits", UINT32_MAX, &ret->skip));
	if (ret->task)
		TRY(focus_check_task_id(ret->task));
	return breakpoint_check(ret->text);
}

static struct error *check_break(const struct call *call)
{
	struct breakpoint_options options;

	return read_options(call, &options);
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
	TRY(read_options(call, &options));
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

static const struct command_option break_options[] = {
	{ "task", "ID", false, "Only when this task runs there" },
	{ "after", "N", false, "Pass the first N hits" },
	{ 0 },
};

#define BREAK_HELP                                                                                 \
	"    PLACE is FILE:LINE (src/main.rs:41), a function (app::serve, Server::serve;\n"        \
	"    an async one by its plain path) or 0xADDRESS. All instances of generic and\n"         \
	"    inlined functions are meant. A line without code stands for the next that has\n"      \
	"    some. With --task, each hit costs a look at the tasks that run."

const struct command break_command = {
	.name = "break",
	.args = "PLACE",
	.min_args = 1,
	.max_args = 1,
	.options = break_options,
	.check = check_break,
	.summary = "Stop the program under control where it comes to a line or a function",
	.help = BREAK_HELP,
	.offline = true,
	.run = run_break,
};

const struct command tbreak_command = {
	.name = "tbreak",
	.args = "PLACE",
	.min_args = 1,
	.max_args = 1,
	.options = break_options,
	.check = check_break,
	.summary = "As break, but only once",
	.help = BREAK_HELP,
	.offline = true,
	.run = run_break,
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
