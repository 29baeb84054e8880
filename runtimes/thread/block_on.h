/*
 * The functions block_on of crates that are no runtime: futures, pollster, async-io, futures-lite.
 * Each polls one future on the thread that calls it, and the thread sleeps in between.
 */
#ifndef RUNTIMES_THREAD_BLOCK_ON_H
#define RUNTIMES_THREAD_BLOCK_ON_H

#include "runtimes/common/inspector.h"
#include "runtimes/thread/stack.h"

/*
 * Crates with a block_on, a row for each; ended by one without a name. They are no registered
 * runtimes: only their marks, their loops and copy() (there is none) are there.
 */
extern const struct runtime block_on_crates[];

/* Finds the wakers of threads in such functions. Call it before tasks are decoded. */
void block_on_find_wakers(struct collector *c);

/*
 * Finds the future of each thread that waits in such a function, in a job of a blocking pool or
 * outside of all runtimes. Call it when all runtimes have described their threads.
 */
void block_on_describe_threads(struct collector *c);

/*
 * Whether all is known that such a function polls on a thread: its future was found, and what each
 * leaf of it waits for has a name, or it runs a task of an executor that is known. Otherwise the
 * future may run tasks that are not shown, as the `run` of an executor does. True for marks of
 * runtimes.
 */
bool block_on_is_explained(const struct collector *c, const struct mark *m,
                           const struct thread_info *info);

/*
 * Whether the innermost of the futures that such a function polls at this moment is one that runs
 * an executor of a known runtime: what that polls are tasks of the executor.
 */
bool block_on_runs_executor(const struct collector *c, const struct mark *m,
                            const struct thread_info *info);
/* Whether a path begins with the crate of an executor whose tasks are read. */
bool block_on_is_executor(const struct collector *c, const char *path);

#endif
