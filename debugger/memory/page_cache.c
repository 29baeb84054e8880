#include "debugger/memory/page_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "debugger/memory/page_table.h"

/*
 * Neighbouring pages are read too while the cache is small. A target whose objects are spread over
 * a huge heap must not be copied completely: above wide_limit a read fetches two pages, above
 * narrow_limit one.
 */
enum { HUGE_PAGE = 2 << 20, CHUNK_SIZE = 2 * HUGE_PAGE, CHUNK_BLOCKS = CHUNK_SIZE / BLOCK_SIZE };
static const size_t wide_limit = 512u << 20, narrow_limit = 1024u << 20;

struct page_cache *page_cache_new(void)
{
	struct page_cache *c = calloc(1, sizeof(*c));

	if (!c)
		out_of_memory();
	c->capacity = 1024;
	c->slots = calloc(c->capacity, sizeof(*c->slots));
	if (!c->slots)
		out_of_memory();
	return c;
}

struct page_cache *page_cache_new_no_readahead(void)
{
	struct page_cache *c = page_cache_new();

	c->filled = wide_limit;
	return c;
}

void page_cache_free(struct page_cache *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->chunks.n; i++)
		munmap(c->chunks.data[i], CHUNK_SIZE);
	vec_free(&c->chunks);
	vec_free(&c->unused);
	vec_free(&c->plan);
	arena_free(&c->lines);
	free(c->slots);
	free(c);
}

void page_table_forget_changes(struct page_cache *c)
{
	arena_free(&c->lines);
	c->nchanged = 0;
}

/*
 * Maps memory for blocks. The page faults of fresh memory cost more than reading the target, so it
 * uses huge pages. Once reads are narrow it does not: then only the pages that are read are
 * touched.
 */
