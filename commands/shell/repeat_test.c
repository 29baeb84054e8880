/* Tests of what an empty line repeats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "commands/shell/command.h"
#include "commands/shell/repeat.h"

static void assert_repeats(const char *line, const char *wanted)
{
	SCRATCH(a);
	const char *again = repeat_line(&a, command_table, line);

	assert_string_equal(again ? again : "-", wanted ? wanted : "-");
}

static void steps_and_shows_again(void **state)
{
	(void)state;
	assert_repeats("next", "next");
	assert_repeats(" n 3", " n 3");
	assert_repeats("c", "c");
	assert_repeats("next; info locals", "next; info locals");
	assert_repeats("print req.uri", "print req.uri");
	assert_repeats("tasks", "tasks");
}

static void goes_on(void **state)
{
	(void)state;
	assert_repeats("list", "list");
	assert_repeats("l main.rs:4", "list");
	assert_repeats("list -", "list -");
	assert_repeats("x/4i $pc", "x /4i");
	assert_repeats("x /s 0x10", "x /s");
	assert_repeats("x $sp", "x");
}

static void leaves_the_rest(void **state)
{
	static const char *const lines[] = {
		"",         "# next",     "run -- ./app", "attach 7",
		"kill",     "break main", "delete 1",     "set n = 1",
		"quit",     "!date",      "tasks | less", "nonsense",
		"next 1 2", "next; kill", "next; list",   "tasks --exec 'kill'",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_repeats(lines[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_and_shows_again),
		cmocka_unit_test(goes_on),
		cmocka_unit_test(leaves_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
