/* Who holds what a task waits for, and what it holds itself, for the output formats. */
#ifndef RUNTIMES_ANALYSIS_HOLDERS_H
#define RUNTIMES_ANALYSIS_HOLDERS_H

#include "debugger/base/map.h"
#include "runtimes/model/model.h"

/* Does the wait end by what somebody holds, so that not to find it is worth saying? */
bool holders_has_holder(const struct wait *w);

/* How many tasks wait at each primitive. */
struct waiting {
	bool counted; /* holders_waiting_count() has been here */
	struct map by_primitive;
	struct arena arena;
};
void holders_waiting_count(const struct snapshot *s, struct waiting *ret);
uint64_t holders_waiting_at(const struct waiting *w, uint64_t primitive);
/* It is then as good as new. */
void holders_waiting_free(struct waiting *w);

/* What the thread that runs a task sits in; NULL nothing. */
const struct wait *holders_blocked_in(const struct snapshot *s, const struct task *task);
/* Has the task it, or could it end a wait of the task's, or of the thread that runs it? */
bool holders_concern(const struct snapshot *s, const struct holding *h, const struct task *task);

#endif
