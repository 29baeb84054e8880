/*
 * The cache: a directory with one file of records (records.h) for each module whose debug info was
 * read, so that the next run on the same program need not read it. Everything in it may be deleted
 * at any time.
 *
 * A file is named by the module's build-id. A module without a build-id, or with one of fewer than
 * 8 bytes, is not cached. Neither is a module without full debug info: that may be installed later.
 * A file is valid when its build-id and its fingerprint match the module. The fingerprint is
 * computed from all section headers, because a build-id can be chosen by whoever links. A file that
 * is torn, rotten or of another version is ignored, logged (topic "cache") and rewritten.
 *
 * asyncdbg may run as root: a directory or file is not used if it does not belong to the effective
 * user, if others may write to it, or if it is a symbolic link.
 */
#ifndef DWARF_STORE_CACHE_H
#define DWARF_STORE_CACHE_H

#include "dwarf/module/debuginfo.h"
#include "dwarf/records/records.h"

enum {
	CACHE_MAX_FILE = 32 << 20,   /* a file that would be larger is not written */
	CACHE_MAX_TOTAL = 512 << 20, /* of all; the least recently used are deleted */
};

/*
 * $XDG_CACHE_HOME/asyncdbg, or else $HOME/.cache/asyncdbg if that home belongs to the effective
 * user; NULL when neither is an absolute path.
 */
const char *cache_directory(struct arena *a);

/* Loads a module's records from the cache; empty records if there are none. Never NULL. */
struct records *cache_open(struct dwarf_module *dm);
/* Writes new records to the cache if possible, and frees the records. */
void cache_close(struct dwarf_module *dm);

/*
 * Reading and writing by path, for tests. cache_write() replaces the file atomically. It removes
 * unfinished files of runs that died (.records.PID.new of a PID that no longer exists), and deletes
 * the least recently used files until the total size is at most max_total, including files that
 * others are writing. Errors are for the log.
 */
struct error *cache_read(const char *directory, const struct records_identity *identity,
                         struct records *ret) MUST_CHECK;
struct error *cache_write(const char *directory, const struct records_identity *identity,
                          const struct records *f, uint64_t max_total) MUST_CHECK;

#endif
