/* What was not searched for who holds what, in few lines: one for each reason. */
#ifndef RUNTIMES_ANALYSIS_UNSEARCHED_H
#define RUNTIMES_ANALYSIS_UNSEARCHED_H

#include "runtimes/model/model.h"

/*
 * The texts of snapshot.unsearched whose reason is the same as one line, in the order of the first
 * of each: "variable `m` of a::b; variable `g` of a::c; and 2 more (--json has all): REASON",
 * "what several share by an Arc<A>; Arc<B>". Not cleaned. In arena
 * a, *n of them.
 */
enum names { NAMES_FOLDED, NAMES_SHORT, NAMES_FULL };
const char *const *unsearched_lines(struct arena *a, const struct snapshot *s, enum names names,
                                    size_t *n);

#endif
