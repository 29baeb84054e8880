/*
 * Classifies the frames of a thread's stack: a runtime's loop, a poll of a task, the poll function
 * of a coroutine.
 */
#ifndef RUNTIMES_THREAD_STACK_H
#define RUNTIMES_THREAD_STACK_H

#include "runtimes/common/inspector.h"
#include "runtimes/future/future.h"

/* A frame whose function is in a runtime's table of marks (struct mark_row). */
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

/* The last mark of that kind, and of that runtime (NULL: of any); NULL none. */
const struct mark *stack_innermost(const struct marks *marks, enum mark_kind kind,
                                   const struct runtime *of);

/*
 * The outermost frame that may hold what is passed to a mark: the next frame outward where a
 * runtime polls a task or a job, which borrow nothing from farther outward; SIZE_MAX: there is
 * none.
 */
size_t stack_reach(const struct marks *marks, const struct mark *m);

/* The future type that a MARK_TASK_POLL or a MARK_BLOCK_ON polls; NULL unknown. */
const struct type *stack_mark_future_type(const struct mark *m);
/* The name of that type, from the function's generics: known even with line tables only. */
const char *stack_mark_future_name(struct arena *a, const struct mark *m);

/* Whether this physical frame has a function of the mark's runtime, inlined or not. */
bool stack_is_runtime_frame(const struct thread_stack *s, const struct mark *m, size_t frame);
/* Whether the runtime is parked in the frames inward of a mark and polls nothing at this moment. */
bool stack_is_parked(const struct thread_stack *s, const struct mark *m);
/* Whether a coroutine is executing between a mark and the next inner mark. */
bool stack_is_polling(const struct thread_stack *s, const struct marks *marks, size_t mark);
/* Whether several coroutines are inlined into one frame, as happens in optimised code. */
bool stack_is_shared(const struct location *calls, size_t n);
/* The stack pointer of a frame's caller; 0: it has none. */
uint64_t stack_frame_end(const struct thread_stack *s, size_t frame);
/*
 * Notes an outer block_on of the same thread, whose future is being polled: a thread shows only one
 * such future.
 */
void stack_note_outer_roots(struct collector *c, const struct thread_info *info,
                            const struct thread_stack *s, const struct marks *marks,
                            const struct mark *block_on);
/*
 * The coroutines that are executing between a mark and the next inner mark, outermost first, as a
 * chain of running futures; NULL if there are none. doubtful: the mark's function may be that of
 * other futures than it names. Reads line tables: do not call during a stop.
 */
struct future *stack_running_chain(struct collector *c, const struct thread_stack *s,
                                   const struct marks *marks, size_t mark, bool doubtful);

/*
 * The native frames with source lines, for output. task: that the thread runs, or NULL. Do not call
 * during a stop.
 */
struct stack_frame *stack_describe(struct collector *c, const struct thread_stack *s,
                                   const struct marks *marks, const struct task *task,
                                   size_t *nret);

#endif
