/* Tests of literals, with types of shapes.rs and values.rs. */
#include "runtimes/query/literal.h"

#include "dwarf/test/module.h"

/* The base type of that name, wherever a struct of the module has it. */
static struct error *add_scalar(struct dwarf_module *dm, const char *name, uint64_t die, void *arg)
{
	struct map *found = arg;
	size_t n;
	const struct member *members = type_members(type_at(dm, die), &n);

	(void)name;
	for (size_t i = 0; i < n; i++) {
		const struct type *t = members[i].type;

		if (t)
			map_put(found, map_key_of_text(type_name(t)), (void *)(uintptr_t)t);
	}
	return NULL;
}

static struct map types;
static struct fixture fixture;

static int set_up(void **state)
{
	(void)state;
	fixture = values_open();
	fail_on(lookup_each_type(fixture.dm, add_scalar, &types));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	map_free(&types);
	fixture_close(&fixture);
	return 0;
}

static const struct type *type(const char *name)
{
	const struct type *t = map_get(&types, map_key_of_text(name));

	if (!t)
		fail_msg("no member of type %s", name);
	return t;
}

static uint64_t value_of(const char *name, const char *text)
{
	struct literal l;
	uint64_t value = 0;

	fail_on(literal_encode(type(name), text, &l));
	assert_int_equal(l.size, type_size(type(name)));
	memcpy(&value, l.bytes, l.size);
	return value;
}

static void refuses(const char *name, const char *text, const char *part)
{
	struct literal l;

	expect_error(literal_encode(type(name), text, &l), ERR_USAGE, part);
}

static void test_integers(void **state)
{
	(void)state;
	assert_int_equal(value_of("u8", "255"), 255);
	assert_int_equal(value_of("u8", "0xff"), 255);
	assert_int_equal(value_of("u8", "0b1_1"), 3);
	assert_int_equal(value_of("u32", "1_000"), 1000);
	assert_int_equal(value_of("u64", "18446744073709551615"), UINT64_MAX);
	refuses("u8", "256", "out of range");
	refuses("u8", "-1", "out of range");
	refuses("u64", "18446744073709551616", "out of range");
	refuses("u8", "-99999999999999999999", "out of range");
	refuses("u32", "", "not a value of type u32");
	refuses("u32", "1.5", "not a value of type u32");
	refuses("u32", "+1", "not a value of type u32");
	refuses("u32", "_", "not a value of type u32");
	refuses("u32", "0x", "not a value of type u32");
	refuses("u32", "true", "not a value of type u32");
}

static void test_others(void **state)
{
	(void)state;
	assert_int_equal(value_of("bool", "true"), 1);
	assert_int_equal(value_of("bool", "false"), 0);
	refuses("bool", "1", "it is true or false");
	refuses("&str", "\"x\"", "cannot be set");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
