/*
 * Finds the wakers of threads in a block_on of a crate that is no runtime: an owner of one of them
 * wakes that thread.
 */
#ifndef RUNTIMES_THREAD_BLOCK_ON_WAKER_H
#define RUNTIMES_THREAD_BLOCK_ON_WAKER_H

#include "runtimes/thread/stack.h"

/*
 * The data of the waker with which the block_on of the mark polls its future: of futures,
 * futures-lite and async-io by the thread-local that has it, else by the Context in the frames of
 * the block_on, of pollster also by what the thread sleeps on. 0: unknown.
 */
uint64_t block_on_waker_find(struct collector *c, const struct thread_stack *s,
                             const struct mark *m);

/*
 * For a layout file: asks the debug info for what that search needs of a block_on of a crate of
 * block_on_crates. visit is called with the types.
 */
typedef void block_on_type_fn(const struct type *t, void *arg);
void block_on_waker_learn(const struct function *block_on, const struct runtime *crate,
                          block_on_type_fn *visit, void *arg);

#endif
