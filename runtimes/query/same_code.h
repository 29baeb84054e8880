/*
 * Functions that share their code: `--icf=all` of lld and mold keeps one of those whose code is
 * equal, and the symbols of all. The debug info describes the one that is kept, and gives the
 * others the address 0.
 */
#ifndef RUNTIMES_QUERY_SAME_CODE_H
#define RUNTIMES_QUERY_SAME_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "dwarf/module/debuginfo.h"

/*
 * The other functions that have the code of the function at the run-time address, as a text: "a, b
 * and 7 more". Generic instances of one name, and coroutines, are named by their path alone. NULL:
 * none.
 */
const char *same_code_others(struct debuginfo *di, uint64_t addr, struct arena *a);

/*
 * The functions of the debug info whose code is that of the named one, or of instances of it: path
 * is the end of its path, in whole components. Those that the debug info has under that name are
 * left out. Fills at most max run-time addresses, each once, and returns their number.
 */
size_t same_code_owners(struct debuginfo *di, const char *path, uint64_t *ret, size_t max);
/* The path of the function at the run-time address; NULL: unknown. Lives in a. */
const char *same_code_path(struct debuginfo *di, uint64_t addr, struct arena *a);

#endif
