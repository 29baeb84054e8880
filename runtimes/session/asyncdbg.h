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
 * A snapshot is plain data (runtimes/model/model.h). The analyses in runtimes/analysis take a
 * snapshot and return data: fields, selections, groups, tallies, checks and differences.
 *
 * Errors: a function that can fail returns struct error *, NULL for success, and does not change
 * *ret on failure. The caller owns the error until error_free(). No function ends or aborts the
 * calling process, except when memory is exhausted. No function writes to standard output or
 * standard error. Unreadable parts of a program are no error: the snapshot is then incomplete and
 * its notes say why.
 *
 * Threads: only one thread may use a handle at a time; several handles are independent. A call may
 * start threads. They end before it returns, or wait with all signals blocked until
 * asyncdbg_close(). A call does not change the signal mask, scheduling policy and priority of the
 * calling thread, the signal handlers, the environment, the locale and the working directory. It
 * does not wait for children of the caller.
 *
 * The process runs between calls, and a call stops it only for a moment. Its memory is never
 * written.
 *
 * interrupt_request() of debugger/base/error.h may be called at any time, also by a signal handler:
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
#include "runtimes/query/types.h"
#include "runtimes/saved/saved.h"

struct asyncdbg;
struct checks_result;
struct debuginfo;
struct parts_context;
struct verdicts;
struct waiting;

/* All zeros: no program, no cache, no variable is redacted. */
struct asyncdbg_options {
	pid_t pid;           /* of a live process; 0: none */
	const char *file;    /* path of a core or of a saved snapshot; NULL: none */
	const char *program; /* path of an executable that does not run: no snapshot can be taken */
	struct target_options target;
	struct inspector_options inspector; /* .secrets must outlive the handle */
};

/* The wants of the snapshots that asyncdbg_check() uses. */
enum { ASYNCDBG_CHECK_WANTS = WANT_TASKS | WANT_RUNNING | WANT_HOLDINGS };
/*
 * The wants of the snapshot that asyncdbg_check() is called with: of a first look WANT_RUNNING, as
 * nothing of the tasks that wait is compared with the second one.
 */
unsigned asyncdbg_check_wants(const struct asyncdbg *d, double interval);

enum asyncdbg_kind {
	ASYNCDBG_NONE,  /* no program was named */
	ASYNCDBG_LIVE,  /* a process */
	ASYNCDBG_CORE,  /* a core dump */
	ASYNCDBG_SAVED, /* a saved snapshot: there is neither target nor inspector */
	ASYNCDBG_FILE,  /* an executable: only its debug info is read */
};

/*
 * Opens the program that options name; without pid, file and program the handle has no program.
 * Debug info is read when the first snapshot is taken. options need not outlive the call. Close
 * *ret with asyncdbg_close(). ERR_USAGE for more than one of pid, file and program; otherwise the
 * errors of target_live_open(), target_core_open(), inspector_open() and saved_read().
 */
struct error *asyncdbg_open(const struct asyncdbg_options *options, struct asyncdbg **ret)
	MUST_CHECK;
/*
 * Makes a handle from a snapshot of the caller, as if it was saved; the handle then owns it. wants:
 * the wants that it was taken with. origin is copied, but its file is borrowed.
 */
struct asyncdbg *asyncdbg_from_snapshot(struct snapshot *snap, unsigned wants,
                                        const struct saved_origin *origin);
/* Frees the handle and its snapshot. d may be NULL. */
void asyncdbg_close(struct asyncdbg *d);
/* For CLEANUP(asyncdbg_closep). */
void asyncdbg_closep(struct asyncdbg **d);

/* All functions below allow d to be NULL, which stands for a handle without a program. */

enum asyncdbg_kind asyncdbg_kind(const struct asyncdbg *d);
/* The file of a saved snapshot and the time when it was taken; NULL for other kinds. */
const struct saved_origin *asyncdbg_origin(const struct asyncdbg *d);
/* The memory, threads and modules of the program; NULL where there are none. */
struct target *asyncdbg_target(const struct asyncdbg *d);
/*
 * Finds the modules that a running program has loaded since then, and forgets those that it has
 * unloaded. *changed: there were any.
 */
struct error *asyncdbg_update_modules(struct asyncdbg *d, bool *changed) MUST_CHECK;
/*
 * The number of times that modules have come or gone so far. Each new snapshot of a running program
 * looks for them, too.
 */
