#include "commands/shell/execute.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands/shell/command.h"
#include "debugger/base/file_fault.h"
#include "debugger/base/progress.h"
#include "debugger/base/str.h"

void execute_report(FILE *f, const struct error *err)
{
	STR(line);

	str_append_clean(&line, err->message, strlen(err->message));
	fprintf(f, "asyncdbg: %s\n", str_text(&line));
}

static void execute_worsen(enum status *status, enum status with)
{
	if (with > *status)
		*status = with;
}

static struct error *take_snapshot(struct session *s, const struct call *call,
                                   struct answer *answer)
{
	const struct command *command = call->command;
	struct question question = { 0 };
	unsigned wants = command->wants_now ? command->wants_now(s, call) : command->wants;

	if (call->verbose || (s->verbose && command->verbose))
		wants |= WANT_LOCALS;
	if (command->wants_of)
		wants |= command->wants_of(call);
	if (command->ask)
		command->ask(s, call, &question);
	TRY(session_snapshot(s, wants, command->ask ? &question : NULL, &answer->snapshot));
	answer->saved = asyncdbg_origin(s->handle);
	answer->waiting = asyncdbg_waiting(s->handle);
	answer->wants = asyncdbg_last_wants(s->handle);
	answer->verbose = wants & WANT_LOCALS;
	return NULL;
}

static struct error *run_command(struct session *s, struct out *out, const struct words *words,
                                 enum status *status)
{
	SCRATCH(tmp);
	struct call call;
	struct answer answer = { 0 };
	const struct snapshot *last;

	TRY(command_find(&tmp, command_table, words, &call));
	TRY(interrupt_check());
	answer.command = call.command->name;
	progress_begin();
	struct error *err = call.command->offline ? NULL : take_snapshot(s, &call, &answer);
	progress_end();
	TRY(err);
	progress_begin();
	s->finding = 0;
	arena_reset(&s->answer);
	unsigned faults = file_fault_count();
	err = call.command->run(s, &answer, &call, out);
	/* An answer made from zeros is not printed. */
	if (!err && file_fault_count() != faults)
		err = file_fault_check();
	if (err) {
		out_drop(out);
		return err;
	}
	TRY(out_end(out));
	/* The command may have taken another snapshot. */
	last = asyncdbg_last(s->handle);
	if (answer.snapshot && last && !last->complete)
		execute_worsen(status, STATUS_PARTIAL);
	execute_worsen(status, (enum status)s->finding);
	return NULL;
}

/* Reports and frees err; true when there is none. where: "FILE:LINE", NULL for none. */
static bool execute_finish(struct session *s, struct out *out, struct error *err, const char *where,
                           enum status *status)
{
	if (!err)
		return true;
	if (err->kind == ERR_OS && err->errnum == EPIPE) {
		s->quit = true;
	} else {
		execute_worsen(status, err->kind == ERR_USAGE ? STATUS_USAGE : STATUS_NOTHING);
		if (where)
			err = error_wrap(err, "%s", where);
		execute_report(out->options.messages, err);
	}
	error_free(err);
	return false;
}

static struct error *execute_run_line(struct session *s, struct out *out, const char *line,
                                      enum status *status)
{
	SCRATCH(tmp);
	struct words *commands;
	size_t n;

	TRY(words_split(&tmp, line, &commands, &n));
	for (size_t i = 0; i < n && !s->quit; i++)
		TRY(run_command(s, out, &commands[i], status));
	return NULL;
}

bool execute_words(struct session *s, struct out *out, const struct words *words,
                   enum status *status)
{
	return execute_finish(s, out, run_command(s, out, words, status), NULL, status);
}

bool execute_line(struct session *s, struct out *out, const char *line, enum status *status)
{
	return execute_finish(s, out, execute_run_line(s, out, line, status), NULL, status);
}

static void close_script(FILE **f)
{
	if (*f && *f != stdin)
		fclose(*f);
}

static void free_line(char **line)
{
	free(*line);
}

bool execute_script(struct session *s, struct out *out, const char *path, enum status *status)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *f CLEANUP(close_script) = is_stdin ? stdin : fopen(path, "re");
	char *line CLEANUP(free_line) = NULL;
	size_t size = 0;
	unsigned number = 0;

	if (!f)
		return execute_finish(s, out, error_os(errno, "%s", path), NULL, status);
	while (!s->quit && !interrupt_is_end() && getline(&line, &size, f) >= 0) {
		SCRATCH(tmp);
		const char *where =
			arena_printf(&tmp, "%s:%u", is_stdin ? "stdin" : path, ++number);

		if (!execute_finish(s, out, execute_run_line(s, out, line, status), where, status))
			return false;
	}
	if (ferror(f) || interrupt_is_end()) {
		struct error *err = interrupt_check();

		return execute_finish(s, out, err ? err : error_os(errno, "%s", path), NULL,
		                      status);
	}
	return true;
}

struct error *execute_check_words(const struct words *words)
{
	SCRATCH(tmp);
	struct call call;

	return command_find(&tmp, command_table, words, &call);
}

struct error *execute_check_line(const char *line)
{
	SCRATCH(tmp);
	struct words *commands;
	size_t n;

	TRY(words_split(&tmp, line, &commands, &n));
	for (size_t i = 0; i < n; i++)
		TRY(execute_check_words(&commands[i]));
	return NULL;
}

static struct error *execute_find(struct arena *a, const struct words *words, struct call *ret)
{
	return command_find(a, command_table, words, ret);
}

static size_t complete(struct arena *a, const struct words *before, const char *partial,
                       const char ***ret)
{
	return command_complete(a, command_table, before, partial, ret);
}

const struct call_shell execute_for_calls = { .find = execute_find,
	                                      .complete = complete,
	                                      .execute = execute_words };
