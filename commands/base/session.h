/* A session: the handle of a program, and the focus. */
#ifndef COMMANDS_BASE_SESSION_H
#define COMMANDS_BASE_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

#include "commands/base/examine.h"
#include "commands/base/listing.h"
#include "commands/base/seen_variables.h"
#include "debugger/base/error.h"
#include "dwarf/code/source_file.h"
#include "runtimes/model/model.h"
#include "runtimes/session/asyncdbg.h"
#include "runtimes/stepping/debuggee.h"

enum { TASK_ID_SIZE = 32 };

struct session {
	struct asyncdbg *handle;                /* NULL: no program was opened */
	const struct asyncdbg_options *options; /* the options it was opened with; borrowed */
	const char *const *program; /* the words behind --, with NULL at the end; NULL: none */
	pid_t focus;                /* tid of the thread in focus, 0: the default */
	char task[TASK_ID_SIZE];    /* id of the task in focus, "": the task that runs on focus */
	bool native;                /* frame is of the thread in focus, as bt numbers them */
	unsigned frame;             /* number of the frame in focus, else within its tree */
	bool verbose;               /* all commands show variables of every frame where they can */
	unsigned
		finding; /* exit code of the last command's answer, such as STATUS_FOUND; 0: none */
	struct arena answer; /* data of the last command's answer, until the next command */
	bool has_written;    /* set has written into the program, which was reported */
	bool quit;           /* leave the prompt */
	bool (*confirm)(const char *question); /* see session_confirm() */
	struct source_files sources;           /* with the source maps of the user */
	struct listed listed;                  /* where `list` continues */
	struct examined examined;              /* where `x` continues */
	/* The debuggee, see commands/control. All zeros: there was none. */
	struct debuggee debuggee;
	struct seen_variables seen_variables; /* of the last stop */
	struct asyncdbg_options own_options;  /* those of a handle that session_reopen() opened */
	struct arena run_arena;               /* of the next member */
	const char *const *argv;              /* of the last `run`, ended by NULL; NULL: none */
	bool no_input; /* commands are read from standard input: no program gets it */
};

/*
 * Opens the program that options name. With neither pid nor file, the session serves offline
 * commands only. options must outlive the session.
 */
struct error *session_open(const struct asyncdbg_options *options, struct session *ret) MUST_CHECK;
void session_close(struct session *s);
/*
 * Closes the handle and opens one for a process, or for none (pid 0), with the other options of the
 * session. tracer: the one that has the process; NULL: none. Nothing is in focus then.
 */
struct error *session_reopen(struct session *s, pid_t pid, struct tracer *tracer) MUST_CHECK;

/*
 * Takes a snapshot with asyncdbg_snapshot(). Tries again for a third of a second while the process
 * cannot be stopped: another debugger may have it for a moment, as a watchdog does. ERR_USAGE, with
 * a hint, when no program was named.
 */
struct error *session_snapshot(struct session *s, unsigned wants, const struct question *question,
                               const struct snapshot **ret) MUST_CHECK;
/*
 * Whether the user agrees to an action that cannot be undone: s->confirm asks. It is NULL where
 * nobody can answer, as for commands of a script or of the command line: true then.
 */
bool session_confirm(const struct session *s, const char *question);
/*
 * Checks for commands that watch a process over time: ERR_STATE where it is halted, as the debuggee
 * is while a command is read.
 */
struct error *session_check_runs(const struct session *s) MUST_CHECK;
/* Calls asyncdbg_verdicts(). snap may be of another program. */
const struct verdicts *session_verdicts(struct session *s, const struct snapshot *snap);
/* Calls asyncdbg_check() with s->answer. snap as above. */
struct error *session_check(struct session *s, const struct snapshot *snap, double interval,
                            struct checks_result *ret) MUST_CHECK;

/*
 * The thread in focus: the one chosen, else the one that crashed, else thread 1. ERR_STATE when
 * the chosen one has ended or the snapshot has no threads.
 */
struct error *session_focus(const struct session *s, const struct snapshot *snap,
                            const struct thread_info **ret) MUST_CHECK;
/* The number of the thread in focus before a snapshot is taken, as of the last stop; 0 unknown. */
unsigned session_focus_number(const struct session *s);

#endif
