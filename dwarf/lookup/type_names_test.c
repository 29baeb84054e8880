#include "dwarf/lookup/type_names.h"

#include <dwarf.h>

#include "dwarf/module/die_name.h"
#include "dwarf/test/module.h"

static uint64_t find(struct fixture *f, const char *name)
{
	const char *colons = strstr(name, "::");

	return type_names_find(f->dm, name, colons ? (size_t)(colons - name) : 0);
}

/* The DIE of the first complete type of that name, found without an index. */
static uint64_t first_of(struct fixture *f, const char *name)
{
	for (size_t i = 0; i < f->dm->nunits; i++) {
		struct unit *u = &f->dm->units[i];

		debuginfo_scan(f->dm, u);
		for (size_t j = 0; j < u->found.nscopes; j++) {
			uint64_t die = u->start + u->found.scopes[j].die;
			const char *own = die_name(f->dm, die);

			if (type_names_tag(u->found.scopes[j].tag) &&
			    !(u->found.scopes[j].flags & SCOPE_DECLARATION) && own &&
			    strcmp(own, name) == 0)
				return die;
		}
	}
	return 0;
}

static void test_all_types_of_a_program(void **state)
{
	struct fixture f = shapes_open();
	unsigned n = 0;

	(void)state;
	for (size_t i = 0; i < f.dm->nunits; i++) {
		struct unit *u = &f.dm->units[i];

		debuginfo_scan(f.dm, u);
		for (size_t j = 0; j < u->found.nscopes; j++) {
			if (!type_names_tag(u->found.scopes[j].tag))
				continue;
			const char *name = die_name(f.dm, u->start + u->found.scopes[j].die);
			if (!name)
				continue;
			assert_int_equal(find(&f, name), first_of(&f, name));
			n++;
		}
	}
	assert_true(n > 100);
	fixture_close(&f);
}

