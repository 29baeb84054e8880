/*
 * The commands a user can type, as a table. Look-up, help and completion all come from it.
 *
 * To add one: write commands/NAME.c with a `const struct command NAME_command` and its run
 * function, declare the row below and list it in command_table (command.c). Command names are
 * words; a user may type any unique prefix of each, or a short form (short_form.h).
 */
#ifndef COMMANDS_BASE_CALL_H
#define COMMANDS_BASE_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "commands/base/session.h"
#include "commands/base/words.h"
#include "commands/out/out.h"
#include "debugger/base/error.h"

/*
 * An option of one command. It stands behind the command's name, as `--name VALUE` or
 * `--name=VALUE`; from the shell, too. In help, completion and JSON without further ado.
 */
struct command_option {
	const char *name; /* without the hyphens: "dot" */
	const char *arg;  /* for help: "FILE"; "FIELD VALUE": it takes two words; NULL: none */
	bool multiple;    /* may be given more than once */
	const char *help; /* one line without a final period: "Write Graphviz to FILE" */
};

struct command;

/* An option as given. */
struct chosen_option {
	const struct command_option *option;
	const char *const *values; /* as many as option->arg has words; NULL where it has none */
};

/* A command as typed, understood. */
struct call {
	const struct command *command;
	struct words args;             /* what follows its name, without options; n may be 0 */
	bool verbose;                  /* with -v or --verbose */
	struct chosen_option *options; /* in the order in which they were given */
	size_t noptions;
};

/* Whether an option of the command was given; the name as in its table. */
bool call_has(const struct call *call, const char *name);
/* Its (first) value, of several the last one given; NULL when it was not given or takes none. */
const char *call_option(const struct call *call, const char *name);

struct command {
	const char *name;                     /* words as typed, canonical: "async backtrace all" */
	const char *args;                     /* for help: "[ID]"; NULL when it takes none */
	size_t min_args;                      /* fewer words than that are a usage error, */
	size_t max_args;                      /* and so are more than that */
	bool last_is_output;                  /* its last argument is the file that it writes */
	bool verbose;                         /* takes -v: shows the variables of every frame */
	const struct command_option *options; /* a name of NULL at the end; NULL: none */
	const char *summary;                  /* one line without a final period */
	const char *help;                     /* further lines, NULL none */
	bool offline;   /* needs neither target nor snapshot: answer->snapshot is NULL */
	unsigned wants; /* enum want of its snapshot */
	/* What its options want beyond that; NULL: nothing. They were checked. */
	unsigned (*wants_of)(const struct call *call);
	/*
	 * ERR_USAGE for arguments that nothing in any program can be meant by. NULL: there are
	 * none such. Called before a process is touched.
	 */
	struct error *(*check)(const struct call *call);
	/*
	 * What it asks about one place, beyond wants; NULL: nothing. *ret borrows from s and call.
	 * The arguments were checked.
	 */
	void (*ask)(const struct session *s, const struct call *call, struct question *ret);
	/*
	 * Selects and orders what to show of answer->snapshot. Calls out_begin() once it knows
	 * that it can answer, then any ops; the caller calls out_end(). An error after out_begin()
	 * drops the answer as far as the format allows.
	 */
	struct error *(*run)(struct session *s, const struct answer *answer,
	                     const struct call *call, struct out *out);
};

extern const struct command async_backtrace_command, async_backtrace_all_command;
extern const struct command async_task_command;
extern const struct command async_graph_command, async_deadlocks_command, check_command;
extern const struct command task_command, frame_command, up_command, down_command;
extern const struct command locals_command, print_command, whatis_command;
extern const struct command threads_command, thread_command, bt_command, bt_all_command;
extern const struct command runtimes_command, tasks_command;
extern const struct command info_command, info_layout_command, info_threads_command;
extern const struct command info_sockets_command;
extern const struct command info_locals_command;
extern const struct command layout_command;
extern const struct command save_command, diff_command;
extern const struct command report_command;
extern const struct command continue_command, detach_command;
extern const struct command help_command, quit_command;

/* Every command in the order of help, NULL at the end. */
extern const struct command *const command_table[];

/*
 * The command of a table that words begin with, by unique prefixes of its words; its name took
 * *depth of them. ERR_USAGE: unknown (with a suggestion), ambiguous or incomplete (with the
 * candidates).
 */
struct error *command_named(const struct command *const *table, const struct words *words,
                            const struct command **ret, size_t *depth) MUST_CHECK;

/*
 * The command that words begin with, or all whose names begin with what the words mean ("async"),
 * in the order of the table; at least one, in arena a. ERR_USAGE as command_named().
 */
struct error *command_family(struct arena *a, const struct command *const *table,
                             const struct words *words, const struct command ***ret, size_t *n)
	MUST_CHECK;

/* Whether a word alone is the first one of a command, a prefix of some, or one that is missing. */
bool command_begins_with(const struct command *const *table, const char *word);

/*
 * The same with its arguments and options; the lists are in arena a, their words are those of
 * words. Options may stand anywhere behind the name, -v behind its first word; what follows `--`
 * is no option. ERR_USAGE also for too many, too few or wrong arguments, for an option that it
 * does not take, that lacks its value or is given too often.
 */
struct error *command_find(struct arena *a, const struct command *const *table,
                           const struct words *words, struct call *ret) MUST_CHECK;

/* The option of a command that writes a file: -o FILE, --output FILE. "-": standard output. */
#define OUTPUT_OPTION                                                                              \
	{                                                                                          \
		"output", "FILE", false, "Write to FILE, - for standard output"                    \
	}
/*
 * Which file a command writes: of its option, else of its last argument where last_is_output. NULL:
 * none was named.
 */
const char *call_output(const struct call *call);
/* A command's check: exactly one file is named, see word_file(). */
struct error *check_output(const struct call *call) MUST_CHECK;
/* ERR_USAGE for -o of a command that has no such option: which do have it. */
struct error *writes_no_file(const struct command *command) MUST_CHECK;

/*
 * How many words at the beginning of rest belong to an option of the command that typed begins
 * with: the option, and its values as far as they are there; 1: it is one of another command; 0:
 * rest begins with none. For what reads the words of a shell, where options of the program stand
 * among them.
 */
size_t command_option_words(const struct command *const *table, const struct words *typed,
                            const struct words *rest);

/*
 * The words that can follow `before` (complete or abbreviated) and begin with partial, each
 * once, in the order of the table; options where partial begins with a hyphen. Returns how many of
 * them *ret (in arena a) has.
 */
size_t command_complete(struct arena *a, const struct command *const *table,
                        const struct words *before, const char *partial, const char ***ret);

#endif
