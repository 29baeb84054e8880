/*
 * Records of the inlined functions that show what a thread does ("marker functions": block_on, the
 * poll of a task). A layout file keeps them, because it has no debug info to query for each
 * address.
 */
#ifndef DWARF_LOOKUP_INLINED_H
#define DWARF_LOOKUP_INLINED_H

#include "dwarf/lookup/lookup.h"

/*
 * Is this function a marker function? Called for a DIE that is inlined somewhere, possibly often.
 */
typedef bool inlined_wanted(struct dwarf_module *dm, uint64_t die, void *arg);

/*
 * Records (RECORD_INLINES) which marker functions are inlined into the function of this DIE, at
 * which addresses, and the lines of their calls. Functions that are inlined between them are left
 * out. False when there are none.
 */
bool inlined_keep(struct dwarf_module *dm, uint64_t die, inlined_wanted *wanted, void *arg);

/*
 * The inlining chain at a link-time pc of f, from these records. Like lookup_locations(), but
 * without the innermost line. NULL when f has no such record.
 */
struct location *inlined_places(const struct function *f, uint64_t pc, struct arena *a, bool lines,
                                size_t *nret);

#endif
