/* Paths of source files for display, and the packages that they belong to. */
#ifndef DWARF_NAMES_SOURCE_H
#define DWARF_NAMES_SOURCE_H

#include <stdbool.h>

#include "debugger/base/arena.h"

/* A source file for display. */
struct source {
	/*
	 * "src/main.rs": relative to the compilation directory. "tokio-1.54.1/src/time/sleep.rs",
	 * "library/core/src/future/mod.rs": in a package from Cargo's registry, a checkout, a
	 * vendored copy, or std. ".../bits/stdio.h": the last two components of any other file.
	 */
	const char *text;
	bool library; /* not of the program's own code */
};

/*
 * comp_dir: DW_AT_comp_dir of its unit, NULL unknown; a relative file is taken as relative to it.
 * own: debuginfo_own_package(), NULL when the program's code is in no package.
 */
struct source source_of(struct arena *a, const char *file, const char *comp_dir, const char *own);

/* The directory of the package that contains this directory or file; NULL if there is none. */
const char *source_package(struct arena *a, const char *path);

#endif
