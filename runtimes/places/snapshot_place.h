/* Places where the tasks of a snapshot wait, in the form that a trace has them. */
#ifndef RUNTIMES_PLACES_SNAPSHOT_PLACE_H
#define RUNTIMES_PLACES_SNAPSHOT_PLACE_H

#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "runtimes/model/model.h"
#include "runtimes/places/place.h"

/* The places that were asked for, which live as long. All zeros: none yet. */
struct snapshot_places {
	struct map known; /* by their frames -> struct trace_place */
	struct arena arena;
};

/* The place where a task waits; NULL: it is polled, or unknown. Equal places are the same object.
 */
const struct trace_place *snapshot_place(struct snapshot_places *p, const struct task *task);
/*
 * Whether a task without a place has one all the same, which is unknown: it has been polled, or may
 * have been, and its future is a coroutine, or was not read.
 */
bool snapshot_place_is_unknown(const struct task *task);
void snapshot_place_free(struct snapshot_places *p);

#endif
