/*
 * The separate debug file of a module: looked for where gdb and libdwfl look, opened only where it
 * is a regular file, and believed only where something proves that it is of the same build.
 */
#ifndef DEBUGGER_TARGET_DEBUG_FILE_H
#define DEBUGGER_TARGET_DEBUG_FILE_H

#include <stddef.h>
#include <stdint.h>

struct target;
struct module;

/* What an ELF file says of the debug file that it needs. */
struct debug_link {
	const char *name; /* of .gnu_debuglink or .gnu_debugaltlink; NULL: there is none */
	uint32_t crc;     /* of the whole file, for a file without a build-id; 0 unknown */
	const unsigned char *build_id; /* NULL and 0 where it has none */
	size_t build_id_len;
};

/*
 * A descriptor of the file that link asks for, and in *path its name, for free(); -1 where none
 * fits. The build-id must be the same. Where link has none, the checksum must be; where it has
 * neither, no file is believed, whatever its name. beside: the file that the link is in.
 *
 * In this order: by build-id below .build-id of the directories for debug files, which are the
 * system's and that of the target's root; by name beside the file, below .debug there, and in
 * the directories for debug files, below the file's directory or the ends of that; then from a
 * debuginfod server (debuginfod.h). While the target stands still, no server is asked.
 *
 * The first file that was refused, or a server that took too long, is told in m->debug_note where
 * no file fits.
 */
int debug_file_find(struct target *t, struct module *m, const char *beside,
                    const struct debug_link *link, char **path);

#endif
