/*
 * The entry point of this layer: opens the debug info of a target once, then takes snapshots.
 */
#ifndef RUNTIMES_INSPECT_INSPECT_H
#define RUNTIMES_INSPECT_INSPECT_H

#include <stdbool.h>

#include "debugger/base/error.h"
#include "debugger/target/target.h"
#include "runtimes/common/request.h"
#include "runtimes/model/model.h"

struct inspector;

struct secrets;

struct inspector_options {
	bool cache;         /* read and write the on-disk cache: see dwarf/store/cache.h */
	const char *layout; /* layout file of the executable, NULL: use its debug info */
	bool force;         /* accept a layout file of another build */
	/* Names of variables whose values are shown only by question.print; NULL: all are shown. It
	   must outlive the inspector. */
	const struct secrets *secrets;
};

/*
 * Opens the debug info of t. Does not stop the target. t must outlive the inspector. options may be
 * NULL.
 */
struct error *inspector_open(struct target *t, const struct inspector_options *options,
                             struct inspector **ret) MUST_CHECK;
/* After target_update_modules(): what was loaded since is searched, too. */
void inspector_update(struct inspector *in);
void inspector_close(struct inspector *in);
/* Whether something in the last snapshot that is only possible would be certain at a second look.
 */
bool inspector_wants_look(const struct inspector *in);
/* The facts about the target that need no snapshot; they live as long as in. */
const struct target_info *inspector_info(const struct inspector *in);
/*
 * Whether records of the cache or of a layout file have answered all queries of the executable's
 * debug info, which was not opened: then counting the tasks takes milliseconds.
 */
bool inspector_is_known(const struct inspector *in);

/*
 * Takes a snapshot. A warm-up walk on the running target loads all debug info; then the target is
 * stopped, read, and resumed, and the snapshot is finished from what was read. A program without a
 * runtime is not an error: *ret then has threads, no runtimes, and a note that says so. question
 * may be NULL; its results are snapshot.printed and snapshot.places.
 * The caller frees *ret with snapshot_free(), before inspector_close(): it borrows names from in.
 */
struct error *inspect(struct inspector *in, unsigned want, const struct question *question,
                      struct snapshot **ret) MUST_CHECK;

/*
 * Reads the tasks that a few threads of a halted program run, and no more: ids, types and states,
 * without trees, and those threads with their numbers among all. Other tasks of the same runtimes
 * may be there, other runtimes are not. Costs a part of inspect(). tids must not be empty. locals:
 * with the innermost native frame of the first thread, and its variables.
 */
struct error *inspect_threads(struct inspector *in, const pid_t *tids, size_t n, bool locals,
                              struct snapshot **ret) MUST_CHECK;

#endif
