/* Source files as people read them, and whose they are. */
#ifndef DWARF_NAMES_SOURCE_H
#define DWARF_NAMES_SOURCE_H

#include <stdbool.h>

#include "debugger/base/arena.h"

/* A source file for reading. */
struct source {
	/*
	 * "src/main.rs": below the directory that it was compiled in.
	 * "tokio-1.54.1/src/time/sleep.rs", "library/core/src/future/mod.rs": of a package in
	 * Cargo's registry, a checkout, a vendored copy, std. ".../bits/stdio.h": anywhere else,
	 * its last two components.
	 */
	const char *text;
	bool library; /* not of the program's own code */
};

/*
 * comp_dir: DW_AT_comp_dir of its unit, NULL unknown; a relative file is taken to be below it. own:
 * what debuginfo_own_package() says, NULL where the program's code is in no package.
 */
struct source source_of(struct arena *a, const char *file, const char *comp_dir, const char *own);

/* Below which directory the package lies that has this directory or file in it; NULL: in none. */
const char *source_package(struct arena *a, const char *path);

#endif
