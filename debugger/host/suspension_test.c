/* Tests of suspended processes: stopped by a signal, or in a frozen cgroup. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/host/suspension.h"

static void a_stopped_process_is_suspended(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		for (;;)
			pause();
	}
	assert_true(child > 0);
	assert_false(process_is_suspended(child));
	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(process_is_suspended(child));
	kill(child, SIGCONT);
	assert_int_equal(waitpid(child, &status, WCONTINUED), child);
	assert_false(process_is_suspended(child));
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	assert_false(process_is_suspended(child));
}

static void the_file_is_that_of_the_cgroup(void **state)
{
	char path[64];

	(void)state;
	assert_true(suspension_file("/c", "0::/a/b.service\n", path, sizeof(path)));
	assert_string_equal(path, "/c/a/b.service/cgroup.events");
	assert_true(suspension_file("/c", "3:cpu:/x\n2:freezer:/docker/1\n0::/y\n", path,
	                            sizeof(path)));
	assert_string_equal(path, "/c/freezer/docker/1/freezer.state");
	/* Controller lines of v1 alone, an empty file, and a path that is too long. */
	assert_false(suspension_file("/c", "3:cpu:/x\n1:name=systemd:/\n", path, sizeof(path)));
	assert_false(suspension_file("/c", "", path, sizeof(path)));
	assert_false(suspension_file("/c", "0::/a/b.service\n", path, 12));
}

static void the_file_says_whether_it_is_frozen(void **state)
{
	(void)state;
	assert_true(suspension_is_frozen("populated 1\nfrozen 1\n"));
	assert_false(suspension_is_frozen("populated 1\nfrozen 0\n"));
	assert_true(suspension_is_frozen("FROZEN\n"));
	assert_true(suspension_is_frozen("FREEZING\n"));
	assert_false(suspension_is_frozen("THAWED\n"));
	assert_false(suspension_is_frozen(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_process_is_suspended),
		cmocka_unit_test(the_file_is_that_of_the_cgroup),
		cmocka_unit_test(the_file_says_whether_it_is_frozen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
