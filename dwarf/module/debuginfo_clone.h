/*
 * A second debuginfo of the same program, for a thread of its own: what it learns of types,
 * functions and units is its own, and nothing that the first one goes on to learn is seen by it.
 * What was read of the files before is shared, and read only; what was answered before is known to
 * both.
 */
#ifndef DWARF_MODULE_DEBUGINFO_CLONE_H
#define DWARF_MODULE_DEBUGINFO_CLONE_H

#include "dwarf/module/debuginfo.h"

/*
 * Is what is known of the program, or may be learnt, so much that a second thread is worth its
 * twin? Nothing is opened for it.
 */
bool debuginfo_is_large(const struct debuginfo *di);
/*
 * t is read by that thread: see target_twin(). No other thread may use di meanwhile, which must
 * outlive the twin. debuginfo_close() frees it.
 */
struct debuginfo *debuginfo_twin(struct debuginfo *di, struct target *t);
/* Tells di all the facts that the twin has learnt, for the cache. The twin can only be closed then.
 */
void debuginfo_absorb(struct debuginfo *di, struct debuginfo *twin);

#endif
