/* Tests of what comes at the prompt before it waits for a key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <editline/readline.h>
#include <locale.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "commands/shell/prompt_line.h"
#include "debugger/base/error.h"

enum { LIMIT = 20 /* seconds, after which what waits is ended */ };

/* A signal that comes between two keys. */
static int stop_and_getc(FILE *f)
{
	static bool stopped;

	if (!stopped)
		raise(SIGTSTP);
	stopped = true;
	return prompt_line_getc(f);
}

/* Reads a line from the terminal; ends with 0 where it is "x". */
static void read_line(void)
{
	alarm(LIMIT);
	rl_getc_function = stop_and_getc;
	rl_initialize();
	char *line = prompt_line_read("> ");
	_exit(!line || line[0] != 'x' || line[1]);
}

static void stops_at_a_signal_before_a_key(void **state)
{
	int fd, status;
	pid_t pid = forkpty(&fd, NULL, NULL, NULL);

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		read_line();
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(write(fd, "x\n", 2), 2);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(fd);
}

/* What is typed now is in the queue as it will be read, by us or a program: a newline is one. */
static int check_modes_and_getc(FILE *f)
{
	struct termios modes;

	if (tcgetattr(fileno(f), &modes) != 0 || (modes.c_lflag & ICANON) ||
	    (modes.c_iflag & (INLCR | ICRNL)) != ICRNL)
		_exit(2);
	return prompt_line_getc(f);
}

static void keeps_newlines_from_the_first_key_on(void **state)
{
	int fd, status;
	pid_t pid = forkpty(&fd, NULL, NULL, NULL);

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(LIMIT);
		rl_getc_function = check_modes_and_getc;
		rl_initialize();
		for (int i = 0; i < 2; i++)
			free(prompt_line_read("> "));
		_exit(0);
	}
	assert_int_equal(write(fd, "x\ny\n", 4), 4);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(fd);
}

static void gives_up_at_an_interrupt_before_a_key(void **state)
{
	int pair[2];

	(void)state;
	assert_int_equal(pipe(pair), 0);
	FILE *f = fdopen(pair[0], "r");
	assert_non_null(f);
	alarm(LIMIT);
	interrupt_request();
	assert_int_equal(prompt_line_getc(f), -1);
	interrupt_clear();
	assert_int_equal(write(pair[1], "\xc3\xa4", 2), 2);
	assert_int_equal(prompt_line_getc(f), 0xe4);
	alarm(0);
	fclose(f);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_up_at_an_interrupt_before_a_key),
		cmocka_unit_test(stops_at_a_signal_before_a_key),
		cmocka_unit_test(keeps_newlines_from_the_first_key_on),
	};

	/* For letters of several bytes. */
	setenv("LC_ALL", "C.UTF-8", 1);
	setlocale(LC_ALL, "");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
