/* Finds the statics of a program by the names that a user types. */
#ifndef RUNTIMES_QUERY_GLOBALS_H
#define RUNTIMES_QUERY_GLOBALS_H

#include "dwarf/lookup/lookup.h"
#include "runtimes/common/inspector.h"

/*
 * Finds the static with this name: a whole path ("app::config::LIMIT"), the last parts of one, or
 * the bare name. *found false: there is none. ERR_USAGE if the name is ambiguous (the message lists
 * the candidates) or means a thread-local; ERR_INTERRUPTED at ^C. The result's name is in the
 * arena.
 */
struct error *globals_find(struct inspector *in, const char *name, struct arena *a,
                           struct global *ret, bool *found) MUST_CHECK;
/* Whether a name without a path can be found without reading much debug info. */
bool globals_is_near(const struct inspector *in);

#endif
