/* Which methods wait for futures to poll, by their types: those of executors.rs. */
#include "dwarf/names/qualified.h"
#include "runtimes/inspect/polling_code.h"
#include "runtimes/test/futures.h"

/* Whether Channel<T>::receives() does, T being of executors.rs. */
static bool waits(struct futures *f, const char *type)
{
	char name[100];
	size_t n;
	const struct scope *scopes = read_scopes(&f->fixture, &n);

	snprintf(name, sizeof(name), "receives<executors::%s>", type);
	for (size_t i = 0; i < n; i++) {
		struct location l = { 0 };

		if (scopes[i].has_address && scopes[i].low && scopes[i].high)
			l.function = lookup_function_die(f->fixture.dm, scopes[i].die);
		if (l.function && l.function->name &&
		    strcmp(qualified_last(l.function->name), name) == 0)
			return polling_code_waits(&l);
	}
	fail_msg("no function %s", name);
	return false;
}

static void test_waits(void **state)
{
	struct futures f = futures_open_file("testdata/unit/executors.elf");

	(void)state;
	assert_true(waits(&f, "Queue"));
	assert_true(waits(&f, "Deep"));
	assert_false(waits(&f, "Numbers"));
	futures_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
