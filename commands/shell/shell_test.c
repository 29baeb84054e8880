/* Tests of shell commands at the prompt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "commands/shell/shell.h"

static void assert_splits(const char *line, const char *before, const char *piped,
                          const char *shell)
{
	struct shell_line l;
	SCRATCH(a);

	assert_null(shell_split(&a, line, &l));
	assert_string_equal(l.before ? l.before : "-", before);
	assert_string_equal(l.piped ? l.piped : "-", piped);
	assert_string_equal(l.shell ? l.shell : "-", shell);
}

static void takes_lines_apart(void **state)
{
	(void)state;
	assert_splits("tasks", "tasks", "-", "-");
	assert_splits("", "", "-", "-");
	assert_splits("tasks | less", "-", "tasks ", " less");
	assert_splits("tasks |grep a | head; date", "-", "tasks ", "grep a | head; date");
	assert_splits("info; tasks | less", "info;", " tasks ", " less");
	assert_splits("  !ls | wc", "-", "-", "ls | wc");
	assert_splits("tasks --with function a|b", "tasks --with function a|b", "-", "-");
	assert_splits("tasks --with function '| b'", "tasks --with function '| b'", "-", "-");
	assert_splits("tasks # | less", "tasks # | less", "-", "-");
	assert_splits("tasks 'open | x", "tasks 'open | x", "-", "-");
}

static void assert_refuses(const char *line)
{
	struct shell_line l;
	SCRATCH(a);
	struct error *err CLEANUP(error_freep) = shell_split(&a, line, &l);

	assert_non_null(err);
	assert_int_equal(err->kind, ERR_USAGE);
}

static void needs_both_sides(void **state)
{
	(void)state;
	assert_refuses("!");
	assert_refuses("| less");
	assert_refuses("tasks |");
	assert_refuses("tasks; | less");
}

/*
 * The shell's child must not inherit the ignored SIGPIPE, or it could write for ever to a pipe
 * without a reader.
 */
static void the_shell_is_as_ever(void **state)
{
	char path[] = "/tmp/asyncdbg-shell-XXXXXX", command[128], got[32] = { 0 };
	int fd = mkstemp(path);
	FILE *input, *f;
	pid_t pid;

	(void)state;
	assert_true(fd >= 0);
	snprintf(command, sizeof(command), "(cat; yes | head -n 1) >%s", path);
	assert_null(shell_start(command, &input, &pid));
	fputs("hello\n", input);
	fclose(input);
	shell_wait(pid);
	f = fdopen(fd, "r");
	assert_int_equal(fread(got, 1, sizeof(got) - 1, f), 8);
	assert_string_equal(got, "hello\ny\n");
	fclose(f);
	remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_lines_apart),
		cmocka_unit_test(needs_both_sides),
		cmocka_unit_test(the_shell_is_as_ever),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
