/*
 * Memory of a target in large blocks, so that a walk over many small objects costs few system
 * calls and the same bytes are still there when the target runs again.
 */
#ifndef DEBUGGER_MEMORY_PAGE_CACHE_H
#define DEBUGGER_MEMORY_PAGE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/error.h"

enum {
	CACHE_PAGE = 4096,
	CACHE_LINE = 64,
	BLOCK_PAGES = 16,
	BLOCK_SIZE = BLOCK_PAGES * CACHE_PAGE,
	COPY_SLICE = 128 << 10
};

struct page_cache;

struct page_cache *page_cache_new(void);
/* The same for reads that take few neighbours of a page along: less memory is touched. */
struct page_cache *page_cache_new_narrow(void);
/*
 * The same with the pages that of has copied, for reads of another thread. of must keep them until
 * the view is freed; what it learns meanwhile, and what the view does, the other does not see.
 */
struct page_cache *page_cache_view(const struct page_cache *of);
void page_cache_free(struct page_cache *c);

/*
 * A page that exists, a page known to be a hole, or one that must be asked for. data is valid
 * until the next copy or page_cache_expire().
 */
enum page_state { PAGE_UNKNOWN, PAGE_HOLE, PAGE_PRESENT };
enum page_state page_cache_get(struct page_cache *c, uint64_t addr, const unsigned char **data);
/* The same without counting as asked for. */
enum page_state page_cache_peek(struct page_cache *c, uint64_t addr, const unsigned char **data);

/* Takes note that the page of addr was asked for but could not be read now. */
void page_cache_miss(struct page_cache *c, uint64_t addr);
/* Calls visit for every page that was asked for since the last plan. */
void page_cache_each_used(const struct page_cache *c, void (*visit)(uint64_t addr, void *arg),
                          void *arg);
/* Forgets the bytes of every page, but not which pages were asked for. */
void page_cache_expire(struct page_cache *c);

/*
 * Copying for good, in steps of which only page_cache_copy() needs the target to stand still:
 * plan, add, copy, compare where it did not, take.
 *
 * The plan is every page that was asked for since the last one (page_cache_get(),
 * page_cache_miss()), merged to ranges in the order of addresses. All bytes are forgotten, and
 * the memory of pages that are not in the plan serves others. Returns how many bytes will be
 * read, known holes aside. wide: with their neighbours in their blocks, if these are few; a target
 * that moves is likely to use those next.
 */
size_t page_cache_plan(struct page_cache *c, bool wide);
/* Adds the pages of these bytes, as far as they are not in it. */
void page_cache_add(struct page_cache *c, uint64_t addr, size_t len);

struct page_copy {
	bool settled; /* the target stands still: nothing to compare later */
	/* Asked between slices of COPY_SLICE bytes; false: enough. NULL: copy all at once. */
	bool (*go_on)(void *arg);
	void *arg;
};

/* One of many reads that are made together. */
struct read_range {
	uint64_t addr;
	void *buf;
	size_t len;
	size_t got;   /* bytes that exist from addr on */
	bool settled; /* of page_cache.c */
};
typedef struct error *page_batch_fn(void *arg, struct read_range *ranges, size_t n);
/*
 * Reads the plan into the memory of its pages, what was added first. *whole false: go_on() ended
 * it. May be repeated; what was settled by an earlier call and is not read again stays settled.
 */
struct error *page_cache_copy(struct page_cache *c, const struct page_copy *how,
                              page_batch_fn *read, void *arg, bool *whole) MUST_CHECK;
/*
 * Reads all that is not settled a second time, into a small buffer, and remembers which lines of
 * CACHE_LINE bytes differ. Bytes that do not were the same from the end of the copy to the
 * beginning of this (unless they changed there and back), hence all of one moment.
 */
struct error *page_cache_compare(struct page_cache *c, page_batch_fn *read, void *arg) MUST_CHECK;
/*
 * The end of the plan: its pages are known now. What could not be read is a hole. Returns how
 * many bytes could.
 */
size_t page_cache_take(struct page_cache *c);
/* Whether page_cache_compare() found a line of these bytes changed; they lie in one page. */
bool page_cache_changed(struct page_cache *c, uint64_t addr, size_t len);

/* Reads target memory as target_ops.read() does. */
typedef struct error *page_read_fn(void *arg, uint64_t addr, void *buf, size_t len, size_t *ret);
/*
 * Asks read for the page of addr; at_once: and for its neighbours in the block too, where
 * memory allows, otherwise for that page alone. The page is known afterwards.
 */
struct error *page_cache_fill(struct page_cache *c, uint64_t addr, bool at_once, page_read_fn *read,
                              void *arg) MUST_CHECK;

#endif
