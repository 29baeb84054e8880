#include <string.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/test/module.h"

struct seen {
	const char *wanted;
	unsigned n, wrong;
	uint64_t die;
	bool fails;
};

static struct error *see(struct dwarf_module *dm, const char *name, uint64_t die, void *arg)
{
	struct seen *s = arg;
	const struct type *t = type_at(dm, die);

	s->wrong += strcmp(type_name(t), name) != 0;
	if (strcmp(name, s->wanted) == 0) {
		s->n++;
		s->die = die;
		return s->fails ? error_new(ERR_USAGE, "enough") : NULL;
	}
	return NULL;
}

static struct seen each(struct fixture *f, const char *wanted)
{
	struct seen s = { .wanted = wanted };

	fail_on(lookup_each_type(f->dm, see, &s));
	return s;
}

/* Each type is visited by the name that type_name() returns. */
static void test_names_are_whole(void **state)
{
	struct fixture f = shapes_open();
	struct seen s = each(&f, "shapes::Named");

	(void)state;
	assert_int_equal(s.n, 1);
	assert_int_equal(s.wrong, 0);
	assert_ptr_equal(type_at(f.dm, s.die), lookup_type(f.dm, "shapes::Named", 0));
	assert_int_not_equal(each(&f, "core::option::Option<bool>").n, 0);
	fixture_close(&f);
}

/* The content of a variant and a vtable are no types of the program. */
static void test_parts_are_left_out(void **state)
{
	struct fixture f = shapes_open();

	(void)state;
	assert_int_equal(each(&f, "core::option::Option<bool>::Some").n, 0);
	fixture_close(&f);
}

static void test_an_error_ends_it(void **state)
{
	struct fixture f = shapes_open();
	struct seen s = { .wanted = "core::option::Option<bool>", .fails = true };
	struct error *err = lookup_each_type(f.dm, see, &s);

	(void)state;
	assert_non_null(err);
	assert_string_equal(err->message, "enough");
	assert_int_equal(s.n, 1);
	error_free(err);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_whole),
		cmocka_unit_test(test_parts_are_left_out),
		cmocka_unit_test(test_an_error_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
