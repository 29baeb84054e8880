/* Tests of the page cache: plans, copies, holes and changed lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "debugger/memory/page_cache.h"

/* Memory of NPAGES pages at BASE, of which some are missing. */
enum { BASE = 0x40000000, NPAGES = 64 };

struct memory {
	unsigned char bytes[NPAGES][CACHE_PAGE];
	bool missing[NPAGES];
	unsigned calls; /* of read_batch() */
	size_t copied;
};

static size_t exists_from(const struct memory *m, uint64_t addr)
{
	size_t first = (size_t)((addr - BASE) / CACHE_PAGE), page = first;

	if (addr < BASE)
		return 0;
	while (page < NPAGES && !m->missing[page])
		page++;
	return page == first ? 0 : page * CACHE_PAGE - (size_t)(addr - BASE);
}

static struct error *read_one(void *arg, uint64_t addr, void *buf, size_t len, size_t *ret)
{
	struct memory *m = arg;
	size_t n = exists_from(m, addr);

	*ret = n < len ? n : len;
	if (*ret)
		memcpy(buf, (unsigned char *)m->bytes + (addr - BASE), *ret);
	return NULL;
}

static struct error *read_batch(void *arg, struct read_range *ranges, size_t n)
{
	struct memory *m = arg;

	m->calls++;
	for (size_t i = 0; i < n; i++) {
		TRY(read_one(m, ranges[i].addr, ranges[i].buf, ranges[i].len, &ranges[i].got));
		m->copied += ranges[i].got;
	}
	return NULL;
}

static struct memory *memory_new(void)
{
	struct memory *m = calloc(1, sizeof(*m));

	for (unsigned i = 0; i < NPAGES; i++)
		memset(m->bytes[i], (int)i + 1, CACHE_PAGE);
	return m;
}

static void expect_ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

static uint64_t page_addr(unsigned page)
{
	return BASE + (uint64_t)page * CACHE_PAGE;
}

/* Reads a page through the cache, as a walk does. */
static void use(struct page_cache *c, struct memory *m, unsigned page)
{
	const unsigned char *data;

	if (page_cache_get(c, page_addr(page), &data) == PAGE_UNKNOWN)
		expect_ok(page_cache_fill(c, page_addr(page), true, read_one, m));
	page_cache_get(c, page_addr(page), &data);
}

/* The first byte of a page in the cache; 0: a hole, -1: unknown. */
static int first_byte(struct page_cache *c, unsigned page)
{
	const unsigned char *data;
	enum page_state state = page_cache_peek(c, page_addr(page), &data);

	return state == PAGE_UNKNOWN ? -1 : state == PAGE_HOLE ? 0 : *data;
}

static void copy(struct page_cache *c, struct memory *m, bool settled)
{
	bool whole;

	expect_ok(page_cache_copy(c, &(struct page_copy){ .settled = settled }, read_batch, m,
	                          &whole));
	assert_true(whole);
}

static void test_only_what_was_used_is_copied(void **state)
{
	struct page_cache *c = page_cache_new();
	struct memory *m = memory_new();

	(void)state;
	use(c, m, 1);
	use(c, m, 2);
	use(c, m, 40);
	assert_int_equal(page_cache_plan(c, false), 3 * CACHE_PAGE);
	assert_int_equal(first_byte(c, 1), -1);
	m->bytes[2][0] = 99;
	copy(c, m, true);
	assert_int_equal(m->calls, 1);
	assert_int_equal(page_cache_take(c), 3 * CACHE_PAGE);
	assert_int_equal(first_byte(c, 1), 2);
	assert_int_equal(first_byte(c, 2), 99);
	assert_int_equal(first_byte(c, 40), 41);
	assert_int_equal(first_byte(c, 3), -1);
	page_cache_free(c);
	free(m);
}

/* Whether the page of a pointer takes memory. */
static bool is_resident(const unsigned char *data)
{
	unsigned char is = 0;

	assert_int_equal(mincore((void *)(uintptr_t)data, CACHE_PAGE, &is), 0);
	return is & 1;
}