static void test_names_that_are_none(void **state)
{
	static const char *const names[] = {
		"",      "::",          ":",      "shapes",        "shapes::", "shapes::Holder",
		"u64::", "Holder<u64>", "::Root", "shapes::Root::"
	};
	struct fixture f = shapes_open();

	(void)state;
	assert_int_not_equal(find(&f, "shapes::Root"), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(find(&f, names[i]), 0);
	type_names_forget(f.dm);
	type_names_forget(f.dm);
	assert_int_not_equal(find(&f, "shapes::Root"), 0);
	fixture_close(&f);
}

/* ---- units of several crates ---- */

enum { U = 1, NAMESPACE, STRUCT, DECLARED, NAMELESS };

static void put_abbrevs(struct bytes *b)
{
	put_abbrev(b, U, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, NAMESPACE, DW_TAG_namespace, 1, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, STRUCT, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string, 0);
	put_abbrev(b, DECLARED, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string,
	           DW_AT_declaration, DW_FORM_flag_present, 0);
	put_abbrev(b, NAMELESS, DW_TAG_namespace, 1, 0);
	put_fixed(b, 0, 1);
}

static size_t open_unit(struct hand_made *h, const char *name)
{
	if (!h->abbrev.n)
		put_abbrevs(&h->abbrev);
	size_t unit = begin_unit(&h->info, 4, 0);
	put_uleb(&h->info, U);
	put_text(&h->info, name);
	return unit;
}

static void close_unit(struct hand_made *h, size_t unit)
{
	put_fixed(&h->info, 0, 1);
	end_unit(&h->info, unit);
}

/* Writes a type in a namespace (NULL: none). Returns its DIE. */
static uint64_t put_type(struct hand_made *h, unsigned abbrev, const char *space, const char *name)
{
	if (space) {
		put_uleb(&h->info, NAMESPACE);
		put_text(&h->info, space);
	}
	uint64_t die = h->info.n;
	put_uleb(&h->info, abbrev);
	put_text(&h->info, name);
	if (space)
		put_fixed(&h->info, 0, 1);
	return die;
}

/*
 * Units of the name's own crate come first, earlier units before later ones; no more units are
 * scanned than needed.
 */
static void test_own_crate_first(void **state)
{
	struct hand_made h = { 0 };
	size_t unit = open_unit(&h, "src/lib.rs/@/b.1-cgu.0");
	uint64_t only_b, first_s, own_s, generic;

	(void)state;
	put_type(&h, STRUCT, "a", "S");
	only_b = put_type(&h, STRUCT, "a", "B");
	close_unit(&h, unit);
	unit = open_unit(&h, "src/lib.rs/@/a.1-cgu.0");
	put_type(&h, DECLARED, "a", "S");
	own_s = put_type(&h, STRUCT, "a", "S");
	put_type(&h, STRUCT, "a", "S");
	close_unit(&h, unit);
	unit = open_unit(&h, "src/lib.rs/@/a.1-cgu.1");
	first_s = put_type(&h, STRUCT, "b", "S");
	put_type(&h, STRUCT, "a", "S");
	close_unit(&h, unit);
	unit = open_unit(&h, "src/lib.rs/@/c.1-cgu.0");
	put_type(&h, STRUCT, "b", "S");
	generic = put_type(&h, STRUCT, NULL, "(a::S, b::S)");
	close_unit(&h, unit);

	for (int order = 0; order < 2; order++) {
		struct fixture f = fixture_open(hand_made_file(&h), HAND_LOW, HAND_HIGH);

		if (order == 0) {
			type_names_forget(f.dm);
			/* decide_tier() reads units but indexes nothing. */
			assert_int_equal(find(&f, "a::S"), own_s);
			assert_false(f.dm->units[0].types_noted);
			assert_true(f.dm->units[1].types_noted);
			assert_false(f.dm->units[2].types_noted || f.dm->units[2].scanned);
			assert_int_equal(find(&f, "a::B"), only_b);
			assert_true(f.dm->units[0].types_noted && f.dm->units[2].types_noted);
			assert_false(f.dm->units[3].types_noted || f.dm->units[3].scanned);
		} else {
			assert_int_equal(find(&f, "x::Y"), 0);
			assert_true(f.dm->units[3].types_noted);
		}
		assert_int_equal(find(&f, "a::S"), own_s);
		assert_int_equal(find(&f, "b::S"), first_s);
		assert_int_equal(find(&f, "a::B"), only_b);
		assert_int_equal(find(&f, "(a::S, b::S)"), generic);
		assert_int_equal(find(&f, "S"), 0);
		assert_int_equal(find(&f, "c::S"), 0);
		fixture_close(&f);
	}
	free_bytes(&h.info);
	free_bytes(&h.abbrev);
}

/* A type below a nameless scope, or nested too deep, has no name; the read ends. */
static void test_scopes_without_names(void **state)
{
	enum { DEEP = 400 };
	struct hand_made h = { 0 };
	size_t unit = open_unit(&h, "src/lib.rs/@/a.1-cgu.0");
	uint64_t above;

	(void)state;
	put_uleb(&h.info, NAMELESS);
	put_type(&h, STRUCT, "a", "Hidden");
	put_fixed(&h.info, 0, 1);
	for (int i = 0; i < DEEP; i++) {
		put_uleb(&h.info, NAMESPACE);
		put_text(&h.info, "a");
	}
	put_type(&h, STRUCT, NULL, "Deep");
	for (int i = 0; i < DEEP; i++)
		put_fixed(&h.info, 0, 1);
	above = put_type(&h, STRUCT, "a", "Above");
	put_type(&h, STRUCT, "a", "");
	close_unit(&h, unit);
	struct fixture f = hand_made_open(&h);

	assert_int_equal(find(&f, "a::Above"), above);
	assert_int_equal(find(&f, "a::Hidden"), 0);
	assert_int_equal(find(&f, "Hidden"), 0);
	assert_int_equal(find(&f, "a::Deep"), 0);
	assert_int_equal(find(&f, "a::"), 0);
	fixture_close(&f);
}

/*
 * After some number of lookups lookup_type() uses the index, with the same results. Where the hash
 * leads to a type that is only spelt like the wanted one, it searches.
 */
static void test_many_names(void **state)
{
	struct hand_made h = { 0 };
	size_t unit = open_unit(&h, "src/lib.rs/@/a.1-cgu.0");
	uint64_t real;
	SCRATCH(tmp);

	(void)state;
	put_type(&h, STRUCT, NULL, "a::S");
	put_type(&h, STRUCT, NULL, "a::Odd");
	real = put_type(&h, STRUCT, "a", "S");
	close_unit(&h, unit);
	struct fixture f = hand_made_open(&h);

	for (int i = 0; i < 100; i++)
		assert_null(lookup_type(f.dm, arena_printf(&tmp, "a::N%d", i), 0));
	assert_non_null(f.dm->types.names);
	assert_int_not_equal(find(&f, "a::S"), real);
	assert_int_equal(type_die(must_find(&f, "a::S")), real);
	assert_int_not_equal(find(&f, "a::Odd"), 0);
	assert_null(lookup_type(f.dm, "a::Odd", 0));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_types_of_a_program),
		cmocka_unit_test(test_names_that_are_none),
		cmocka_unit_test(test_own_crate_first),
		cmocka_unit_test(test_scopes_without_names),
		cmocka_unit_test(test_many_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