static void *page_cache_new_chunk(const struct page_cache *c)
{
	unsigned char *p = mmap(NULL, CHUNK_SIZE + HUGE_PAGE, PROT_READ | PROT_WRITE,
	                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		out_of_memory();
	size_t before = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
	if (before > 0)
		munmap(p, before);
	if (before < HUGE_PAGE)
		munmap(p + before + CHUNK_SIZE, HUGE_PAGE - before);
	if (c->filled < wide_limit)
		madvise(p + before, CHUNK_SIZE, MADV_HUGEPAGE);
	return p + before;
}

static unsigned char *new_data(struct page_cache *c)
{
	size_t chunk = c->used_blocks / CHUNK_BLOCKS;

	if (c->unused.n)
		return c->unused.data[--c->unused.n];
	if (chunk == c->chunks.n)
		*vec_push(&c->chunks) = page_cache_new_chunk(c);
	return c->chunks.data[chunk] + (c->used_blocks++ % CHUNK_BLOCKS) * BLOCK_SIZE;
}

struct block *page_table_slot(const struct page_cache *c, uint64_t key)
{
	size_t i = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (c->capacity - 1);

	while (c->slots[i].key && c->slots[i].key != key)
		i = (i + 1) & (c->capacity - 1);
	return &c->slots[i];
}

static void page_cache_grow(struct page_cache *c)
{
	struct block *old = c->slots;
	size_t nold = c->capacity;

	c->capacity *= 2;
	c->slots = calloc(c->capacity, sizeof(*c->slots));
	if (!c->slots)
		out_of_memory();
	for (size_t i = 0; i < nold; i++) {
		if (old[i].key)
			*page_table_slot(c, old[i].key) = old[i];
	}
	free(old);
	c->last = NULL;
}

struct block *page_table_add(struct page_cache *c, uint64_t key)
{
	struct block *b = page_table_slot(c, key);

	if (b->key)
		return b;
	if (c->n * 2 > c->capacity) {
		page_cache_grow(c);
		b = page_table_slot(c, key);
	}
	b->key = key;
	b->data = new_data(c);
	c->n++;
	return b;
}

static inline enum page_state find_page(struct page_cache *c, uint64_t addr,
                                        const unsigned char **data)
{
	uint64_t key = key_of(addr);
	struct block *b = c->last && c->last->key == key ? c->last : page_table_slot(c, key);
	unsigned page = page_of(addr);

	if (!b->key)
		return PAGE_UNKNOWN;
	c->last = b;
	if (!(b->known >> page & 1))
		return PAGE_UNKNOWN;
	if (!(b->present >> page & 1))
		return PAGE_HOLE;
	*data = b->data + addr % BLOCK_SIZE / CACHE_PAGE * CACHE_PAGE;
	return PAGE_PRESENT;
}

enum page_state page_cache_peek(struct page_cache *c, uint64_t addr, const unsigned char **data)
{
	return find_page(c, addr, data);
}

enum page_state page_cache_get(struct page_cache *c, uint64_t addr, const unsigned char **data)
{
	enum page_state state = find_page(c, addr, data);

	if (c->last && c->last->key == key_of(addr))
		c->last->used |= (uint16_t)(1u << page_of(addr));
	return state;
}

void page_cache_miss(struct page_cache *c, uint64_t addr)
{
	page_table_add(c, key_of(addr))->used |= (uint16_t)(1u << page_of(addr));
}

void page_cache_expire(struct page_cache *c)
{
	page_table_forget_changes(c);
	for (size_t i = 0; i < c->capacity; i++) {
		c->slots[i].known = c->slots[i].present = 0;
		c->slots[i].changed = NULL;
	}
	c->filled = 0;
}

size_t page_cache_held(const struct page_cache *c)
{
	return c->used_blocks * BLOCK_SIZE;
}

void page_cache_release(struct page_cache *c)
{
	page_cache_expire(c);
	for (size_t i = 0; i < c->chunks.n; i++)
		madvise(c->chunks.data[i], CHUNK_SIZE, MADV_DONTNEED);
}

/* Reads pages [first, end) up to the first hole, which is then known as a hole. */
static struct error *fill_range(struct page_cache *c, struct block *b, unsigned first, unsigned end,
                                page_read_fn *read, void *arg)
{
	uint64_t addr = (b->key - 1) * BLOCK_SIZE + first * (uint64_t)CACHE_PAGE;
	size_t len = (size_t)(end - first) * CACHE_PAGE, got = 0;

	TRY(read(arg, addr, b->data + first * (size_t)CACHE_PAGE, len, &got));
	unsigned stop = first + (unsigned)(got / CACHE_PAGE);
	for (unsigned page = first; page < stop; page++) {
		b->known |= (uint16_t)(1u << page);
		b->present |= (uint16_t)(1u << page);
	}
	if (stop < end)
		b->known |= (uint16_t)(1u << stop);
	c->filled += got;
	return NULL;
}

/*
 * Chooses the pages to read around page. Only unknown ones, so that bytes read during a stop never
 * change.
 */
static void window(const struct page_cache *c, const struct block *b, unsigned page, bool at_once,
                   unsigned *first, unsigned *end)
{
	unsigned width = !at_once || c->filled >= narrow_limit ? 1
	                 : c->filled >= wide_limit             ? 2
	                                                       : BLOCK_PAGES;

	*first = page;
	*end = page + 1;
	while (*first % width != 0 && !(b->known >> (*first - 1) & 1))
		--*first;
	while (*end % width != 0 && !(b->known >> *end & 1))
		++*end;
}

struct error *page_cache_fill(struct page_cache *c, uint64_t addr, bool at_once, page_read_fn *read,
                              void *arg)
{
	struct block *b = page_table_add(c, key_of(addr));
	unsigned page = page_of(addr), first, end;

	window(c, b, page, at_once, &first, &end);
	TRY(fill_range(c, b, first, end, read, arg));
	if (b->known >> page & 1)
		return NULL;
	/* The first read ended at a hole before the page: read again from the page on. */
	return fill_range(c, b, page, end, read, arg);
}
