/* Folds the list of unsearched places into a few lines, one for each reason. */
#ifndef RUNTIMES_ANALYSIS_UNSEARCHED_H
#define RUNTIMES_ANALYSIS_UNSEARCHED_H

#include "runtimes/model/model.h"

/*
 * Joins the texts of snapshot.unsearched that have the same reason into one line, in order of first
 * occurrence: "variable `m` of a::b; variable `g` of a::c; and 2 more (--json has all): REASON",
 * "values shared through anArc<A>; Arc<B>". The lines are not sanitized. Returns *n lines in arena
 * a.
 */
enum names { NAMES_FOLDED, NAMES_SHORT, NAMES_FULL };
const char *const *unsearched_lines(struct arena *a, const struct snapshot *s, enum names names,
                                    size_t *n);

#endif
