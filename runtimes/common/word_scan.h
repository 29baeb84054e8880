/*
 * Scans the program's writable memory, as it is now, for words that point into ranges: to find the
 * objects that begin with, or contain, the address of a constant such as a vtable.
 */
#ifndef RUNTIMES_COMMON_WORD_SCAN_H
#define RUNTIMES_COMMON_WORD_SCAN_H

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "runtimes/common/inspector.h"

/* Limits without $ASYNCDBG_SCAN. */
enum { WORD_SCAN_MIB = 1024, WORD_SCAN_MS = 200 };

/* The words from low on, size of them in bytes. of belongs to the caller. */
struct word_range {
	uint64_t low, size;
	void *of;
};

/* Memory that was scanned and belongs to a module: statics. */
struct word_piece {
	uint64_t start, end;
};

struct word_scan;
/* Called for each aligned word at addr that lies in the range. False: there are too many hits. */
typedef bool word_scan_fn(struct word_scan *s, const struct word_range *r, uint64_t addr,
                          uint64_t word);

/*
 * Runs one scan. It ends after WORD_SCAN_MIB, after WORD_SCAN_MS of processor time, or after ten
 * times that in all, without what it waits for a processor; $ASYNCDBG_SCAN sets other limits: "MIB"
 * or "MIB,MS"; 0 disables the scan. Fails only when the target is gone, and at ^C. *cut: why not
 * all memory was scanned, with advice, allocated in in's arena; NULL: all was. sought names what
 * may be missing then: "tasks of runtimes that no thread is inside". met may use word_scan_read().
 * after is called at the end, before the scan is freed; NULL: nothing is.
 */
struct error *word_scan_run(struct inspector *in, const struct word_range *ranges, size_t nranges,
                            const char *sought, word_scan_fn *met,
                            void (*after)(struct word_scan *s), void *arg, const char **cut)
	MUST_CHECK;

/* ---- during a scan ---- */

/* What word_scan_run() was given. */
struct inspector *word_scan_inspector(const struct word_scan *s);
void *word_scan_arg(const struct word_scan *s);
/* The 8 bytes at addr, from the memory being scanned where they are in it; false: unreadable. */
bool word_scan_read(struct word_scan *s, uint64_t addr, uint64_t *ret);
/* The statics that were scanned so far. */
const struct word_piece *word_scan_statics(const struct word_scan *s, size_t *n);
/* Memory for reading a piece of statics; *size: its size in bytes. */
uint64_t *word_scan_buffer(struct word_scan *s, size_t *size);
/* For the log: bytes scanned, and processor time. */
uint64_t word_scan_bytes(const struct word_scan *s);
uint64_t word_scan_worked_ns(const struct word_scan *s);

#endif
