/*
 * Of the functions inlined into others, the few that tell what a thread does, as records: for a
 * layout file, which has no debug info to ask at each address.
 */
#ifndef DWARF_LOOKUP_INLINED_H
#define DWARF_LOOKUP_INLINED_H

#include "dwarf/lookup/lookup.h"

/* Is this function one to keep? Called for a DIE that is inlined somewhere, maybe often. */
typedef bool inlined_telling(struct dwarf_module *dm, uint64_t die, void *arg);

/*
 * Keeps (RECORD_INLINES) which telling functions are inlined into that of this DIE, where, and the
 * lines they are called at; false when there are none. What is inlined between them is left out.
 */
bool inlined_keep(struct dwarf_module *dm, uint64_t die, inlined_telling *telling, void *arg);

/*
 * The chain at a link-time pc of f by that, as lookup_locations() has it but for the innermost
 * line; NULL when nothing was kept of f.
 */
struct location *inlined_places(const struct function *f, uint64_t pc, struct arena *a, bool lines,
                                size_t *nret);

#endif
