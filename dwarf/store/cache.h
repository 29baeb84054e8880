/*
 * The cache: a directory with one file of records (records.h) for each module whose debug info was
 * read, so that the next look at the same program need not read it. Everything in it may be
 * deleted at any time.
 *
 * A file is named by the module's build-id; a module without one, or with one of fewer than 8
 * bytes, is not cached, nor is one without full debug info: that may be installed later. A file
 * counts when its build-id and its fingerprint are the module's, the latter taken from all
 * section headers: a build-id can be chosen by whoever links. It may be torn or rotten or of
 * another version: it is then ignored, which the log (topic "cache") says, and written anew.
 *
 * asyncdbg may run as root: a directory or file that does not belong to the effective user, that
 * others may write to, or that is a symbolic link, is not used.
 */
#ifndef DWARF_STORE_CACHE_H
#define DWARF_STORE_CACHE_H

#include "dwarf/module/debuginfo.h"
#include "dwarf/records/records.h"

enum {
	CACHE_MAX_FILE = 32 << 20,   /* a file that would be larger is not written */
	CACHE_MAX_TOTAL = 512 << 20, /* of all; the ones longest unused go */
};

/*
 * $XDG_CACHE_HOME/asyncdbg, else $HOME/.cache/asyncdbg where that home is the effective user's;
 * NULL when neither is an absolute path.
 */
const char *cache_directory(struct arena *a);

/* What the cache knows of a module; empty records when that is nothing. Never NULL. */
struct records *cache_open(struct dwarf_module *dm);
/* Writes what was learnt to the cache, if it can, and frees the records. */
void cache_close(struct dwarf_module *dm);

/*
 * The same by path, for tests. cache_write() replaces the file in one step, removes what runs that
 * died have left half written (.records.PID.new of a PID that lives no more), and drops the files
 * longest unused until all together, with those that others are writing now, are not larger than
 * max_total. Errors are for the log.
 */
struct error *cache_read(const char *directory, const struct records_identity *identity,
                         struct records *ret) MUST_CHECK;
struct error *cache_write(const char *directory, const struct records_identity *identity,
                          const struct records *f, uint64_t max_total) MUST_CHECK;

#endif
