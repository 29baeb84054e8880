/* Tests of visit_step() and of the rule for each type, with the types of shapes.elf. */
#include "dwarf/values/visit.h"

#include "debugger/base/str.h"
#include "dwarf/test/places.h"

struct steps {
	struct visit visit;
	struct show_cache cache;
	struct str text;
	size_t left; /* parts after which the step is ended */
	bool no_elements;
};

/* "deep+0 [2]+16 0+4": what it is, and how far from the value or from ELSEWHERE. */
static bool put_part(const struct visited *at, void *arg)
{
	struct steps *s = arg;
	uint64_t base = at->v.addr >= ELSEWHERE ? ELSEWHERE : PLACE;

	str_append(&s->text, s->text.len ? " " : "");
	if (at->rule == VISIT_MEMBERS)
		str_append(&s->text, at->member->name);
	else if (at->rule == VISIT_ELEMENTS || at->rule == VISIT_ENTRIES)
		str_printf(&s->text, "[%" PRIu64 "]%s", at->index, at->part ? at->part : "");
	else
		str_append(&s->text, at->rule == VISIT_WIDE ? "wide" : "*");
	str_printf(&s->text, "+%" PRIu64, at->v.addr - base);
	return --s->left > 0;
}

static bool may_have_elements(const struct slice *slice, void *arg)
{
	struct steps *s = arg;

	assert_int_equal(slice->count, s->visit.count);
	return !s->no_elements;
}

static struct error *follow(void *context, struct value v, struct value *ret, bool *exact)
{
	(void)v;
	*ret = *(struct value *)context;
	*exact = false;
	return NULL;
}

static struct steps *steps_begin(struct fixture *f, struct steps *s)
{
	*s = (struct steps){ .left = SIZE_MAX };
	s->visit = (struct visit){ .target = f->target,
		                   .cache = &s->cache,
		                   .each = put_part,
		                   .elements = may_have_elements,
		                   .arg = s,
		                   .follow = follow,
		                   .end = UINT64_MAX };
	return s;
}

/* Ends the steps, which led to these. */
static void steps_end(struct steps *s, const char *expected)
{
	assert_string_equal(str_text(&s->text), expected);
	str_free(&s->text);
	show_free(&s->cache);
}

static struct error *step(struct steps *s, struct value v)
{
	struct visit_type type = visit_type_of(v.type);

	return visit_step(&s->visit, v, &type);
}

static void expect_parts(struct fixture *f, struct value v, const char *expected)
{
	struct steps s;

	fail_on(step(steps_begin(f, &s), v));
	steps_end(&s, expected);
}

static void expect_rule(struct fixture *f, const char *type, const char *name, enum visit_rule rule,
                        const char *element)
{
	struct visit_type got = visit_type_of(member(place_of(f, type), name).type);

	assert_int_equal(got.rule, rule);
	if (element)
		assert_string_equal(type_name(got.element), element);
	else
		assert_null(got.element);
}

static void test_rules(void **state)
{
	struct fixture *f = *state;

	expect_rule(f, "shapes::Root", "first", VISIT_NOTHING, NULL);
	expect_rule(f, "shapes::Root", "newer", VISIT_MEMBERS, NULL);
	expect_rule(f, "shapes::Root", "choice", VISIT_MEMBERS, NULL);
	expect_rule(f, "shapes::Root", "list", VISIT_POINTER, NULL);
	expect_rule(f, "shapes::Root", "items", VISIT_ELEMENTS, "shapes::Inner");
	expect_rule(f, "shapes::Lists", "vec", VISIT_ELEMENTS, "u16");
	expect_rule(f, "shapes::Lists", "array", VISIT_ELEMENTS, "u32");
	expect_rule(f, "shapes::Lists", "deque", VISIT_ENTRIES, NULL);
	/* The target of a shared reference has another owner: the rule does not follow it. */
	expect_rule(f, "shapes::Lists", "slice", VISIT_MEMBERS, NULL);
	assert_int_equal(visit_type_of(must_find(f, "shapes::Overlay")).rule, VISIT_OPAQUE);
}

/* Members that have a size, in the order of the debug info. */
static void test_members(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Zst");

	expect_parts(f, v, "value+0");
	v = place_of(f, "shapes::Inner");
	expect_parts(f, v, "deep+0 pad+8");
}

/* Only the active variant of an enum counts; no variant is an error. */
static void test_variants(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::TaggedU8");
	struct steps s;

	poke(f, v.addr, 3, 1);
	expect_parts(f, v, "__0+1");
	poke(f, v.addr, 200, 1);
	expect_parts(f, v, "x+4");
	poke(f, v.addr, 255, 1);
	expect_parts(f, v, "");
	poke(f, v.addr, 4, 1);
	expect_error(step(steps_begin(f, &s), v), ERR_CORRUPT, "has no variant");
	steps_end(&s, "");
}

