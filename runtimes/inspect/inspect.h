/*
 * The entry to this layer: opens the debug info of a target once and takes snapshots of it.
 */
#ifndef RUNTIMES_INSPECT_INSPECT_H
#define RUNTIMES_INSPECT_INSPECT_H

#include "debugger/base/error.h"
#include "debugger/target/target.h"
#include "runtimes/common/request.h"
#include "runtimes/model/model.h"

struct inspector;

struct secrets;

struct inspector_options {
	bool cache; /* read and write what earlier runs learnt of the program's files: cache.h */
	const char *layout; /* layout file of the executable, NULL: use its debug info */
	bool force;         /* accept one of another build */
	/* Names of variables whose values are not shown, but by question.print; NULL: all are. It
	   must outlive the inspector. */
	const struct secrets *secrets;
};

/*
 * Borrows t, which must outlive the inspector. Reads debug info, never stops the target. options
 * may be NULL.
 */
struct error *inspector_open(struct target *t, const struct inspector_options *options,
                             struct inspector **ret) MUST_CHECK;
void inspector_close(struct inspector *in);

/*
 * Takes a snapshot: rehearses on the running target so that all debug info is at hand, stops
 * it, reads, lets it run, and finishes from what was read. A program without a runtime is
 * not an error: *ret then has threads, no runtimes, and a note that says so. question may be
 * NULL; its answers are snapshot.printed and snapshot.places.
 * The caller frees *ret with snapshot_free(), before inspector_close(): it borrows names from in.
 */
struct error *inspect(struct inspector *in, unsigned want, const struct question *question,
                      struct snapshot **ret) MUST_CHECK;

#endif
