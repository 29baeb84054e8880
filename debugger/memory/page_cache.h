/*
 * Cache of target memory in large blocks. A walk over many small objects costs few system calls,
 * and the same bytes are still available when the target runs again.
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
/* A cache of which a read fetches few neighbouring pages: it touches less memory. */
struct page_cache *page_cache_new_no_readahead(void);
void page_cache_free(struct page_cache *c);

/*
 * State of a page: not read yet, known to be missing in the target, or read. data is valid until
 * the next copy or page_cache_expire().
 */
enum page_state { PAGE_UNKNOWN, PAGE_HOLE, PAGE_PRESENT };
enum page_state page_cache_get(struct page_cache *c, uint64_t addr, const unsigned char **data);
/* page_cache_get() without marking the page as used. */
enum page_state page_cache_peek(struct page_cache *c, uint64_t addr, const unsigned char **data);

/* Marks the page of addr as used although it could not be read now. */
void page_cache_miss(struct page_cache *c, uint64_t addr);
/* Drops the bytes of every page, but keeps the marks of used pages. */
void page_cache_expire(struct page_cache *c);
/*
 * Does page_cache_expire(), and gives the memory of the pages back; the next reads fill new pages.
 */
void page_cache_release(struct page_cache *c);
/* How many bytes page_cache_release() would give back: those of the chunks in use. */
size_t page_cache_held(const struct page_cache *c);

/*
 * Copying a set of pages, in these steps: plan, add, copy, compare, take. The target must be
 * stopped only for page_cache_copy(); compare is needed where it was not.
 *
 * page_cache_plan() builds the plan: every page that was used since the last plan
 * (page_cache_get(), page_cache_miss()), merged into ranges in address order. All bytes are
 * dropped, and the memory of pages outside of the plan is reused. Returns how many bytes will be
 * read, without known holes. wide: if the plan has few blocks, it includes all pages of these
 * blocks; a target that changes is likely to use those next.
 */
size_t page_cache_plan(struct page_cache *c, bool wide);
/* Marks the pages of the last plan as used: the next plan has them again. */
void page_cache_use_planned(struct page_cache *c);
/* Adds the pages of these bytes to the plan, if they are not in it. */
void page_cache_add(struct page_cache *c, uint64_t addr, size_t len);

struct page_copy {
	bool settled; /* the target is stopped: nothing to compare later */
	/*
	 * Called between slices of COPY_SLICE bytes; false ends the copy. NULL: copy all at once.
	 */
	bool (*go_on)(void *arg);
	void *arg;
};

/* A range of a batch of reads. */
struct read_range {
	uint64_t addr;
	void *buf;
	size_t len;
	size_t got;   /* bytes that exist from addr on */
	bool settled; /* used by page_copy.c */
};
typedef struct error *page_batch_fn(void *arg, struct read_range *ranges, size_t n);
/*
 * Reads the planned pages; those of page_cache_add() first. *whole false: go_on() ended the copy.
 * May be repeated; pages that an earlier call has settled and that are not read again stay settled.
 */
struct error *page_cache_copy(struct page_cache *c, const struct page_copy *how,
                              page_batch_fn *read, void *arg, bool *whole) MUST_CHECK;
/*
 * Reads all pages that are not settled a second time, into a small buffer, and records which lines
 * of CACHE_LINE bytes differ. Bytes that do not differ were the same from the end of the copy to
 * the beginning of the comparison (unless they changed there and back), hence are all of one
 * moment.
 */
struct error *page_cache_compare(struct page_cache *c, page_batch_fn *read, void *arg) MUST_CHECK;
/*
 * Ends the plan: its pages are now known. Pages that could not be read are holes. Returns how many
 * bytes were read.
 */
size_t page_cache_take(struct page_cache *c);
/*
 * Whether page_cache_compare() found a change in the lines of these bytes, which lie in one page.
 */
bool page_cache_changed(struct page_cache *c, uint64_t addr, size_t len);

/* Reads target memory as target_ops.read() does. */
typedef struct error *page_read_fn(void *arg, uint64_t addr, void *buf, size_t len, size_t *ret);
/*
 * Reads the page of addr with read(). at_once: also its neighbours in the block, as far as the
 * cache size allows. The page is known afterwards.
 */
struct error *page_cache_fill(struct page_cache *c, uint64_t addr, bool at_once, page_read_fn *read,
                              void *arg) MUST_CHECK;

#endif
