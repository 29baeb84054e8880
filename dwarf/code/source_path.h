/* Finds the source files of a program by the end of their paths, as a user types them. */
#ifndef DWARF_CODE_SOURCE_PATH_H
#define DWARF_CODE_SOURCE_PATH_H

#include "dwarf/module/debuginfo.h"

struct source_path {
	const char *file;        /* full path as in DWARF */
	const char *comp_dir;    /* of a unit that has it; NULL: unknown */
	struct dwarf_module *dm; /* whose code it has */
};

enum { SOURCE_MAX_PATHS = 16 };

/*
 * The distinct files whose paths end in `typed`, whole components ("main.rs", "src/main.rs"), in
 * the order of modules and units; at most SOURCE_MAX_PATHS. Reads the file tables of all units, not
 * their lines. The list is in arena a, its strings in the debuginfo's. ERR_INTERRUPTED at ^C.
 */
struct error *source_path_find(struct debuginfo *di, const char *typed, struct arena *a,
                               struct source_path **ret, size_t *nret) MUST_CHECK;

#endif
