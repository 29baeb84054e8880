/* Tests of stop_after_exec.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debugger/elf/elf_image.h"
#include "debugger/live/proc.h"
#include "debugger/live/stop_after_exec.h"

/* A child that executes words when go is written to. */
static pid_t start(const char *const *words, int *go)
{
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char byte;

		close(pipes[1]);
		if (read(pipes[0], &byte, 1) != 1)
			_exit(126);
		execv(words[0], (char *const *)(uintptr_t)words);
		_exit(127);
	}
	close(pipes[0]);
	*go = pipes[1];
	return pid;
}

static bool begin(pid_t pid)
{
	struct error *err = stop_after_exec_begin(pid);
	bool ok = !err;

	if (err)
		print_message("left out: %s\n", err->message);
	error_free(err);
	return ok;
}

static int status_of(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		;
	return status;
}

static bool has_library(pid_t pid)
{
	SCRATCH(tmp);
	const char *maps = proc_read(&tmp, pid, "maps", NULL);

	return maps && strstr(maps, "libc.");
}

/* Holds a program at that place, checks whether its libraries are loaded there, and lets it end. */
static void check_held(enum stop_after_exec_place place, bool has_libraries)
{
	static const char *const words[] = { "/bin/sh", "-c", "exit 3", NULL };
	SCRATCH(tmp);
	bool held;
	int go;
	size_t len;
	pid_t pid = start(words, &go);

	if (!begin(pid)) {
		close(go);
		return;
	}
	/* It is passed on, and ignored by the child. */
	kill(pid, SIGWINCH);
	assert_int_equal(write(go, "", 1), 1);
	struct error *err = stop_after_exec_wait(pid, place, &held);
	close(go);
	if (err) {
		print_message("left out: %s\n", err->message);
		error_free(err);
		kill(pid, SIGKILL);
		status_of(pid);
		return;
	}
	assert_true(held);
	const char *auxv = proc_read(&tmp, pid, "auxv", &len);
	assert_true(auxv && elf_auxv_find(auxv, len, AT_ENTRY));
	assert_int_equal(has_library(pid), has_libraries);
	stop_after_exec_end(pid);
	int status = status_of(pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
}

static void test_a_program_is_held_where_it_is_mapped(void **state)
{
	(void)state;
	check_held(STOP_AFTER_EXEC_MAPPED, false);
}

static void test_a_program_is_held_at_its_entry(void **state)
{
	(void)state;
	check_held(STOP_AFTER_EXEC_ENTRY, true);
}

static void test_a_program_that_cannot_be_executed(void **state)
{
	static const char *const words[] = { "/nonexistent/program", NULL };
	bool held;
	int go;
	pid_t pid = start(words, &go);

	(void)state;
	if (!begin(pid)) {
		close(go);
		return;
	}
	assert_int_equal(write(go, "", 1), 1);
	assert_null(stop_after_exec_wait(pid, STOP_AFTER_EXEC_ENTRY, &held));
	assert_false(held);
	close(go);
}

static void test_a_process_that_is_gone(void **state)
{
	static const char *const words[] = { "/bin/true", NULL };
	int go;
	pid_t pid = start(words, &go);

	(void)state;
	close(go);
	status_of(pid);
	struct error *err = stop_after_exec_begin(pid);
	assert_non_null(err);
	error_free(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_program_is_held_where_it_is_mapped),
		cmocka_unit_test(test_a_program_is_held_at_its_entry),
		cmocka_unit_test(test_a_program_that_cannot_be_executed),
		cmocka_unit_test(test_a_process_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
