/* Call sites of a function, by the return addresses of the calls that it has led to. */
#ifndef RUNTIMES_COMMON_CALL_SITE_H
#define RUNTIMES_COMMON_CALL_SITE_H

#include "runtimes/common/inspector.h"

struct code_map;

/*
 * Finds the caller of one of the runtime's spawners (struct runtime). addresses: n return
 * addresses, link-time, the innermost first; the first call is of the function that begins at
 * entry. inside: an instruction of that function, whose code may be inlined in the one that spawns,
 * and then needs no address; 0: none. False: unknown, since the way back is not complete, a
 * function was reached by a jump, or another function stands between. ret lives in a.
 */
bool call_site_of_spawn(struct inspector *in, const struct runtime *runtime,
                        const struct code_map *code, uint64_t entry, uint64_t inside,
                        const uint64_t *addresses, size_t n, struct arena *a,
                        struct source_place *ret);

/* Whether what the runtime spawns may be a task of that one: it is the same, or spawns for it. */
bool call_site_spawns_for(const struct runtime *runtime, const struct runtime *of);

#endif