static void test_what_is_released_takes_no_memory(void **state)
{
	struct page_cache *c = page_cache_new();
	struct memory *m = memory_new();
	const unsigned char *data;

	(void)state;
	assert_int_equal(page_cache_held(c), 0);
	use(c, m, 1);
	assert_int_equal(page_cache_held(c), BLOCK_SIZE);
	assert_int_equal(page_cache_peek(c, page_addr(1), &data), PAGE_PRESENT);
	assert_true(is_resident(data));
	page_cache_release(c);
	assert_false(is_resident(data));
	assert_int_equal(first_byte(c, 1), -1);
	/* The page is still marked as used. */
	m->bytes[1][0] = 99;
	assert_int_equal(page_cache_plan(c, false), CACHE_PAGE);
	copy(c, m, true);
	assert_int_equal(page_cache_take(c), CACHE_PAGE);
	assert_int_equal(first_byte(c, 1), 99);
	page_cache_free(c);
	free(m);
}

static void test_a_wide_plan_has_the_neighbours(void **state)
{
	struct page_cache *c = page_cache_new();
	struct memory *m = memory_new();

	(void)state;
	m->missing[18] = true;
	use(c, m, 17);
	assert_int_equal(page_cache_plan(c, true), (BLOCK_PAGES - 1) * CACHE_PAGE);
	copy(c, m, true);
	page_cache_take(c);
	for (unsigned page = 16; page < 32; page++)
		assert_int_equal(first_byte(c, page), page == 18 ? 0 : (int)page + 1);
	assert_int_equal(first_byte(c, 15), -1);
	page_cache_free(c);
	free(m);
}

static void test_holes_that_come_and_go(void **state)
{
	struct page_cache *c = page_cache_new();
	struct memory *m = memory_new();

	(void)state;
	m->missing[5] = true;
	for (unsigned page = 0; page < 20; page++)
		use(c, m, page);
	/* The known hole does not count, but is read again. */
	assert_int_equal(page_cache_plan(c, false), 19 * CACHE_PAGE);
	m->missing[5] = false;
	m->missing[7] = m->missing[8] = m->missing[15] = true;
	copy(c, m, true);
	assert_int_equal(page_cache_take(c), 17 * CACHE_PAGE);
	for (unsigned page = 0; page < 20; page++)
		assert_int_equal(first_byte(c, page), m->missing[page] ? 0 : (int)page + 1);
	page_cache_free(c);
	free(m);
}

/* Pages first .. end - 1 are there, and so is no page at end. */
static void expect_pages(struct page_cache *c, unsigned first, unsigned end)
{
	for (unsigned page = first; page < end; page++)
		assert_int_equal(first_byte(c, page), (int)page + 1);
	assert_int_equal(first_byte(c, end), -1);
}

static void test_what_is_known_is_not_read_again(void **state)
{
	struct page_cache *c = page_cache_new();
	struct memory *m = memory_new();

	(void)state;
	expect_ok(page_cache_fill(c, page_addr(20), false, read_one, m));
	assert_int_equal(first_byte(c, 19), -1);
	expect_pages(c, 20, 21);
	m->bytes[20][0] = 99;
	use(c, m, 23);
	assert_int_equal(first_byte(c, 19), -1);
	expect_pages(c, 20, 32);
	use(c, m, 17);
	assert_int_equal(first_byte(c, 15), -1);
	expect_pages(c, 16, 32);
	page_cache_free(c);
	free(m);
}

static void test_a_cache_without_readahead(void **state)
{
	struct page_cache *c = page_cache_new_no_readahead();
	struct memory *m = memory_new();

	(void)state;
	use(c, m, 21);
	assert_int_equal(first_byte(c, 19), -1);
	expect_pages(c, 20, 22);
	use(c, m, 24);
	assert_int_equal(first_byte(c, 23), -1);
	expect_pages(c, 24, 26);
	page_cache_free(c);
	free(m);
}

static void test_what_is_added_is_copied_once(void **state)
{
	struct page_cache *c = page_cache_new();
	struct memory *m = memory_new();

	(void)state;
	use(c, m, 10);
	page_cache_plan(c, false);
	page_cache_add(c, page_addr(9) + 100, 3 * CACHE_PAGE);
	page_cache_add(c, page_addr(9), 1);
	page_cache_add(c, UINT64_MAX - 10, 100);
	copy(c, m, true);
	assert_int_equal(m->copied, 4 * CACHE_PAGE);
	assert_int_equal(page_cache_take(c), 4 * CACHE_PAGE);
	assert_int_equal(first_byte(c, 12), 13);
	assert_int_equal(first_byte(c, 13), -1);
	page_cache_free(c);
	free(m);
}

