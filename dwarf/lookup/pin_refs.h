/*
 * Units that mention a type `Pin<&mut T>`, by the text of its name in .debug_str. Every function
 * that polls T has an argument of that type, so its unit mentions it, or with link-time
 * optimisation another unit of the same object file.
 */
#ifndef DWARF_LOOKUP_PIN_REFS_H
#define DWARF_LOOKUP_PIN_REFS_H

#include "dwarf/module/debuginfo.h"

typedef void pin_refs_fn(struct unit *u, void *arg);

/*
 * Calls visit for the units that mention core::pin::Pin<&mut T> and that poll_fn_read() did not
 * search, where T is the qualified name of a type. Nothing is scanned. A unit may be visited that
 * does not mention it: bytes are compared, not attributes. A unit whose names are not in .debug_str
 * is not visited.
 */
void pin_refs_each_unit(struct dwarf_module *dm, const char *type_name, pin_refs_fn *visit,
                        void *arg);

#endif
