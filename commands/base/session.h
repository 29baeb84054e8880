/* One program under the eyes of a user: a handle of it, and what is in focus. */
#ifndef COMMANDS_BASE_SESSION_H
#define COMMANDS_BASE_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

#include "debugger/base/error.h"
#include "runtimes/model/model.h"
#include "runtimes/session/asyncdbg.h"

enum { TASK_ID_SIZE = 32 };

struct session {
	struct asyncdbg *handle;                /* NULL: none was opened */
	const struct asyncdbg_options *options; /* it was opened with; borrowed */
	pid_t focus;                            /* tid of the thread in focus, 0: the default */
	char task[TASK_ID_SIZE]; /* id of the task in focus, "": what that thread runs */
	unsigned frame;          /* number of the frame in focus, within that task */
	bool verbose;            /* every command that can shows the variables of every frame */
	unsigned finding;        /* exit code that the last command's answer asks for, as
	                            STATUS_FOUND; 0: none */
	struct arena answer;     /* what the last command made for its answer, until the next one */
	bool quit;               /* the user asked to leave */
};

/*
 * Opens what options name; with neither pid nor file a session for offline commands. options must
 * outlive the session.
 */
struct error *session_open(const struct asyncdbg_options *options, struct session *ret) MUST_CHECK;
void session_close(struct session *s);

/* asyncdbg_snapshot() of its program; ERR_USAGE, with what to type, where none was named. */
struct error *session_snapshot(struct session *s, unsigned wants, const struct question *question,
                               const struct snapshot **ret) MUST_CHECK;
/* asyncdbg_verdicts(); snap need not be of the session's program. */
const struct verdicts *session_verdicts(struct session *s, const struct snapshot *snap);

/*
 * The thread in focus: the one chosen, else the one that crashed, else thread 1. ERR_STATE when
 * the chosen one has ended or the snapshot has no threads.
 */
struct error *session_focus(const struct session *s, const struct snapshot *snap,
                            const struct thread_info **ret) MUST_CHECK;
/*
 * The same before there is a snapshot, as far as the last stop tells: its number, 0 unknown.
 */
unsigned session_focus_number(const struct session *s);

#endif
