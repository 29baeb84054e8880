/* Internals of the page cache, shared by page_cache.c and page_copy.c. */
#ifndef DEBUGGER_MEMORY_PAGE_TABLE_H
#define DEBUGGER_MEMORY_PAGE_TABLE_H

#include "debugger/base/arena.h"
#include "debugger/base/vec.h"
#include "debugger/memory/page_cache.h"

typedef VEC(struct read_range) range_vec;

struct block {
	uint64_t key; /* address / BLOCK_SIZE + 1; 0: empty slot */
	unsigned char *data;
	uint16_t known, present; /* one bit per page */
	uint16_t used;           /* marked as used since the last plan */
	uint16_t planned;
	uint64_t *changed; /* one word per page, one bit per line; NULL: none changed */
};

struct page_cache {
	struct block *slots; /* open addressing */
	size_t n, capacity;  /* capacity is a power of two */
	struct block *last;  /* the block of the last lookup */
	VEC(unsigned char *) chunks;
	VEC(unsigned char *) unused; /* block memory to be reused */
	size_t used_blocks;          /* blocks handed out of all chunks, in order */
	size_t filled;               /* bytes read */
	range_vec plan;
	size_t nplanned;    /* ranges of page_cache_plan(); those of page_cache_add() follow */
	struct arena lines; /* memory of block.changed of all blocks */
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

/* The slot of key, or the empty slot where key is to be inserted. */
struct block *page_table_slot(const struct page_cache *c, uint64_t key);
/* The block of key, which is created if needed. Other blocks may move. */
struct block *page_table_add(struct page_cache *c, uint64_t key);
/* Drops the records of changed lines. */
void page_table_forget_changes(struct page_cache *c);

#endif
