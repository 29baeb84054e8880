/* Finds functions by the end of their path. */
#ifndef DWARF_LOOKUP_FUNCTION_NAMES_H
#define DWARF_LOOKUP_FUNCTION_NAMES_H

#include "dwarf/module/debuginfo.h"

/* A function of the source; it may have many instances, or none. */
struct named_function {
	struct dwarf_module *dm;
	const char *plain; /* function_names_plain() of its instances */
	const char *shown; /* as the programmer wrote it: "app::Server::serve", without generics */
	const char *file;  /* full path as in DWARF */
	unsigned line;     /* of its declaration */
	bool is_async;     /* the body of an async function, block or closure */
};

/* A qualified name without generics: "app::{impl#0}::serve::{async_fn#0}". */
const char *function_names_plain(struct arena *a, const char *name);

/*
 * The functions of whose shown path, or of whose plain name, path is the end, whole components. A
 * method of a trait's impl is found by its type: "Type::method". Reads the names of all units of
 * modules that are no libraries of the C runtime. ERR_INTERRUPTED at ^C.
 */
struct error *function_names_find(struct debuginfo *di, const char *path, struct arena *a,
                                  struct named_function **ret, size_t *n) MUST_CHECK;

#endif