uint64_t asyncdbg_nloads(const struct asyncdbg *d);
/* Whether the process has ended, or can no longer be debugged; false for other kinds. */
bool asyncdbg_has_ended(const struct asyncdbg *d);
/* The inspector of the target, and its debug info; NULL where there is no target. */
struct inspector *asyncdbg_inspector(const struct asyncdbg *d);
struct debuginfo *asyncdbg_debuginfo(const struct asyncdbg *d);
/* The context in which dwarf/values/parts.h opens values; all zeros where there is no target. */
struct parts_context asyncdbg_parts_context(const struct asyncdbg *d);

/*
 * types_find() and types_describe(): types in the debug info. The program need not run and is not
 * stopped. ERR_USAGE without a program, ERR_STATE for a saved snapshot.
 */
struct error *asyncdbg_types(struct asyncdbg *d, const char *regex, size_t limit, struct arena *a,
                             struct type_list *ret) MUST_CHECK;
struct error *asyncdbg_type(struct asyncdbg *d, const char *name, struct arena *a,
                            struct type_info *ret) MUST_CHECK;

/*
 * Returns a snapshot that contains at least what wants (enum want) requests, and answers question
 * (NULL: none). For a live process it is a new one; for a core the current one is reused if it
 * suffices. The handle owns it; it lives until the next call of this function, asyncdbg_drop() or
 * asyncdbg_close(). ERR_STATE when a saved snapshot lacks something of wants, or has a question to
 * answer; ERR_USAGE without a running program or core; otherwise the errors of inspect().
 */
struct error *asyncdbg_snapshot(struct asyncdbg *d, unsigned wants, const struct question *question,
                                const struct snapshot **ret) MUST_CHECK;
/*
 * Takes a snapshot of the tasks that a few threads of a halted program run, and the variables of
 * the first thread: inspect_threads(). It is the current snapshot until the next call, and never
 * reused. Any other target: as asyncdbg_snapshot() with WANT_RUNNING.
 */
struct error *asyncdbg_threads(struct asyncdbg *d, const pid_t *tids, size_t n, bool locals,
                               const struct snapshot **ret) MUST_CHECK;
/*
 * Takes a new snapshot that the caller owns and frees with snapshot_free() before asyncdbg_close():
 * for comparing several. The current snapshot stays. ERR_STATE where there is no process or core to
 * read.
 */
struct error *asyncdbg_take(struct asyncdbg *d, unsigned wants, struct snapshot **ret) MUST_CHECK;
/*
 * Sets whether the current snapshot is reused for a live process too, if it contains what is
 * requested. Returns the former setting.
 */
bool asyncdbg_reuse_snapshot(struct asyncdbg *d, bool pinned);
/*
 * Frees the current snapshot and the results computed from it; the next call takes a new one. A
 * saved snapshot stays.
 */
void asyncdbg_drop(struct asyncdbg *d);

/* The current snapshot (NULL: none), its wants, and the question that it answers. */
const struct snapshot *asyncdbg_last(const struct asyncdbg *d);
unsigned asyncdbg_last_wants(const struct asyncdbg *d);
const struct question *asyncdbg_last_question(const struct asyncdbg *d);

/*
 * The verdicts on the wait-for graph of snap. They are computed once for a snapshot and owned by
 * the handle, which must not be NULL. They live until the next call with another snapshot, and must
 * not be used after snap is freed. snap must have been taken with WANT_HOLDINGS.
 * snapshot_check_understood() tells whether they are valid for the program.
 */
const struct verdicts *asyncdbg_verdicts(struct asyncdbg *d, const struct snapshot *snap);
/*
 * Runs all checks (runtimes/analysis/checks.h) on snap, which must have been taken with
 * asyncdbg_check_wants() or more. Of a process that runs, and where interval is not 0, snap is the
 * first look: after interval, in seconds, the call takes a second snapshot of d, pinned or not.
 * This ends snap, if it is the current one of d, even where the second look fails. The result is in
 * arena a and borrows from its snapshot. d must not be NULL. ERR_STATE when the program is not
 * understood, ERR_INTERRUPTED, and the errors of asyncdbg_snapshot().
 */
struct error *asyncdbg_check(struct asyncdbg *d, const struct snapshot *snap, double interval,
                             struct arena *a, struct checks_result *ret) MUST_CHECK;
/*
 * The number of tasks that wait at each primitive of the current snapshot: see
 * holders_waiting_count().
 */
struct waiting *asyncdbg_waiting(struct asyncdbg *d);

#endif
