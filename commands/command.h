/*
 * The commands a user can type, as a table. Look-up, help and completion all come from it.
 *
 * To add one: write commands/NAME.c with a `const struct command NAME_command` and its run
 * function, declare the row below and list it in command_table (command.c). Command names are
 * words; a user may type any unique prefix of each.
 */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "commands/out.h"
#include "commands/session.h"
#include "commands/words.h"
#include "debugger/base/error.h"

struct command {
	const char *name;    /* words as typed, canonical: "async backtrace all" */
	const char *args;    /* for help: "[ID]"; NULL when it takes none */
	size_t max_args;     /* more words than that are a usage error */
	const char *summary; /* one line without a final period */
	const char *help;    /* further lines, NULL none */
	bool offline;        /* needs neither target nor snapshot: answer->snapshot is NULL */
	unsigned wants;      /* enum want of its snapshot */
	/*
	 * Selects and orders what to show of answer->snapshot. Calls out_begin() once it knows
	 * that it can answer, then any ops; the caller calls out_end(). An error after out_begin()
	 * drops the answer as far as the format allows.
	 */
	struct error *(*run)(struct session *s, const struct answer *answer,
	                     const struct words *args, struct out *out);
};

extern const struct command async_backtrace_command, async_backtrace_all_command;
extern const struct command async_task_command;
extern const struct command threads_command, thread_command, bt_command, bt_all_command;
extern const struct command runtimes_command, tasks_command;
extern const struct command info_command, info_layout_command, info_threads_command;
extern const struct command help_command, quit_command;

/* Every command in the order of help, NULL at the end. */
extern const struct command *const command_table[];

/*
 * The command of a table that words name, by unique prefixes of its words; *args gets what
 * follows the name (it points into words). ERR_USAGE: unknown (with a suggestion), ambiguous or
 * incomplete (with the candidates), too many arguments.
 */
struct error *command_find(const struct command *const *table, const struct words *words,
                           const struct command **ret, struct words *args) MUST_CHECK;

/*
 * The words that can follow `before` (complete or abbreviated) and begin with partial, each
 * once, in the order of the table. Returns how many of them *ret (in arena a) has.
 */
size_t command_complete(struct arena *a, const struct command *const *table,
                        const struct words *before, const char *partial, const char ***ret);

#endif
