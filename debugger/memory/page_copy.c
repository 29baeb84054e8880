/* Copying of planned pages: the plan, the copy, and the comparison that finds changed lines. */
#include <stdlib.h>
#include <string.h>

#include "debugger/memory/page_table.h"

enum { LINES = CACHE_PAGE / CACHE_LINE, WIDE_BLOCKS = 64 };

static struct read_range page_range(const struct block *b, unsigned first, unsigned end)
{
	return (struct read_range){ .addr = (b->key - 1) * BLOCK_SIZE +
		                            first * (uint64_t)CACHE_PAGE,
		                    .buf = b->data + first * (size_t)CACHE_PAGE,
		                    .len = (size_t)(end - first) * CACHE_PAGE };
}

/* Adds the wanted pages of a block as ranges, merging neighbours. */
static void page_copy_add_ranges(range_vec *ranges, const struct block *b, unsigned wanted)
{
	for (unsigned page = 0; page < BLOCK_PAGES; page++) {
		unsigned end = page;

		while (end < BLOCK_PAGES && (wanted >> end & 1))
			end++;
		if (end == page)
			continue;
		*vec_push(ranges) = page_range(b, page, end);
		page = end;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct read_range *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Removes blocks without planned pages from the table; their memory is reused. */
static void release_unplanned(struct page_cache *c)
{
	struct block *old = c->slots;

	c->slots = calloc(c->capacity, sizeof(*c->slots));
	if (!c->slots)
		out_of_memory();
	c->n = 0;
	c->last = NULL;
	for (size_t i = 0; i < c->capacity; i++) {
		if (old[i].planned) {
			*page_table_slot(c, old[i].key) = old[i];
			c->n++;
		} else if (old[i].key) {
			*vec_push(&c->unused) = old[i].data;
		}
	}
	free(old);
}

/* The number of blocks with used pages. */
static size_t count_used(const struct page_cache *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->capacity; i++)
		n += c->slots[i].used != 0;
	return n;
}

size_t page_cache_plan(struct page_cache *c, bool wide)
{
	range_vec holes = { 0 };
	size_t bytes = 0;

	wide &= count_used(c) <= WIDE_BLOCKS;
	c->plan.n = 0;
	for (size_t i = 0; i < c->capacity; i++) {
		struct block *b = &c->slots[i];

		if (wide && b->used)
			b->used = UINT16_MAX;
		/*
		 * Known holes are read again, as they may be mapped now; but separately, because a
		 * hole ends a batch.
		 */
		uint16_t hole = b->used & b->known & (uint16_t)~b->present;

		page_copy_add_ranges(&c->plan, b, b->used & ~(unsigned)hole);
		page_copy_add_ranges(&holes, b, hole);
		b->planned = b->used;
		b->known = b->present = b->used = 0;
		b->changed = NULL;
	}
	release_unplanned(c);
	page_table_forget_changes(c);
	c->filled = 0;
	if (c->plan.n)
		qsort(c->plan.data, c->plan.n, sizeof(*c->plan.data), by_address);
	for (size_t i = 0; i < c->plan.n; i++)
		bytes += c->plan.data[i].len;
	for (size_t i = 0; i < holes.n; i++)
		*vec_push(&c->plan) = holes.data[i];
	vec_free(&holes);
	c->nplanned = c->plan.n;
	return bytes;
}

void page_cache_use_planned(struct page_cache *c)
{
	for (size_t i = 0; i < c->capacity; i++)
		c->slots[i].used |= c->slots[i].planned;
}

void page_cache_add(struct page_cache *c, uint64_t addr, size_t len)
{
	uint64_t end = addr + len < addr ? UINT64_MAX : addr + len;

	for (addr -= addr % CACHE_PAGE; addr < end;) {
		struct block *b = page_table_add(c, key_of(addr));
		unsigned first = page_of(addr), last = first;
		uint16_t wanted = 0;

		for (; last < BLOCK_PAGES && addr < end; last++, addr += CACHE_PAGE)
			wanted |= (uint16_t)(1u << last);
		wanted &= (uint16_t)~b->planned;
		b->planned |= wanted;
		page_copy_add_ranges(&c->plan, b, wanted);
		if (addr < CACHE_PAGE)
			break; /* the top of the address space */
	}
}

/*
 * Splits a range that was cut short by a hole, in up to three: the bytes before the hole, the
 * missing page, which is not read again, and the rest behind it.
 */
static void split_at_hole(struct page_cache *c, size_t i)
{
	struct read_range *r = &c->plan.data[i];
	size_t got = r->got - r->got % CACHE_PAGE;
	struct read_range rest = { .addr = r->addr + got + CACHE_PAGE,
		                   .buf = (unsigned char *)r->buf + got + CACHE_PAGE,
		                   .len = r->len - got - CACHE_PAGE };
	struct read_range hole = { .addr = r->addr + got,
		                   .buf = (unsigned char *)r->buf + got,
		                   .len = CACHE_PAGE };

	if (got == 0) {
		r->len = CACHE_PAGE;
		r->got = 0;
	} else {
		r->len = r->got = got;
		*vec_push(&c->plan) = hole;
	}
	if (rest.len)
		*vec_push(&c->plan) = rest;
}

/* Reads ranges [first, end) of the plan, then what lies behind holes in them. */
static struct error *read_planned(struct page_cache *c, size_t first, size_t end, bool settled,
                                  page_batch_fn *read, void *arg)
{
	while (first < end) {
		size_t n = c->plan.n;

		TRY(read(arg, c->plan.data + first, end - first));
		for (size_t i = first; i < end; i++) {
			c->plan.data[i].settled = settled;
			if (c->plan.data[i].got < c->plan.data[i].len)
				split_at_hole(c, i);
		}
		first = n;
		end = c->plan.n;
	}
	return NULL;
}

struct error *page_cache_copy(struct page_cache *c, const struct page_copy *how,
                              page_batch_fn *read, void *arg, bool *whole)
{
	size_t slice = how->go_on ? COPY_SLICE : SIZE_MAX, end;

	*whole = false;
	TRY(read_planned(c, c->nplanned, c->plan.n, how->settled, read, arg));
	for (size_t first = 0; first < c->nplanned; first = end) {
		size_t bytes = 0;

		if (how->go_on && !how->go_on(how->arg))
			return NULL;
		for (end = first; end < c->nplanned && bytes < slice; end++)
			bytes += c->plan.data[end].len;
		TRY(read_planned(c, first, end, how->settled, read, arg));
	}
	*whole = true;
	return NULL;
}

/* Marks the lines of a page that differ between old and now; all of them if now is NULL. */
static void compare_page(struct page_cache *c, uint64_t addr, const unsigned char *old,
                         const unsigned char *now)
{
	struct block *b = page_table_slot(c, key_of(addr));
	uint64_t lines = 0;

	for (unsigned i = 0; i < LINES; i++) {
		if (!now || memcmp(old + i * CACHE_LINE, now + i * CACHE_LINE, CACHE_LINE) != 0)
			lines |= UINT64_C(1) << i;
	}
	if (!lines)
		return;
	if (!b->changed)
		b->changed = NEW_ARRAY(&c->lines, uint64_t, BLOCK_PAGES);
	b->changed[page_of(addr)] |= lines;
	c->nchanged++;
}

/*
 * Compares a range with its second read, which ended at the first hole: pages behind that are read
 * again one by one.
 */
static struct error *compare_range(struct page_cache *c, const struct read_range *first,
                                   const struct read_range *second, page_batch_fn *read, void *arg)
{
	const unsigned char *old = first->buf;
	unsigned char *now = second->buf;

	for (size_t at = 0; at < first->len; at += CACHE_PAGE) {
		bool was = at + CACHE_PAGE <= first->got, is = at + CACHE_PAGE <= second->got;

		if (was && !is) {
			struct read_range page = { .addr = first->addr + at,
				                   .buf = now + at,
				                   .len = CACHE_PAGE };

			TRY(read(arg, &page, 1));
			is = page.got == CACHE_PAGE;
		}
		/* A page that was mapped or unmapped in between has changed in every line. */
		if (was || is)
			compare_page(c, first->addr + at, old + at, was && is ? now + at : NULL);
	}
	return NULL;
}

struct error *page_cache_compare(struct page_cache *c, page_batch_fn *read, void *arg)
{
	unsigned char *scratch = malloc(COPY_SLICE + BLOCK_SIZE);
	range_vec again = { 0 };
	struct error *err = NULL;
	size_t end;

	if (!scratch)
		out_of_memory();
	for (size_t first = 0; !err && first < c->plan.n; first = end) {
		size_t bytes = 0;

		again.n = 0;
		for (end = first; end < c->plan.n && bytes < COPY_SLICE; end++) {
			if (c->plan.data[end].settled)
				continue;
			*vec_push(&again) = c->plan.data[end];
			again.data[again.n - 1].buf = scratch + bytes;
			bytes += c->plan.data[end].len;
		}
		err = again.n ? read(arg, again.data, again.n) : NULL;
		for (size_t i = first, j = 0; !err && i < end; i++) {
			if (!c->plan.data[i].settled)
				err = compare_range(c, &c->plan.data[i], &again.data[j++], read,
				                    arg);
		}
	}
	vec_free(&again);
	free(scratch);
	return err;
}

size_t page_cache_take(struct page_cache *c)
{
	size_t bytes = 0;

	for (size_t i = 0; i < c->plan.n; i++) {
		const struct read_range *r = &c->plan.data[i];
		struct block *b = page_table_slot(c, key_of(r->addr));

		for (size_t at = 0; at < r->len; at += CACHE_PAGE) {
			uint16_t bit = (uint16_t)(1u << page_of(r->addr + at));

			b->known |= bit;
			if (at + CACHE_PAGE <= r->got)
				b->present |= bit;
		}
		bytes += r->got;
	}
	c->filled += bytes;
	c->plan.n = c->nplanned = 0;
	return bytes;
}

bool page_cache_changed(struct page_cache *c, uint64_t addr, size_t len)
{
	const struct block *b;

	if (c->nchanged == 0 || len == 0)
		return false;
	b = page_table_slot(c, key_of(addr));
	if (!b->key || !b->changed)
		return false;
	uint64_t lines = b->changed[page_of(addr)];
	unsigned first = (unsigned)(addr % CACHE_PAGE / CACHE_LINE);
	unsigned last = (unsigned)((addr % CACHE_PAGE + len - 1) / CACHE_LINE);
	return (lines >> first & (~UINT64_C(0) >> (LINES - 1 - (last - first)))) != 0;
}
