/*
 * The functions block_on of crates that are no runtime: futures, pollster, async-io, futures-lite.
 * Each polls one future on the thread that calls it, and the thread sleeps in between.
 */
#ifndef RUNTIMES_THREAD_BLOCK_ON_H
#define RUNTIMES_THREAD_BLOCK_ON_H

#include "runtimes/common/inspector.h"

/*
 * One for each crate; ended by one without a name. They are no registered runtimes: only their
 * marks, their loops and copy() (there is none) are there.
 */
extern const struct runtime block_on_crates[];

/*
 * Finds the future of each thread that waits in such a function, in a job of a blocking pool or
 * outside of all runtimes. Call it when all runtimes have described their threads.
 */
void block_on_describe_threads(struct collector *c);

#endif
