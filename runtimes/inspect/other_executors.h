/*
 * Detects async code that no known runtime runs: tasks of other executors, which cannot be listed.
 * The evidence is what the program does, never the name of a crate:
 *
 * - the program has no known runtime but has poll functions (dwarf/module/async_code.h); or
 * - a thread is, outside the loops of known runtimes, in a function that has a Context, which every
 * poll needs (dwarf/lookup/lookup.h) and that may poll tasks with it (may_run_tasks.h), or in a
 * method of a type that passes futures on, such as Receiver<Box<dyn Future>>.
 *
 * A future that a job of a blocking pool drives by itself is part of that job, which is shown.
 * An executor that no thread is in leaves no trace, so its tasks are not reported as missing.
 */
#ifndef RUNTIMES_INSPECT_OTHER_EXECUTORS_H
#define RUNTIMES_INSPECT_OTHER_EXECUTORS_H

#include "runtimes/common/inspector.h"

/*
 * Reports other executors in the snapshot's notes, unsearched and others. Reads debug info but no
 * target memory. Call it when c->stacks and the runtimes' data are filled.
 */
void other_executors_find(struct collector *c);

/*
 * Crates of executors that asyncdbg does not support, and their names for messages; detection of
 * async code does not use them. A crate of NULL ends them.
 */
extern const struct crate_row other_executors[];

#endif
