/* Completes places in the code as they are typed: functions, and the file part of FILE:LINE. */
#ifndef RUNTIMES_QUERY_COMPLETE_PLACE_H
#define RUNTIMES_QUERY_COMPLETE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/arena.h"

struct debuginfo;

enum {
	COMPLETE_PLACE_MAX = 1000,      /* words that are offered */
	COMPLETE_PLACE_COMPONENTS = 32, /* of a path, from its end */
};

/*
 * The words that begin with partial and bring a path further, from any of its components on. Of a
 * function the component that partial is in: for "app::server::serve", "se" becomes "server::" and
 * "serve", "app::s" "app::server::". Of a file the rest, with a colon: "s" becomes "src/main.rs:".
 * In the arena.
 */
size_t complete_place_words(struct arena *a, const char *path, bool is_file, const char *partial,
                            const char *ret[COMPLETE_PLACE_COMPONENTS]);

/*
 * The words for functions that have a symbol and for files, of the program: those of its own
 * crates, or else of others; di may be NULL, for no program. None of debug info that is not open
 * yet, and none where there are more than COMPLETE_PLACE_MAX. In the arena.
 */
size_t complete_place_list(struct debuginfo *di, const char *partial, struct arena *a,
                           const char ***ret);

#endif
