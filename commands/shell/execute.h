/*
 * Runs what a user typed: finds the commands, takes their snapshots, reports their errors.
 */
#ifndef COMMANDS_SHELL_EXECUTE_H
#define COMMANDS_SHELL_EXECUTE_H

#include <stdbool.h>

#include "commands/base/call.h"
#include "commands/base/words.h"
#include "commands/out/out.h"
#include "debugger/base/error.h"

/* One line "asyncdbg: ..." to f, safe for terminals. Does not free err. */
void execute_report(FILE *f, const struct error *err);

/*
 * Each of these reports its error and returns false when it stopped because of it; *status
 * becomes the worst of itself and what happened. A reader of the answers that went away is no
 * error: they stop quietly and ask the session to quit.
 */
bool execute_words(struct session *s, struct out *out, const struct words *words,
                   enum status *status);
bool execute_line(struct session *s, struct out *out, const char *line, enum status *status);
/* A script, "-" for standard input; errors name the file and line. Ends early at `quit`. */
bool execute_script(struct session *s, struct out *out, const char *path, enum status *status);

/*
 * Whether a command, or every one of a line, exists and has no argument too many: ERR_USAGE if
 * not. Finds typing mistakes before a process is touched or debug info read.
 */
struct error *execute_check_words(const struct words *words) MUST_CHECK;
struct error *execute_check_line(const char *line) MUST_CHECK;

/* For commands that run others. */
extern const struct call_shell execute_for_calls;

#endif
