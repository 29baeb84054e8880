/* What was not searched for who holds what, in few lines: one for each reason. */
#ifndef COMMANDS_UNSEARCHED_H
#define COMMANDS_UNSEARCHED_H

#include "runtimes/model.h"

/*
 * The texts of snapshot.unsearched whose reason is the same as one line, in the order of the first
 * of each: "variable `m` of a::b; variable `g` of a::c; and 2 more (--json has all): REASON",
 * "what several share by an Arc<A>; Arc<B>". Names are short unless full_names; not cleaned. In
 * arena a, *n of them.
 */
const char *const *unsearched_lines(struct arena *a, const struct snapshot *s, bool full_names,
                                    size_t *n);

#endif
