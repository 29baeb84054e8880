/* help, quit. */
#include <string.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/shell/command.h"

enum { HELP_NAME_WIDTH = 24 };

struct help {
	const struct command *const *list;
	size_t n;
	bool whole; /* one command, with all that there is to say about it */
};

static void usage(struct text *t, const struct command *command, bool options)
{
	str_append(&t->line, command->name);
	if (command->args)
		str_printf(&t->line, " %s", command->args);
	str_append(&t->line, command->verbose ? " [-v]" : "");
	for (const struct command_option *o = command->options; options && o && o->name; o++)
		str_printf(&t->line, " [--%s%s%s]", o->name, o->arg ? " " : "",
		           o->arg ? o->arg : "");
}

static void help_option(struct text *t, const struct command_option *o)
{
	str_printf(&t->line, "    --%s%s%s: %s.", o->name, o->arg ? " " : "", o->arg ? o->arg : "",
	           o->help);
	text_end_line(t);
}

static void help_text_whole(struct text *t, const struct command *command)
{
	usage(t, command, true);
	text_end_line(t);
	str_printf(&t->line, "    %s.", command->summary);
	text_end_line(t);
	if (command->help) {
		str_append(&t->line, command->help);
		text_end_line(t);
	}
	if (command->verbose) {
		str_append(&t->line, "    -v, --verbose: " COMMAND_VERBOSE_HELP ".");
		text_end_line(t);
	}
	for (const struct command_option *p = command->options; p && p->name; p++)
		help_option(t, p);
}

static void help_text_row(struct text *t, const struct command *command)
{
	usage(t, command, false);
	str_printf(&t->line, "%*s  %s",
	           t->line.len < HELP_NAME_WIDTH ? (int)(HELP_NAME_WIDTH - t->line.len) : 0, "",
	           command->summary);
	text_end_line(t);
}

static void help_text(struct text *t, const void *part)
{
	const struct help *help = part;

	for (size_t i = 0; i < help->n; i++)
		(help->whole ? help_text_whole : help_text_row)(t, help->list[i]);
}

/* Writes an option of a command with what `help` says of it. */
static void put_command_option(struct json_writer *w, const char *name, const char *arg,
                               const char *help)
{
	json_open_object(w, NULL);
	json_put_text(w, "name", name);
	json_put_text(w, "arg", arg);
	json_put_text(w, "help", help);
	json_close_object(w);
}

static void put_command(struct json_writer *w, const struct command *command)
{
	SCRATCH(tmp);

	json_open_object(w, NULL);
	json_put_text(w, "name", command->name);
	json_put_text(w, "args", command->args);
	json_open_array(w, "options");
	if (command->verbose)
		json_put_text(w, NULL, "-v");
	for (const struct command_option *o = command->options; o && o->name; o++)
		json_put_text(w, NULL, arena_printf(&tmp, "--%s", o->name));
	json_close_array(w);
	json_put_text(w, "summary", command->summary);
	if (command->help)
		json_put_lines(w, "help", command->help, strlen(command->help));
	else
		json_put_text(w, "help", NULL);
	json_open_array(w, "option_help");
	if (command->verbose)
		put_command_option(w, "-v, --verbose", NULL, COMMAND_VERBOSE_HELP);
	for (const struct command_option *o = command->options; o && o->name; o++)
		put_command_option(w, arena_printf(&tmp, "--%s", o->name), o->arg, o->help);
	json_close_array(w);
	json_close_object(w);
}

static void help_json(struct json_writer *w, const void *part)
{
	const struct help *help = part;

	json_open_array(w, "commands");
	for (size_t i = 0; i < help->n; i++)
		put_command(w, help->list[i]);
	json_close_array(w);
}

static const struct part_kind help_part = { sizeof(struct help), help_text, help_json };

static struct error *run_help(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	struct help help = { .list = command_table };

	if (call->args.n) {
		const struct command **family;

		TRY(command_family(&s->answer, command_table, &call->args, &family, &help.n));
		help.list = family;
		help.whole = help.n == 1;
	} else {
		while (command_table[help.n])
			help.n++;
	}
	out_begin(out, answer);
	out_part(out, &help_part, &help);
	return NULL;
}

static struct error *run_quit(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	(void)answer;
	(void)call;
	(void)out;
	s->quit = true;
	return NULL;
}

enum { MAX_COMMAND_WORDS = 3 };

const struct command help_command = {
	.name = "help",
	.args = "[COMMAND]",
	.max_args = MAX_COMMAND_WORDS,
	.summary = "List commands, or explain one",
	.offline = true,
	.run = run_help,
};

const struct command quit_command = {
	.name = "quit",
	.summary = "Quit; a live target keeps running",
	.offline = true,
	.run = run_quit,
};
