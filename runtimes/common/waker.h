/*
 * Whom a waker wakes: a task, a branch of a set such as FuturesUnordered (and by that its task), a
 * thread in block_on.
 */
#ifndef RUNTIMES_COMMON_WAKER_H
#define RUNTIMES_COMMON_WAKER_H

#include "runtimes/common/inspector.h"

struct waker {
	uint64_t data, vtable; /* of its RawWaker; 0 when there is no waker (an Option's None) */
	uint64_t clone;        /* the vtable's first function: its generics tell what data is */
};

/*
 * Reads a core::task::wake::Waker, or a wrapper of one (Option<Waker>, UnsafeCell<Option<Waker>>,
 * an AtomicWaker of some crate).
 */
struct error *waker_read(struct collector *c, struct value v, struct waker *ret) MUST_CHECK;

/* For people and JSON: the id of the task that it wakes, NULL when it wakes no task that is known.
 */
const char *waker_task(struct collector *c, struct waker w);
/*
 * Does it surely not wake the task that wakers with own as their data wake: is there none, or does
 * it wake another task? False where either is unknown.
 */
bool waker_is_not_of(struct collector *c, struct waker w, uint64_t own);
/* For people: "task 5", "thread 1", "an unknown waker"; NULL when there is none. */
const char *waker_text(struct collector *c, struct waker w);

#endif
