/* Runs the commands of a user: finds them, takes their snapshots, reports their errors. */
#ifndef COMMANDS_SHELL_EXECUTE_H
#define COMMANDS_SHELL_EXECUTE_H

#include <stdbool.h>

#include "commands/base/call.h"
#include "commands/base/words.h"
#include "commands/out/out.h"
#include "debugger/base/error.h"

/* Prints one line "asyncdbg: ..." to f, sanitized. Does not free err. */
void execute_report(FILE *f, const struct error *err);

/*
 * The execute functions report an error and return false when it stopped them. *status becomes the
 * worse of its old value and the new status. When the reader of the answers is gone, they print no
 * error and set session.quit.
 */
bool execute_words(struct session *s, struct out *out, const struct words *words,
                   enum status *status);
bool execute_line(struct session *s, struct out *out, const char *line, enum status *status);
/* Runs a script, "-" for standard input. Errors name the file and line. Stops at `quit`. */
bool execute_script(struct session *s, struct out *out, const char *path, enum status *status);

/*
 * Checks that a command, or every command of a line, exists and has valid arguments; else
 * ERR_USAGE. Finds typing mistakes before a process is stopped or debug info is read.
 */
struct error *execute_check_words(const struct words *words) MUST_CHECK;
struct error *execute_check_line(const char *line) MUST_CHECK;

/* Callbacks for commands that run other commands. */
extern const struct call_shell execute_for_calls;

#endif
