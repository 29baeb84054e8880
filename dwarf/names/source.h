/* Paths of source files for display, and the packages that they belong to. */
#ifndef DWARF_NAMES_SOURCE_H
#define DWARF_NAMES_SOURCE_H

#include <stdbool.h>

#include "debugger/base/arena.h"

/* The folder in which a crate of the program's own was compiled. */
struct source_dir {
	const char *path; /* absolute, without a slash at its end */
	const char *name; /* of its files for display: "" of main()'s crate, else "c1", "libs/c1" */
};

/* The folders of all crates of the program's own. */
struct source_dirs {
	struct source_dir *list;
	size_t n;
};

/*
 * Reads a list of paths, each ended by a line feed; the first one is that of main()'s crate, empty
 * if it is unknown. A path that is listed twice counts once, and a single one is main()'s crate's.
 * A crate below that one has its path from there as its name, any other as many components of its
 * own as tell it from the others. text: NULL is the empty list.
 */
struct source_dirs source_dirs_read(struct arena *a, const char *text);

/* A source file for display. */
struct source {
	/*
	 * "src/main.rs": relative to where the crate of main() was compiled. "c1/src/lib.rs": of
	 * another crate of the program. "tokio-1.54.1/src/time/sleep.rs",
	 * "library/core/src/future/mod.rs": in a package from Cargo's registry, a checkout, a
	 * vendored copy, or std. ".../bits/stdio.h": the last two components of any other file.
	 */
	const char *text;
	bool library; /* not of the program's own code */
	/*
	 * The whole path on one line, or file where comp_dir is unknown; it tells files apart that
	 * have one text.
	 */
	const char *path;
};

/*
 * comp_dir: DW_AT_comp_dir of its unit, NULL unknown; a relative file is taken as relative to it.
 * own: debuginfo_own_package(), NULL when the program's code is in no package. dirs: NULL unknown;
 * then comp_dir stands for that of main()'s crate.
 */
struct source source_of(struct arena *a, const char *file, const char *comp_dir, const char *own,
                        const struct source_dirs *dirs);

/* The directory of the package that contains this directory or file; NULL if there is none. */
const char *source_package(struct arena *a, const char *path);

#endif
