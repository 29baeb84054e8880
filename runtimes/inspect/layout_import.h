/*
 * Opens the debug info of a target, or in place of that of its executable a layout file
 * (dwarf/store/layout_file.h): one that the user names, or one that lies beside the debug files.
 */
#ifndef RUNTIMES_INSPECT_LAYOUT_IMPORT_H
#define RUNTIMES_INSPECT_LAYOUT_IMPORT_H

#include "runtimes/common/inspector.h"
#include "runtimes/inspect/inspect.h"

/*
 * Sets in->di, and in->layout if a layout file is used; in->target and in->records are set. options
 * may be NULL. A file that options name is used in any case: ERR_USAGE when it is of another
 * program or the executable is unknown, and the errors of layout_file_load().
 *
 * Without one, an executable that has no full debug info is looked up by its build-id:
 * .build-id/ab/cdef.layout in the directories of debug_file.h. A file that is of another program or
 * corrupt is not used, which a note says.
 */
struct error *layout_import_open(struct inspector *in, const struct inspector_options *options)
	MUST_CHECK;

#endif
