/*
 * Scans the program's writable memory, as it is now, for words that point into ranges: to find the
 * objects that begin with, or contain, the address of a constant such as a vtable.
 */
#ifndef RUNTIMES_COMMON_HEAP_SCAN_H
#define RUNTIMES_COMMON_HEAP_SCAN_H

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "runtimes/common/inspector.h"

/* Limits without $ASYNCDBG_SCAN. */
enum { HEAP_SCAN_MIB = 1024, HEAP_SCAN_MS = 200 };

/* The words from low on, size of them in bytes. of belongs to the caller. */
struct word_range {
	uint64_t low, size;
	void *of;
};

/* Memory that was scanned and belongs to a module: statics. */
struct word_piece {
	uint64_t start, end;
};

struct heap_scan;
/* Called for each aligned word at addr that lies in the range. False: there are too many hits. */
typedef bool heap_scan_fn(struct heap_scan *s, const struct word_range *r, uint64_t addr,
                          uint64_t word);

/*
 * Runs one scan. It ends after HEAP_SCAN_MIB, after HEAP_SCAN_MS of CPU time, or after ten times
 * that in all, without its waits for a CPU; $ASYNCDBG_SCAN sets other limits: "MIB" or "MIB,MS"; 0
 * disables the scan. Fails only when the target is gone, and at ^C. *cut: why not all memory was
 * scanned, with advice, allocated in in's arena; NULL: all was. sought names what may be missing
 * then: "tasks of runtimes that no thread is inside". met may use heap_scan_read(). after is called
 * at the end, before the scan is freed; NULL: nothing is.
 */
struct error *heap_scan_run(struct inspector *in, const struct word_range *ranges, size_t nranges,
                            const char *sought, heap_scan_fn *met,
                            void (*after)(struct heap_scan *s), void *arg, const char **cut)
	MUST_CHECK;

/* ---- during a scan ---- */

/* Arguments of heap_scan_run(). */
struct inspector *heap_scan_inspector(const struct heap_scan *s);
void *heap_scan_arg(const struct heap_scan *s);
/* The 8 bytes at addr, from the memory being scanned where they are in it; false: unreadable. */
bool heap_scan_read(struct heap_scan *s, uint64_t addr, uint64_t *ret);
/* The statics that were scanned so far. */
const struct word_piece *heap_scan_statics(const struct heap_scan *s, size_t *n);
/* Memory for reading a piece of statics; *size: its size in bytes. */
uint64_t *heap_scan_buffer(struct heap_scan *s, size_t *size);
/* Bytes scanned, and CPU time, for the log. */
uint64_t heap_scan_bytes(const struct heap_scan *s);
uint64_t heap_scan_worked_ns(const struct heap_scan *s);

#endif
