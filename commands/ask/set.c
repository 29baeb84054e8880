/* set: places of source files, and scalars of the debuggee. */
#include <stdint.h>
#include <string.h>

#include "commands/ask/ask.h"
#include "commands/base/focus.h"
#include "commands/parts/parts.h"
#include "debugger/base/str.h"
#include "runtimes/query/literal.h"

/* "PATH = LITERAL", of which the words may be joined in any way. */
struct assignment {
	const char *path, *literal;
};

static const char *trim(struct arena *a, const char *text, size_t len)
{
	while (len && *text == ' ') {
		text++;
		len--;
	}
	while (len && text[len - 1] == ' ')
		len--;
	return arena_strndup(a, text, len);
}

static struct error *read_assignment(const struct call *call, struct arena *a,
                                     struct assignment *ret)
{
	size_t first = call->args.n > 1 && strcmp(call->args.word[0], "var") == 0;
	STR(text);

	for (size_t i = first; i < call->args.n; i++)
		str_printf(&text, "%s%s", i > first ? " " : "", call->args.word[i]);
	const char *equals = strchr(str_text(&text), '=');
	if (equals) {
		ret->path = trim(a, text.data, (size_t)(equals - text.data));
		ret->literal = trim(a, equals + 1, strlen(equals + 1));
	}
	if (!equals || !*ret->path || !*ret->literal)
		return error_new(ERR_USAGE, "set needs a variable and its value, for example set "
		                            "req.id = 5, or source-map FROM=TO");
	return NULL;
}

static bool is_map(const struct call *call)
{
	return strcmp(call->args.word[0], "source-map") == 0;
}

static struct error *check_set(const struct call *call)
{
	struct source_files none = { 0 };
	struct assignment assignment;
	SCRATCH(tmp);

	if (!is_map(call))
		return read_assignment(call, &tmp, &assignment);
	if (call->args.n != 2)
		return error_new(ERR_USAGE, "set source-map takes one map: FROM=TO");
	struct error *err = source_files_add_map(&none, call->args.word[1]);
	source_files_close(&none);
	return err;
}

/* The variable in the frame in focus; *typed is in the snapshot. */
static struct error *find_variable(struct session *s, const char *path, struct focus *f,
                                   const struct typed_local **ret)
{
	const struct call call = { .command = &print_command,
		                   .args = { (const char *[]){ path }, 1 } };
	struct typed_locals typed = { 0 };
	struct question question = { 0 };
	const struct snapshot *snap;

	print_command.ask(s, &call, &question);
	question.typed = &typed;
	TRY(session_snapshot(s, print_command.wants, &question, &snap));
	*f = (struct focus){ 0 };
	TRY(session_focus(s, snap, &f->thread));
	if (!snap->printed || !typed.n)
		return error_new(ERR_STATE, "%s: %s", path,
		                 snap->printed && snap->printed->problem
		                         ? snap->printed->problem
		                         : "not found in the selected frame");
	*ret = &typed.data[0];
	if (!(*ret)->type || !(*ret)->in_memory || !(*ret)->shown.addr)
		return error_new(ERR_STATE,
		                 "%s is in registers here, not in memory: it cannot be set", path);
	return NULL;
}

static void set_warn_of_write(struct session *s, struct out *out)
{
	if (!s->has_written)
		fprintf(out->options.messages,
		        "asyncdbg: from now on this session writes to the memory of process %d, "
		        "beyond breakpoints\n",
		        (int)s->debuggee.control.pid);
	s->has_written = true;
}

static struct error *assign(struct session *s, const struct answer *answer, const struct call *call,
                            struct out *out)
{
	const struct typed_local *variable;
	struct assignment assignment;
	struct literal literal;
	struct focus f;

	if (!s->debuggee.control.pid)
		return error_new(ERR_STATE, "only a debugged program can be written to: \"attach\" "
		                            "attaches to a process, \"run\" starts a program");
	TRY(read_assignment(call, &s->answer, &assignment));
	TRY(find_variable(s, assignment.path, &f, &variable));
	TRY(literal_encode(variable->type, assignment.literal, &literal));
	set_warn_of_write(s, out);
	TRY(debuggee_write(&s->debuggee, variable->shown.addr + literal.offset, literal.bytes,
	                   literal.size));
	/* Reads back the value that is shown. */
	TRY(find_variable(s, assignment.path, &f, &variable));
	out_begin(out, answer);
	part_printed(out, &f, &variable->shown);
	return NULL;
}

static struct error *run_set(struct session *s, const struct answer *answer,
                             const struct call *call, struct out *out)
{
	if (!is_map(call))
		return assign(s, answer, call, out);
	return source_files_add_map(&s->sources, call->args.word[1]);
}

const struct command set_command = {
	.name = "set",
	.args = "PATH = LITERAL | source-map FROM=TO",
	.min_args = 1,
	.max_args = SIZE_MAX,
	.check = check_set,
	.summary = "Set a variable of the debugged program, or where source files are",
	.help = "        set retries = 0\n"
		"        set state = Closed\n"
		"    LITERAL is a number, true or false, a char, or a variant without data.\n"
		"    PATH is one of print. Type and range are checked.\n"
		"    set source-map FROM=TO: source files that the debug info has below the\n"
		"    directory FROM are below TO here, as with --source-map on the command\n"
		"    line. Without TO the map is removed.",
	.offline = true,
	.of_program = true,
	.run = run_set,
};
