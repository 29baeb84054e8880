/*
 * Memory of a target in large blocks, so that a walk over many small objects costs few system
 * calls and the same bytes are still there when the target runs again.
 */
#ifndef DEBUGGER_PAGE_CACHE_H
#define DEBUGGER_PAGE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/error.h"

enum { CACHE_PAGE = 4096, BLOCK_PAGES = 16, BLOCK_SIZE = BLOCK_PAGES * CACHE_PAGE };

struct page_cache;

struct page_cache *page_cache_new(void);
void page_cache_free(struct page_cache *c);
/* Forgets every page; keeps the memory for the next ones. */
void page_cache_drop(struct page_cache *c);

/*
 * A page that exists, a page known to be a hole, or one that must be asked for. data is valid
 * until the next page_cache_drop().
 */
enum page_state { PAGE_UNKNOWN, PAGE_HOLE, PAGE_PRESENT };
enum page_state page_cache_get(struct page_cache *c, uint64_t addr, const unsigned char **data);
/* The same without counting as asked for. */
enum page_state page_cache_peek(struct page_cache *c, uint64_t addr, const unsigned char **data);

/* Takes note that the page of addr was asked for but could not be read now. */
void page_cache_miss(struct page_cache *c, uint64_t addr);
/* Forgets the bytes of every page, but not which pages were asked for. */
void page_cache_expire(struct page_cache *c);

/*
 * Reads again, in as few calls as possible and into the same memory, the pages that were asked
 * for since the last renewal (page_cache_get(), page_cache_miss()); all others are unknown
 * afterwards. What cannot be read is a hole.
 */
struct read_range;
typedef struct error *page_batch_fn(void *arg, struct read_range *ranges, size_t n);
struct error *page_cache_renew(struct page_cache *c, page_batch_fn *read, void *arg) MUST_CHECK;

/* Reads target memory as target_ops.read() does. */
typedef struct error *page_read_fn(void *arg, uint64_t addr, void *buf, size_t len, size_t *ret);
/*
 * Asks read for the page of addr; at_once: and for its neighbours in the block too, where
 * memory allows, otherwise for that page alone. The page is known afterwards.
 */
struct error *page_cache_fill(struct page_cache *c, uint64_t addr, bool at_once, page_read_fn *read,
                              void *arg) MUST_CHECK;

#endif
