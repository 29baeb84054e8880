/*
 * Runs what a user typed: finds the commands, takes their snapshots, reports their errors.
 * Exit codes are those of eu-stack.
 */
#ifndef COMMANDS_SHELL_EXECUTE_H
#define COMMANDS_SHELL_EXECUTE_H

#include <stdbool.h>

#include "commands/base/session.h"
#include "commands/base/words.h"
#include "commands/out/out.h"
#include "debugger/base/error.h"

enum status {
	STATUS_OK = 0,      /* all was shown */
	STATUS_PARTIAL = 1, /* something was shown, something is missing */
	STATUS_NOTHING = 2, /* nothing was shown, or a fatal error */
	STATUS_FOUND = 3,   /* what the command was told to look for is there */
	STATUS_STILL = 4,   /* of diff: nothing has moved */
	STATUS_USAGE = 64,  /* the user asked wrongly */
};

/* One line "asyncdbg: ..." to f, safe for terminals. Does not free err. */
void report_error(FILE *f, const struct error *err);

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
struct error *check_words(const struct words *words) MUST_CHECK;
struct error *check_line(const char *line) MUST_CHECK;

#endif