static void test_changed_lines(void **state)
{
	struct page_cache *c = page_cache_new();
	struct memory *m = memory_new();

	(void)state;
	for (unsigned page = 0; page < 4; page++)
		use(c, m, page);
	page_cache_plan(c, false);
	copy(c, m, false);
	m->bytes[1][3 * CACHE_LINE] ^= 1;
	m->bytes[1][CACHE_PAGE - 1] ^= 1;
	m->missing[2] = true;
	expect_ok(page_cache_compare(c, read_batch, m));
	page_cache_take(c);
	/* The cache keeps the bytes of the first read. */
	assert_int_equal(first_byte(c, 1), 2);
	assert_false(page_cache_changed(c, page_addr(0), CACHE_PAGE));
	assert_false(page_cache_changed(c, page_addr(1), 3 * CACHE_LINE));
	assert_true(page_cache_changed(c, page_addr(1), 3 * CACHE_LINE + 1));
	assert_true(page_cache_changed(c, page_addr(1) + 4 * CACHE_LINE - 1, 1));
	assert_false(page_cache_changed(c, page_addr(1) + 4 * CACHE_LINE, 59 * CACHE_LINE));
	assert_true(page_cache_changed(c, page_addr(1) + 4 * CACHE_LINE, 60 * CACHE_LINE));
	assert_true(page_cache_changed(c, page_addr(1), CACHE_PAGE));
	assert_true(page_cache_changed(c, page_addr(2) + 1000, 1));
	assert_false(page_cache_changed(c, page_addr(3), CACHE_PAGE));
	assert_false(page_cache_changed(c, page_addr(60), 1));
	/* The next plan drops the changes. */
	use(c, m, 1);
	page_cache_plan(c, false);
	assert_false(page_cache_changed(c, page_addr(1), CACHE_PAGE));
	page_cache_free(c);
	free(m);
}

static bool count_down(void *arg)
{
	return --*(int *)arg >= 0;
}

static void test_a_copy_that_ends_early(void **state)
{
	struct page_cache *c = page_cache_new();
	struct memory *m = memory_new();
	int slices = 0;
	const struct page_copy how = { .settled = true, .go_on = count_down, .arg = &slices };
	bool whole;

	(void)state;
	for (unsigned page = 0; page < NPAGES / 2; page++)
		use(c, m, page);
	page_cache_plan(c, false);
	copy(c, m, false);
	/* A page that is added during the stop is copied first. */
	page_cache_add(c, page_addr(50), 1);
	m->copied = 0;
	expect_ok(page_cache_copy(c, &how, read_batch, m, &whole));
	assert_false(whole);
	assert_int_equal(m->copied, CACHE_PAGE);
	m->bytes[4][0] ^= 1;
	m->bytes[50][0] ^= 1;
	expect_ok(page_cache_compare(c, read_batch, m));
	page_cache_take(c);
	assert_true(page_cache_changed(c, page_addr(4), 1));
	/* Bytes that were copied during the stop are not compared. */
	assert_false(page_cache_changed(c, page_addr(50), 1));
	assert_int_equal(first_byte(c, 50), 51);
	page_cache_free(c);
	free(m);
}

static void test_memory_of_unused_pages_serves_others(void **state)
{
	struct page_cache *c = page_cache_new();
	struct memory *m = memory_new();
	const unsigned char *before, *after;

	(void)state;
	use(c, m, 0);
	page_cache_get(c, page_addr(0), &before);
	/* Plan twice: the page is used before the first plan, but not before the second. */
	page_cache_plan(c, false);
	copy(c, m, true);
	page_cache_take(c);
	page_cache_plan(c, false);
	page_cache_take(c);
	use(c, m, BLOCK_PAGES);
	page_cache_get(c, page_addr(BLOCK_PAGES), &after);
	assert_ptr_equal(before, after);
	assert_int_equal(first_byte(c, 0), -1);
	page_cache_free(c);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_was_used_is_copied),
		cmocka_unit_test(test_what_is_released_takes_no_memory),
		cmocka_unit_test(test_a_wide_plan_has_the_neighbours),
		cmocka_unit_test(test_holes_that_come_and_go),
		cmocka_unit_test(test_what_is_known_is_not_read_again),
		cmocka_unit_test(test_a_cache_without_readahead),
		cmocka_unit_test(test_what_is_added_is_copied_once),
		cmocka_unit_test(test_changed_lines),
		cmocka_unit_test(test_a_copy_that_ends_early),
		cmocka_unit_test(test_memory_of_unused_pages_serves_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
