/*
 * A layout file: the records (records.h) that are needed to decode the tasks of an executable, in a
 * separate file, for programs whose debug info is not available.
 *
 * It is the output of records_save(), with whole set. It is stored as is or, if that makes it much
 * smaller, compressed: "adbfactz", the uncompressed size (8 bytes), a zlib stream.
 *
 * It belongs to a program by build-id. If the build-id differs or is missing, it belongs to a
 * program with the same code: the fingerprint covers all bytes of the executable sections, and the
 * addresses and sizes of all loaded sections. Then every address in it is right, whichever tool
 * changed the file since (strip, objcopy, a linker's --build-id). Nothing less is accepted.
 *
 * In particular, similarity between two builds is not enough. Cargo gives each profile its own
 * symbol hashes, even if only `debug` or `strip` differ, which changes the order, the sizes and the
 * number of functions (rustc 1.95, tokio 1.47: of 2,718 functions with names, 20 were in one build
 * only). And the poll functions of tasks, jumps of 5 bytes, all have the same symbol name without
 * that hash.
 */
#ifndef DWARF_STORE_LAYOUT_FILE_H
#define DWARF_STORE_LAYOUT_FILE_H

#include "dwarf/module/debuginfo.h"
#include "dwarf/records/records.h"

enum { LAYOUT_MAX_FILE = 64 << 20, LAYOUT_MAX_SIZE = 512 << 20 };

/* Writes the file atomically: an older file of that name stays until the new one is complete. */
struct error *layout_file_write(const char *path, const struct dwarf_module *dm,
                                const struct records *f, uint64_t *size) MUST_CHECK;

/*
 * Reads a layout file of any program into new records. ERR_CORRUPT and ERR_UNSUPPORTED as
 * records_load(), ERR_USAGE when it is no layout file.
 */
struct error *layout_file_load(const char *path, struct records *f) MUST_CHECK;

/*
 * Makes dm use the file instead of its debug info, which is not opened then. ERR_USAGE when the
 * file is of another program, unless force: then *differs says what differs, else it is NULL. Other
 * errors as layout_file_load().
 */
struct error *layout_file_use(const char *path, struct dwarf_module *dm, bool force,
                              const char **differs) MUST_CHECK;

#endif
