/* Opens the debug info of a target with the services of lookup/ and store/. */
#ifndef DWARF_STORE_OPEN_H
#define DWARF_STORE_OPEN_H

#include "dwarf/module/debuginfo.h"

/* debuginfo_open() with the hooks of lookup/ and store/. */
struct error *dwarf_open(struct target *t, struct debuginfo **ret) MUST_CHECK;

#endif
