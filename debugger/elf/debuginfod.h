/*
 * Fetches debug files from a debuginfod server with libdebuginfod, which is loaded on first use if
 * it is installed. Used only if the user has set DEBUGINFOD_URLS.
 */
#ifndef DEBUGGER_ELF_DEBUGINFOD_H
#define DEBUGGER_ELF_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>

enum debuginfod_result {
	DEBUGINFOD_FOUND,
	DEBUGINFOD_ABSENT,      /* no server has it, or no library or server is available */
	DEBUGINFOD_SILENT,      /* timed out: do not query again */
	DEBUGINFOD_INTERRUPTED, /* the user pressed ^C */
};

/* Whether the user has set DEBUGINFOD_URLS. */
bool debuginfod_is_wanted(void);

/*
 * Fetches the debug file with a build-id, from a server or from the library's own cache. *fd: a
 * descriptor that the caller owns, of whatever file the library has opened; *path: its name, to be
 * freed with free(), "" if unknown. The contents were not checked against the build-id.
 *
 * The library works in a thread of its own and may block there. This function returns when the user
 * presses ^C, when no byte has arrived for 15 seconds, or after ten minutes. If the user sets
 * DEBUGINFOD_TIMEOUT or DEBUGINFOD_MAXTIME (seconds, 0: no limit), they replace these two limits.
 */
enum debuginfod_result debuginfod_find(const unsigned char *build_id, size_t len, int *fd,
                                       char **path);

#endif
