/*
 * Debug files from a debuginfod server, by libdebuginfod where that is installed (it is loaded when
 * it is needed). Only where the user has set DEBUGINFOD_URLS.
 */
#ifndef DEBUGGER_ELF_DEBUGINFOD_H
#define DEBUGGER_ELF_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>

enum debuginfod_result {
	DEBUGINFOD_FOUND,
	DEBUGINFOD_ABSENT,      /* no server has it, or there is no library or no server to ask */
	DEBUGINFOD_SILENT,      /* took too long: it is not worth asking again */
	DEBUGINFOD_INTERRUPTED, /* by ^C */
};

/* Whether the user wants it. */
bool debuginfod_is_wanted(void);

/*
 * Fetches the debug file of a build-id, or finds it in the library's own cache. *fd: a descriptor
 * of the caller's, of whatever the library has opened; *path: its name, for free(), "" unknown.
 * Nothing in it was compared with the build-id.
 *
 * The library works in a thread of its own and may wait wherever it likes; this returns when the
 * user presses ^C, when no byte has come for 15 seconds, or after ten minutes. Where the user sets
 * DEBUGINFOD_TIMEOUT or DEBUGINFOD_MAXTIME (seconds, 0: no limit), these count in place of the two.
 */
enum debuginfod_result debuginfod_find(const unsigned char *build_id, size_t len, int *fd,
                                       char **path);

#endif
