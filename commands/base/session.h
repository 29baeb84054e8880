/*
 * One program under the eyes of a user: a target, its inspector, and the snapshot the last
 * command looked at. A live target runs whenever no snapshot is being taken.
 */
#ifndef COMMANDS_BASE_SESSION_H
#define COMMANDS_BASE_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

#include "debugger/base/error.h"
#include "debugger/target/target.h"
#include "runtimes/analysis/holders.h"
#include "runtimes/inspect/inspect.h"
#include "runtimes/model/model.h"
#include "runtimes/saved/saved.h"

enum { TASK_ID_SIZE = 32 };

struct session {
	struct target *target; /* NULL: none was named, only offline commands can run */
	struct inspector *inspector;
	bool saved; /* snapshot is one that was saved: there is neither target nor inspector; */
	unsigned saved_wants; /* this is what it was taken for */
	struct saved_names saved_names;
	struct saved_origin origin;            /* and where that is */
	const struct session_options *options; /* it was opened with; borrowed */
	struct snapshot *snapshot;             /* of the last command, NULL none */
	unsigned wants;                        /* what snapshot was taken for */
	struct waiting waiting;                /* of snapshot, for its answers */
	struct question asked;   /* what snapshot answers; its strings are in its arena */
	pid_t focus;             /* tid of the thread in focus, 0: the default */
	char task[TASK_ID_SIZE]; /* id of the task in focus, "": what that thread runs */
	unsigned frame;          /* number of the frame in focus, within that task */
	bool verbose;            /* of its options */
	unsigned finding;        /* exit code that the last command's answer asks for, as
	                            STATUS_FOUND; 0: none */
	struct arena answer;     /* what the last command made for its answer, until the next one */
	struct graph *graph;     /* of the last snapshot that was asked for one, NULL none */
	struct verdicts *verdicts; /* of that graph */
	bool quit;                 /* the user asked to leave */
	bool pinned;               /* live, too, look at the snapshot at hand where it will do */
};

struct graph;
struct verdicts;

struct session_options {
	pid_t pid;        /* of a live process, or 0 */
	const char *core; /* path of a core or of a saved snapshot, or NULL */
	struct target_options target;
	struct inspector_options inspector;
	bool verbose; /* every command that can shows the variables of every frame */
};

/*
 * Opens the target; with neither pid nor core a session for offline commands. Of a saved snapshot
 * there is nothing to open: it is read. options must outlive the session.
 */
struct error *session_open(const struct session_options *options, struct session *ret) MUST_CHECK;
void session_close(struct session *s);
/* Frees the snapshot and what was made of it: the next command takes another one. */
void session_drop_snapshot(struct session *s);

/*
 * A snapshot that has at least wants and answers question, NULL for none: a fresh one of a live
 * process, on a core the last one when it covers that. The session owns it; it lives until the
 * next call. A saved one can answer no question: ERR_STATE.
 */
struct error *session_snapshot(struct session *s, unsigned wants, const struct question *question,
                               const struct snapshot **ret) MUST_CHECK;

/*
 * Who waits for whom in snap, and what that comes to; built once for a snapshot. The session owns
 * both; they live as long as snap, which must have been taken with WANT_HOLDINGS.
 */
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
