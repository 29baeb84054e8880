/* Tests of process_list.h: the test's own processes, and trees made by hand. */
#include "debugger/host/process_list.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_own_process(void **state)
{
	SCRATCH(tmp);
	struct process_list list;
	struct file_identity id;

	(void)state;
	assert_null(process_list_read(&tmp, &list));
	const struct process *own = process_list_find(&list, getpid());
	assert_non_null(own);
	assert_int_equal(own->parent, getppid());
	assert_false(own->denied || own->zombie);
	assert_non_null(strstr(own->exe, "process_list_test"));
	assert_non_null(strstr(own->command, "process_list_test"));

	int fd = process_open_exe(getpid());
	assert_true(fd >= 0);
	assert_true(file_identity_read(fd, &id));
	assert_memory_equal(&id, &own->file, sizeof(id));
	close(fd);
}

static void test_zombie(void **state)
{
	SCRATCH(tmp);
	struct process_list list;
	siginfo_t info;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_null(process_list_read(&tmp, &list));
	const struct process *p = process_list_find(&list, child);
	assert_non_null(p);
	assert_true(p->zombie);
	assert_null(p->exe);
	assert_false(process_is_there(p));
	waitpid(child, NULL, 0);
	assert_false(process_is_there(p));

	/* Another process with the pid of one that has ended. */
	struct process own = *process_list_find(&list, getpid());
	assert_true(process_is_there(&own));
	own.start_time--;
	assert_false(process_is_there(&own));
}

static void test_libraries(void **state)
{
	SCRATCH(tmp);
	struct process_library *libraries;
	size_t n = process_libraries(&tmp, getpid(), &libraries), cmocka = 0;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		if (!strstr(libraries[i].path, "cmocka"))
			continue;
		cmocka++;
		int fd = process_open_library(getpid(), &libraries[i]);
		assert_true(fd >= 0);
		close(fd);
		libraries[i].path = "/nonexistent/lib.so (deleted)";
		assert_true(process_open_library(getpid(), &libraries[i]) < 0);
	}
	assert_int_equal(cmocka, 1);
	assert_int_equal(process_libraries(&tmp, 0x7fffffff, &libraries), 0);
}

static void test_below(void **state)
{
	struct process data[] = {
		{ .pid = 1 },
		{ .pid = 5, .parent = 9 }, /* smaller than its parent */
		{ .pid = 7, .parent = 1 },
		{ .pid = 9, .parent = 7 },
		{ .pid = 11, .parent = 1 },
		{ .pid = 13, .parent = 13 }, /* cannot be, and must not loop */
	};
	struct process_list list = { data, sizeof(data) / sizeof(*data) };
	bool below[sizeof(data) / sizeof(*data)];
	const bool want[] = { false, true, false, true, false, false };

	(void)state;
	assert_int_equal(process_list_below(&list, 7, below), 2);
	assert_memory_equal(below, want, sizeof(want));
	assert_int_equal(process_list_below(&list, 1, below), 4);
	assert_int_equal(process_list_below(&list, 4711, below), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_process),
		cmocka_unit_test(test_zombie),
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_below),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
