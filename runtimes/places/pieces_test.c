/* Pieces of an object that are copied: which are merged, and which have no room. */
#include "runtimes/places/pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { FAR = 1000, REACH = UINT32_MAX / 2 };

static void assert_piece(const struct pieces *p, uint32_t i, uint32_t offset, uint32_t len)
{
	assert_true(i < p->n);
	assert_int_equal(p->data[i].offset, offset);
	assert_int_equal(p->data[i].len, len);
}

static struct pieces one(uint64_t offset, unsigned size)
{
	struct pieces p = { 0 };

	pieces_add(&p, 0, offset, size);
	return p;
}

static void test_near(void **state)
{
	struct pieces p = one(10, 1);

	(void)state;
	assert_piece(&p, 0, 10, 1);
	pieces_add(&p, 0, 76, 1);
	assert_int_equal(p.n, 2);
	/* 64 bytes between them */
	p = one(10, 1);
	pieces_add(&p, 0, 75, 1);
	assert_int_equal(p.n, 1);
	assert_piece(&p, 0, 10, 66);
	assert_int_equal(pieces_total(&p), 66);
	p = one(100, 2);
	pieces_add(&p, 0, 50, 1);
	assert_piece(&p, 0, 50, 52);
	p = one(0, 8);
	pieces_add(&p, 0, 2, 1);
	assert_piece(&p, 0, 0, 8);
	/* A piece near two others, which are not near each other */
	p = one(0, 1);
	pieces_add(&p, 0, 130, 1);
	assert_int_equal(p.n, 2);
	assert_int_equal(pieces_total(&p), 2);
	pieces_add(&p, 0, 65, 1);
	assert_int_equal(p.n, 1);
	assert_piece(&p, 0, 0, 131);
}

static void test_number(void **state)
{
	struct pieces p = { 0 };

	(void)state;
	for (unsigned i = 0; i <= PROBE_MAX_PIECES; i++)
		pieces_add(&p, 0, (uint64_t)FAR * i, 1);
	assert_int_equal(p.n, PROBE_MAX_PIECES);
	assert_piece(&p, 3, 3 * FAR, 1);
	/* Pieces near one of them have room. */
	pieces_add(&p, 0, 2 * FAR + 9, 1);
	assert_piece(&p, 3, 2 * FAR, 10);
	assert_int_equal(pieces_total(&p), 13);
}

static void test_room(void **state)
{
	struct pieces p = one(0, PROBE_MAX_COPY - 1);

	(void)state;
	assert_int_equal(p.n, 1);
	p = one(0, PROBE_MAX_COPY);
	assert_int_equal(p.n, 0);
	/* Other bytes are in the copy, too. */
	pieces_add(&p, 200, 0, 56);
	assert_int_equal(p.n, 0);
	pieces_add(&p, 200, 0, 55);
	assert_int_equal(p.n, 1);
	/* With what is between them they have no room, but apart. */
	p = one(0, 190);
	pieces_add(&p, 0, 254, 66);
	assert_int_equal(p.n, 1);
	assert_piece(&p, 0, 0, 190);
	pieces_add(&p, 0, 254, 65);
	assert_int_equal(p.n, 2);
	assert_piece(&p, 1, 254, 65);
	/* Nor is there room for a fifth one. */
	p = one(0, 190);
	for (unsigned i = 1; i < PROBE_MAX_PIECES; i++)
		pieces_add(&p, 0, (uint64_t)FAR * i, 1);
	pieces_add(&p, 0, 254, 1);
	assert_int_equal(p.n, PROBE_MAX_PIECES);
	assert_int_equal(pieces_total(&p), 193);
}

/* Offsets come from debug info, which may have any. */
static void test_offsets(void **state)
{
	struct pieces p = one(REACH - 1, 1);

	(void)state;
	assert_piece(&p, 0, REACH - 1, 1);
	p = one(REACH, 1);
	assert_int_equal(p.n, 0);
	p = one(UINT64_MAX, 1);
	assert_int_equal(p.n, 0);
	p = one(UINT64_MAX - 1, 8);
	assert_int_equal(p.n, 0);
	assert_true(pieces_is_reachable(0, REACH));
	assert_false(pieces_is_reachable(0, REACH + 1u));
	assert_false(pieces_is_reachable(UINT64_C(1) << 32, 1));
}

static void test_find(void **state)
{
	struct pieces p = one(10, 4);

	(void)state;
	pieces_add(&p, 0, FAR, 2);
	assert_int_equal(pieces_find(&p, 10, 4), 0);
	assert_int_equal(pieces_find(&p, 12, 2), 2);
	assert_int_equal(pieces_find(&p, FAR, 2), 4);
	assert_int_equal(pieces_find(&p, FAR + 1, 1), 5);
	assert_int_equal(pieces_find(&p, 9, 1), PIECES_NOT_COPIED);
	assert_int_equal(pieces_find(&p, 12, 3), PIECES_NOT_COPIED);
	assert_int_equal(pieces_find(&p, 14, 1), PIECES_NOT_COPIED);
	assert_int_equal(pieces_find(&p, 10, 5), PIECES_NOT_COPIED);
	assert_int_equal(pieces_find(&p, UINT64_MAX, 1), PIECES_NOT_COPIED);
	assert_int_equal(pieces_find(&p, UINT64_MAX - 2, 4), PIECES_NOT_COPIED);
	assert_int_equal(pieces_find(&(struct pieces){ 0 }, 0, 1), PIECES_NOT_COPIED);
	/* Pieces that were merged leave their memory behind. */
	p.n = 1;
	assert_int_equal(pieces_find(&p, FAR, 2), PIECES_NOT_COPIED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_near), cmocka_unit_test(test_number),
		cmocka_unit_test(test_room), cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
