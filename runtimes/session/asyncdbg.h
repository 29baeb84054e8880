/*
 * The handle of one program: a live process, a core dump or a saved snapshot. The shell, a server
 * for editors and programs that link the library use it alike; testdata/library/tasks.c is one.
 *
 *	struct asyncdbg *d;
 *	const struct snapshot *s;
 *	TRY(asyncdbg_open(&(struct asyncdbg_options){ .file = "core" }, &d));
 *	TRY(asyncdbg_snapshot(d, WANT_TASKS | WANT_RUNNING, NULL, &s));
 *	... s->tasks[i]->id, task_name(s->tasks[i]), ...
 *	asyncdbg_close(d);
 *
 * A snapshot is plain data (runtimes/model/model.h). What is asked of one takes it and gives data:
 * runtimes/analysis has fields, selections, groups, tallies, checks and differences.
 *
 * Errors: a function that can fail returns struct error *, NULL for success, and leaves *ret alone
 * otherwise. The caller owns the error until error_free(). Nothing here ends or aborts the calling
 * process, except where memory is exhausted, nor writes to standard output or standard error.
 * What could not be read of a program is no error: the snapshot is then not complete and says why.
 *
 * Threads: a handle is used by one thread at a time; several handles are independent. A call may
 * start threads, which are gone when it returns or wait with all signals blocked until
 * asyncdbg_close(). After each call the signal mask, scheduling policy and priority of the calling
 * thread, the signal handlers, the environment, the locale and the working directory are what they
 * were. Children of the caller are not waited for.
 *
 * The process runs while no call is made, and a call stops it only for a moment. Nothing is written
 * to its memory.
 *
 * interrupt_request() of debugger/base/error.h may be called at any time, by a signal handler too:
 * calls of all handles then end with ERR_INTERRUPTED, until interrupt_clear().
 */
#ifndef RUNTIMES_SESSION_ASYNCDBG_H
#define RUNTIMES_SESSION_ASYNCDBG_H

#include <stdbool.h>
#include <sys/types.h>

#include "debugger/base/error.h"
#include "debugger/target/target.h"
#include "runtimes/inspect/inspect.h"
#include "runtimes/model/model.h"
#include "runtimes/saved/saved.h"

struct asyncdbg;
struct verdicts;
struct waiting;

/* All zero: no program, no cache, every value of a variable is shown. */
struct asyncdbg_options {
	pid_t pid;           /* of a live process, else 0 */
	const char *file;    /* path of a core or of a saved snapshot, else NULL */
	const char *program; /* path of an executable that does not run: no snapshot can be taken */
	struct target_options target;
	struct inspector_options inspector; /* .secrets must outlive the handle */
};

enum asyncdbg_kind {
	ASYNCDBG_NONE,  /* no program was named */
	ASYNCDBG_LIVE,  /* a process */
	ASYNCDBG_CORE,  /* a core dump */
	ASYNCDBG_SAVED, /* a saved snapshot: there is neither target nor inspector */
	ASYNCDBG_FILE,  /* an executable: its debug info alone */
};

/*
 * Opens what options name; with none of the three a handle without a program. Debug info is read
 * when the first snapshot is taken. options need not outlive the call. *ret is closed with
 * asyncdbg_close(). ERR_USAGE for more than one of pid, file and program; else the errors of
 * target_live_open(), target_core_open(), inspector_open() and saved_read().
 */
struct error *asyncdbg_open(const struct asyncdbg_options *options, struct asyncdbg **ret)
	MUST_CHECK;
/*
 * A handle of a snapshot that the caller has, as of one that was saved: the handle owns it.
 * wants: what it was taken for. origin is copied, its file is borrowed.
 */
struct asyncdbg *asyncdbg_adopt(struct snapshot *snap, unsigned wants,
                                const struct saved_origin *origin);
/* Frees the handle and the snapshot at hand. NULL is allowed. */
void asyncdbg_close(struct asyncdbg *d);
/* For CLEANUP(asyncdbg_closep). */
void asyncdbg_closep(struct asyncdbg **d);

/* In what follows d may be NULL: it stands for a handle without a program. */

enum asyncdbg_kind asyncdbg_kind(const struct asyncdbg *d);
/* Which file a saved snapshot is from, and when it was taken; NULL for other kinds. */
const struct saved_origin *asyncdbg_origin(const struct asyncdbg *d);
/* Memory, threads and modules below the snapshots; NULL where there are none. */
struct target *asyncdbg_target(const struct asyncdbg *d);
/* What reads them; NULL where there is no target. */
struct inspector *asyncdbg_inspector(const struct asyncdbg *d);

/*
 * A snapshot that has at least what wants (enum want) asks for, and answers question, NULL for
 * none: a fresh one of a live process, on a core the one at hand where it does. The handle owns it;
 * it lives until the next call of this function, asyncdbg_drop() or asyncdbg_close(). ERR_STATE
 * where a saved one lacks what is wanted, or for a question to it; ERR_USAGE without a program or
 * of one that does not run; else the errors of inspect().
 */
struct error *asyncdbg_snapshot(struct asyncdbg *d, unsigned wants, const struct question *question,
                                const struct snapshot **ret) MUST_CHECK;
/*
 * A fresh one for the caller, who frees it with snapshot_free() before asyncdbg_close(): for
 * comparing several. The one at hand stays. ERR_STATE where there is nothing to be read anew.
 */
struct error *asyncdbg_take(struct asyncdbg *d, unsigned wants, struct snapshot **ret) MUST_CHECK;
/*
 * From now on the snapshot at hand is used of a live process too where it has what is wanted.
 * Returns what it was before.
 */
bool asyncdbg_pin(struct asyncdbg *d, bool pinned);
/* Frees the snapshot at hand and what was made of it: the next call takes another one. A saved one
 * stays. */
void asyncdbg_drop(struct asyncdbg *d);

/* The snapshot at hand, NULL none; what it was taken for, and which question it answers. */
const struct snapshot *asyncdbg_last(const struct asyncdbg *d);
unsigned asyncdbg_last_wants(const struct asyncdbg *d);
const struct question *asyncdbg_last_question(const struct asyncdbg *d);

/*
 * Who waits for whom in snap, and what that comes to. Made once for a snapshot and owned by the
 * handle, which is not NULL: it lives until the next call with another snapshot and must not be
 * used when snap is freed. snap was taken with WANT_HOLDINGS. check_is_understood() of
 * runtimes/analysis/view.h tells whether anything can be said of it.
 */
const struct verdicts *asyncdbg_verdicts(struct asyncdbg *d, const struct snapshot *snap);
/* How many tasks wait at each primitive of the snapshot at hand: see holders_waiting_count(). */
struct waiting *asyncdbg_waiting(struct asyncdbg *d);

#endif
