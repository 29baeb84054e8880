/*
 * Async code that no known runtime runs: the tasks of other executors, of which nothing is known
 * but that they are there. What decides is what the program does, never the name of a crate:
 *
 * - no known runtime is in the program, and poll functions are (dwarf/module/async_code.h); or
 * - a thread is, outside of the loops of those that are known, in a function that has a Context,
 * without which nobody can poll (lookup.h), or in a method of what hands futures on:
 * Receiver<Box<dyn Future>>.
 *
 * The future that a job of a blocking pool drives by itself is that job, which is shown.
 * Of an executor that no thread is in there is no trace: its tasks are not missed.
 */
#ifndef RUNTIMES_INSPECT_OTHER_EXECUTORS_H
#define RUNTIMES_INSPECT_OTHER_EXECUTORS_H

#include "runtimes/common/inspector.h"

/*
 * Says in notes, in unsearched and in snapshot.others what other executors run. Reads debug info,
 * and no memory of the target: c->stacks are known, and what runtimes have.
 */
void other_executors_find(struct collector *c);

#endif
