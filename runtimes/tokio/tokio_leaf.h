/* The families of tokio's leaves; see runtimes/future/leaf.h. */
#ifndef RUNTIMES_TOKIO_TOKIO_LEAF_H
#define RUNTIMES_TOKIO_TOKIO_LEAF_H

#include "runtimes/future/leaf.h"

/* Ended by a row without type. */
extern const struct leaf_row leaf_time_rows[], leaf_task_rows[], leaf_sync_rows[], leaf_io_rows[],
	leaf_process_rows[], leaf_stream_rows[];
/* The paths that they read, for `info layout`; ended by a row without key. Roots are "type:...". */
extern const struct binding_row leaf_time_layout[], leaf_task_layout[], leaf_sync_layout[],
	leaf_io_layout[], leaf_process_layout[], leaf_stream_layout[];

/*
 * If t is the future of a signal: finds the static in which tokio stores whom each signal wakes,
 * which also identifies the signal. *ret is as lookup_static() fills it.
 */
bool leaf_signal_globals(const struct type *t, struct value *ret);

/*
 * tokio_header.c: notes the runtime at whose drivers a leaf of a LocalSet's task waits: the path
 * leads from v to a scheduler::Handle. Nothing where it does not.
 */
void leaf_driver_met(const struct leaf *l, struct value v, const char *path);
/* tokio_header.c: adds the detail "runtime" of a timer: the path leads from it to a Handle. */
void leaf_driver_of_timer(const struct leaf *l, const char *path);

/* leaf_arm() for a wait until v, a PollEvented, is readable. */
struct error *leaf_io_arm_read(struct leaf *l, struct value v) MUST_CHECK;

struct tokio;
struct tokio_header;
/*
 * leaf_arm() for a wait that ends with that task, or job of the blocking pool: the waker that a
 * poll of its JoinHandle stores in it.
 */
struct error *leaf_task_arm(struct leaf *l, const struct tokio *k, const struct tokio_header *h)
	MUST_CHECK;
/* Reads the header of a task of any copy of tokio, which *ret then is. */
struct error *leaf_task_read(struct collector *c, uint64_t addr, struct tokio_header *h,
                             struct tokio **ret) MUST_CHECK;

#endif
