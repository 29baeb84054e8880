/*
 * The definition of a command, and a call: the parsed words of one typed command. The table in
 * commands/shell/command.h lists all commands; each folder of commands declares its own.
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

/* The results of answers. The exit codes are those of eu-stack. */
enum status {
	STATUS_OK = 0,      /* everything was shown */
	STATUS_PARTIAL = 1, /* something was shown, something is missing */
	STATUS_NOTHING = 2, /* nothing was shown, or a fatal error */
	STATUS_FOUND = 3,   /* the command found a match */
	STATUS_STILL = 4,   /* diff: nothing has moved */
	STATUS_USAGE = 64,  /* wrong usage */
};

/*
 * An option of one command. It follows the command's name as `--name VALUE` or `--name=VALUE`, at
 * the prompt and on the command line. Help, completion and JSON list it automatically.
 */
struct command_option {
	const char *name; /* without the hyphens: "dot" */
	const char *arg;  /* for help: "FILE"; "FIELD VALUE" takes two words; NULL: no value */
	bool multiple;    /* may be given more than once */
	const char *help; /* one line without a final period: "Write Graphviz to FILE" */
};

/* The help of -v, which is in no command's table: struct command.verbose. */
#define COMMAND_VERBOSE_HELP "Show the variables of every frame"

/* An option as given. */
struct chosen_option {
	const struct command_option *option;
	const char *const *values; /* one for each word of option->arg; NULL when there is none */
};

/* The functions of the shell for commands that run other commands (--exec). */
struct call_shell {
	/* Parses words into a call. Its lists are in arena a and point to the words of words. */
	struct error *(*find)(struct arena *a, const struct words *words,
	                      struct call *ret)MUST_CHECK;
	/* command_complete() of the table of all commands. */
	size_t (*complete)(struct arena *a, const struct words *before, const char *partial,
	                   const char ***ret);
	/* Runs words as if they were typed. Reports an error and then returns false. */
	bool (*execute)(struct session *s, struct out *out, const struct words *words,
	                enum status *status);
};

/* A parsed command. */
struct call {
	const struct command *command;
	const struct call_shell *shell; /* the shell that parsed it */
	struct words args;              /* the words after its name, without options; n may be 0 */
	bool verbose;                   /* with -v or --verbose */
	struct chosen_option *options;  /* in the order given */
	size_t noptions;
};

/* Whether an option of the command was given. name: as in its table. */
bool option_has(const struct call *call, const char *name);
/*
 * The option's first value; for an option that may be repeated, the last one. NULL when it was not
 * given or takes no value.
 */
const char *option_value(const struct call *call, const char *name);

struct command {
	const char *name;                     /* words as typed, canonical: "async backtrace all" */
	const char *args;                     /* for help: "[ID]"; NULL when it takes none */
	size_t min_args;                      /* fewer words are a usage error, */
	size_t max_args;                      /* more words are one, too */
	bool last_is_output;                  /* its last argument is its output file */
	bool verbose;                         /* takes -v: shows the variables of every frame */
	const struct command_option *options; /* a name of NULL at the end; NULL: none */
	const char *summary;                  /* one line without a final period */
	const char *help;                     /* further lines, NULL none */
	bool offline;       /* needs neither target nor snapshot: answer->snapshot is NULL */
	bool takes_program; /* a program to be run follows behind --: see struct session */
	bool stays;         /* on a terminal, a prompt follows it on the command line */
	bool of_program;    /* offline: debug info will do, also that of an executable alone */
	bool repeats;       /* at the prompt, an empty line behind it does the same again, */
	bool goes_on;       /* or continues where it has ended: without the words of its place */
	unsigned wants;     /* enum want flags for its snapshot */
	/* Further wants of its options, which were checked; NULL: none. */
	unsigned (*wants_of)(const struct call *call);
	/* Replaces wants where they depend on the program; NULL: wants. */
	unsigned (*wants_now)(const struct session *s, const struct call *call);
	/*
	 * Checks the arguments: ERR_USAGE for those that are invalid for every program. NULL: no
	 * check. Called before a process is stopped.
	 */
	struct error *(*check)(const struct call *call);
	/*
	 * Fills in the expression or place to query, in addition to wants; NULL: none. *ret borrows
	 * from s and call. The arguments were checked.
	 */
	void (*ask)(const struct session *s, const struct call *call, struct question *ret);
	/*
	 * Selects and orders what to show of answer->snapshot. Calls out_begin() when it can
	 * answer, then any ops; the caller calls out_end(). An error after out_begin() discards the
	 * answer as far as the format allows.
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
 * The output file of a command: from its option, else its last argument if last_is_output. NULL:
 * none was named.
 */
const char *output_file_of(const struct call *call);
/* Implements struct command.check: exactly one output file is named, and it passes words_file(). */
struct error *call_check_output(const struct call *call) MUST_CHECK;

#endif
