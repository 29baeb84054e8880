/*
 * Functions that share their code: `--icf=all` of lld and mold keeps one of those whose code is
 * equal, and the symbols of all. The debug info describes the one that is kept, and gives the
 * others the address 0.
 */
#ifndef RUNTIMES_QUERY_SAME_CODE_H
#define RUNTIMES_QUERY_SAME_CODE_H

#include <stdint.h>

#include "dwarf/module/debuginfo.h"

/*
 * The other functions that have the code of the function at the run-time address, as a text: "a, b
 * and 7 more". Generic instances of one name, and coroutines, are named by their path alone. NULL:
 * none.
 */
const char *same_code_others(struct debuginfo *di, uint64_t addr, struct arena *a);

/*
 * The function of the debug info whose code is that of the named one: path is the end of its path,
 * in whole components. NULL: there is no such symbol, or the debug info has the function itself.
 */
const char *same_code_owner(struct debuginfo *di, const char *path, struct arena *a);

#endif
