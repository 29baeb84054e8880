/* Tests of run_command.h: how the command of a finding ends. */
#include "commands/incident/run_command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void start(struct run_command *c)
{
	FILE *input = run_command_input();

	assert_non_null(input);
	assert_null(run_command_start(c, input));
	assert_int_not_equal(c->pid, 0);
}

static void expect_error(struct run_command *c, bool wait, const char *part)
{
	struct error *err CLEANUP(error_freep) = run_command_reap(c, wait);

	assert_non_null(err);
	assert_non_null(strstr(err->message, part));
	assert_int_equal(c->pid, 0);
}

/* A second interrupt may come at any moment of the wait, not only while it sleeps. */
static void test_interrupted(void **state)
{
	struct run_command c = { .line = "exec sleep 1000", .limit = 500 };

	(void)state;
	start(&c);
	assert_null(run_command_reap(&c, false));
	interrupt_request();
	expect_error(&c, true, "was killed by the interrupt");
	interrupt_clear();
}

static void test_ends(void **state)
{
	struct run_command failing = { .line = "exit 3", .limit = 500 };
	struct run_command slow = { .line = "exec sleep 1000", .limit = 0.01 };
	struct run_command right = { .line = "exit 0", .limit = 500 };

	(void)state;
	start(&failing);
	expect_error(&failing, true, "failed with status 3");
	start(&slow);
	expect_error(&slow, true, "was killed after 0.01 s");
	start(&right);
	assert_null(run_command_reap(&right, true));
	assert_null(run_command_reap(&right, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
