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

/*
 * Calls visit once with each file whose path has typed at the beginning of a component ("ma",
 * "src/ma"), of modules whose debug info is open: none is opened for it. own: it is no library's.
 * path is valid during the call. ERR_INTERRUPTED at ^C.
 */
typedef void source_path_fn(const char *path, bool own, void *arg);
struct error *source_path_each(struct debuginfo *di, const char *typed, source_path_fn *visit,
                               void *arg) MUST_CHECK;

#endif
