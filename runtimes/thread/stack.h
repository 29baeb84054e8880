/*
 * Stacks read as async Rust: which frame is a runtime's loop, which polls a task, which is the
 * poll function of a coroutine.
 */
#ifndef RUNTIMES_THREAD_STACK_H
#define RUNTIMES_THREAD_STACK_H

#include "runtimes/common/inspector.h"
#include "runtimes/future/future.h"

/* A frame that means something to a runtime. */
struct mark {
	enum mark_kind kind;
	size_t frame;                    /* physical, index into stack.frames */
	size_t level;                    /* index into functions[frame]: 0 innermost inlined */
	const struct function *function; /* NULL: known by its symbol only */
	const char *name;                /* qualified, with generics where it has them */
	const struct runtime *of;
};

enum { MAX_MARKS = 64 };
struct marks {
	struct mark data[MAX_MARKS]; /* outermost first */
	size_t n;
};

/* Unwinds one thread and names its functions. The target must be readable. */
void stack_read(struct collector *c, const struct thread *th, struct thread_stack *ret);
void stack_find_marks(const struct collector *c, const struct thread_stack *s, struct marks *ret);

/* The last mark of that kind; NULL none. */
const struct mark *stack_innermost(const struct marks *marks, enum mark_kind kind);

/* T of the task cell that a MARK_TASK_POLL polls, or F of a MARK_BLOCK_ON; NULL unknown. */
const struct type *stack_mark_future_type(const struct mark *m);
/* The same by name, from the function's generics: there even with line tables only. */
const char *stack_mark_future_name(struct arena *a, const struct mark *m);

/* Is a function of the mark's runtime itself, inlined or not, in this physical frame? */
bool stack_is_runtime_frame(const struct thread_stack *s, const struct mark *m, size_t frame);
/* Does the runtime wait inward of a mark, with nothing polled at this moment? */
bool stack_is_parked(const struct thread_stack *s, const struct mark *m);
/* Is a coroutine executing inward of a mark, up to the next mark? */
bool stack_is_polling(const struct thread_stack *s, const struct marks *marks, size_t mark);
/*
 * The coroutines that are executing inward of a mark (up to the next mark), outer to inner, as a
 * chain of running futures; NULL when there are none. Reads line tables: not during a stop.
 */
struct future *stack_running_chain(struct collector *c, const struct thread_stack *s,
                                   const struct marks *marks, size_t mark);

/* Native frames for people, with lines. Not during a stop. */
struct stack_frame *stack_describe(struct collector *c, const struct thread_stack *s,
                                   const struct marks *marks, const char *task, size_t *nret);

#endif