static void test_elements(void **state)
{
	struct fixture *f = *state;
	struct value v = place_of(f, "shapes::Lists"), boxed = member(v, "boxed");
	struct steps s;

	poke(f, member(boxed, "data_ptr").addr, ELSEWHERE, 8);
	poke(f, member(boxed, "length").addr, 4, 8);
	expect_parts(f, boxed, "[0]+0 [1]+8 [2]+16 [3]+24");
	steps_begin(f, &s)->visit.first = 1;
	s.visit.end = 3;
	fail_on(step(&s, boxed));
	assert_int_equal(s.visit.n, 3);
	assert_int_equal(s.visit.count, 4);
	steps_end(&s, "[1]+8 [2]+16");
	steps_begin(f, &s)->left = 2;
	fail_on(step(&s, boxed));
	steps_end(&s, "[0]+0 [1]+8");
	steps_begin(f, &s)->no_elements = true;
	fail_on(step(&s, boxed));
	assert_int_equal(s.visit.count, 4);
	steps_end(&s, "");
}

/* Their number is that of the type. */
static void test_array(void **state)
{
	struct fixture *f = *state;
	struct value array = member(place_of(f, "shapes::Lists"), "array");
	struct steps s;

	steps_begin(f, &s)->visit.first = 5;
	fail_on(step(&s, array));
	assert_int_equal(s.visit.count, 7);
	assert_int_equal(s.visit.n, 7);
	str_free(&s.text);
	show_free(&s.cache);
}

static void test_entries(void **state)
{
	struct fixture *f = *state;
	struct value deque = member(place_of(f, "shapes::Lists"), "deque");
	struct value buffer = member(member(deque, "buf"), "inner");
	struct value pointer = member(member(member(buffer, "ptr"), "pointer"), "pointer");
	struct steps s;

	poke(f, pointer.addr, ELSEWHERE, 8);
	poke(f, member(member(buffer, "cap"), "__0").addr, 4, 8);
	poke(f, member(deque, "head").addr, 3, 8);
	poke(f, member(deque, "len").addr, 3, 8);
	expect_parts(f, deque, "[0]+3 [1]+0 [2]+1");
	steps_begin(f, &s)->visit.end = 2;
	s.visit.first = 1;
	fail_on(step(&s, deque));
	assert_int_equal(s.visit.n, 2);
	assert_int_equal(s.visit.count, 3);
	steps_end(&s, "[1]+0");
	poke(f, member(deque, "len").addr, 5, 8);
	expect_error(step(steps_begin(f, &s), deque), ERR_CORRUPT, "length");
	steps_end(&s, "");
}

static void test_pointers(void **state)
{
	struct fixture *f = *state;
	struct value list = member(place_of(f, "shapes::Root"), "list");
	struct steps s;

	expect_parts(f, list, "");
	poke(f, list.addr, ELSEWHERE + 8, 8);
	fail_on(step(steps_begin(f, &s), list));
	assert_true(s.visit.exact);
	assert_int_equal(s.visit.behind.addr, ELSEWHERE + 8);
	steps_end(&s, "*+8");
	list.addr = HOLE;
	expect_error(step(steps_begin(f, &s), list), ERR_FAULT, "not readable");
	steps_end(&s, "");
}

/* Whoever walks says what is behind a wide pointer. */
static void test_wide(void **state)
{
	struct fixture *f = *state;
	struct value behind = { must_find(f, "shapes::Inner"), ELSEWHERE };
	struct visit_type wide = { .rule = VISIT_WIDE };
	struct steps s;

	for (int i = 0; i < 3; i++) {
		steps_begin(f, &s)->visit.context = &behind;
		fail_on(visit_step(&s.visit, place_of(f, "shapes::Inner"), &wide));
		assert_false(s.visit.exact);
		steps_end(&s, i ? "" : "wide+0");
		behind = i ? (struct value){ NULL, ELSEWHERE } : (struct value){ behind.type, 0 };
	}
}

static void test_nothing(void **state)
{
	struct fixture *f = *state;

	expect_parts(f, member(place_of(f, "shapes::Root"), "first"), "");
	expect_parts(f, place_of(f, "shapes::Overlay"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),    cmocka_unit_test(test_members),
		cmocka_unit_test(test_variants), cmocka_unit_test(test_elements),
		cmocka_unit_test(test_array),    cmocka_unit_test(test_entries),
		cmocka_unit_test(test_pointers), cmocka_unit_test(test_wide),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, places_setup, shapes_teardown);
}
