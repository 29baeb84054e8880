/*
 * What a command is, and a call of one: the words that were typed, understood. Which commands there
 * are the table of commands/shell/command.h says; each folder of commands declares its own.
 */
#ifndef COMMANDS_BASE_CALL_H
#define COMMANDS_BASE_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "commands/base/session.h"
#include "commands/base/words.h"
#include "debugger/base/error.h"

struct answer;
struct call;
struct command;
struct out;

/* What answers come to. Exit codes are those of eu-stack. */
enum status {
	STATUS_OK = 0,      /* all was shown */
	STATUS_PARTIAL = 1, /* something was shown, something is missing */
	STATUS_NOTHING = 2, /* nothing was shown, or a fatal error */
	STATUS_FOUND = 3,   /* what the command was told to look for is there */
	STATUS_STILL = 4,   /* of diff: nothing has moved */
	STATUS_USAGE = 64,  /* the user asked wrongly */
};

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

/* An option as given. */
struct chosen_option {
	const struct command_option *option;
	const char *const *values; /* as many as option->arg has words; NULL where it has none */
};

/* What a command asks of the shell that runs it, for commands that run others (--exec). */
struct call_shell {
	/* The call that words mean; its lists are in arena a, its words are those of words. */
	struct error *(*find)(struct arena *a, const struct words *words,
	                      struct call *ret)MUST_CHECK;
	/* Runs it as if it was typed: reports its error and returns false where there is one. */
	bool (*execute)(struct session *s, struct out *out, const struct words *words,
	                enum status *status);
};

/* A command as typed, understood. */
struct call {
	const struct command *command;
	const struct call_shell *shell; /* that understood it */
	struct words args;              /* what follows its name, without options; n may be 0 */
	bool verbose;                   /* with -v or --verbose */
	struct chosen_option *options;  /* in the order in which they were given */
	size_t noptions;
};

/* Whether an option of the command was given; the name as in its table. */
bool option_has(const struct call *call, const char *name);
/* Its (first) value, of several the last one given; NULL when it was not given or takes none. */
const char *option_value(const struct call *call, const char *name);

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

/* The option of a command that writes a file: -o FILE, --output FILE. "-": standard output. */
#define OUTPUT_OPTION                                                                              \
	{                                                                                          \
		"output", "FILE", false, "Write to FILE, - for standard output"                    \
	}
/*
 * Which file a command writes: of its option, else of its last argument where last_is_output. NULL:
 * none was named.
 */
const char *output_file_of(const struct call *call);
/* A command's check: exactly one file is named, see words_file(). */
struct error *call_check_output(const struct call *call) MUST_CHECK;

#endif
