/*
 * Paths of functions as a programmer types them, from the symbols alone: without generics, hashes
 * and closures, an async function by its own path, a method by its type. A function that is inlined
 * wherever it is called has no symbol. Names are hostile: see demangle.h.
 */
#ifndef DWARF_MODULE_FUNCTION_PATHS_H
#define DWARF_MODULE_FUNCTION_PATHS_H

#include "dwarf/module/debuginfo.h"

enum {
	FUNCTION_PATHS_MAX = 1 << 21, /* symbols of a module that are looked at */
	FUNCTION_PATHS_NEAR = 3,
};

/*
 * The path of a symbol's function: "app::Server::serve". NULL: it is no function of Rust, or one
 * that cannot be typed, as glue of the compiler.
 */
const char *function_paths_of(struct arena *a, const char *symbol);

/*
 * Calls visit with the path of each function that has a symbol, in modules that are no libraries of
 * the C runtime; a path may come several times. part: only those whose symbols contain these bytes,
 * which saves the time to demangle others. own: its crate is the program's own, as far as debug
 * info that is open already shows: no debug info is opened for it. ERR_INTERRUPTED at ^C.
 */
typedef void function_paths_fn(const char *path, bool own, void *arg);
struct error *function_paths_each(struct debuginfo *di, const char *part, function_paths_fn *visit,
                                  void *arg) MUST_CHECK;

/*
 * The paths that a path which is that of no function probably means, FUNCTION_PATHS_NEAR at most:
 * those whose last components, as many as it has, differ least from it (nearest.h); of the
 * program's own crates, or else of others. In the arena; the array is the caller's.
 */
struct error *function_paths_near(struct debuginfo *di, const char *typed, struct arena *a,
                                  const char **ret, size_t *n) MUST_CHECK;

#endif
