/*
 * Exports a layout file: makes all debug info queries that decoding the tasks of a program can
 * make, and writes the results to a file.
 */
#ifndef RUNTIMES_INSPECT_LAYOUT_EXPORT_H
#define RUNTIMES_INSPECT_LAYOUT_EXPORT_H

#include "runtimes/inspect/inspect.h"

/* Statistics of layout_export_write(). */
struct warm_up {
	size_t tasks;          /* poll functions of tasks */
	size_t types, written; /* read from the debug info; distinct types in the file */
	uint64_t size;         /* of the file, bytes */
};

/* Called from time to time; percent rises to 100. */
typedef void warm_up_progress(unsigned percent, void *arg);

/*
 * Writes a layout file (dwarf/store/layout_file.h) for the executable of in's target, which must
 * come from target_file_open(). ERR_NO_DEBUGINFO without full debug info; ERR_LAYOUT without tokio.
 */
struct error *layout_export_write(struct inspector *in, const char *path,
                                  warm_up_progress *progress, void *arg, struct warm_up *ret)
	MUST_CHECK;

#endif
