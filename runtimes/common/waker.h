/*
 * Finds what a waker wakes: a task, a child of a set such as FuturesUnordered (and through it the
 * set's task), or a thread in block_on.
 */
#ifndef RUNTIMES_COMMON_WAKER_H
#define RUNTIMES_COMMON_WAKER_H

#include "dwarf/values/show_rows.h"
#include "runtimes/common/inspector.h"

struct waker {
	uint64_t data, vtable; /* of its RawWaker; 0: there is no waker (an Option's None) */
	uint64_t clone;        /* the vtable's first function: its generics tell the type of data */
};

/*
 * Reads a core::task::wake::Waker, or a wrapper of one (Option<Waker>, UnsafeCell<Option<Waker>>,
 * an AtomicWaker of any crate).
 */
struct error *waker_read(struct collector *c, struct value v, struct waker *ret) MUST_CHECK;

/* The id of the task that it wakes, for output; NULL when it wakes no known task. */
const char *waker_task(struct collector *c, struct waker w);
/*
 * Does the waker wake the task or thread whose wakers have own as their data (0: unknown)?
 * WAKER_REGISTERED_NO when there is no waker, when it is one of std or futures that does nothing,
 * or when it wakes another task or thread.
 */
enum waker_registered waker_registered_in(struct collector *c, struct waker w, uint64_t own);
/* waker_registered_in() for the waker at v, as waker_read() reads it. *vacant: there is none. */
struct error *waker_stored(struct collector *c, struct value v, uint64_t own,
                           enum waker_registered *ret, bool *vacant) MUST_CHECK;
/* The id of a task, marked; in c->words. */
const char *waker_task_text(struct collector *c, const char *id);
/*
 * Text for people, marked: "task 5", "thread 1", "an unknown waker"; NULL when there is no waker.
 * In c->words.
 */
const char *waker_text(struct collector *c, struct waker w);
/*
 * Wakers printed as values: whom they wake, "Waker (task 5)", "Waker (noop)"; of a waker of an
 * unknown executor the name of its clone function. Rows for show_register().
 */
extern const struct show_row waker_shown[];

#endif
