/*
 * A layout file: the records (records.h) of an executable that decoding its tasks needs, in a file
 * of its own, for programs whose debug info is not at hand.
 *
 * It is a file of records_save(), whole, as it is or, where that makes it smaller by much,
 * compressed: "adbfactz", the size without compression (8 bytes), a zlib stream.
 *
 * It belongs to a program by build-id. Where the build-id differs, or there is none, it belongs to
 * one whose code is the same: the fingerprint is taken from all bytes of the executable segments
 * and from the addresses and sizes of all that is loaded. Then every address in it is right
 * whatever tool changed the file since (strip, objcopy, a linker's --build-id). Nothing less is
 * accepted. In particular not what a second build has in common with the first: cargo gives each
 * profile symbol hashes of its own, also where only `debug` or `strip` differ, and with them other
 * orders, sizes and numbers of functions (rustc 1.95, tokio 1.47: of 2,718 functions with names,
 * 20 were there in one build only); and the poll functions of tasks, jumps of 5 bytes, all
 * have the same symbol name without that hash.
 */
#ifndef DWARF_STORE_LAYOUT_FILE_H
#define DWARF_STORE_LAYOUT_FILE_H

#include "dwarf/module/debuginfo.h"
#include "dwarf/records/records.h"

enum { LAYOUT_MAX_FILE = 64 << 20, LAYOUT_MAX_SIZE = 512 << 20 };

/* Writes it in one step: an older file of that name stays until the new one is complete. */
struct error *layout_file_write(const char *path, const struct dwarf_module *dm,
                                const struct records *f, uint64_t *size) MUST_CHECK;

/*
 * Reads a layout file into new records, whatever program it is of. ERR_CORRUPT, ERR_UNSUPPORTED as
 * records_load(), ERR_USAGE where it is none.
 */
struct error *layout_file_load(const char *path, struct records *f) MUST_CHECK;

/*
 * From now on dm is what the file says, its debug info is not opened. ERR_USAGE when the file
 * is of another program, unless force: then *differs says in what, NULL otherwise. Other errors as
 * layout_file_load().
 */
struct error *layout_file_use(const char *path, struct dwarf_module *dm, bool force,
                              const char **differs) MUST_CHECK;

#endif
