/* Which of the functions that create a Context may be an executor's: those of executors.rs. */
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/names/qualified.h"
#include "runtimes/inspect/may_run_tasks.h"
#include "runtimes/test/futures.h"

/* The function of that name, without generics. */
static const struct function *find(struct futures *f, const char *name)
{
	const size_t len = strlen(name);
	size_t n;
	const struct scope *scopes = read_scopes(&f->fixture, &n);

	for (size_t i = 0; i < n; i++) {
		const struct function *function = NULL;
		const char *last;

		if (scopes[i].has_address && scopes[i].low && scopes[i].high)
			function = lookup_function_die(f->fixture.dm, scopes[i].die);
		last = function && function->name ? qualified_last(function->name) : "";
		if (strncmp(last, name, len) == 0 && (!last[len] || last[len] == '<'))
			return function;
	}
	fail_msg("no function %s", name);
	return NULL;
}

static void expect(const char *const *names, bool may)
{
	struct futures f = futures_open_file("testdata/unit/executors.elf");

	for (; *names; names++) {
		const struct function *function = find(&f, *names);

		if (!function_read_creates_context(function))
			fail_msg("%s creates no Context", *names);
		if (may_run_tasks(f.in, function) != may)
			fail_msg("%s %s tasks", *names, may ? "runs no" : "may run");
	}
	futures_close(&f);
}

static void test_executors(void **state)
{
	static const char *const names[] = { "drives_coroutine", "drives_queue",
		                             "steps_queue",      "drives_any",
		                             "drives_object",    "drives_raw",
		                             "drives_unseen",    NULL };

	(void)state;
	expect(names, true);
}

/* One polls a future that contains none, the other passes on what it polls. */
static void test_others(void **state)
{
	static const char *const names[] = { "drives_timer", "forwards", NULL };

	(void)state;
	expect(names, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executors),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
