/* Everything that decoding the tasks of a program could ask of its debug info, asked beforehand. */
#ifndef RUNTIMES_INSPECT_LAYOUT_EXPORT_H
#define RUNTIMES_INSPECT_LAYOUT_EXPORT_H

#include "runtimes/inspect/inspect.h"

/* What layout_export_write() has done. */
struct rehearsal {
	size_t tasks;          /* poll functions of tasks */
	size_t types, written; /* described in the debug info; told apart in the file */
	uint64_t size;         /* of the file, bytes */
};

/* Told now and then; percent counts up to 100. */
typedef void rehearse_progress(unsigned percent, void *arg);

/*
 * Writes a layout file (dwarf/store/layout_file.h) for the executable of in's target, one of
 * target_file_open(). ERR_LAYOUT when it has no tokio or no full debug info.
 */
struct error *layout_export_write(struct inspector *in, const char *path,
                                  rehearse_progress *progress, void *arg, struct rehearsal *ret)
	MUST_CHECK;

#endif
