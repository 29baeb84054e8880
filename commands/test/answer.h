/* For tests only: captures as strings what a command prints for a hand-made snapshot. */
#ifndef COMMANDS_TEST_ANSWER_H
#define COMMANDS_TEST_ANSWER_H

#include <stdio.h>

#include "commands/ask/ask.h"
#include "commands/files/files.h"
#include "commands/incident/incident.h"
#include "commands/out/out.h"
#include "commands/report/report.h"
#include "commands/shell/command.h"
#include "runtimes/test/snapshot.h"

/* An out that writes answers and messages to strings. */
struct caught {
	struct out_options options;
	struct out *out;
	char *answers, *messages;
	size_t nanswers, nmessages;
};

enum format { TEXT, JSON, JSONL };

static inline void catch (struct caught *c, enum format format)
{
	c->options.answers = open_memstream(&c->answers, &c->nanswers);
	c->options.messages = open_memstream(&c->messages, &c->nmessages);
	if (!c->options.answers || !c->options.messages)
		abort();
	c->out = format == TEXT ? out_text_new(&c->options)
	                        : out_json_new(&c->options, format == JSONL);
}

/* Runs a command and ends its answer. Afterwards the strings are valid. */
static inline struct error *run_call(struct caught *c, struct session *session,
                                     const struct call *call, const struct snapshot *snap)
{
	const struct command *command = call->command;
	struct answer answer = {
		.command = command->name,
		.snapshot = snap,
		.wants = command->wants,
		.verbose = call->verbose || (command->wants & WANT_LOCALS),
	};
	struct error *err = command->run(session, &answer, call, c->out);

	if (err)
		out_drop(c->out);
	else
		err = out_end(c->out);
	fflush(c->options.answers);
	fflush(c->options.messages);
	return err;
}

static inline struct error *run_in_session(struct caught *c, struct session *session,
                                           const struct command *command,
                                           const struct snapshot *snap, const char *arg,
                                           bool verbose)
{
	struct call call = {
		.command = command,
		.args = { arg ? &arg : NULL, arg != NULL },
		.verbose = verbose,
	};

	return run_call(c, session, &call, snap);
}

/* A command as typed, with its options. */
static inline struct error *run_line(struct caught *c, struct session *session,
                                     const struct snapshot *snap, const char *line)
{
	SCRATCH(tmp);
	struct words *commands;
	struct call call;
	size_t n;

	TRY(words_split(&tmp, line, &commands, &n));
	TRY(command_find(&tmp, command_table, &commands[0], &call));
	return run_call(c, session, &call, snap);
}

static inline struct error *run_command(struct caught *c, const struct command *command,
                                        const struct snapshot *snap, const char *arg)
{
	struct session session = { 0 };
	struct error *err = run_in_session(c, &session, command, snap, arg, false);

	session_close(&session);
	return err;
}

static inline void release(struct caught *c)
{
	out_free(c->out);
	fclose(c->options.answers);
	fclose(c->options.messages);
	free(c->answers);
	free(c->messages);
}

#define CAUGHT(name) struct caught name CLEANUP(release) = { 0 }

#endif
