#include "dwarf/test/module.h"

#include "runtimes/common/plausible.h"

enum { PLACE = 0x7000000, ELSEWHERE = 0x7100000, HOLE = 0x9000000 };

static struct value place_of(struct fixture *f, const char *name)
{
	static const char zeros[4096];

	target_fake_poke(f->target, PLACE, zeros, sizeof(zeros));
	return (struct value){ must_find(f, name), PLACE };
}

static uint64_t member_offset(struct value v, const char *member)
{
	const struct member *m = type_member(v.type, member);

	if (!m)
		fail_msg("no member %s in %s", member, type_name(v.type));
	return m->offset;
}

static void poke_word(struct fixture *f, uint64_t addr, uint64_t word)
{
	target_fake_poke(f->target, addr, &word, sizeof(word));
}

/* A polled future refers to its own locals; the bytes at a wrong address do not. */
static void test_references_into_the_value_itself(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Root");
	uint64_t maybe = PLACE + member_offset(v, "maybe"); /* Option<&Inner> */
	uint64_t newer = PLACE + member_offset(v, "newer"); /* the only Inner inside */

	assert_int_equal(plausible_self_references(f->target, v), SELF_REFERENCE_NONE);
	poke_word(f, maybe, ELSEWHERE);
	assert_int_equal(plausible_self_references(f->target, v), SELF_REFERENCE_NONE);
	poke_word(f, maybe, newer);
	assert_int_equal(plausible_self_references(f->target, v), SELF_REFERENCE_RIGHT);
	poke_word(f, maybe, newer + 4);
	assert_int_equal(plausible_self_references(f->target, v), SELF_REFERENCE_WRONG);
	poke_word(f, maybe, PLACE + type_size(v.type));
	assert_int_equal(plausible_self_references(f->target, v), SELF_REFERENCE_NONE);
}

static void test_enums_and_bools(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::TaggedU8");

	poke_word(f, PLACE, 3);
	assert_true(plausible_value(f->target, v));
	poke_word(f, PLACE, 4);
	assert_false(plausible_value(f->target, v));

	v = place_of(f, "shapes::CLike");
	poke_word(f, PLACE, 0xff);
	assert_true(plausible_value(f->target, v));
	poke_word(f, PLACE, 5);
	assert_false(plausible_value(f->target, v));

	/* Any other number means the variant with the niche, whose bool is then checked. */
	v = place_of(f, "shapes::Niche");
	poke_word(f, PLACE, 1);
	assert_true(plausible_value(f->target, v));
	poke_word(f, PLACE, 99);
	assert_false(plausible_value(f->target, v));
}

static void test_references_must_lead_somewhere(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Niches");
	uint64_t reference = PLACE + member_offset(v, "reference"); /* Option<&u64> */

	poke_word(f, reference, ELSEWHERE);
	struct value option = { type_member(v.type, "reference")->type, reference };
	assert_true(plausible_value(f->target, option));
	poke_word(f, reference, HOLE);
	assert_false(plausible_value(f->target, option));
	poke_word(f, reference, 0);
	assert_true(plausible_value(f->target, option));
}

/* The check of a recursive type ends. */
static void test_types_that_point_at_themselves(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Loop");

	poke_word(f, PLACE, PLACE);
	assert_true(plausible_value(f->target, v));
	assert_int_equal(plausible_self_references(f->target, v), SELF_REFERENCE_NONE);
}

static void map_places(struct fixture *f)
{
	static const char zeros[4096];

	target_fake_map(f->target, PLACE, zeros, sizeof(zeros));
	target_fake_map(f->target, ELSEWHERE, zeros, sizeof(zeros));
}

/*
 * A reference-counted value must have non-zero counts: stray addresses do not lead to such counts.
 */
static void test_what_is_counted_is_held(void **state)
{
	(void)state;
	struct fixture f = values_open();
	map_places(&f);
	struct value v = place_of(&f, "values::Pointers");
	struct value rc = { type_member(v.type, "rc")->type, PLACE + member_offset(v, "rc") };

	poke_word(&f, rc.addr, ELSEWHERE);
	assert_false(plausible_value(f.target, rc));
	poke_word(&f, ELSEWHERE, 1);
	assert_false(plausible_value(f.target, rc));
	poke_word(&f, ELSEWHERE + 8, 1);
	assert_true(plausible_value(f.target, rc));
	poke_word(&f, ELSEWHERE, UINT64_C(0x7f047dd75c00));
	assert_false(plausible_value(f.target, rc));
	fixture_close(&f);
}

static int setup(void **state)
{
	if (shapes_setup(state) != 0)
		return -1;
	map_places(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_references_into_the_value_itself),
		cmocka_unit_test(test_enums_and_bools),
		cmocka_unit_test(test_references_must_lead_somewhere),
		cmocka_unit_test(test_types_that_point_at_themselves),
		cmocka_unit_test(test_what_is_counted_is_held),
	};

	return cmocka_run_group_tests(tests, setup, shapes_teardown);
}
