/*
 * Finds the separate debug file of a module. It searches where gdb and libdwfl search, opens only
 * regular files, and accepts a file only if its build-id or checksum shows that it is of the same
 * build.
 */
#ifndef DEBUGGER_TARGET_DEBUG_FILE_H
#define DEBUGGER_TARGET_DEBUG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"

struct target;
struct module;

/* The reference in an ELF file to its debug file. */
struct debug_link {
	const char *name; /* from .gnu_debuglink or .gnu_debugaltlink; NULL: none */
	uint32_t crc;     /* of the whole debug file, checked if it has no build-id; 0 unknown */
	const unsigned char *build_id; /* NULL and 0 where it has none */
	size_t build_id_len;
};

/*
 * Returns a descriptor of the file that link refers to, and its name in *path, to be freed with
 * free(); -1 if no file matches. The build-id must be the same. If link has none, the checksum must
 * match. If link has neither, no file is accepted, whatever its name. beside: the file that
 * contains link.
 *
 * Search order: by build-id below .build-id in the debug directories, which are the system's and
 * that of the target's root; by name next to the file, below .debug there, and in the debug
 * directories, below the file's directory or its trailing components; then from a debuginfod server
 * (debuginfod.h). No server is queried while the target is stopped.
 *
 * If no file matches, m->debug_note says why the first file was rejected, or that a server took too
 * long.
 */
int debug_file_find(struct target *t, struct module *m, const char *beside,
                    const struct debug_link *link, char **path);

/*
 * The path, in arena a, of a regular file that is named as the debug file of m by build-id but for
 * its ending: .build-id/ab/cdef.ENDING in one of the debug directories. NULL: there is none.
 */
const char *debug_file_sibling(struct arena *a, const struct target *t, const struct module *m,
                               const char *ending);

#endif
