/*
 * The stacks of samples that were taken while tasks were polled. A sample knows its thread and its
 * time; the span of a poll says later on which task that was.
 */
#ifndef RUNTIMES_TIMELINE_POLL_STACKS_H
#define RUNTIMES_TIMELINE_POLL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtimes/timeline/task_span.h"

struct poll_stacks;

/* Code that a thread was in, of one or more samples. */
struct poll_stack {
	const uint64_t *code; /* run-time addresses in the code, innermost first; lives as long as
	                         the stacks */
	size_t n;
	bool in_kernel; /* the innermost one has called the kernel, or was interrupted */
};

enum { POLL_STACKS_MAX = 1 << 20 /* different ones; samples of further ones have no code */ };

/* Never NULL. */
struct poll_stacks *poll_stacks_new(void);
/* NULL is allowed. */
void poll_stacks_free(struct poll_stacks *p);

/* A sample of a thread, which may have been in a poll; those of a thread come in their order. */
void poll_stacks_add(struct poll_stacks *p, pid_t tid, uint64_t time,
                     const struct poll_stack *stack);

/* index: the same for samples that were at the same code. */
typedef void poll_stack_fn(const struct task_span *span, uint32_t index, void *arg);
/*
 * A part of a poll has ended: passes on the samples in it, each once. All samples up to its end
 * were added. Nested polls end from the inside out.
 */
void poll_stacks_end(struct poll_stacks *p, const struct task_span *span, poll_stack_fn *visit,
                     void *arg);
/* The thread polls nothing up to that time: drops its samples. */
void poll_stacks_drop(struct poll_stacks *p, pid_t tid, uint64_t time);

/* The stack of that index. */
const struct poll_stack *poll_stacks_at(const struct poll_stacks *p, uint32_t index);
/* The number of samples in polls that were passed on. */
uint64_t poll_stacks_in_polls(const struct poll_stacks *p);

#endif
