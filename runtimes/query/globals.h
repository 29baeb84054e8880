/* The statics of a program, by what a user calls them. */
#ifndef RUNTIMES_QUERY_GLOBALS_H
#define RUNTIMES_QUERY_GLOBALS_H

#include "dwarf/lookup/lookup.h"
#include "runtimes/common/inspector.h"

/*
 * The static of that name, with its whole path ("app::config::LIMIT"), the end of it, or without
 * one. *found false: there is none. ERR_USAGE where the name could mean several, or a thread-local,
 * and says which; ERR_INTERRUPTED at ^C. The result's name lives in the arena.
 */
struct error *globals_find(struct inspector *in, const char *name, struct arena *a,
                           struct global *ret, bool *found) MUST_CHECK;
/* Is a name without a path told without going through much debug info? */
bool globals_is_near(const struct inspector *in);

#endif
