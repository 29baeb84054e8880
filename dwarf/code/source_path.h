/* Paths of the source files of a program: for display, and as a user types them. */
#ifndef DWARF_CODE_SOURCE_PATH_H
#define DWARF_CODE_SOURCE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "dwarf/names/source.h"

struct debuginfo;
struct module;

/* source_of() for a file of the program. */
struct source source_path_of(struct debuginfo *di, struct arena *a, const char *file,
                             const char *comp_dir);
/*
 * A relative path, as the debug info of running code may have it, below a folder above the
 * program's package in which there is such a file; file where there is none.
 */
const char *source_path_below_package(struct debuginfo *di, struct arena *a, const char *file);

struct source_path {
	const char *file;            /* full path as in DWARF */
	const char *comp_dir;        /* of a unit that has it; NULL: unknown */
	const struct module *module; /* whose code it has */
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
