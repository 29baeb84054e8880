/* Inside of the page cache: page_cache.c, and page_copy.c, which copies for good. */
#ifndef DEBUGGER_MEMORY_PAGE_TABLE_H
#define DEBUGGER_MEMORY_PAGE_TABLE_H

#include "debugger/base/arena.h"
#include "debugger/base/vec.h"
#include "debugger/memory/page_cache.h"

typedef VEC(struct read_range) range_vec;

struct block {
	uint64_t key; /* address / BLOCK_SIZE + 1; 0: empty slot */
	unsigned char *data;
	uint16_t known, present; /* one bit a page */
	uint16_t used;           /* asked for since the last plan */
	uint16_t planned;
	uint64_t *changed; /* one word a page, one bit a line; NULL: none changed */
};

struct page_cache {
	struct block *slots; /* open addressing */
	size_t n, capacity;  /* capacity is a power of two */
	struct block *last;  /* the one asked for last */
	VEC(unsigned char *) chunks;
	VEC(unsigned char *) unused; /* blocks that were handed out and are free again */
	size_t used_blocks;          /* of all chunks, in order */
	size_t filled;               /* bytes read */
	range_vec plan;
	size_t nplanned;    /* ranges of the plan proper; behind them those that were added */
	struct arena lines; /* block.changed of all */
	size_t nchanged;
};

static inline uint64_t key_of(uint64_t addr)
{
	return addr / BLOCK_SIZE + 1;
}

static inline unsigned page_of(uint64_t addr)
{
	return (unsigned)(addr % BLOCK_SIZE / CACHE_PAGE);
}

/* The slot of key, or the empty one where it belongs. */
struct block *page_table_slot(const struct page_cache *c, uint64_t key);
/* The block of key, new where it was not there. Other blocks may move. */
struct block *page_table_add(struct page_cache *c, uint64_t key);
/* Forgets which lines changed. */
void page_table_forget_changes(struct page_cache *c);

#endif
