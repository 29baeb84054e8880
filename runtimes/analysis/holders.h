/*
 * Queries of resource owners for the output formats: owners of the resources that a task waits for,
 * and the resources that a task owns.
 */
#ifndef RUNTIMES_ANALYSIS_HOLDERS_H
#define RUNTIMES_ANALYSIS_HOLDERS_H

#include "debugger/base/map.h"
#include "runtimes/model/model.h"

/*
 * Whether a resource owner can end this kind of wait, so that the output must report when none was
 * found.
 */
bool holders_has_holder(const struct wait *w);

/* The number of tasks that wait at each primitive. */
struct waiting {
	bool counted; /* holders_waiting_count() has filled it */
	struct map by_primitive;
	struct arena arena;
};
void holders_waiting_count(const struct snapshot *s, struct waiting *ret);
uint64_t holders_waiting_at(const struct waiting *w, uint64_t primitive);
/* Resets *w to its initial state. */
void holders_waiting_free(struct waiting *w);

/* The wait of the thread that runs the task; NULL: none. */
const struct wait *holders_blocked_in(const struct snapshot *s, const struct task *task);
/* Whether the task owns h, or h could end a wait of the task or of the thread that runs it. */
bool holders_concern(const struct snapshot *s, const struct holding *h, const struct task *task);

#endif
