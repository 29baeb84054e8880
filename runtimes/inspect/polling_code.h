/*
 * Functions on a stack that show that the thread polls futures: by their names, their types, and
 * the Context that each poll needs (dwarf/lookup/lookup.h).
 */
#ifndef RUNTIMES_INSPECT_POLLING_CODE_H
#define RUNTIMES_INSPECT_POLLING_CODE_H

#include "runtimes/common/inspector.h"
#include "runtimes/thread/stack.h"

/* Whether the function is evidence: none of std that only calls a closure, none of a known runtime.
 */
bool polling_code_counts(const struct collector *c, const struct location *l);

/* Whether it is a poll function, or calls one, that may run tasks (may_run_tasks.h). */
bool polling_code_polls(const struct collector *c, const struct location *l);

/*
 * Whether it is a method of a type such as Receiver<T>, where T is or contains a future: then it
 * waits for futures to poll.
 */
bool polling_code_waits(const struct location *l);

/* Whether it is a method of a type that contains futures, such as LocalPool::run(). */
bool polling_code_owns_futures(const struct location *l);

/*
 * Whether a function inward of the mark polls, or may: one without a name, or one that counts and
 * polls.
 */
bool polling_code_within(const struct collector *c, const struct thread_stack *stack,
                         const struct mark *m);
/*
 * Whether what polls inward of the innermost coroutine, which runs an executor (block_on.h), is the
 * executor's own code, or a future whose row tells what it waits for. Nothing inward of the mark is
 * a poll of a task.
 */
bool polling_code_is_executor(const struct collector *c, const struct thread_stack *stack,
                              const struct mark *m);

#endif
