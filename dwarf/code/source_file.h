/*
 * Text of source files. Debug info has the path that a file had where the program was built; here
 * it may lie elsewhere, or be another file. Names and contents are hostile: only regular files of
 * limited size are read, and each line that is returned is clean.
 */
#ifndef DWARF_CODE_SOURCE_FILE_H
#define DWARF_CODE_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/base/vec.h"

enum {
	SOURCE_MAX_BYTES = 16 << 20, /* of a file */
	SOURCE_MAX_LINE = 4096,      /* bytes of a line that are returned */
	SOURCE_MAX_TRIED = 16,       /* paths that are tried for one file */
};

/*
 * Files below the directory `from` of the build are below `to` here. A relative one is below the
 * directory of the unit, or here below the working directory.
 */
struct source_map {
	const char *from, *to;
};

/* A file that was read; see source_files_open(). */
struct source_text {
	const char *path; /* where it was found; not clean */
	bool moved;       /* not where the debug info says */
	int64_t modified; /* st_mtim, in seconds */
	size_t nlines;
	/* private */
	uint8_t *bytes;
	size_t size;
	uint32_t *starts; /* offsets of the lines */
	uint64_t key;
};

/* A zeroed struct has no map, and nothing read. */
struct source_files {
	VEC(struct source_map) maps; /* in the order given: the first that fits is tried first */
	VEC(struct source_text *) read;
	VEC(uint64_t) warned; /* see source_files_is_news() */
	struct arena arena;
};

/*
 * Adds a map from its text FROM=TO. ERR_USAGE if it is none. A map of the same FROM replaces the
 * earlier one; an empty TO removes it.
 */
struct error *source_files_add_map(struct source_files *s, const char *text) MUST_CHECK;

/*
 * Finds and reads a file. file: its path in the debug info, NULL is not allowed; comp_dir: that of
 * its unit (DW_AT_comp_dir), to which a relative file belongs; NULL: unknown. Tried are, in this
 * order: the maps; the path itself; for a dependency its package in the folders of
 * $CARGO_HOME/registry/src and $CARGO_HOME/git/checkouts; for std the rust-src of each toolchain
 * below $RUSTUP_HOME that has the same commit of rustc; a path relative to the unit's directory in
 * the working directory. ERR_STATE if it is nowhere: the message names what was tried, and what
 * helps. *ret lives until the next call of a function of s.
 */
struct error *source_files_open(struct source_files *s, const char *file, const char *comp_dir,
                                const struct source_text **ret) MUST_CHECK;

/*
 * Line n, from 1, without its end, in arena a: clean, with blanks for tabs (to the next multiple of
 * 8 columns). NULL: there is no such line.
 */
const char *source_text_line(const struct source_text *t, unsigned n, struct arena *a);

/* Whether this is the first call for that text: to print a message on a file once. */
bool source_files_is_news(struct source_files *s, const struct source_text *t);

void source_files_close(struct source_files *s);

#endif
